"""What failed in a session, how often, and what was done until the same thing worked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from core.events import Action, Event, ToolUse

# Actions that came to nothing where nothing comes back; others often go well without a word.
LOOKS: frozenset[Action] = frozenset(("search", "file_read", "memory_read"))

_OF_FILES: frozenset[Action] = frozenset(("file_edit", "file_read", "memory_read", "memory_write"))


class Trouble(NamedTuple):
    """The same thing failing, until it worked or to the end."""

    first: int  # Place of the first failure.
    last: int
    failures: int
    solved: int | None  # Place of the success that ended it.
    edits: tuple[str, ...]  # Files changed between the first failure and the success, in the order they came.
    in_vain: int  # How many of them had been changed when it failed last.


class _Open:
    __slots__ = ("edits", "failures", "first", "in_vain", "last")

    def __init__(self, place: int) -> None:
        self.first = self.last = place
        self.failures = 1
        self.in_vain = 0
        self.edits: dict[str, None] = {}

    def closed(self, solved: int | None) -> Trouble:
        return Trouble(self.first, self.last, self.failures, solved, tuple(self.edits), self.in_vain)


def troubles(events: Sequence[Event]) -> list[Trouble]:
    """All of them, the earliest first; an edit counts for every trouble of its agent that is open then."""
    running: dict[tuple[str, Hashable], _Open] = {}
    found: list[Trouble] = []
    for place, event in enumerate(events):
        if not isinstance(event, ToolUse):
            continue
        key = (event.agent, attempt_key(event))
        known = running.get(key)
        if event.outcome == "failure":
            if known is None:
                running[key] = _Open(place)
            else:
                known.failures += 1
                known.last = place
                known.in_vain = len(known.edits)
        elif event.outcome == "success" or (event.outcome == "empty" and event.action not in LOOKS):
            if event.action == "file_edit":
                for (agent, _), trouble in running.items():
                    if agent == event.agent:
                        trouble.edits.update(dict.fromkeys(event.targets))
            if known is not None:
                found.append(running.pop(key).closed(place))
    found += [trouble.closed(None) for trouble in running.values()]
    return sorted(found, key=lambda trouble: trouble.first)


def attempt_key(use: ToolUse) -> Hashable:
    """What makes two calls tries of one thing: a check or commit, one command, one file read or edited."""
    if use.purpose in ("test", "build", "commit"):
        return use.purpose, use.program
    if use.action == "shell_exec":
        return "command", use.shape or use.call
    return use.action if use.action in _OF_FILES and use.targets else use.tool, use.targets or use.shape
