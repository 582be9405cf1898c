"""A session as a trace: `invoke_agent` spans, and in them `execute_tool` and `chat`, in GenAI names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from blake3 import blake3

from core.engine.engine import Step
from core.events import MAIN, AgentEnd, AgentStart, Event, SessionEnd, SessionStart, ToolUse, Turn
from core.export.privacy import Privacy
from core.timeline.marks import MarkKind, Marks

Attribute: TypeAlias = str | int | float | bool | tuple[str, ...]

_TOLD: frozenset[MarkKind] = frozenset(
    ("signal", "state", "regime", "halt", "compaction", "shift", "quarantine", "method", "prompt")
)
_PROVIDERS = {
    "claude-code": "anthropic",
    "codex": "openai",
    "gemini": "gcp.gemini",
    "gemini-cli": "gcp.gemini",
    "copilot": "github.copilot",
}
_MOST_EVENTS = 512
"""Span events kept for one agent's span; the oldest go first."""


class SpanEvent(NamedTuple):
    """Something that happened within a span."""

    at: float
    name: str
    attributes: dict[str, Attribute]


class Span(NamedTuple):
    """One finished span."""

    trace: str
    id: str
    parent: str
    name: str
    start: float
    end: float
    attributes: dict[str, Attribute]
    events: tuple[SpanEvent, ...] = ()
    error: str = ""
    """What kind of error it ended with; blank where it did not fail."""
    client: bool = False
    """A call to a remote service rather than work in the process."""


class _Agent:
    """The span of an agent at work."""

    __slots__ = ("cost", "end", "events", "failed", "id", "input", "name", "output", "parent", "start")

    def __init__(self, name: str, span: str, parent: str, start: float) -> None:
        self.name = name
        self.id = span
        self.parent = parent
        self.start = self.end = start
        self.input = self.output = 0
        self.cost: float | None = None
        self.failed = False
        self.events: list[SpanEvent] = []


