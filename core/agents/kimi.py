"""Kimi's context and wire logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any

from msgspec import structs

from core.agents.calls import Result, agent_report, cut_exit, exit_code
from core.agents.models import failed_turn, joined_words
from core.agents.reader import LateReader, TranscriptReader
from core.agents.tables import known_words
from core.agents.values import attached_to, decode_inner, items, table, text, token_counts, whole_number, words
from core.events import MAIN, Event, Outcome, ToolUse, Turn, Where
from core.logs.discovery import Found, Listed, listed_session
from core.logs.format import Companion, Format, Sample
from core.logs.glimpse import last_time
from core.logs.lines import open_unpacked, seconds
from core.logs.log_files import absolute_path, is_file, named_like

WIRE = "wire.jsonl"


def session_of(file: str, otherwise: str) -> str:
    """Return the id of a log's session from its folders, or `otherwise`."""
    path = PurePath(file.replace("\\", "/"))
    if path.name != WIRE:
        return otherwise
    folder = path.parent
    if folder.parent.name == "agents":
        folder = folder.parent.parent
    return folder.name.removeprefix("session_") or otherwise


def kimi_files(path: Path) -> list[Companion]:
    """The logs of the sub-agents beside the main agent's."""
    return [
        Companion(folder.name, folder / WIRE)
        for agents in agents_folder(path)
        for folder in sorted(agents.iterdir())
        if folder.name != "main" and is_file(folder / WIRE)
    ]


def agents_folder(path: Path) -> list[Path]:
    """The folder of all agents of a session, given the log of the main one."""
    main = absolute_path(path.parent)
    if main.name != "main" or main.parent.name != "agents":
        return []
    return [named_like(main.parent, path)]


_WIRE_KINDS = known_words("kimi-wire")
# Messages after which nothing counts any more what an answer before them took.
_NO_COUNT = frozenset(("TurnBegin", "TurnEnd", "StepBegin", "StepInterrupted"))
_DEEPEST = 8


