"""The threads that a Codex thread starts: when they begin, and how they end."""

from __future__ import annotations

from typing import Any

from core.agents.loose import decode, table, text, words
from core.events import AgentEnd, AgentStart, Event, Outcome, Where

_ENDED = frozenset(("completed", "errored", "failed", "shutdown", "interrupted"))
_FAILED = frozenset(("errored", "failed"))


class ChildThreads:
    """Each child begins once and ends once, however often the log tells it."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.states: dict[str, str] = {}
        """Of each child begun, `running` or how it ended."""
        self._closing: dict[str, str] = {}
        """Which child a call is about to close."""

    @property
    def closing(self) -> bool:
        """Whether a call that closes a child waits for its answer."""
        return bool(self._closing)

    def closes(self, call: str, arguments: Any) -> None:
        """A call is made that closes a child."""
        given = table(arguments)
        self._closing[call] = text(given.get("id")) or text(given.get("target"))

    def answered(self, call: str, tool: str, output: Any, well: bool, at: float, where: Where) -> list[Event]:
        """What the answer to a delegating call tells."""
        told = table(decode(words(output).encode("utf-8", "surrogatepass")))
        if tool == "spawn_agent" and well:
            return self.start(text(told.get("agent_id")) or text(told.get("thread_id")), "", at, where)
        if tool in ("wait_agent", "wait"):
            ends: list[Event] = []
            for child, status in table(told.get("status")).items():
                state = next(iter(status), "") if isinstance(status, dict) else text(status)
                ends += self.end(child, state, at, where)
            return ends
        if tool == "close_agent":
            return self.end(self._closing.pop(call, ""), "completed" if well else "", at, where)
        return []

    def activity(self, item: dict[str, Any], at: float, where: Where) -> list[Event]:
        """What newer logs tell of a child at once: that it started, and that it came to its end."""
        child, kind = text(item.get("agent_thread_id")), text(item.get("kind"))
        if kind == "started":
            return self.start(child, text(item.get("agent_path")).rpartition("/")[2], at, where)
        return self.end(child, kind, at, where)

    def start(self, child: str, role: str, at: float, where: Where) -> list[Event]:
        """A child begins."""
        if not child or child in self.states:
            return []
        self.states[child] = "running"
        return [AgentStart(at=at, agent=self._agent, where=where, child=child, role=role)]

    def end(self, child: str, state: str, at: float, where: Where) -> list[Event]:
        """A child is in a state, which may be its end."""
        if self.states.get(child) != "running" or state not in _ENDED:
            return []
        self.states[child] = state
        outcome: Outcome = "failure" if state in _FAILED else "success"
        return [AgentEnd(at=at, agent=self._agent, where=where, child=child, outcome=outcome)]
