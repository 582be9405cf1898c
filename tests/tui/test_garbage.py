"""Garbage is looked for late while a program starts, and as usual from then on."""

from __future__ import annotations

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