class KimiWireReader(TranscriptReader):
    """The acts of a sub-agent are in the log of its parent, wrapped."""

    name = "kimi"
    untold = ("model", "cost")
    kinds = _WIRE_KINDS | known_words("kimi-cli")

    def setup(self) -> None:
        self._children: dict[str, list[str]] = {}
        self._parents: dict[str, str] = {}
        self._over: dict[str, ToolUse] = {}
        self._compacting: dict[str, int] = {}
        self._context: dict[str, int] = {}
        # Each agent's words since its last counted answer, with time and place.
        self._said: dict[str, tuple[str, float, Where]] = {}

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        line = self.table(value, "line")
        if line.get("type") == "metadata":
            return
        message = self.table(line.get("message"), "message")
        self.moment(line.get("timestamp"))
        if not self.begun:
            self.begin(session_of(self.here().file, self.session))
        self._message(message, self.agent)

    def own_pending(self) -> Iterable[Event]:
        """Return the words that nothing has counted."""
        return map(self._uncounted, self._said)

    def _message(self, message: dict[str, Any], agent: str, depth: int = 0) -> None:
        payload = self.table(message.get("payload"), "payload")
        if text(message.get("type")) in _NO_COUNT and agent in self._said:
            self.add(self._uncounted(agent))
            del self._said[agent]
        self.check_kind(text(message.get("type")))
        match message.get("type"):
            case "TurnBegin" | "SteerInput":
                content = payload.get("user_input")
                message_text = words(content) or attached_to(items(content))
                if message_text.strip() and agent == self.agent:
                    self.add(self.prompt(message_text))
            case "StepInterrupted":
                self.add(self.prompt("", agent=agent, interrupt=True))
            case "ContentPart" if message_text := text(payload.get("text")):
                so_far = self._said[agent][0] if agent in self._said else ""
                self._said[agent] = joined_words(so_far, message_text), self.now, self.here()
            case "ToolCall":
                self._called(payload, agent)
            case "ToolResult":
                self._answered(payload)
            case "StatusUpdate":
                self._used(payload, agent)
            case "CompactionBegin":
                self._compacting[agent] = self._context.get(agent, 0)
            case "CompactionEnd":
                before = self._compacting.pop(agent, self._context.get(agent, 0))
                self.add(self.compaction(agent, before=before))
            case "SubagentEvent" if depth < _DEEPEST:
                child = self._child(payload, agent)
                self._message(self.table(payload.get("event"), "event"), child, depth + 1)

    def _uncounted(self, agent: str) -> Turn:
        """Return the turn of an agent's last words, whose tokens are not logged."""
        answer_text, at, where = self._said[agent]
        return self.turn(answer_text, at=at, where=where, message=f"words-{where.offset}", agent=agent)

    def _child(self, payload: dict[str, Any], agent: str) -> str:
        call = text(payload.get("parent_tool_call_id")) or text(payload.get("task_tool_call_id"))
        child = text(payload.get("agent_id")) or call or "sub-agent"
        if child not in self._parents:
            self._parents[child] = agent
            self._children.setdefault(call, []).append(child)
            self.child_started(child, text(payload.get("subagent_type")), agent=agent)
            if call in self._over:
                self._report(self._over[call])
        return child

    def _called(self, payload: dict[str, Any], agent: str) -> None:
        function = self.table(payload.get("function"), "function")
        arguments = decode_inner(function.get("arguments"))
        name = text(payload.get("id")) or f"line-{self._line}"
        self.calls.begin(name, text(function.get("name")), arguments, self.now, agent, self.here())

    def _answered(self, payload: dict[str, Any]) -> None:
        name = text(payload.get("tool_call_id"))
        facts = table(payload.get("return_value")) or table(payload.get("result"))
        output = words(facts.get("output")) or words(facts.get("message"))
        exited = exit_code(text(facts.get("message"))) or exit_code(output)
        result = Result(text=output, error=facts.get("is_error") is True, exit_code=exited)
        if (use := self.calls.end(name, self.now, result, self.here(), line=self._line)) is not None:
            self.joined(use)

    def joined(self, use: ToolUse) -> None:
        """A call is over, and the sub-agents it started are too."""
        self.add(use)
        if use.action == "delegation":
            self._over[use.id] = use
        self._report(use)

    def _report(self, use: ToolUse) -> None:
        self.add(*(agent_report(use, child, self._parents[child]) for child in self._children.pop(use.id, [])))

    def _used(self, payload: dict[str, Any], agent: str) -> None:
        usage = self.table(payload.get("token_usage"), "token_usage")
        if not usage:
            return
        answer_text, _, said_at = self._said.pop(agent, ("", 0.0, None))
        turn = self.turn(
            answer_text,
            tokens=token_counts(usage, "input_other", "output", "input_cache_read", "input_cache_creation"),
            message=text(payload.get("message_id")) or f"line-{self._line}",
            window=whole_number(payload.get("max_context_tokens")),
            agent=agent,
            said_at=said_at,
        )
        new_turn = self.usage.deduplicate(turn)
        if new_turn is not None:
            self._context[agent] = new_turn.context_tokens
            self.add(new_turn)


def _sniff_wire(sample: Sample) -> int:
    """Messages of its own kinds, each in a line with its time."""
    messages = [table(record.get("message")) for record in sample.records[:16] if "timestamp" in record]
    if any("payload" in one and text(one.get("type")) in _WIRE_KINDS for one in messages):
        return 95
    first = sample.records[0] if sample.records else {}
    return 45 if first.get("type") == "metadata" and "protocol_version" in first else 0


_EXIT = re.compile(r"(?:\A|\n)Command failed with exit code: (-?\d{1,9})\.?\s*\Z")
_CHILD = re.compile(r"^agent_id: (\S{1,80})$", re.MULTILINE)
_ROLE = re.compile(r"^actual_subagent_type: (\S{1,60})$", re.MULTILINE)
_STATUS = re.compile(r"^status: (\w{1,20})$", re.MULTILINE)
_HELD = 256  # Reports that came before their calls, kept at once.
_OWN_KINDS = frozenset(("turn.prompt", "context.append_loop_event", "context.append_message", "config.update"))
# Records before the first act, from which the session's beginning is put together.
_SETTINGS = frozenset(("metadata", "config.update", "tools.set_active_tools", "profile.bind"))
# Families of records that are settings and counters.
_MODES = frozenset(("plan_mode", "goal", "swarm_mode", "cron", "token_counting"))


