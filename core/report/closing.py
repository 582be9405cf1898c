"""What an agent's last event leaves behind: a prompt to answer, a call, an answer, the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.events import MAIN, Event, Prompt, SessionEnd, ToolUse, Turn

Close = Literal["", "asked", "tool", "said", "done", "failed", "stopped", "ended"]
"""What the main agent's last event leaves behind: `said` is an answer that tells no reason for its end."""

_FAILED = frozenset(("error", "failed"))
"""Words with which logs say that an error ended a turn."""
_TOTALS = frozenset(("total", "shutdown"))
"""Turns that only tell what a session spent as a whole, and are not answers."""


def closing(event: Event, final: frozenset[str]) -> Close:
    """What a main agent's event leaves behind; empty where it changes nothing."""
    kind = type(event)
    if kind is ToolUse:
        return "tool"
    if kind is Turn:
        stop = event.stop  # type: ignore[union-attr]
        if stop in _TOTALS:
            return ""
        return "done" if stop in final else "failed" if stop in _FAILED else "tool" if stop else "said"
    if kind is Prompt:
        return "stopped" if event.interrupt else "asked"  # type: ignore[union-attr]
    return "ended" if kind is SessionEnd else ""


def was_left_open(event: Event, closed: float) -> bool:
    """Whether this is a call without an answer that the end of a log brings, after the agent had gone on."""
    return type(event) is ToolUse and event.outcome == "pending" and event.at < closed


def begins_turn(before: Close, close: Close) -> bool:
    """Whether the main agent is set to work by an event that leaves `close` behind."""
    return close == "asked" or (close in ("tool", "said") and before in ("", "done", "stopped", "failed"))


def last_close(events: Sequence[Event], final: frozenset[str]) -> Close:
    """What the main agent's events leave behind; calls the end of a log brings late change nothing."""
    left: Close = ""
    at = 0.0
    for event in reversed(events):
        close = closing(event, final) if event.agent == MAIN else ""
        if close and (not left or event.at > at):
            left, at = close, event.at
        if close and not (isinstance(event, ToolUse) and event.outcome == "pending"):
            break
    return left
