"""The queue: priorities, windows, deadlines, and what came of each word."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.response.interventions import HotMemo, InterventionQueue, MemoLine
from core.engine.response.rules import Deliver, InterventionKind, Window
from core.settings.response import MemoSettings, QueueSettings

FIGURES = QueueSettings(size=4, deadline=100.0, kept=10, follow=3)
WINDOWS: tuple[Window, ...] = ("decide", "reflect", "curator", "dream")


def queue() -> InterventionQueue:
    return InterventionQueue(FIGURES)


def push(
    made: InterventionQueue,
    kind: InterventionKind = "follow_up",
    window: Window = "decide",
    priority: int = 100,
    at: float = 0.0,
    deadline: float | None = None,
) -> int:
    deliver = Deliver(kind=kind, window=window, priority=priority, deadline=deadline, source="risk")
    return made.push(deliver, "a word", "method", at, "stuck", 0.7).number


def numbers(made: InterventionQueue) -> list[int]:
    return [one.number for one in made.waiting]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_follow_up_waits_for_its_window(window: Window) -> None:
    made = queue()
    push(made, window=window)
    others = [other for other in WINDOWS if other != window]
    assert made.drain(1.0, others, 0.5) == ()
    (told,) = made.drain(2.0, [window], 0.5)
    assert (told.fate, told.at, told.trouble) == ("delivered", 2.0, 0.5)
    assert not made.waiting


@pytest.mark.parametrize("kind", ["steer", "self_steer"])
def test_a_steer_goes_before_the_next_event_whatever_it_is(kind: InterventionKind) -> None:
    made = queue()
    push(made, kind)
    (told,) = made.drain(1.0, [], 0.5)
    assert told.intervention.window is None
    assert told.intervention.source == ("risk" if kind == "self_steer" else None)


def test_the_more_urgent_goes_first_and_equals_in_order() -> None:
    made = queue()
    for priority in (50, 200, 50, 120):
        push(made, priority=priority)
    assert numbers(made) == [2, 4, 1, 3]
    assert [told.intervention.number for told in made.drain(1.0, ["decide"], 0.0)] == [2, 4, 1, 3]


def test_where_all_places_are_taken_the_least_urgent_newest_gives_way() -> None:
    made = queue()
    for priority in (50, 60, 50, 70, 80):
        push(made, priority=priority)
    assert numbers(made) == [5, 4, 2, 1]
    (told,) = made.read().past
    assert (told.intervention.number, told.fate) == (3, "displaced")


@pytest.mark.parametrize(("deadline", "at", "fate"), [(None, 100.0, "delivered"), (None, 100.5, "expired")])
def test_past_its_deadline_a_word_is_not_said(deadline: float | None, at: float, fate: str) -> None:
    made = queue()
    push(made, deadline=deadline)
    (told,) = made.drain(at, ["decide"], 0.0)
    assert told.fate == fate
    (own,) = [push(made, at=at, deadline=5.0)]
    (gone,) = made.drain(at + 6.0, [], 0.0)
    assert (gone.intervention.number, gone.fate) == (own, "expired")


def test_an_episode_says_how_the_agent_was_after() -> None:
    made = queue()
    push(made)
    made.drain(1.0, ["decide"], 0.7)
    made.follow("stuck", 0.6)
    made.follow("stuck", 0.5)
    assert made.read().past[0].after_state is None
    made.follow("deep_work", 0.2)
    (told,) = made.read().past
    assert (told.intervention.state, told.trouble) == ("stuck", 0.7)
    assert (told.after_state, told.after_trouble) == ("deep_work", 0.2)
    assert not made.open


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("push", "drain", "follow")),
            st.sampled_from(WINDOWS),
            st.integers(0, 255),
            st.sampled_from(("steer", "follow_up", "self_steer")),
        ),
        max_size=40,
    ),
    st.integers(0, 40),
)
def test_nothing_is_lost_and_a_loaded_queue_goes_on(
    script: list[tuple[str, Window, int, InterventionKind]], cut: int
) -> None:
    made, loaded = queue(), queue()
    for place, (what, window, priority, kind) in enumerate(script):
        if place == cut:
            loaded.load(cbor2.loads(cbor2.dumps(made.dump(), canonical=True)))
        for one in [made, loaded] if place >= cut else [made]:
            if what == "push":
                push(one, kind, window, priority, at=place * 20.0)
            elif what == "drain":
                one.drain(place * 20.0, [window], 0.5)
            elif one.open:
                one.follow("exploring", 0.1)
        assert len(made.waiting) <= FIGURES.size
        reading = made.read()
        if reading.count <= FIGURES.kept:
            assert len(reading.past) + len(reading.waiting) == reading.count
    if cut < len(script):
        assert loaded.dump() == made.dump()


def memo(size: int = 3, tokens: int = 20) -> HotMemo:
    return HotMemo(MemoSettings(size=size, tokens=tokens))


def test_the_memo_keeps_three_and_the_newest_stands_first() -> None:
    made = memo(tokens=200)
    for number in range(5):
        made.add(MemoLine(float(number), f"m{number}", f"word {number}"))
    assert made.text() == "word 4\nword 3\nword 2"
    made.add(MemoLine(9.0, "m3", "again"))
    assert made.text() == "again\nword 4\nword 2"


@given(st.lists(st.text(max_size=200), max_size=5), st.integers(0, 60))
def test_the_memo_fits_its_budget(words: list[str], tokens: int) -> None:
    made = memo()
    for number, text in enumerate(words):
        made.add(MemoLine(float(number), f"m{number}", text))
    assert len(made.text(tokens)) <= 4 * tokens