class KimiReader(LateReader):
    """The usage of a step is logged twice, by its end and by its own record, in either order."""

    name = "kimi"
    untold = ("cost",)
    # `plan_mode.*`, `goal.*`, `swarm_mode.*`, `cron.*` and `token_counting.*` are more of these.
    kinds = _SETTINGS | known_words("kimi-code")

    def setup(self) -> None:
        self._project = ""
        self._role = ""
        self._spent: Counter[tuple[int, ...]] = Counter()
        self._refused: set[str] = set()
        self._said: tuple[str, Where | None] = "", None  # The agent's last words in its step, and their place.
        self._early: dict[str, str] = {}
        self._source = ""  # Who asked for the compaction in progress.
        self._stopped = False  # Whether an interruption of this turn was reported.

    def read(self, value: Any) -> None:
        """Add the events of one record."""
        record = self.table(value, "record")
        kind = text(record.get("type"))
        if not kind:
            self.note("no type")
            return
        at = seconds(record.get("time", record.get("created_at") if kind == "metadata" else None))
        if at is not None:
            self.moment(at)
        if kind in _SETTINGS:
            self._set(record)
            return
        self._open(None)
        if kind == "llm.request":
            self.model = text(record.get("model")) or self.model
        elif kind.partition(".")[0] not in _MODES:
            self.check_kind(kind)
        match kind:
            case "turn.prompt" | "turn.steer" | "turn.cancel" | "turn.ended":
                self._turn_record(kind, record)
            case "context.append_loop_event":
                self._step(self.table(record.get("event"), "event"))
            case "usage.record":
                stop = "total" if self._source else ""
                self._used(record.get("usage"), -1, text(record.get("model")), "", stop)
            case "permission.record_approval_result":
                if text(table(record.get("result")).get("decision")) in ("rejected", "denied", "cancelled"):
                    self._refused.add(text(record.get("toolCallId")))
            case "full_compaction.begin" | "full_compaction.cancel" | "context.apply_compaction":
                self._compacted(kind, record)

    def _turn_record(self, kind: str, record: dict[str, Any]) -> None:
        if kind in ("turn.prompt", "turn.steer"):
            self._stopped = False
            self._add_person_prompt(record)
        elif kind == "turn.cancel" or record.get("reason") == "cancelled":
            self._stop()
        elif record.get("reason") == "failed":
            self.add(failed_turn(self.now, self.agent, self.here(), f"ended-{self._line}"))

    def _stop(self) -> None:
        """Add one interruption per turn, however many records report it."""
        if not self._stopped:
            self._stopped = True
            self.add(self.prompt("", interrupt=True))

    def _set(self, record: dict[str, Any]) -> None:
        if self._opening is None and not self.begun:
            self._opening = (self.now, self.here())
        disclosed = table(record.get("environmentDisclosure")).get("cwd")
        self._project = text(record.get("cwd")) or text(disclosed) or self._project
        self.model = text(record.get("modelAlias")) or self.model
        self._role = text(record.get("profileName")) or self._role

    def _open(self, first: float | None) -> None:
        del first
        if self.begun:
            return
        at, where = self._opening or (self.now, self.here())
        self._opening = None
        if self.agent == MAIN:
            name = session_of(where.file, self.session)
            self.begin(name, at=at, where=where, project=self._project)
        else:
            self.begun = True
            self.calls.project = self._project
            self.child_started(self.agent, self._role, at=at, agent=MAIN, where=where)

    def _add_person_prompt(self, record: dict[str, Any]) -> None:
        prompt_text = words(record.get("input")) or attached_to(items(record.get("input")))
        person = text(table(record.get("origin")).get("kind")) in ("", "user")
        if person and prompt_text.strip() and self.agent == MAIN:
            self.add(self.prompt(prompt_text))

    def _step(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "step.begin":
                self._source = ""
            case "tool.call":
                folder = text(table(event.get("display")).get("cwd"))
                if folder and not self.calls.project:
                    self.calls.project = folder
                name = text(event.get("toolCallId")) or text(event.get("uuid")) or f"line-{self._line}"
                self.calls.begin(name, text(event.get("name")), event.get("args"), self.now, self.agent, self.here())
            case "tool.result":
                self._answered(event)
            case "content.part":
                part = table(event.get("part"))
                self.check_parts([part])
                if part.get("type") == "text" and text(part.get("text")).strip():
                    self._said = text(part.get("text")), self.here()
            case "step.end":
                reason, name = text(event.get("finishReason")), text(event.get("uuid"))
                self._used(event.get("usage"), 1, "", name, stop=reason)
                if reason in ("cancelled", "interrupted", "aborted"):
                    self._stop()
            case kind:
                self.skip(f"event/{kind}")

    def _answered(self, event: dict[str, Any]) -> None:
        name = text(event.get("toolCallId")) or text(event.get("parentUuid"))
        facts = table(event.get("result"))
        output = words(facts.get("output"))
        bare, exited = cut_exit(output, _EXIT, 200)
        failed, refused = facts.get("isError") is True, name in self._refused
        result = Result(bare, error=failed, exit_code=exited, rejected=refused)
        use = self.calls.end(name, self.now, result, self.here(), line=self._line)
        if use is not None:
            self._ended(use, output)
        elif _CHILD.search(output) and not self.calls.is_known(name) and len(self._early) < _HELD:
            self._early[name] = output

    def joined(self, use: ToolUse) -> None:
        """A sub-agent may have reported before its call was written."""
        self._ended(use, self._early.pop(use.id, ""))

    def _ended(self, use: ToolUse, output: str) -> None:
        self.add(use)
        if use.action == "delegation":
            self._add_report(use, output)

    def _add_report(self, use: ToolUse, output: str) -> None:
        """A sub-agent names itself in what it hands back, once for each of a swarm."""
        roles, states = _ROLE.findall(output), _STATUS.findall(output)
        for number, child in enumerate(dict.fromkeys(_CHILD.findall(output))):
            role = roles[number] if number < len(roles) else ""
            self.child_started(child, role, at=use.at - (use.duration or 0.0), agent=use.agent, where=use.where)
            state = states[number] if number < len(states) else "completed"
            outcome: Outcome = "success" if state == "completed" else "failure"
            if state != "running":
                report = agent_report(use, child)
                self.add(structs.replace(report, outcome=outcome) if use.outcome == "success" else report)

    def _used(self, value: Any, sign: int, model: str, name: str, stop: str = "") -> None:
        tokens = token_counts(table(value), "inputOther", "output", "inputCacheRead", "inputCacheCreation")
        if not any(tokens):
            return
        self._spent[tokens] += sign
        if self._spent[tokens] * sign <= 0:
            return
        answer_text, said_at = self._said
        self._said = "", None
        name, model = name or f"usage-{self._line}", self.model or model
        self.add(self.turn(answer_text, tokens=tokens, message=name, model=model, stop=stop, said_at=said_at))

    def _compacted(self, kind: str, record: dict[str, Any]) -> None:
        if kind != "context.apply_compaction":
            self._source = _source(record)
            return
        source, self._source = self._source, ""
        before, after = record.get("tokensBefore"), record.get("tokensAfter")
        self.add(self.compaction(trigger=source, before=before, after=after))


def _source(record: dict[str, Any]) -> str:
    """Return who asked for a compaction; blank if it was cancelled."""
    if record["type"] == "full_compaction.cancel":
        return ""
    return "manual" if record.get("source") == "manual" else "auto"


def _sniff_code(sample: Sample) -> int:
    """Dotted types of its own, or the metadata it begins with."""
    records = sample.records[:16]
    kinds = {text(record.get("type")) for record in records}
    if kinds & _OWN_KINDS and any("time" in record for record in records):
        return 95
    first = records[0] if records else {}
    return 50 if first.get("type") == "metadata" and {"protocol_version", "created_at"} <= first.keys() else 0


FORMATS = (
    Format("kimi", "lines", _sniff_code, KimiReader, kimi_files, title="Kimi Code", beside=agents_folder),
    Format("kimi", "lines", _sniff_wire, KimiWireReader, title="Kimi CLI"),
)


_INTERNAL = ("ctitle-", "sklsum-", "dvlt-")  # Sessions in which Kimi's desktop program makes titles and summaries.
_EVENT = 800  # Bytes that an event takes up in a log, by and large.


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """The sessions below a root: of Kimi Code by project, of the older CLI by the folder's fingerprint."""
    for pattern in (f"*/*/agents/main/{WIRE}", f"*/*/{WIRE}"):
        for path in root.glob(pattern):
            if session_of(str(path), "").startswith(_INTERNAL):
                continue
            try:
                paths = [path, *(one.path for one in kimi_files(path))]
                stats = [file.stat() for file in paths]
                last = _last_time(paths)
            except OSError:
                continue
            size = sum(status.st_size for status in stats)
            modified = max(status.st_mtime for status in stats)
            one = Listed(session_of(str(path), path.stem), "", "", last, size // _EVENT)
            session = listed_session(agent, path, one, size, now, active_within, modified)
            yield structs.replace(session, paths=tuple(paths))


def _last_time(paths: list[Path]) -> float | None:
    """Return the last time in any of a session's logs."""
    times: list[float | None] = []
    for path in paths:
        with open_unpacked(path) as stream:
            times.append(last_time(stream, path.stat().st_size))
    return max((at for at in times if at is not None), default=None)
