"""Columns grow, and an envelope shows what a look at every row would show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.timeline.columns import Columns


def table(length: int) -> Columns:
    columns = Columns(["up", "wave"])
    for row in range(length):
        columns.append((row, (row * 7919) % 1000))
    return columns


def test_rows_come_back_as_they_were_put() -> None:
    columns = table(10_000)
    assert len(columns) == 10_000
    assert columns.column("up", 4090, 4100).tolist() == list(range(4090, 4100))
    assert columns.value("up", 9_999) == 9_999
    assert columns.column("up", 50, 50).size == 0


@given(st.integers(0, 9000), st.integers(1, 9000), st.integers(1, 300))
def test_an_envelope_keeps_every_extreme(start: int, length: int, width: int) -> None:
    columns = table(9_000)
    stop = min(9_000, start + length)
    low, high = columns.envelope("wave", start, stop, width)
    rows = columns.column("wave", start, stop)
    assert len(low) == len(high) == min(width, len(rows))
    if len(rows):
        assert low.min() == rows.min()
        assert high.max() == rows.max()
        assert np.isfinite(low).all() and np.isfinite(high).all()


def test_an_envelope_follows_rows_that_come_later() -> None:
    columns = table(5_000)
    columns.envelope("up", 0, 5_000, 50)
    columns.extend(np.array([[row, 0] for row in range(5_000, 20_000)]))
    _, high = columns.envelope("up", 0, 20_000, 50)
    assert high[-1] == 19_999
    assert (np.diff(high) > 0).all()


@pytest.mark.parametrize("length", [0, 1, 4095, 4096, 4097, 8192])
def test_what_is_cut_off_is_gone(length: int) -> None:
    columns = table(9_000)
    columns.envelope("up", 0, 9_000, 10)
    columns.truncate(length)
    assert len(columns) == length
    columns.append((-1, 0))
    assert columns.value("up", length) == -1
    assert columns.column("up").tolist() == [*range(length), -1]
