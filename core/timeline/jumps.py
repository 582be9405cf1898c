"""Places one asks for by what happened there: trouble or a question, a failure, a prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from core.engine.response.rules import built_in
from core.events import MAIN, Event, Prompt, ToolUse
from core.timeline.recorded_marks import Mark, MarkKind
from core.timeline.timeline import Timeline

Landing = Literal["trouble", "failure", "prompt"]

TROUBLED: frozenset[str] = frozenset(
    ("compound_frustration_seeking", "frustration_spike", "uncertainty_spike", "fatigue_rising")
)
"""Signals of trouble; the others tell that things go well or that the agent looks around."""
_KINDS: frozenset[MarkKind] = frozenset(("signal", "halt", "quarantine", "method"))


class Place(NamedTuple):
    """An event worth going to."""

    place: int
    """From 0."""
    agent: str


def landing(timeline: Timeline, here: int, forward: bool, to: Landing) -> Place | None:
    """The nearest such event later or earlier than the one at `here`."""
    told = _event(timeline, here, forward, _wanted(timeline, to))
    if to != "trouble":
        return told
    felt = _mark(timeline, here, forward)
    found = [place for place in (told, felt) if place is not None]
    if not found:
        return None
    return min(found) if forward else max(found)


def _wanted(timeline: Timeline, to: Landing) -> Callable[[Event], bool]:
    if to == "prompt":
        return lambda event: type(event) is Prompt and event.agent == MAIN
    if to == "failure":
        return lambda event: type(event) is ToolUse and event.outcome == "failure"
    asking = frozenset(timeline.settings.response.notices.asking)
    return lambda event: type(event) is ToolUse and (event.tool in asking or event.outcome == "rejected")


def _event(timeline: Timeline, here: int, forward: bool, wanted: Callable[[Event], bool]) -> Place | None:
    events = timeline.events
    places = range(here + 1, len(events)) if forward else range(min(here, len(events)) - 1, -1, -1)
    for place in places:
        if wanted(events[place]):
            return Place(place, events[place].agent)
    return None


def _mark(timeline: Timeline, here: int, forward: bool) -> Place | None:
    marks = timeline.marks
    rules = timeline.initial.rules or built_in()
    telling = {
        method.id for method in rules.methods if method.mode == "notify" and method.action.kind != "done"
    }
    found = marks.after(here, _KINDS) if forward else marks.before(here, _KINDS)
    while found is not None:
        if any(is_trouble(mark, telling) for mark in marks.between(found.place, found.place + 1)):
            return Place(found.place, found.agent)
        found = marks.after(found.place, _KINDS) if forward else marks.before(found.place, _KINDS)
    return None


def is_trouble(mark: Mark, telling: set[str]) -> bool:
    """Whether a mark is of trouble; `telling` are the methods that tell the person of a risk."""
    if mark.kind == "signal":
        return mark.name in TROUBLED
    if mark.kind == "method":
        return mark.name in telling
    return mark.kind == "halt" or (mark.kind == "quarantine" and mark.name == "enters")
