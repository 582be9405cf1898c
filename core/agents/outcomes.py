"""One set of rules for how a tool use ended."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.agents.tables import Lists
from core.events import Action, Outcome

_HEAD = 300
"""How much of an error is searched for a refusal."""
_SHORT = 400
"""A longer text found something, whatever it begins with."""
_EXIT = re.compile(
    r"\A\s*(?:Error:\s*)?(?:Exit code:?|Process exited with code|Command failed with exit code"
    r"|Exit Code:)\s*(-?\d{1,10})\b",
    re.IGNORECASE,
)
_SILENT: frozenset[Action] = frozenset(("file_edit", "memory_write", "plan"))
"""Nothing is expected to come back from these."""


class Result(NamedTuple):
    """What a log says of a call's end: facts, no verdict."""

    text: str = ""
    """The result's text, or its beginning where it is huge."""
    error: bool = False
    """The log's own error flag."""
    exit_code: int | None = None
    rejected: bool = False
    """By the person or a policy."""
    collateral: bool = False
    """It failed only because a call beside it failed."""
    empty: bool | None = None
    """Nothing was found; None where the log does not say it outright."""
    running: bool = False
    """It still runs; more will follow."""
    duration: float | None = None
    size: int | None = None
    """Characters, where the text is only the beginning."""


class Outcomes:
    """Judges results by flags first, then by phrases."""

    __slots__ = ("_collateral", "_empty", "_rejected")

    def __init__(self, lists: Lists) -> None:
        self._rejected = tuple(phrase.lower() for phrase in lists["rejected"])
        self._collateral = tuple(phrase.lower() for phrase in lists["collateral"])
        self._empty = tuple(phrase.lower() for phrase in lists["empty"])

    def judge(self, action: Action, result: Result) -> Outcome:
        """How a call ended."""
        if result.rejected:
            return "rejected"
        if result.collateral:
            return "collateral"
        if result.running:
            return "pending"
        if result.error or result.exit_code:
            return self._failed(action, result)
        if result.empty is not None:
            return "empty" if result.empty else "success"
        if action not in _SILENT and self._nothing(result.text):
            return "empty"
        return "success"

    def _failed(self, action: Action, result: Result) -> Outcome:
        if result.error and result.exit_code is None:
            head = result.text[:_HEAD].lower()
            if any(phrase in head for phrase in self._collateral):
                return "collateral"
            if any(phrase in head for phrase in self._rejected):
                return "rejected"
        if (
            action == "search"
            and (result.exit_code == 1 or not result.exit_code)
            and self._nothing(result.text)
        ):
            return "empty"
        return "failure"

    def _nothing(self, text: str) -> bool:
        if len(text) > _SHORT:
            return not text or text.isspace()
        text = text.strip().lower()
        return not text or text.startswith(self._empty)


def exit_code(text: str) -> int | None:
    """The exit code a result begins with, where it does."""
    found = _EXIT.match(text)
    return int(found.group(1)) if found else None
