from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.workload import stream
from core.events import Event, Prompt, ToolUse, Where
from core.timeline.timeline import CHUNK, FRESH, RecordedEvents

LONG = (FRESH + 2) * CHUNK + 17
"""Events of which three chunks are packed, and one is being filled."""


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return list(islice(stream(seed=4, agents=3), LONG))


@pytest.fixture(scope="module")
def recorded(events: list[Event]) -> RecordedEvents:
    return RecordedEvents(events)


def _packed_chunks(recorded: RecordedEvents) -> int:
    return sum(isinstance(chunk, bytes) for chunk in recorded._chunks)


def test_a_long_recording_is_packed_and_reads_as_it_came(events: list[Event], recorded: RecordedEvents) -> None:
    assert _packed_chunks(recorded) == 3
    assert len(recorded) == LONG
    assert list(recorded) == events
    assert [recorded[place] for place in range(0, LONG, 97)] == events[::97]


def test_it_equals_what_holds_the_same_events(events: list[Event], recorded: RecordedEvents) -> None:
    assert recorded == events and recorded == RecordedEvents(events)
    assert recorded != events[:-1]
    assert recorded != [*events[:-1], events[0]]
    assert recorded != tuple(events)


@given(st.slices(LONG))
def test_any_slice_is_that_of_a_list(events: list[Event], recorded: RecordedEvents, part: slice) -> None:
    assert recorded[part] == events[part]


@given(st.integers(-LONG, LONG - 1))
def test_any_place_is_that_of_a_list(events: list[Event], recorded: RecordedEvents, place: int) -> None:
    assert recorded[place] == events[place]


@pytest.mark.parametrize("place", [LONG, -LONG - 1])
def test_a_place_outside_is_refused(recorded: RecordedEvents, place: int) -> None:
    with pytest.raises(IndexError):
        recorded[place]


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_the_oldest_chunk_is_packed_once_it_is_no_longer_fresh(events: list[Event], over: int) -> None:
    recorded = RecordedEvents(events[: FRESH * CHUNK + over])
    assert _packed_chunks(recorded) == (1 if over > 0 else 0)


def _with_an_odd_one(event: Event) -> RecordedEvents:
    filler = Prompt(at=0.0, characters=1)
    return RecordedEvents([event, *[filler] * (FRESH * CHUNK)])


@pytest.mark.parametrize(
    "event",
    [
        Prompt(at=5, characters=1),
        Prompt(at=0.0, characters=2**70),
        Prompt(at=0.0, characters=1, where=Where("log-\udcff.jsonl")),
        ToolUse(at=0.0, targets=["a"]),  # type: ignore[arg-type]
        ToolUse(at=0.0, outcome="unheard of"),  # type: ignore[arg-type]
    ],
    ids=["whole number for a time", "huge number", "name that is no text", "list", "unknown word"],
)
def test_an_event_that_would_not_come_back_as_it_was_is_not_packed(event: Event) -> None:
    recorded = _with_an_odd_one(event)
    assert _packed_chunks(recorded) == 0
    assert recorded[0] is event


def test_a_plain_event_in_its_place_is_packed() -> None:
    event = ToolUse(at=1.5, targets=("a",), where=Where("log.jsonl", 3, 4))
    recorded = _with_an_odd_one(event)
    assert _packed_chunks(recorded) == 1
    assert recorded[0] == event and type(recorded[0].at) is float


def test_events_added_while_one_reads_are_not_seen_by_that_reading(events: list[Event]) -> None:
    recorded = RecordedEvents(events[:300])
    reading = iter(recorded)
    first = next(reading)
    for event in events[300:900]:
        recorded.append(event)
    assert [first, *reading] == events[:300]
    assert list(recorded) == events[:900]


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1, LONG])
def test_what_was_kept_goes_on_as_before(events: list[Event], count: int) -> None:
    again = RecordedEvents.unpacked(RecordedEvents(events[:count]).packed())
    whole = RecordedEvents(events[:count])
    assert list(again) == events[:count]
    for event in events[:CHUNK]:
        again.append(event)
        whole.append(event)
    assert list(again) == [*events[:count], *events[:CHUNK]]
    assert _packed_chunks(again) == _packed_chunks(whole)


def _short_chunk_inside(chunks: list[bytes]) -> list[bytes]:
    return [chunks[-1], *chunks]


def _blank_chunk(chunks: list[bytes]) -> list[bytes]:
    return [*chunks[:1], *RecordedEvents.packed(_blank())]


def _blank() -> RecordedEvents:
    recorded = RecordedEvents()
    recorded._chunks.append([])
    return recorded


@pytest.mark.parametrize("harm", [_short_chunk_inside, _blank_chunk])
def test_kept_chunks_that_do_not_follow_each_other_are_refused(
    events: list[Event], harm: Callable[[list[bytes]], list[bytes]]
) -> None:
    chunks = RecordedEvents(events[: CHUNK + 9]).packed()
    with pytest.raises(ValueError, match="missing"):
        RecordedEvents.unpacked(harm(chunks))
