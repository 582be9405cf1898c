"""Event logs of the Copilot CLI."""

from __future__ import annotations

import re
from typing import Any

from msgspec import structs

from core.events import AgentEnd, AgentStart, Compaction, Event, Outcome, SessionEnd
from core.ingest.calls import Result
from core.ingest.format import Format, Sample
from core.ingest.loose import LooseReader, count, kept, table, text, words

_EXIT = re.compile(r"<exited with exit code (-?\d{1,9})>\s*\Z")
_RUNNING = re.compile(r"<command with (?:shell|session)Id: \S+ is still running", re.IGNORECASE)
_DENIED = frozenset(("rejected", "denied", "cancelled", "canceled"))
_KINDS = frozenset(("session", "user", "assistant", "tool", "subagent", "system", "hook", "permission"))


class CopilotReader(LooseReader):
    """Events name the sub-agent they belong to by its id, or in older versions by the call that started it."""

    name = "copilot-cli"

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._agents: dict[str, str] = {}
        self._callers: dict[str, str] = {}
        self._model = ""
        self._output: dict[str, int] = {}

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one record."""
        record = self.table(value, "record")
        kind = text(record.get("type"))
        read = _READERS.get(kind)
        if read is None:
            if not kind:
                self.note("no type")
            return
        data = self.table(record.get("data"), "data")
        at = self.moment(record.get("timestamp"))
        read(self, record, data, at, out)

    def _agent(self, record: dict[str, Any], data: dict[str, Any]) -> str:
        for name in (record.get("agentId"), data.get("parentToolCallId")):
            if isinstance(name, str) and name in self._agents:
                return self._agents[name]
        return self.agent

    def _close(self, agent: str, out: list[Event]) -> None:
        turn = self.usage.close(agent)
        if turn is not None:
            self._output[turn.model] = self._output.get(turn.model, 0) + turn.output_tokens
            out.append(turn)

    def _start(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        context = table(data.get("context"))
        self._model = text(data.get("selectedModel")) or self._model
        if self.begun:
            return
        out.append(
            self.start(
                at,
                text(data.get("sessionId")),
                project=text(context.get("cwd")),
                branch=text(context.get("branch")),
                version=text(data.get("copilotVersion")),
                model=self._model,
            )
        )

    def _changed(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        self._model = text(data.get("newModel")) or self._model

    def _said(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        said = text(data.get("content"))
        own = data.get("isAutopilotContinuation") is True or "agentId" in record
        if said.strip() and not own and data.get("source") in (None, "", "user"):
            self._close(self.agent, out)
            out.append(self.prompt(at, said, self.here()))

    def _answered(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        turn = self.kit.models.turn(
            at,
            message=text(data.get("messageId")),
            model=text(data.get("model")) or self._model,
            output_tokens=count(data.get("outputTokens")),
            agent=self._agent(record, data),
            where=self.here(),
        )
        before = self.usage.see(turn)
        if before is not None:
            self._output[before.model] = self._output.get(before.model, 0) + before.output_tokens
            out.append(before)

    def _turned(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        self._close(self._agent(record, data), out)

    def _called(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        agent = self._agent(record, data)
        self._close(agent, out)
        name = text(data.get("toolCallId")) or f"line-{self._line}"
        self._callers[name] = agent
        self.calls.begin(name, text(data.get("toolName")), data.get("arguments"), at, agent, self.here())

    def _returned(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        failed = table(data.get("error"))
        told = words(data.get("result")) or words(data.get("error"))
        exited = _EXIT.search(told[-100:])
        result = Result(
            text=told[: -len(exited.group(0))] if exited else told,
            error=data.get("success") is False or bool(failed),
            exit_code=int(exited.group(1)) if exited else None,
            rejected=text(failed.get("code")).lower() in _DENIED,
            running=bool(_RUNNING.search(told[-300:])),
        )
        name = text(data.get("toolCallId"))
        kept(self.calls.end(name, at, result, self.here(), line=self._line), out)

    def _spawned(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        call = text(data.get("toolCallId"))
        child = text(record.get("agentId")) or call
        if not child or child in self._agents:
            return
        self._agents[child] = child
        self._agents.setdefault(call, child)
        parent = self._callers.get(call, self.agent)
        role = text(data.get("agentName"))
        out.append(AgentStart(at=at, agent=parent, where=self.here(), child=child, role=role))

    def _reported(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        call = text(data.get("toolCallId"))
        child = self._agents.get(text(record.get("agentId"))) or self._agents.get(call)
        if child is None:
            self.note("report of an unknown sub-agent")
            return
        self._close(child, out)
        outcome: Outcome = "failure" if record.get("type") == "subagent.failed" else "success"
        lasted = count(data.get("durationMs"))
        out.append(
            AgentEnd(
                at=at,
                agent=self._callers.get(call, self.agent),
                where=self.here(),
                child=child,
                outcome="rejected" if data.get("cancelled") is True else outcome,
                tokens=count(data.get("totalTokens")),
                tool_uses=count(data.get("totalToolCalls")),
                duration=lasted / 1000 if lasted else None,
            )
        )

    def _compacted(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        if data.get("success") is False:
            return
        trigger = text(data.get("trigger"))
        out.append(
            Compaction(
                at=at,
                agent=self._agent(record, data),
                where=self.here(),
                trigger="manual" if trigger == "manual" else "auto" if trigger else "",
                tokens_before=count(data.get("preCompactionTokens")),
                tokens_after=count(data.get("postCompactionTokens")),
            )
        )

    def _aborted(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        reason = text(data.get("reason")).lower()
        if not reason or "user" in reason:
            out.append(self.prompt(at, "", self.here(), self._agent(record, data), interrupt=True))

    def _ended(self, record: dict[str, Any], data: dict[str, Any], at: float, out: list[Event]) -> None:
        """The log tells what was sent only here, for all answers at once."""
        for agent in (self.agent, *self._agents.values()):
            self._close(agent, out)
        current = text(data.get("currentModel"))
        for model, metrics in self.table(data.get("modelMetrics"), "modelMetrics").items():
            usage = table(table(metrics).get("usage"))
            read, written = count(usage.get("cacheReadTokens")), count(usage.get("cacheWriteTokens"))
            turn = self.kit.models.turn(
                at,
                message=f"{text(record.get('id'))}:{model}",
                model=model,
                input_tokens=max(0, count(usage.get("inputTokens")) - read - written),
                output_tokens=max(0, count(usage.get("outputTokens")) - self._output.get(model, 0)),
                cache_read=read,
                cache_write=written,
                agent=self.agent,
                where=self.here(),
                stop="shutdown",
            )
            held = count(data.get("currentTokens")) if model == current else 0
            window = self.kit.models.window(model, held)
            out.append(structs.replace(turn, context_tokens=held, context_window=window))
        self._output.clear()
        out.append(
            SessionEnd(at=at, agent=self.agent, where=self.here(), reason=text(data.get("shutdownType")))
        )


_READERS = {
    "session.start": CopilotReader._start,
    "session.resume": CopilotReader._start,
    "session.model_change": CopilotReader._changed,
    "user.message": CopilotReader._said,
    "assistant.message": CopilotReader._answered,
    "assistant.turn_end": CopilotReader._turned,
    "tool.execution_start": CopilotReader._called,
    "tool.execution_complete": CopilotReader._returned,
    "subagent.started": CopilotReader._spawned,
    "subagent.completed": CopilotReader._reported,
    "subagent.failed": CopilotReader._reported,
    "session.compaction_complete": CopilotReader._compacted,
    "abort": CopilotReader._aborted,
    "session.shutdown": CopilotReader._ended,
}


def sniff(sample: Sample) -> int:
    """Dotted types with their content under data."""
    entries = sample.records[:8]
    if entries and table(entries[0].get("data")).get("producer") == "copilot-agent":
        return 98
    named = [
        entry
        for entry in entries
        if isinstance(entry.get("data"), dict) and text(entry.get("type")).partition(".")[0] in _KINDS
    ]
    return 85 if named and len(named) == len(entries) and "parentId" in named[0] else 0


FORMATS = (Format("copilot-cli", "lines", sniff, CopilotReader),)
