"""Sessions of Kimi Code: one log for each agent, its steps as events."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from core.agents.attachments import attached_to
from core.agents.calls import Result
from core.agents.kimi.places import agents_folder, kimi_files, session_of
from core.agents.loose import LooseReader, items, table, text, whole_number, words
from core.events import MAIN, AgentEnd, AgentStart, Compaction, Event, Outcome, ToolUse, Where
from core.logs.format import Format, Sample
from core.logs.times import seconds

_EXIT = re.compile(r"(?:\A|\n)Command failed with exit code: (-?\d{1,9})\.?\s*\Z")
_CHILD = re.compile(r"^agent_id: (\S{1,80})$", re.MULTILINE)
_ROLE = re.compile(r"^actual_subagent_type: (\S{1,60})$", re.MULTILINE)
_STATUS = re.compile(r"^status: (\w{1,20})$", re.MULTILINE)
_HELD = 256
"""Reports that came before their calls, kept at once."""
_SETTINGS = frozenset(("metadata", "config.update", "tools.set_active_tools"))
"""Records before the first deed, from which the session's beginning is put together."""


class KimiReader(LooseReader):
    """The usage of a step is told twice, by the step's end and by a record of its own, in either order."""

    name = "kimi"
    untold = ("cost",)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._opening: tuple[float, Where] | None = None
        self._project = ""
        self._model = ""
        self._role = ""
        self._spent: Counter[tuple[int, ...]] = Counter()
        self._refused: set[str] = set()
        self._said: tuple[str, Where | None] = "", None
        """What the agent last said in its step, and where."""
        self._early: dict[str, str] = {}
        self._source = ""
        """Who asked for the compaction that is under way."""

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one record."""
        record = self.table(value, "record")
        kind = text(record.get("type"))
        if not kind:
            self.note("no type")
            return
        at = seconds(record.get("time"))
        at = seconds(record.get("created_at")) if at is None and kind == "metadata" else at
        if at is not None:
            self.moment(at)
        if kind in _SETTINGS:
            self._set(record)
        else:
            self._open(out)
        match kind:
            case "turn.prompt":
                self._asked(record, out)
            case "context.append_loop_event":
                self._step(self.table(record.get("event"), "event"), out)
            case "usage.record":
                stop = "total" if self._source else ""
                self._used(record.get("usage"), -1, text(record.get("model")), "", out, stop)
            case "llm.request":
                self._model = text(record.get("model")) or self._model
            case "permission.record_approval_result":
                if text(table(record.get("result")).get("decision")) in ("rejected", "denied", "cancelled"):
                    self._refused.add(text(record.get("toolCallId")))
            case "full_compaction.begin" | "full_compaction.cancel":
                self._source = _source(record)
            case "context.apply_compaction":
                self._compacted(record, out)

    def finish(self) -> list[Event]:
        """A session of which only the settings were written begins with them."""
        out: list[Event] = []
        if self._opening is not None:
            self._open(out)
        return out + super().finish()

    def _set(self, record: dict[str, Any]) -> None:
        if self._opening is None and not self.begun:
            self._opening = (self.now, self.here())
        self._project = text(record.get("cwd")) or self._project
        self._model = text(record.get("modelAlias")) or self._model
        self._role = text(record.get("profileName")) or self._role

    def _open(self, out: list[Event]) -> None:
        if self.begun:
            return
        at, where = self._opening or (self.now, self.here())
        self._opening = None
        if self.agent == MAIN:
            named = session_of(where.file, self.session)
            out.append(self.start(at, named, where, project=self._project, model=self._model))
        else:
            self.begun = True
            self.calls.project = self._project
            out.append(AgentStart(at=at, agent=MAIN, where=where, child=self.agent, role=self._role))

    def _asked(self, record: dict[str, Any], out: list[Event]) -> None:
        said = words(record.get("input")) or attached_to(items(record.get("input")))
        person = text(table(record.get("origin")).get("kind")) in ("", "user")
        if person and said.strip() and self.agent == MAIN:
            out.append(self.prompt(self.now, said, self.here()))

    def _step(self, event: dict[str, Any], out: list[Event]) -> None:
        match event.get("type"):
            case "step.begin":
                self._source = ""
            case "tool.call":
                folder = text(table(event.get("display")).get("cwd"))
                if folder and not self.calls.project:
                    self.calls.project = folder
                name = text(event.get("toolCallId")) or text(event.get("uuid")) or f"line-{self._line}"
                self.calls.begin(
                    name, text(event.get("name")), event.get("args"), self.now, self.agent, self.here()
                )
            case "tool.result":
                self._answered(event, out)
            case "content.part":
                part = table(event.get("part"))
                if part.get("type") == "text" and text(part.get("text")).strip():
                    self._said = text(part.get("text")), self.here()
            case "step.end":
                reason, name = text(event.get("finishReason")), text(event.get("uuid"))
                self._used(event.get("usage"), 1, "", name, out, stop=reason)
                if reason in ("cancelled", "interrupted", "aborted"):
                    out.append(self.prompt(self.now, "", self.here(), interrupt=True))

    def _answered(self, event: dict[str, Any], out: list[Event]) -> None:
        name = text(event.get("toolCallId")) or text(event.get("parentUuid"))
        told = table(event.get("result"))
        said = words(told.get("output"))
        exited = _EXIT.search(said[-200:])
        result = Result(
            text=said[: len(said) - len(exited.group(0))] if exited else said,
            error=told.get("isError") is True,
            exit_code=int(exited.group(1)) if exited else None,
            rejected=name in self._refused,
        )
        use = self.calls.end(name, self.now, result, self.here(), line=self._line)
        if use is not None:
            self._ended(use, said, out)
        elif _CHILD.search(said) and not self.calls.known(name) and len(self._early) < _HELD:
            self._early[name] = said

    def joined(self, use: ToolUse, out: list[Event]) -> None:
        """A sub-agent may have reported before its call was written."""
        self._ended(use, self._early.pop(use.id, ""), out)

    def _ended(self, use: ToolUse, said: str, out: list[Event]) -> None:
        out.append(use)
        if use.action == "delegation":
            self._reported(use, said, out)

    def _reported(self, use: ToolUse, said: str, out: list[Event]) -> None:
        """A sub-agent names itself in what it hands back, once for each of a swarm."""
        roles, states = _ROLE.findall(said), _STATUS.findall(said)
        for number, child in enumerate(dict.fromkeys(_CHILD.findall(said))):
            role = roles[number] if number < len(roles) else ""
            began = use.at - (use.duration or 0.0)
            out.append(AgentStart(at=began, agent=use.agent, where=use.where, child=child, role=role))
            state = states[number] if number < len(states) else "completed"
            outcome: Outcome = "success" if state == "completed" else "failure"
            if state != "running":
                out.append(
                    AgentEnd(
                        at=use.at,
                        agent=use.agent,
                        where=use.where,
                        child=child,
                        outcome=outcome if use.outcome == "success" else use.outcome,
                        duration=use.duration,
                    )
                )

    def _used(self, value: Any, sign: int, model: str, name: str, out: list[Event], stop: str = "") -> None:
        usage = table(value)
        names = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
        key = tuple(whole_number(usage.get(each)) for each in names)
        if not any(key):
            return
        self._spent[key] += sign
        if self._spent[key] * sign <= 0:
            return
        sent, written, read, cached = key
        said, said_at = self._said
        self._said = "", None
        out.append(
            self.kit.models.turn(
                self.now,
                message=name or f"usage-{self._line}",
                model=self._model or model,
                input_tokens=sent,
                output_tokens=written,
                cache_read=read,
                cache_write=cached,
                stop=stop,
                agent=self.agent,
                where=self.here(),
                said=said,
                said_at=said_at,
            )
        )

    def _compacted(self, record: dict[str, Any], out: list[Event]) -> None:
        source, self._source = self._source, ""
        out.append(
            Compaction(
                at=self.now,
                agent=self.agent,
                where=self.here(),
                trigger=source,
                tokens_before=whole_number(record.get("tokensBefore")),
                tokens_after=whole_number(record.get("tokensAfter")),
            )
        )


def _source(record: dict[str, Any]) -> str:
    """Who asked for a compaction that begins; blank for one that was cancelled."""
    if record["type"] == "full_compaction.cancel":
        return ""
    return "manual" if record.get("source") == "manual" else "auto"


def _sniff(sample: Sample) -> int:
    """Dotted types of its own, or the metadata it begins with."""
    records = sample.records[:16]
    kinds = {text(record.get("type")) for record in records}
    if "time" in {name for record in records for name in record} and kinds & {
        "turn.prompt",
        "context.append_loop_event",
        "context.append_message",
        "config.update",
    }:
        return 95
    first = records[0] if records else {}
    return 50 if first.get("type") == "metadata" and {"protocol_version", "created_at"} <= first.keys() else 0


FORMATS = (Format("kimi", "lines", _sniff, KimiReader, kimi_files, title="Kimi Code", beside=agents_folder),)
