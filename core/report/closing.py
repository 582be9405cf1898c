"""What an agent's last event leaves behind: a prompt to answer, a call, an answer, the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf
from typing import Literal, NamedTuple

from core.events import MAIN, Event, Prompt, SessionEnd, ToolUse, Turn

Close = Literal["", "asked", "tool", "retry", "said", "done", "failed", "stopped", "ended"]
"""The state in which the main agent's last event leaves the session.

`said` is an answer without a reason for its end; `retry` is an error after which the agent tries again.
"""

_FAILED = frozenset(("error", "failed", "refusal", "content_filter"))
"""Words with which logs say that an error or a refusal ended a turn."""
_CUT = frozenset(("max_tokens", "length"))
"""Words with which logs say that an answer was cut off, which tell nothing of what comes next."""
_TOTALS = frozenset(("total", "shutdown"))
"""Stop reasons of turns that only contain what a session spent as a whole."""
_FINISHING = frozenset(("finish", "submit", "attempt_completion", "task_complete", "mark_task_complete"))
"""Tools with which an agent reports that its task is complete."""
GOODBYE = 5.0
"""Seconds in which what is still written after a session's end belongs to its end."""
_MOST = 64
"""Events that are looked at, calls without an answer aside: an earlier one may count more than those told
after it, as all the calls that the end of a log brings are."""


class LastWord(NamedTuple):
    """How the main agent was left, and when and by which event."""

    close: Close
    at: float
    event: Event | None
    before_end: Close = ""
    """How it was left when the session ended."""
    open: tuple[ToolUse, ...] = ()
    """Its calls that the log leaves without an answer and no later prompt left behind, the oldest first."""

    def asks(self, asking: Collection[str]) -> ToolUse | None:
        """The call that waits for the person's answer, where one does; `asking` names such tools."""
        if self.close == "ended":
            return None
        return next((call for call in self.open if call.tool in asking), None)


NO_WORD = LastWord("", 0.0, None)


def closing(event: Event, final: frozenset[str]) -> Close:
    """What a main agent's event leaves behind; empty where it changes nothing."""
    kind = type(event)
    if kind is ToolUse:
        return "done" if finishes(event) else "tool"
    if kind is Turn:
        stop = event.stop  # type: ignore[union-attr]
        if stop in _TOTALS:
            return ""
        if stop in final:
            return "done"
        if stop == "retry":
            return "retry"
        return "failed" if stop in _FAILED else "said" if not stop or stop in _CUT else "tool"
    if kind is Prompt:
        return "stopped" if event.interrupt else "asked"  # type: ignore[union-attr]
    return "ended" if kind is SessionEnd else ""


def finishes(event: Event) -> bool:
    """Whether an event is a call with which the agent reports that its task is complete."""
    return (
        type(event) is ToolUse and event.tool in _FINISHING and event.outcome not in ("failure", "rejected")
    )


def next_close(event: Event, before: Close, closed: float, final: frozenset[str]) -> Close:
    """What an event leaves behind after what the one before did; empty where it changes nothing.

    A call without an answer that the end of a log brings is older than what the agent did since, and so is a
    turn that is told after the calls it made were answered. What is tidied up right after a session's end
    belongs to it.
    """
    close = closing(event, final)
    if before == "ended" and close in ("tool", "said", "done") and event.at - closed <= GOODBYE:
        return ""
    if event.at >= closed:
        return close
    if type(event) is ToolUse and event.outcome == "pending":
        return ""
    return "" if type(event) is Turn and before == "tool" and close in ("said", "tool") else close


def begins_turn(before: Close, close: Close) -> bool:
    """Whether the main agent is set to work by an event that leaves `close` behind."""
    return close == "asked" or (
        close in ("tool", "retry", "said") and before in ("", "done", "stopped", "failed")
    )


def last_word(backwards: Iterable[Event], final: frozenset[str]) -> LastWord:
    """What the main agent's last events leave behind, given from the last one back."""
    told: list[Event] = []
    open_: list[ToolUse] = []
    answered = 0
    at_end = True
    prompted: float | None = None
    for event in backwards:
        if event.agent != MAIN:
            continue
        close = closing(event, final)
        if close:
            told.append(event)
        if type(event) is ToolUse and event.outcome == "pending":
            open_ += [event] if at_end else []
            continue
        at_end = False
        answered += close != ""
        if type(event) is Prompt and prompted is None:
            prompted = event.at
        if answered >= _MOST and (prompted is not None or not open_):
            break
    left = NO_WORD
    for event in reversed(told):
        close = next_close(event, left.close, left.at, final)
        if close:
            before = left.before_end if left.close == "ended" else left.close
            left = LastWord(close, event.at, event, before if close == "ended" else "")
    since = -inf if left.close == "asked" or prompted is None else prompted
    waiting = sorted((call for call in open_ if call.at >= since), key=lambda call: call.at)
    return left._replace(open=tuple(waiting))
