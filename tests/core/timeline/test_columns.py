"""Columns grow, and an envelope shows what a look at every row would show."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.timeline.columns import OPEN, ROWS, Columns, PackedBlock


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


@pytest.mark.parametrize("length", [0, 1, 255, 256, 4095, 4096, 4097, 8192])
def test_rows_not_yet_in_a_block_are_read_like_all_others(length: int) -> None:
    columns = table(length)
    assert len(columns) == length
    columns.append((1 / 3, 0))
    assert columns.value("up", length) == np.float32(1 / 3)
    assert columns.column("up").tolist() == [*range(length), np.float32(1 / 3)]
    assert columns.column("up", length).tolist() == [np.float32(1 / 3)]
    columns.extend(np.array([[7, 7], [8, 8]]))
    assert columns.column("up", length + 1).tolist() == [7, 8]
    with pytest.raises(IndexError):
        columns.value("up", length + 3)


@pytest.mark.parametrize("too_large", [1e39, -1e300])
def test_a_value_too_large_for_a_cell_becomes_infinite_and_costs_no_other(too_large: float) -> None:
    columns = table(3)
    columns.append((too_large, 1 / 3))
    assert columns.value("up", 3) == np.copysign(np.inf, too_large)
    assert columns.column("wave", 3).tolist() == [np.float32(1 / 3)]


def _packed_blocks(columns: Columns) -> int:
    return sum(isinstance(block, tuple) for block in columns._stand[0])


def _filled(length: int) -> Columns:
    columns = Columns(["up", "wave"])
    columns.extend(np.stack([np.arange(length), np.arange(length) * 7919 % 1000], axis=1))
    return columns


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_oldest_block_is_packed_once_it_is_no_longer_among_the_newest(over: int) -> None:
    columns = _filled(OPEN * ROWS + over)
    assert _packed_blocks(columns) == (1 if over > 0 else 0)
    assert columns.column("up").tolist() == list(range(OPEN * ROWS + over))
    assert columns.value("up", ROWS - 2) == ROWS - 2
    assert columns.value("up", len(columns) - 1) == len(columns) - 1


LONG = (OPEN + 3) * ROWS + 100
LONG_TABLE = _filled(LONG)


@given(st.integers(0, LONG), st.integers(0, LONG))
def test_any_stretch_of_packed_blocks_reads_as_it_was_put(start: int, stop: int) -> None:
    assert np.array_equal(LONG_TABLE.column("up", start, stop), np.arange(start, max(start, stop)))


def test_values_that_are_no_numbers_come_back_bit_by_bit() -> None:
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45], np.float32)
    columns = Columns(["odd"])
    columns.extend(np.resize(odd, (OPEN + 1) * ROWS)[:, None])
    columns.append((0.0,))
    assert _packed_blocks(columns) >= 1
    assert columns.column("odd", 0, 7).tobytes() == odd.tobytes()


@pytest.mark.parametrize("length", [0, 1, 300, ROWS, ROWS + 1, OPEN * ROWS, OPEN * ROWS + 1, LONG])
def test_what_was_kept_goes_on_as_before(length: int) -> None:
    whole = _filled(length)
    whole.append((1, 2))
    again = Columns.unpacked(whole.names, whole.packed())
    assert again.packed() == whole.packed()
    for columns in (whole, again):
        columns.extend(np.ones((300, 2)))
        columns.append((3, 4))
    assert _packed_blocks(again) == _packed_blocks(whole)
    for name in whole.names:
        assert np.array_equal(again.column(name), whole.column(name))


@pytest.mark.parametrize(
    "harm",
    [
        lambda kept: [kept[0][:1], *kept[1:]],
        lambda kept: [kept[-1], *kept],
        lambda kept: [*kept[:-1], (kept[-1][0], kept[0][1])],
    ],
    ids=["a column is missing", "a short block inside", "columns of two lengths"],
)
def test_kept_blocks_that_are_no_table_are_refused(harm: Callable[[list[PackedBlock]], list[PackedBlock]]) -> None:
    with pytest.raises(ValueError, match=r"missing|same shape"):
        Columns.unpacked(("up", "wave"), harm(LONG_TABLE.packed()))


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("_again", range(4))
def test_rows_added_by_one_thread_are_whole_for_others(_again: int) -> None:
    columns, expected = Columns(["up", "wave"]), np.arange(200_000)
    faults: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            rows = columns.column("up")
            if not np.array_equal(rows, expected[: len(rows)]):
                faults.append("rows are lost or out of order")
                return
            if len(rows):
                _, high = columns.envelope("up", 0, len(rows), 40)
                if high[-1] != len(rows) - 1 or columns.value("up", len(rows) - 1) != len(rows) - 1:
                    faults.append("the last row is another")
                    return

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for row in range(len(expected)):
        columns.append((row, 0))
    done.set()
    for thread in threads:
        thread.join(20.0)
    assert faults == []
    assert np.array_equal(columns.column("up"), expected)