class Tracer:
    """Makes spans of a session's events; equal events give equal ids, so sending again doubles nothing."""

    def __init__(self, session: str, tool: str = "", privacy: Privacy | None = None) -> None:
        self._privacy = privacy or Privacy()
        self._session = session
        self._tool = tool
        self._marks = Marks()
        self._place = 0
        self._agents: dict[str, _Agent] = {}
        self._model = ""
        self.trace = _id("trace", session, size=16)

    def take(self, event: Event, step: Step) -> Iterator[Span]:
        """The spans that an event completes."""
        place = self._place
        self._place += 1
        self._marks.step(place, event, step)
        agent = self._agent(event.agent, event.at)
        agent.start, agent.end = min(agent.start, event.at), max(agent.end, event.at)
        told = [
            SpanEvent(
                mark.at, f"nooscope.{mark.kind}", {f"nooscope.{mark.kind}": self._said(mark.kind, mark.name)}
            )
            for mark in self._marks.between(place, place + 1)
            if mark.kind in _TOLD
        ]
        if isinstance(event, ToolUse) and event.outcome != "pending":
            yield self._use(event, step, agent, place, tuple(told))
        else:
            agent.events += told
            del agent.events[:-_MOST_EVENTS]
        if isinstance(event, Turn):
            yield self._turn(event, agent, place)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            self._tool = event.tool or self._tool
            self._model = event.model or self._model
        elif isinstance(event, AgentStart):
            self._agent(event.child, event.at, agent.id)
        elif isinstance(event, AgentEnd) and event.child in self._agents:
            child = self._agents.pop(event.child)
            child.end = max(child.end, event.at)
            child.failed = event.outcome == "failure"
            yield self._closed(event.child, child)
        elif isinstance(event, SessionEnd) and event.agent == MAIN:
            yield from self.close()

    def close(self) -> Iterator[Span]:
        """The agents still at work, as far as they came."""
        for name in reversed(list(self._agents)):
            yield self._closed(name, self._agents[name])

    def _agent(self, name: str, at: float, parent: str = "") -> _Agent:
        found = self._agents.get(name)
        if found is None:
            above = parent or ("" if name == MAIN else self._agent(MAIN, at).id)
            found = self._agents[name] = _Agent(name, _id("agent", self._session, name), above, at)
        return found

    def _said(self, kind: MarkKind, name: str) -> str:
        return name if self._privacy.words or kind not in ("prompt", "compaction") else kind

    def _use(
        self, event: ToolUse, step: Step, agent: _Agent, place: int, told: tuple[SpanEvent, ...]
    ) -> Span:
        privacy = self._privacy
        tool = event.tool if privacy.words else event.action
        attributes: dict[str, Attribute] = {
            **self._common("execute_tool", event.agent),
            "gen_ai.tool.name": tool or event.action,
            "gen_ai.tool.type": "function",
            "nooscope.action": event.action,
            "nooscope.outcome": event.outcome,
            "nooscope.state": step.percept.state,
        }
        if event.id:
            attributes["gen_ai.tool.call.id"] = event.id if privacy.words else _id("call", event.id)
        if event.targets:
            attributes["nooscope.targets"] = tuple(privacy.path(target) for target in event.targets[:16])
        if event.purpose:
            attributes["nooscope.purpose"] = event.purpose
        if event.exit_code is not None:
            attributes["nooscope.exit_code"] = event.exit_code
        error = event.outcome if event.outcome in ("failure", "rejected") else ""
        start = event.at - max(0.0, event.duration or 0.0)
        span = _id("use", self._session, event.agent, event.id or str(place))
        name = f"execute_tool {tool or event.action}"
        return Span(self.trace, span, agent.id, name, start, event.at, attributes, told, error)

    def _turn(self, event: Turn, agent: _Agent, place: int) -> Span:
        privacy = self._privacy
        model = privacy.name(event.model)
        agent.input += event.input_tokens + event.cache_read + event.cache_write
        agent.output += event.output_tokens
        if event.cost is not None:
            agent.cost = (agent.cost or 0.0) + event.cost
        self._model = event.model or self._model
        attributes: dict[str, Attribute] = {
            **self._common("chat", event.agent),
            "gen_ai.usage.input_tokens": event.input_tokens + event.cache_read + event.cache_write,
            "gen_ai.usage.output_tokens": event.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": event.cache_read,
            "gen_ai.usage.cache_creation.input_tokens": event.cache_write,
            "nooscope.context_tokens": event.context_tokens,
        }
        if model:
            attributes |= {"gen_ai.request.model": model, "gen_ai.response.model": model}
        if event.stop and privacy.words:
            attributes["gen_ai.response.finish_reasons"] = (event.stop,)
        if event.cost is not None:
            attributes["nooscope.cost_usd"] = event.cost
        span = _id("turn", self._session, event.agent, event.id or str(place))
        name = f"chat {model}".rstrip()
        return Span(self.trace, span, agent.id, name, event.at, event.at, attributes, client=True)

    def _closed(self, name: str, agent: _Agent) -> Span:
        attributes = self._common("invoke_agent", name)
        attributes |= {
            "gen_ai.usage.input_tokens": agent.input,
            "gen_ai.usage.output_tokens": agent.output,
        }
        if model := self._privacy.name(self._model):
            attributes["gen_ai.request.model"] = model
        if agent.cost is not None:
            attributes["nooscope.cost_usd"] = agent.cost
        spoken = str(attributes["gen_ai.agent.name"])
        return Span(
            self.trace,
            agent.id,
            agent.parent,
            f"invoke_agent {spoken}",
            agent.start,
            agent.end,
            attributes,
            tuple(agent.events),
            "failure" if agent.failed else "",
        )

    def _common(self, operation: str, agent: str) -> dict[str, Attribute]:
        named = self._tool if agent == MAIN and self._tool else self._privacy.agent(agent)
        conversation = self._session if self._privacy.words else self.trace
        made: dict[str, Attribute] = {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": conversation,
            "gen_ai.agent.name": named,
            "gen_ai.agent.id": self._privacy.agent(agent),
        }
        if provider := _PROVIDERS.get(self._tool):
            made["gen_ai.provider.name"] = provider
        return made


def resource(tool: str, version: str) -> dict[str, Any]:
    """Who sends: the agent's program is the service, as backends group by it."""
    return {
        "service.name": tool or "agent",
        "telemetry.sdk.name": "nooscope",
        "telemetry.sdk.version": version,
    }


def _id(*parts: str, size: int = 8) -> str:
    """A span's or trace's id that only depends on what it stands for."""
    told = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake3(told).hexdigest(length=size)
