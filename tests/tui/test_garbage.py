"""Garbage is looked for late while a program starts, and as usual from then on."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator

import pytest

from tui.garbage import AT_START, USUAL, collect_as_usual, collect_late


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_it_is_usual_again_after_a_start() -> None:
    collect_late()
    assert gc.get_threshold() == AT_START
    collect_as_usual()
    assert gc.get_threshold() == USUAL


def test_who_chose_otherwise_is_left_alone() -> None:
    gc.set_threshold(1234, 5, 6)
    collect_as_usual()
    assert gc.get_threshold() == (1234, 5, 6)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="another C library")
def test_large_pieces_of_memory_are_given_back() -> None:
    class Figures(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "pieces", "small", "mappings", *"abcdef")]

    figures = ctypes.CDLL(None).mallinfo2
    figures.restype = Figures
    collect_late()
    collect_as_usual()
    before = figures().mappings
    for _ in range(3):
        pieces = [bytearray(300_000) for _ in range(100)]
        assert figures().mappings > before + 50, "mappings of their own, as far as no free piece is large enough"
        del pieces
        assert figures().mappings <= before + 5
