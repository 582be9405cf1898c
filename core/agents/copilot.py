"""GitHub Copilot CLI's event log."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from msgspec import structs

from core.agents.calls import Result, cut_exit, split_advice
from core.agents.models import CALLING, ENDED, failed_turn
from core.agents.reader import TranscriptReader
from core.agents.tables import known_words
from core.agents.values import attached_to, items, table, text, token_counts, whole_number, without_cached, words
from core.events import Event, SessionEnd, Where
from core.logs.format import Format, Sample
from core.logs.links import Envelope, Link, LinkReader, as_text, turn
from core.logs.records import Record


class CopilotLinks(LinkReader):
    """Events name their parents; only messages continue the conversation."""

    def follow(self, envelope: Envelope, record: Record) -> Link:
        """The link of one event."""
        name = as_text(envelope.id)
        kind, message = turn(envelope)
        if not name:
            return self.aside(record, kind)
        is_main = kind in ("start", "prompt", "answer", "compaction")
        return self.link(
            record, name, as_text(envelope.parent_id) or None, kind, "main" if is_main else "beside", message
        )


# How a command's output ends, in older and newer versions.
COPILOT_EXIT = re.compile(r"<(?:exited|shellId: \S{1,40} completed) with exit code (-?\d{1,9})>\s*\Z")
_RUNNING = re.compile(r"<command with (?:shell|session)Id: \S+ is still running", re.IGNORECASE)
_HELD = 256  # Reports that came before their sub-agents, kept at once.
_DENIED = frozenset(("rejected", "denied", "cancelled", "canceled"))
_KINDS = frozenset(("session", "user", "assistant", "tool", "subagent", "system", "hook", "permission"))


class _Entry(NamedTuple):
    record: dict[str, Any]
    data: dict[str, Any]
    at: float


class CopilotReader(TranscriptReader):
    """Events name the sub-agent they belong to, or in older versions the call that started it."""

    name = "copilot-cli"
    untold = ("cost",)
    gaps = "only the tokens written per answer; the rest once the session is closed"
    kinds = known_words("copilot-cli")

    def setup(self) -> None:
        self._agents: dict[str, str] = {}
        self._callers: dict[str, str] = {}
        self._output: dict[str, int] = {}
        self._reports: dict[str, tuple[_Entry, Where, int]] = {}

    def finish(self) -> list[Event]:
        """Return what the log leaves open, and count reports of unknown sub-agents."""
        for _, where, line in self._reports.values():
            self.kit.diagnostics.note(where.file, line, "report of an unknown sub-agent")
        self._reports.clear()
        return super().finish()

    def read(self, value: Any) -> None:
        """Add the events of one record."""
        record = self.table(value, "record")
        kind = text(record.get("type"))
        read = _READERS.get(kind)
        if read is None:
            if kind:
                self.check_kind(kind)
            else:
                self.note("no type")
            return
        data = self.table(record.get("data"), "data")
        read(self, _Entry(record, data, self.moment(record.get("timestamp"))))

    def _agent(self, entry: _Entry) -> str:
        names = (entry.record.get("agentId"), entry.data.get("parentToolCallId"))
        agents = [self._agents[name] for name in names if isinstance(name, str) and name in self._agents]
        return next(iter(agents), self.agent)

    def _close(self, agent: str) -> None:
        turn = self.usage.close(agent)
        if turn is not None:
            self._output[turn.model] = self._output.get(turn.model, 0) + turn.output_tokens
            self.add(turn)

    def _read_begin(self, entry: _Entry) -> None:
        context = table(entry.data.get("context"))
        self.model = text(entry.data.get("selectedModel")) or self.model
        if self.begun:
            return
        project, branch, version = context.get("cwd"), context.get("branch"), entry.data.get("copilotVersion")
        self.begin(entry.data.get("sessionId"), project=project, branch=branch, version=version)

    def _read_model(self, entry: _Entry) -> None:
        self.model = text(entry.data.get("newModel")) or self.model

    def _read_prompt(self, entry: _Entry) -> None:
        prompt_text = text(entry.data.get("content")) or attached_to(items(entry.data.get("attachments")))
        own = entry.data.get("isAutopilotContinuation") is True or "agentId" in entry.record
        if prompt_text.strip() and not own and entry.data.get("source") in (None, "", "user"):
            self._close(self.agent)
            self.add(self.prompt(prompt_text))

    def _add_answer(self, entry: _Entry) -> None:
        answer_text = text(entry.data.get("content")) or attached_to(items(entry.data.get("attachments")))
        requests = entry.data.get("toolRequests")
        turn = self.turn(
            answer_text,
            tokens=without_cached(0, whole_number(entry.data.get("outputTokens"))),
            message=text(entry.data.get("messageId")),
            model=entry.data.get("model"),
            agent=self._agent(entry),
            stop=CALLING if requests else ENDED if answer_text.strip() and requests == [] else "",
        )
        before = self.usage.update(structs.replace(turn, cost=None))
        if before is not None:
            self._output[before.model] = self._output.get(before.model, 0) + before.output_tokens
            self.add(before)

    def _end_turn(self, entry: _Entry) -> None:
        self._close(self._agent(entry))

    def _read_call(self, entry: _Entry) -> None:
        agent = self._agent(entry)
        self._close(agent)
        name = text(entry.data.get("toolCallId")) or f"line-{self._line}"
        self._callers[name] = agent
        tool, arguments = text(entry.data.get("toolName")), entry.data.get("arguments")
        self.calls.begin(name, tool, arguments, self.now, agent, self.here())

    def _read_result(self, entry: _Entry) -> None:
        failed = table(entry.data.get("error"))
        output, advice = split_advice(words(entry.data.get("result")) or words(entry.data.get("error")))
        bare, exited = cut_exit(output, COPILOT_EXIT, 100)
        result = Result(
            text=bare,
            error=entry.data.get("success") is False or bool(failed),
            exit_code=exited,
            rejected=text(failed.get("code")).lower() in _DENIED,
            running=bool(_RUNNING.search(output[-300:])),
        )
        self.result(text(entry.data.get("toolCallId")), result, advice=advice)

    def _read_start(self, entry: _Entry) -> None:
        call = text(entry.data.get("toolCallId"))
        child = text(entry.record.get("agentId")) or call
        if not child or child in self._agents:
            return
        self._agents[child] = child
        self._agents.setdefault(call, child)
        self.child_started(child, text(entry.data.get("agentName")), agent=self._callers.get(call, self.agent))
        report = self._reports.pop(call, None) or self._reports.pop(child, None)
        if report is not None:
            self._read_report(report[0])

    def _read_report(self, entry: _Entry) -> None:
        call = text(entry.data.get("toolCallId"))
        child = self._agents.get(text(entry.record.get("agentId"))) or self._agents.get(call)
        if child is None:
            name = call or text(entry.record.get("agentId"))
            if not name or len(self._reports) >= _HELD:
                self.note("report of an unknown sub-agent")
            else:
                self._reports[name] = (entry, self.here(), self._line)
            return
        self._close(child)
        outcome = "failure" if entry.record.get("type") == "subagent.failed" else "success"
        lasted = whole_number(entry.data.get("durationMs"))
        self.child_ended(
            child,
            at=entry.at,
            agent=self._callers.get(call, ""),
            outcome="rejected" if entry.data.get("cancelled") is True else outcome,
            tokens=whole_number(entry.data.get("totalTokens")),
            tool_uses=whole_number(entry.data.get("totalToolCalls")),
            duration=lasted / 1000 if lasted else None,
        )

    def _read_compaction(self, entry: _Entry) -> None:
        if entry.data.get("success") is False:
            return
        trigger = text(entry.data.get("trigger"))
        trigger = "manual" if trigger == "manual" else "auto" if trigger else ""
        before, after = entry.data.get("preCompactionTokens"), entry.data.get("postCompactionTokens")
        self.add(self.compaction(self._agent(entry), trigger=trigger, before=before, after=after))

    def _read_error(self, entry: _Entry) -> None:
        self.add(failed_turn(self.now, self._agent(entry), self.here(), text(entry.record.get("id"))))

    def _read_abort(self, entry: _Entry) -> None:
        reason = text(entry.data.get("reason")).lower()
        if not reason or "user" in reason:
            self.add(self.prompt("", agent=self._agent(entry), interrupt=True))

    def _read_shutdown(self, entry: _Entry) -> None:
        """Read the end of the session, which has the sums of all answers."""
        for agent in (self.agent, *self._agents.values()):
            self._close(agent)
        current = text(entry.data.get("currentModel"))
        for model, metrics in self.table(entry.data.get("modelMetrics"), "modelMetrics").items():
            usage = table(table(metrics).get("usage"))
            names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
            tokens = without_cached(*token_counts(usage, *names))
            uncounted = max(0, tokens.output_tokens - self._output.get(model, 0))
            turn = self.turn(
                "",
                tokens=tokens._replace(output_tokens=uncounted),
                message=f"{text(entry.record.get('id'))}:{model}",
                model=model,
                cost=self.kit.models.cost(model, *tokens, several=True),
                stop="shutdown",
            )
            context = whole_number(entry.data.get("currentTokens")) if model == current else 0
            self.add(self.with_context(turn, context))
        self._output.clear()
        reason = text(entry.data.get("shutdownType"))
        self.add(SessionEnd(at=self.now, agent=self.agent, where=self.here(), reason=reason))


_READERS = {
    "session.start": CopilotReader._read_begin,
    "session.resume": CopilotReader._read_begin,
    "session.model_change": CopilotReader._read_model,
    "user.message": CopilotReader._read_prompt,
    "assistant.message": CopilotReader._add_answer,
    "assistant.turn_end": CopilotReader._end_turn,
    "tool.execution_start": CopilotReader._read_call,
    "tool.execution_complete": CopilotReader._read_result,
    "subagent.started": CopilotReader._read_start,
    "subagent.completed": CopilotReader._read_report,
    "subagent.failed": CopilotReader._read_report,
    "session.compaction_complete": CopilotReader._read_compaction,
    "abort": CopilotReader._read_abort,
    "session.error": CopilotReader._read_error,
    "session.shutdown": CopilotReader._read_shutdown,
}


def _sniff(sample: Sample) -> int:
    """Dotted types with their content under data."""
    entries = sample.records[:8]
    if entries and table(entries[0].get("data")).get("producer") == "copilot-agent":
        return 98
    own = [text(one.get("type")).partition(".")[0] in _KINDS and isinstance(one.get("data"), dict) for one in entries]
    return 85 if own and all(own) and "parentId" in entries[0] else 0


FORMATS = (Format("copilot-cli", "lines", _sniff, CopilotReader, links=CopilotLinks),)
