"""Sessions of the older Kimi CLI: what the program and its screen said to each other."""

from __future__ import annotations

from typing import Any

from core.agents.attachments import attached_to
from core.agents.calls import Result, agent_report
from core.agents.kimi.places import session_of
from core.agents.lexicon import joined_words
from core.agents.loose import LooseReader, decode, items, table, text, whole_number, words
from core.agents.outcomes import exit_code
from core.events import AgentStart, Compaction, Event, ToolUse, Turn, Where
from core.logs.format import Format, Sample

_KINDS = frozenset(
    ("TurnBegin", "StepBegin", "ContentPart", "ToolCall", "ToolResult", "StatusUpdate", "SubagentEvent")
)
_NO_COUNT = frozenset(("TurnBegin", "TurnEnd", "StepBegin", "StepInterrupted"))
"""Messages after which nothing counts any more what an answer before them took."""
_DEEPEST = 8


class KimiWireReader(LooseReader):
    """What a sub-agent does stands in the log of its parent, wrapped."""

    name = "kimi"
    untold = ("model", "cost")

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._children: dict[str, list[str]] = {}
        self._parents: dict[str, str] = {}
        self._over: dict[str, ToolUse] = {}
        self._compacting: dict[str, int] = {}
        self._context: dict[str, int] = {}
        self._said: dict[str, tuple[str, float, Where]] = {}
        """What each agent said since its last answer was counted, and when and where it last did."""

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one line."""
        line = self.table(value, "line")
        if line.get("type") == "metadata":
            return
        message = self.table(line.get("message"), "message")
        at = self.moment(line.get("timestamp"))
        if not self.begun:
            out.append(self.start(at, session_of(self.here().file, self.session)))
        self._message(message, self.agent, at, out)

    def finish(self) -> list[Event]:
        """Words that nothing has counted, and the calls that never got a result."""
        return [*map(self._uncounted, self._said), *super().finish()]

    def held(self) -> list[Event]:
        """The same, for a log that still grows."""
        return [*map(self._uncounted, self._said), *super().held()]

    def _message(
        self, message: dict[str, Any], agent: str, at: float, out: list[Event], depth: int = 0
    ) -> None:
        payload = self.table(message.get("payload"), "payload")
        if text(message.get("type")) in _NO_COUNT and agent in self._said:
            out.append(self._uncounted(agent))
            del self._said[agent]
        match message.get("type"):
            case "TurnBegin" | "SteerInput":
                given = payload.get("user_input")
                said = words(given) or attached_to(items(given))
                if said.strip() and agent == self.agent:
                    out.append(self.prompt(at, said, self.here()))
            case "StepInterrupted":
                out.append(self.prompt(at, "", self.here(), agent, interrupt=True))
            case "ContentPart" if said := text(payload.get("text")):
                so_far = self._said[agent][0] if agent in self._said else ""
                self._said[agent] = joined_words(so_far, said), at, self.here()
            case "ToolCall":
                self._called(payload, agent, at)
            case "ToolResult":
                self._answered(payload, at, out)
            case "StatusUpdate":
                self._used(payload, agent, at, out)
            case "CompactionBegin":
                self._compacting[agent] = self._context.get(agent, 0)
            case "CompactionEnd":
                before = self._compacting.pop(agent, self._context.get(agent, 0))
                out.append(Compaction(at=at, agent=agent, where=self.here(), tokens_before=before))
            case "SubagentEvent" if depth < _DEEPEST:
                child = self._child(payload, agent, at, out)
                self._message(self.table(payload.get("event"), "event"), child, at, out, depth + 1)

    def _uncounted(self, agent: str) -> Turn:
        """The answer that an agent's last words are, where its tokens are not told."""
        said, at, where = self._said[agent]
        name = f"words-{where.offset}"
        return self.kit.models.turn(at, message=name, model="", agent=agent, where=where, said=said)

    def _child(self, payload: dict[str, Any], agent: str, at: float, out: list[Event]) -> str:
        call = text(payload.get("parent_tool_call_id")) or text(payload.get("task_tool_call_id"))
        child = text(payload.get("agent_id")) or call or "sub-agent"
        if child not in self._parents:
            self._parents[child] = agent
            self._children.setdefault(call, []).append(child)
            role = text(payload.get("subagent_type"))
            out.append(AgentStart(at=at, agent=agent, where=self.here(), child=child, role=role))
            if call in self._over:
                self._report(self._over[call], out)
        return child

    def _called(self, payload: dict[str, Any], agent: str, at: float) -> None:
        function = self.table(payload.get("function"), "function")
        given = function.get("arguments")
        if isinstance(given, str):
            decoded = decode(given.encode("utf-8", "surrogatepass"))
            given = given if decoded is None else decoded
        name = text(payload.get("id")) or f"line-{self._line}"
        self.calls.begin(name, text(function.get("name")), given, at, agent, self.here())

    def _answered(self, payload: dict[str, Any], at: float, out: list[Event]) -> None:
        name = text(payload.get("tool_call_id"))
        told = table(payload.get("return_value")) or table(payload.get("result"))
        said = words(told.get("output")) or words(told.get("message"))
        exited = exit_code(text(told.get("message"))) or exit_code(said)
        result = Result(text=said, error=told.get("is_error") is True, exit_code=exited)
        use = self.calls.end(name, at, result, self.here(), line=self._line)
        if use is not None:
            self.joined(use, out)

    def joined(self, use: ToolUse, out: list[Event]) -> None:
        """A call is over, and the sub-agents it started are too."""
        out.append(use)
        if use.action == "delegation":
            self._over[use.id] = use
        self._report(use, out)

    def _report(self, use: ToolUse, out: list[Event]) -> None:
        out += [agent_report(use, child, self._parents[child]) for child in self._children.pop(use.id, [])]

    def _used(self, payload: dict[str, Any], agent: str, at: float, out: list[Event]) -> None:
        usage = self.table(payload.get("token_usage"), "token_usage")
        if not usage:
            return
        said, _, said_at = self._said.pop(agent, ("", at, None))
        turn = self.kit.models.turn(
            at,
            message=text(payload.get("message_id")) or f"line-{self._line}",
            model="",
            input_tokens=whole_number(usage.get("input_other")),
            output_tokens=whole_number(usage.get("output")),
            cache_read=whole_number(usage.get("input_cache_read")),
            cache_write=whole_number(usage.get("input_cache_creation")),
            window=whole_number(payload.get("max_context_tokens")),
            agent=agent,
            where=self.here(),
            said=said,
            said_at=said_at,
        )
        told = self.usage.once(turn)
        if told is not None:
            self._context[agent] = told.context_tokens
            out.append(told)


def _sniff(sample: Sample) -> int:
    """Messages of its own kinds, each in a line with its time."""
    kinds = [
        text(table(record.get("message")).get("type"))
        for record in sample.records[:16]
        if "timestamp" in record and "payload" in table(record.get("message"))
    ]
    if any(kind in _KINDS for kind in kinds):
        return 95
    first = sample.records[0] if sample.records else {}
    return 45 if first.get("type") == "metadata" and "protocol_version" in first else 0


FORMATS = (Format("kimi", "lines", _sniff, KimiWireReader, title="Kimi CLI"),)
