"""Claude's managed agents: the events of the API, exported one per line."""

from __future__ import annotations

from typing import Any

from core.agents.models import ENDED
from core.agents.reader import TranscriptReader, read_result
from core.agents.tables import known_pairs, known_words
from core.agents.values import amount, table, text, token_counts, words
from core.events import MAIN, Event
from core.logs.format import Format, Sample

_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = known_pairs("managed-results")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


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
            self.begin(event.get("session_id"))
        thread = text(event.get("session_thread_id"))
        agent = thread if thread in self._children else MAIN
        name = text(event.get("id"))
        if kind in _CALLS:
            self.call(name, text(event.get("name")), event.get("input"), agent=agent)
        elif kind in _RESULTS:
            called, failed = text(event.get(_RESULTS[kind])), event.get("is_error") is True
            self.result(called, read_result(event.get("content"), error=failed, rejected=called in self._denied))
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
                self.add(self.prompt(prompt_text, agent=agent))
            case "user.interrupt":
                self.add(self.prompt("", agent=agent, interrupt=True))
            case "user.tool_confirmation" if event.get("result") == "deny":
                self._denied.add(text(event.get("tool_use_id")))
            case "agent.message":
                self.answer(words(event.get("content")), message=name, agent=agent)
            case "span.model_request_end":
                usage = table(event.get("model_usage"))
                tokens = token_counts(usage, *_TOKENS)
                if any(tokens):
                    self.answer("", message=name, agent=agent, stop="total", tokens=tokens)
            case "session.status_idle" | "session.thread_status_idle":
                stop = text(table(event.get("stop_reason")).get("type"))
                if kind.startswith("session.status") and stop == ENDED:
                    self.answer("", message=name, stop=stop, cost=0.0)
                elif agent != MAIN:
                    self.child_ended(agent, agent=MAIN)
            case "session.thread_created":
                child = text(event.get("session_thread_id"))
                self._children.add(child)
                self.child_started(child, text(event.get("agent_name")))
            case "agent.thread_context_compacted":
                self.add(self.compaction(agent))

    def finish(self) -> list[Event]:
        """The calls without a result, and what the session cost."""
        return [*super().finish(), *filter(None, [self.total("", self._cost) if self.begun else None])]


def _sniff(sample: Sample) -> int:
    kinds = [text((table(one.get("raw")) or one).get("type")) for one in sample.records[:8]]
    own = [one for one in kinds if one.startswith(("user.", "agent.", "session.", "span."))]
    ids = [text((table(one.get("raw")) or one).get("id")) for one in sample.records[:8]]
    return 95 if own and any(one.startswith("sevt_") for one in ids) else 0


FORMATS = (Format("managed-agents", "lines", _sniff, ManagedReader),)
