"""The words of what a session needs the person for: the question, the plan, the call, the error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from msgspec.structs import replace

from core.agents.words import NOTHING, WordReader
from core.events import Event, ToolUse, Turn
from core.live.status import QUICK_ACTIONS, Status
from core.report.event_words import tool_words
from core.report.now import Now, first_row


class NeedReader:
    """Reads them from the log once for each need; nothing is read while nobody is needed."""

    __slots__ = ("_known", "last_turn")

    def __init__(self) -> None:
        self.last_turn: Turn | None = None
        """The main agent's last answer."""
        self._known: tuple[tuple[str, float | None], str] | None = None

    def words(
        self,
        status: Status,
        logs: Sequence[Path],
        held: Callable[[], Sequence[Event]],
        asking: Collection[str],
    ) -> str:
        """In one line, redacted; blank where nobody is needed or the log does not tell."""
        if not status.need or status.words:
            return status.words
        key = status.need, status.since
        if self._known is None or self._known[0] != key:
            event = self.last_turn if status.need == "error" else _needing(status, held(), asking)
            words = NOTHING if event is None else WordReader(logs).words(event)
            self._known = key, first_row(words.said or words.command)
        return self._known[1]


def with_now(status: Status, now: Now) -> Status:
    """A status of a recording with the words of its need, where what is going on there is that need."""
    if status.words:
        return status
    if status.need == "error":
        return replace(status, words=now.said)
    same = bool(status.need) and tool_words(status.tool) == now.tool
    return replace(status, words=first_row(now.doing)) if same else status


def _needing(status: Status, held: Sequence[Event], asking: Collection[str]) -> ToolUse | None:
    """The oldest call without an answer that needs the person."""
    asks = status.need in ("question", "plan")
    calls = [one for one in held if isinstance(one, ToolUse) and one.outcome == "pending"]
    fitting = [one for one in calls if (one.tool in asking if asks else one.action in QUICK_ACTIONS)]
    return min(fitting, key=lambda one: one.at, default=None)
