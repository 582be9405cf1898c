"""Places in a recording, as a person writes them or by what happened there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from core.engine.response.rules import built_in
from core.errors import UsageError
from core.events import MAIN, Event, Prompt, ToolUse
from core.logs.lines import seconds
from core.timeline.marks import Mark, MarkKind
from core.timeline.timeline import Timeline


def parse_place(timeline: Timeline, text_place: str) -> int:
    """Events before a place: `120`, `-1`, `start`, `end`, `00:41:12`, `41m`, an ISO time, or `@4096` in the file."""
    text = {"start": "0", "end": "-1"}.get(text_place.strip().lower(), text_place.strip())
    if text.startswith("@"):
        return _index_in_file(timeline, text[1:])
    if text.lstrip("-").isdecimal():
        number = int(text)
        if number > len(timeline):
            raise _too_late(timeline, text_place)
        return max(0, len(timeline) + 1 + number) if number < 0 else number
    start = timeline.events[0].at
    offset = _seconds_from_start(text)
    if offset is None:
        moment = seconds(text)
        if moment is None:
            raise UsageError(
                f"{text_place!r} is not a place; write an event's number, start, end, 00:41:12, 41m or an ISO time"
            )
        return timeline.index_at(moment)
    if start + offset >= timeline.time_of(len(timeline)) + 1.0:
        raise _too_late(timeline, text_place)
    return timeline.index_at(start + offset)


def _seconds_from_start(text: str) -> float | None:
    """Return seconds from the start for 00:41:12 or 41m."""
    parts = text.split(":")
    if 2 <= len(parts) <= 3 and all(part.isdecimal() for part in parts):
        offset = 0
        for number, part in enumerate(parts):
            if number and int(part) >= 60:
                return None
            offset = offset * 60 + int(part)
        return offset
    units = {"s": 1, "m": 60, "h": 3600}
    if text and text[-1] in units and text[:-1].replace(".", "", 1).isdecimal():
        return float(text[:-1]) * units[text[-1]]
    return None


def _too_late(timeline: Timeline, text_place: str) -> UsageError:
    lasted = int(timeline.time_of(len(timeline)) - timeline.events[0].at)
    clock = f"{lasted // 3600:02d}:{lasted % 3600 // 60:02d}:{lasted % 60:02d}"
    return UsageError(f"{text_place!r} is after the end: the session has {len(timeline)} events, up to {clock}")


def _index_in_file(timeline: Timeline, place: str) -> int:
    """Return the place after the first event at or after a byte, or at an entry of a document."""
    for number, event in enumerate(timeline.events, 1):
        where = event.where
        if where is None:
            continue
        if place.isdecimal():
            if where.offset >= int(place):
                return number
        elif where.entry == place or where.entry.startswith(f"{place}/"):
            return number
    raise UsageError(f"no event at @{place}")


Landing = Literal["trouble", "failure", "prompt"]

# Signals of trouble; the others mean that things go well or that the agent explores.
TROUBLED: frozenset[str] = frozenset(
    ("compound_frustration_seeking", "frustration_spike", "uncertainty_spike", "fatigue_rising")
)
_KINDS: frozenset[MarkKind] = frozenset(("signal", "halt", "quarantine", "method"))


class Place(NamedTuple):
    """An event to jump to."""

    place: int  # From 0.
    agent: str


def landing(timeline: Timeline, here: int, forward: bool, to: Landing) -> Place | None:
    """The nearest such event later or earlier than the one at `here`."""
    event_place = _nearest_event(timeline, here, forward, _event_test(timeline, to))
    if to != "trouble":
        return event_place
    mark_place = _nearest_trouble(timeline, here, forward)
    places = [place for place in (event_place, mark_place) if place is not None]
    if not places:
        return None
    return min(places) if forward else max(places)


def _event_test(timeline: Timeline, to: Landing) -> Callable[[Event], bool]:
    if to == "prompt":
        return lambda event: type(event) is Prompt and event.agent == MAIN
    if to == "failure":
        return lambda event: type(event) is ToolUse and event.outcome == "failure"
    asking = frozenset(timeline.settings.response.notices.asking)
    return lambda event: type(event) is ToolUse and (event.tool in asking or event.outcome == "rejected")


def _nearest_event(timeline: Timeline, here: int, forward: bool, fits: Callable[[Event], bool]) -> Place | None:
    events = timeline.events
    places = range(here + 1, len(events)) if forward else range(min(here, len(events)) - 1, -1, -1)
    return next((Place(place, events[place].agent) for place in places if fits(events[place])), None)


def _nearest_trouble(timeline: Timeline, here: int, forward: bool) -> Place | None:
    marks = timeline.marks
    rules = timeline.initial.rules or built_in()
    notifying = [method for method in rules.methods if method.mode == "notify"]
    warning_methods = {method.id for method in notifying if method.action.kind != "done"}
    step = marks.after if forward else marks.before
    while (mark := step(here, _KINDS)) is not None:
        here = mark.place
        if any(is_trouble(one, warning_methods) for one in marks.between(here, here + 1)):
            return Place(here, mark.agent)
    return None


def is_trouble(mark: Mark, warning_methods: set[str]) -> bool:
    """Return whether a mark is trouble; `warning_methods` warn the person of a risk."""
    if mark.kind == "signal":
        return mark.name in TROUBLED
    if mark.kind == "method":
        return mark.name in warning_methods
    return mark.kind == "halt" or (mark.kind == "quarantine" and mark.name == "enters")
