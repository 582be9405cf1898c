"""Marks and texts of a long recording are packed, and read as they came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.workload import session
from core.engine.society import Society
from core.settings import Settings
from core.timeline.marks import MARK_KINDS, Mark, Marks, RecordedMarks
from core.timeline.packed_list import MethodTexts
from core.timeline.run import Run

LONG = (RecordedMarks.FRESH + 3) * RecordedMarks.CHUNK + 5
ALL = [
    Mark(place // 2, place / 3, "main", MARK_KINDS[place % len(MARK_KINDS)], f"name {place % 7}", place / 7)
    for place in range(LONG)
]


@pytest.fixture(scope="module")
def marks() -> Marks:
    made = Marks()
    made.adopt(ALL)
    return made


def _packed_chunks(rows: RecordedMarks) -> int:
    return sum(isinstance(chunk, bytes) for chunk in rows._chunks)


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_oldest_marks_are_packed_once_they_are_no_longer_fresh(over: int) -> None:
    rows = RecordedMarks(ALL[: RecordedMarks.FRESH * RecordedMarks.CHUNK + over])
    assert _packed_chunks(rows) == (1 if over > 0 else 0)


def test_packed_marks_read_as_they_came(marks: Marks) -> None:
    assert _packed_chunks(marks._all) == 4
    assert list(marks) == ALL and len(marks) == LONG
    assert all(type(mark) is Mark for mark in marks)
    assert [marks[place] for place in range(0, LONG, 31)] == ALL[::31]


@given(st.integers(-2, LONG), st.integers(-2, LONG))
def test_marks_between_are_those_at_or_after_the_start_and_before_the_end(marks: Marks, start: int, stop: int) -> None:
    assert marks.between(start, stop) == [mark for mark in ALL if start <= mark.place < stop]


@given(st.integers(-1, LONG), st.sampled_from(MARK_KINDS))
def test_the_next_and_last_mark_are_those_nearest(marks: Marks, index: int, kind: str) -> None:
    later = [mark for mark in ALL if mark.place > index and mark.kind == kind]
    earlier = [mark for mark in ALL if mark.place < index and mark.kind == kind]
    assert marks.after(index, {kind}) == (later[0] if later else None)  # type: ignore[arg-type]
    assert marks.before(index, {kind}) == (earlier[-1] if earlier else None)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, RecordedMarks.CHUNK, LONG])
def test_marks_that_were_kept_go_on_as_before(count: int) -> None:
    whole, again = Marks(), Marks()
    whole.adopt(ALL[:count])
    again.adopt(RecordedMarks.unpacked(whole.packed()))
    assert list(again) == ALL[:count]
    assert again._states == whole._states and again._indexes == whole._indexes
    assert again.packed() == whole.packed()


def test_texts_are_gathered_from_packed_ones_too() -> None:
    run = Run(Society(Settings()))
    expected: dict[tuple[int, str], str] = {}
    for place, event in enumerate(session(4500)):
        for firing in run.step(place, event).reaction.fired:
            expected[place, firing.method] = firing.text
    assert len(expected) > MethodTexts.FRESH * MethodTexts.CHUNK
    assert any(isinstance(chunk, bytes) for chunk in run._texts._chunks)
    assert run.texts == expected
