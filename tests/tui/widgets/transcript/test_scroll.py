"""Entries stand as they are read, and every place still finds its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import Event, Prompt, ToolUse, Turn, Where
from tui.widgets.transcript.document import Anchor, Scroll


def call(offset: int, result: int, agent: str = "main", file: str = "log") -> ToolUse:
    return ToolUse(at=1.0, agent=agent, where=Where(file, result), called=Where(file, offset))


def words(offset: int, agent: str = "main", file: str = "log") -> Turn:
    return Turn(at=1.0, agent=agent, where=Where(file, 900), said=Where(file, offset))


def shown(events: list[Event], *batches: int) -> Scroll:
    scroll = Scroll()
    start = 0
    for stop in (*batches, len(events)):
        scroll.extend(range(start, stop), events)
        start = stop
    return scroll


def test_words_stand_before_the_calls_they_announce() -> None:
    events: list[Event] = [
        Prompt(at=0.0, characters=3),
        call(20, 30),
        call(25, 35),
        words(10),
        call(60, 70),
        words(60),
        words(80),
    ]
    for batches in ((), (2,), (3,), (1, 2, 3, 4, 5, 6)):
        scroll = shown(events, *batches)
        assert scroll.places == [0, 3, 1, 2, 5, 4, 6]
        assert [scroll.row(place) for place in scroll.places] == list(range(7))
        assert [scroll.near(place) for place in range(9)] == [0, 1, 2, 3, 4, 5, 6, 6, 6]


def test_other_agents_other_files_and_earlier_calls_stay_where_they_are() -> None:
    for other in (call(20, 30, agent="sub"), call(20, 30, file="sub"), call(9, 30)):
        assert shown([other, words(10)]).places == [0, 1]
    without = Turn(at=1.0, where=Where("log", 5))
    assert shown([call(20, 30), without]).places == [0, 1]
    stored = ToolUse(at=1.0, where=Where("log", 0, 0, "m1"))
    assert shown([stored, Turn(at=1.0, said=Where("other", 0, 0, "m0"))]).places == [0, 1]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.sampled_from(("main", "sub"))), max_size=30))
def test_every_entry_has_its_row(made: list[tuple[bool, int, str]]) -> None:
    events: list[Event] = [words(at, who) if said else call(at, 50, who) for said, at, who in made]
    scroll = shown(events, len(events) // 2)
    assert sorted(scroll.places) == list(range(len(events)))
    assert [scroll.places[scroll.row(place)] for place in range(len(events))] == list(range(len(events)))


@pytest.mark.parametrize(("anchor", "seen"), [("top", (2, 1)), ("third", (6, 1)), ("sight", (4, 1)), ("end", (15, 0))])
def test_what_stays_is_held_where_it_was(anchor: Anchor, seen: tuple[int, int]) -> None:
    scroll = shown([Prompt(at=1.0, characters=1, where=Where("log", 10 * number)) for number in range(20)])
    scroll.top, scroll.skipped = 2, 1
    scroll.hold(anchor, 8, 9, lambda _: 2)
    assert (scroll.top, scroll.skipped) == seen
