"""Which events a transcript holds, and which of them a person wants to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.agents.words import Words
from core.events import Event, Prompt, ToolUse, Turn
from core.report.event_words import about, kind_of, outcome_of, tool_of, touches


class TranscriptFilter(NamedTuple):
    """Which entries are shown; what is empty lets all through."""

    failed: bool = False
    """Only calls that failed or were rejected."""
    prompts: bool = False
    """Only what the person and the agent say."""
    path: str = ""
    """This path and all below it."""
    tool: str = ""
    agent: str = ""
    text: str = ""
    """All of these letters, in the words of the log or in the names of the event."""


ALL = TranscriptFilter()


def is_entry(event: Event) -> bool:
    """Whether an event is part of the document: an answer without words is not."""
    return not isinstance(event, Turn) or event.said is not None


def fits(event: Event, wanted: TranscriptFilter) -> bool:
    """Whether a filter lets an entry through, its text left out."""
    if wanted.failed and outcome_of(event) not in ("failure", "rejected"):
        return False
    if wanted.prompts and not isinstance(event, Prompt | Turn):
        return False
    if wanted.agent and event.agent != wanted.agent:
        return False
    if wanted.tool and not (isinstance(event, ToolUse) and event.tool == wanted.tool):
        return False
    return not wanted.path or touches(event, wanted.path)


def holds(event: Event, words: Words, text: str) -> bool:
    """Whether an event's words or names hold all these letters, whatever their case."""
    spoken, path = about(event)
    targets = " ".join(event.targets) if isinstance(event, ToolUse) else path
    names = (event.agent, kind_of(event), tool_of(event), spoken, outcome_of(event), targets)
    letters = text.casefold()
    return any(letters in said.casefold() for said in (*words[:5], *names))


def entries(events: Sequence[Event], start: int, stop: int, wanted: TranscriptFilter) -> list[int]:
    """Places of the entries among these events that a filter lets through, its text left out."""
    return [place for place in range(start, stop) if is_entry(events[place]) and fits(events[place], wanted)]


def insert_in_order(places: list[int], place: int, events: Sequence[Event]) -> None:
    """Add a place to others as a person reads them: an agent's words before the calls that they announce.

    A turn is told once it is over, when its first calls may have been answered already.
    """
    event, row = events[place], len(places)
    if isinstance(event, Turn):
        while row and _announces(event, events[places[row - 1]]):
            row -= 1
    places.insert(row, place)


def _announces(turn: Turn, other: Event) -> bool:
    if not isinstance(other, ToolUse) or turn.agent != other.agent:
        return False
    words, call = turn.said, other.called or other.where
    return words is not None and call is not None and words.file == call.file and words.offset <= call.offset
