"""Claude's managed agents: the events of the API, exported one per line."""

from __future__ import annotations

from typing import Any

from core.agents.models import ENDED
from core.agents.reader import TranscriptReader, read_result
from core.agents.tables import known_words
from core.agents.values import amount, table, text, whole_number, words
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event
from core.logs.format import Format, Sample

_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
    "user.tool_result": "tool_use_id",
}
_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class ManagedReader(TranscriptReader):
    """A call's id is that of its event; the tokens of a request come when it ends, without a model's name."""

    name = "managed-agents"
    untold = ("model",)
    gaps = "cost per session"
    kinds = known_words("managed-agents")

    def setup(self) -> None:
        self._children: set[str] = set()
        self._denied: set[str] = set()
        self._cost: float | None = None

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        line = self.table(value, "event")
        event = table(line.get("raw")) or line
        kind = text(event.get("type"))
        at = event.get("processed_at") or line.get("time")
        self.moment(*([at] if at else [self.now] if self.now else []))
        if not self.begun:
            self.begin(self.now, text(event.get("session_id")))
        thread = text(event.get("session_thread_id"))
        agent = thread if thread in self._children else MAIN
        name = text(event.get("id"))
        if kind in _CALLS:
            self.call(name, text(event.get("name")), event.get("input"), self.now, agent=agent)
        elif kind in _RESULTS:
            called = text(event.get(_RESULTS[kind]))
            result = read_result(
                event.get("content"), error=event.get("is_error") is True, rejected=called in self._denied
            )
            self.result(called, self.now, result)
        elif kind == "session.usage":
            cents = amount(table(table(event.get("usage")).get("list_cost")).get("amount"))
            self._cost = cents / 100 if cents is not None else self._cost
        else:
            self._other(kind, name, event, agent)

    def _other(self, kind: str, name: str, event: dict[str, Any], agent: str) -> None:
        self.check_kind(kind)
        match kind:
            case "user.message" | "user.define_outcome":
                prompt_text = words(event.get("content")) or text(event.get("description"))
                self.add(self.prompt(self.now, prompt_text, self.here(), agent))
            case "user.interrupt":
                self.add(self.prompt(self.now, "", self.here(), agent, interrupt=True))
            case "user.tool_confirmation" if event.get("result") == "deny":
                self._denied.add(text(event.get("tool_use_id")))
            case "agent.message":
                self.answer(self.now, words(event.get("content")), message=name, agent=agent)
            case "span.model_request_end":
                usage = table(event.get("model_usage"))
                tokens: dict[str, Any] = {key: whole_number(usage.get(field)) for key, field in _TOKENS.items()}
                if any(tokens.values()):
                    self.answer(self.now, "", message=name, agent=agent, stop="total", **tokens)
            case "session.status_idle" | "session.thread_status_idle":
                stop = text(table(event.get("stop_reason")).get("type"))
                if kind.startswith("session.status") and stop == ENDED:
                    self.answer(self.now, "", message=name, stop=stop, cost=0.0)
                elif agent != MAIN:
                    self.add(AgentEnd(at=self.now, where=self.here(), child=agent))
            case "session.thread_created":
                child = text(event.get("session_thread_id"))
                self._children.add(child)
                role = text(event.get("agent_name"))
                self.add(AgentStart(at=self.now, where=self.here(), child=child, role=role))
            case "agent.thread_context_compacted":
                self.add(Compaction(at=self.now, agent=agent, where=self.here()))

    def finish(self) -> list[Event]:
        """The calls without a result, and what the session cost."""
        return [*super().finish(), *filter(None, [self.total("", self._cost) if self.begun else None])]


def _sniff(sample: Sample) -> int:
    kinds = [text((table(one.get("raw")) or one).get("type")) for one in sample.records[:8]]
    own = [one for one in kinds if one.startswith(("user.", "agent.", "session.", "span."))]
    ids = [text((table(one.get("raw")) or one).get("id")) for one in sample.records[:8]]
    return 95 if own and any(one.startswith("sevt_") for one in ids) else 0


FORMATS = (Format("managed-agents", "lines", _sniff, ManagedReader),)
