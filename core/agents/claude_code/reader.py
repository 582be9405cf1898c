"""Claude Code: one JSONL file per session and per sub-agent."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec.structs import replace

from core.agents.calls import Calls, Result, exit_code, function_result, is_advice, said_event
from core.agents.claude_code import lines, subagents
from core.agents.models import GOAL_FAILED, failed_turn, retried_turn
from core.agents.normalizer import AgentKit
from core.agents.reader import FAR, PARTS, AgentReader, LogClock, add
from core.agents.values import SeenIds, text
from core.engine.values import fingerprint
from core.events import MAIN, Compaction, Event, Prompt, SessionEnd, SessionStart, Turn, Where
from core.logs import links
from core.logs.format import Format, Sample
from core.logs.glimpse import Title
from core.logs.lines import FAULTS, decoded, glued_objects, line_spans, seconds
from core.logs.records import Record
from core.logs.redact.values import one_line

STARTERS = frozenset(("Task", "Agent"))  # Tools that start a sub-agent.
_REPORT = re.compile(
    r"^agentId: (\w{1,100}) .*\n<usage>\w*tokens: (\d{1,15})\ntool_uses: (\d{1,15})\nduration_ms: (\d{1,15})</usage>",
    re.M,
)
_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every result.
_TOLD = frozenset(("Grep", "Glob", "TaskOutput", "AgentOutputTool", "BashOutput", "WebFetch"))


def read_result(line: lines.ClaudeLine, block: lines.Block, tool: str) -> tuple[Result, lines.ToolDetails | None]:
    """Return how a call ended, and the details that the line adds."""
    text = lines.result_text(block)
    failed = block.is_error is True
    if isinstance(block.content, lines.FunctionAnswer):
        facts = lines.read_part(line.tool_use_result, lines.ToolDetails) or lines.ToolDetails()
        status = "error" if failed else facts.status
        return function_result({"result": decoded(block.content.response_parts)}, status or "success"), None
    details: lines.ToolDetails | None = None
    empty: bool | None = None
    running = False
    code = exit_code(text) if failed else None
    if tool in _TOLD or tool in STARTERS:
        details = lines.read_part(line.tool_use_result, lines.ToolDetails)
        if details is None and tool in STARTERS:
            details = _reported(text)
        if details is not None:
            empty, running, code = _judge(tool, details, code)
    elif failed and not text:
        text = lines.block_text(line.tool_use_result)
    size = None
    if not text and isinstance(block.content, list) and block.content:
        size = sum(len(memoryview(piece.source)) for piece in block.content)
        empty = False
    rejected = failed and line.tool_denial_kind is not None
    return _make(Result, (text, failed, code, rejected, False, empty, running, None, size)), details


def _reported(text: str) -> lines.ToolDetails | None:
    """Return the facts in a sub-agent's report; the log of an agent that started another has no others."""
    match = _REPORT.search(text[-600:])
    if match is None:
        return None
    tokens, uses, lasted = map(int, match.groups()[1:])
    return lines.ToolDetails(match[1], total_tokens=tokens, total_tool_use_count=uses, total_duration_ms=lasted)


def _judge(tool: str, details: lines.ToolDetails, code: int | None) -> tuple[bool | None, bool, int | None]:
    """Whether it found nothing, whether it still runs, and its exit code."""
    if tool == "Grep" or tool == "Glob":
        if details.mode == "count" and details.num_matches is not None:
            return details.num_matches == 0, False, code
        if details.num_files is not None and details.mode != "content":
            return details.num_files == 0, False, code
    task = lines.read_part(details.task, lines.BackgroundTask)
    if task is not None:
        return None, task.status == "running", code if task.exit_code is None else task.exit_code
    return None, False, code


_named_parents = re.compile(rb'"(?:logicalP|p)arentUuid"\s*:\s*"([^"]*)"').findall
_HEAD = 500  # Bytes at the beginning of a line that name its kind and its parent.


class ClaudeCodeLinks(links.LinkReader):
    """Lines name their parents; a compaction its logical one; bookkeeping has no id."""

    def follow(self, envelope: links.Envelope, record: Record) -> links.Link:
        """The link of one line."""
        name = links.as_text(envelope.uuid)
        if not name:
            link = self.aside(record, "label" if links.as_text(envelope.leaf_uuid) else "entry")
            words = links.as_text(envelope.summary, links.LONGEST_LABEL * 8)
            if not words:
                return link
            return link._replace(label=one_line(words, links.LONGEST_LABEL), labels=links.as_text(envelope.leaf_uuid))
        parent = links.as_text(envelope.parent_uuid) or links.as_text(envelope.logical_parent_uuid) or None
        role = links.as_text(envelope.type)
        message = links.RecordMessage.read(envelope.message) if self.contents or role == "user" else None
        kind, rank = self._kind(envelope, role, message)
        return self.link(record, name, parent, kind, rank, message, links.is_true(envelope.is_sidechain))

    def may_go_back(self, pieces: Iterable[bytes]) -> bool:
        """Whether a line that may be a prompt has the parent of another line."""
        parents: set[bytes] = set()
        shared: set[bytes] = set()
        prompted: set[bytes] = set()
        for piece in pieces:
            find = piece.find
            for begin, end in line_spans(piece):
                head = begin + _HEAD if begin + _HEAD < end else end
                parent = find(b'arentUuid":"', begin, head)
                if parent >= 0:
                    names = [piece[parent + 12 : find(b'"', parent + 12, end)]]
                else:
                    names = _named_parents(piece, begin, end)
                for name in names:
                    (shared if name in parents else parents).add(name)
                if find(b'"user"', begin, head) < 0 and find(b'"type"', begin, head) >= 0:
                    continue
                if find(b'"type":"tool_result"', begin, end) >= 0:
                    continue
                if find(b'"isMeta":true', begin, end) >= 0 or find(b'"type":"progress"', begin, head) >= 0:
                    read = self.read_all(Record(piece[begin:end], Where(""), 0))
                    names = [link.parent.encode() for link in read if link.kind in links.SPOKEN and link.parent]
                prompted.update(names)
        return not shared.isdisjoint(prompted)

    def _kind(
        self, envelope: links.Envelope, role: str, message: links.RecordMessage | None
    ) -> tuple[links.LinkKind, links.Rank]:
        match role:
            case "assistant":
                return "answer", "main"
            case "user":
                if message is not None and message.has_results:
                    return "result", "beside"
                if links.is_true(envelope.is_compact_summary):
                    return "summary", "main"
                return ("system", "beside") if links.is_true(envelope.is_meta) else ("prompt", "main")
            case "system":
                compacted = links.as_text(envelope.subtype) == "compact_boundary"
                return ("compaction", "main") if compacted else ("system", "beside")
            case "progress":
                return "progress", "aside"
            case "attachment":
                return "system", "beside"
        return "entry", "aside"


STRETCH = 64  # How many lines a line that came too early is kept for.


class Placed(NamedTuple):
    """A line with its place and time."""

    line: lines.ClaudeLine
    at: float
    where: Where
    number: int
    block: lines.Block | None = None  # The result in it that waits, where only that does.


class HeldLines:
    """Keeps what came too early, by the id it waits for, for a bounded stretch of lines."""

    def __init__(self) -> None:
        self.held: dict[str, list[Placed]] = {}  # The waiting lines by the id they wait for.
        self._due: dict[str, int] = {}
        self._ids: set[str] = set()

    def hold(self, awaited_id: str, placed: Placed, lines_read: int) -> None:
        """Keep a line until the one it waits for arrives; `lines_read` lines came before it."""
        self.held.setdefault(awaited_id, []).append(placed)
        self._due.setdefault(awaited_id, lines_read + STRETCH)
        if placed.block is None and placed.line.uuid:
            self._ids.add(placed.line.uuid)

    def holds(self, line_id: str) -> bool:
        """Whether a line is itself being kept."""
        return line_id in self._ids

    def release(self, came: str) -> list[Placed]:
        """Return and forget the lines that waited for an id."""
        waiting = self.held.pop(came, [])
        if waiting:
            del self._due[came]
            self._ids.difference_update(placed.line.uuid or "" for placed in waiting)
        return waiting

    def overdue(self, lines_read: int | None) -> list[Placed]:
        """Return the lines that have waited too long; all of them if no more will come."""
        late = [name for name, due in self._due.items() if lines_read is None or due < lines_read]
        return [placed for name in late for placed in self.release(name)]


# Kinds of lines that may come first, and a field only Claude Code's have.
_ASIDE = (("file-history-snapshot", "snapshot"), ("summary", "leafUuid"), ("queue-operation", "sessionId"))


def sniff(sample: Sample) -> int:
    """How surely a log is Claude Code's."""
    best = 0
    for record in sample.records:
        if record.get("type") in ("user", "assistant", "system", "progress") and "sessionId" in record:
            return 100 if "parentUuid" in record and "isSidechain" in record else 80
        for kind, field in _ASIDE:
            if record.get("type") == kind and field in record:
                best = 60
    return best


_KEYS = {
    "custom-title": ("customTitle", 3),
    "ai-title": ("aiTitle", 2),
    "summary": ("summary", 1),
    "last-prompt": ("lastPrompt", 0),
}


def claude_title(line: dict[str, Any]) -> Title | None:
    """The person's own title, the model's, that of a branch, or what was asked last."""
    key, rank = _KEYS.get(text(line.get("type")), ("", 0))
    title = text(line.get(key)) if key else ""
    return Title(rank, title) if title else None


class ClaudeCode(AgentReader):
    """Reads the lines of a session, or of one of its sub-agents."""

    name = "claude-code"
    untold = ("cost",)
    passes = staticmethod(lines.passes)

    def __init__(self, kit: AgentKit, *, agent: str = MAIN, session: str = "") -> None:
        super().__init__(kit, agent=agent, session=session)
        self._seen = SeenIds()  # Ids of lines that were read.
        self._calls = Calls(kit, self.name)
        self._answers = subagents.OpenAnswers(kit)
        self._agents = subagents.Delegations(agent)
        self._parents = HeldLines()
        self._results = HeldLines()
        self._taken = 0  # The number of lines read, to measure how long a line has waited.
        self._at = 0.0
        self._clock = LogClock()
        self._begun = False
        self._version = ""
        self._alone = agent != MAIN
        self._compacted = False
        self._retrying = False  # Whether the last line reports a request that failed and is retried.
        self._fork = subagents.Fork(kit) if subagents.is_helper(agent) else None

    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        """The events that this line completes."""
        try:
            decoded: lines.ClaudeLine | None = lines.decode_line(record)
        except FAULTS:
            if parts := glued_objects(record, where):
                return [event for part, place in parts for event in self.feed(part, place, line)]
            decoded, reason = lines.salvage_line(record)
            self.kit.diagnostics.note(where.file, line, reason)
        out: list[Event] = []
        if decoded is None or not self._is_new(decoded, where):
            return out
        if decoded.permission_mode and not decoded.is_sidechain:
            self._answers.mode = decoded.permission_mode
        if decoded.type == lines.MODE:
            return out
        at = self._at = self._time(decoded, where, line)
        if self._fork is not None:
            self._fork.step(decoded, at, where)
            return out
        if decoded.type == "progress" or decoded.type == "queue-operation":
            self._agents.read_notice(decoded, at, where, self._calls, out)
            return out
        if not self._begun and decoded.session_id:
            self._begin(decoded, at, where, out)
        if (decoded.is_sidechain or decoded.is_compact_summary) and self._early(decoded):
            self._parents.hold(decoded.parent_uuid or "", Placed(decoded, at, where, line), self._taken)
        else:
            self._read(decoded, at, where, line, out)
        if self._parents.held or self._results.held:
            self._give_up(out)
        self._taken += 1
        return out

    def finish(self) -> list[Event]:
        """The answers still open, and the calls that never got a result; of a fork all that it spent."""
        out: list[Event] = []
        self._give_up(out, all_of_them=True)
        return [*out, *self.pending_events()]

    def pending_events(self) -> list[Event]:
        """Return the open answers and calls of a growing log; of a fork what it spent."""
        if self._fork is not None:
            return self._fork.pending_events()
        return [*self._answers.read(), *self._calls.unanswered()]

    def _skip(self, kind: str, where: Where) -> None:
        self.kit.diagnostics.skip(self.name, self._version, kind[:60], where.file)

    def _is_new(self, line: lines.ClaudeLine, where: Where) -> bool:
        """Whether a line matters and was not read before."""
        if line.type != "assistant" and line.type != "user":
            if unknown := lines.unknown_kind(line):
                self._skip(unknown, where)
            if not lines.matters(line):
                return False
        if line.uuid and not self._seen.add(line.uuid):
            self._settle(line)
            return False
        return True

    def _time(self, line: lines.ClaudeLine, where: Where, number: int) -> float:
        """Return the time of a line; a message whose own is missing or impossible gets one from the lines before."""
        at = seconds(line.timestamp)
        if at is not None and self._at and -FAR < at - self._at < FAR:
            return at
        if at is None and line.type != "assistant" and line.type != "user":
            return self._at
        at, fault = self._clock.settle(at, self._at)
        if fault:
            self.kit.diagnostics.note(where.file, number, fault)
        return at

    def _read(self, line: lines.ClaudeLine, at: float, where: Where, number: int, out: list[Event]) -> None:
        """The events of a line, then those of lines that waited for it."""
        kind, message = line.type, line.message
        if kind == "assistant" and message is not None:
            self._assistant(line, message, at, where, number, out)
        elif kind == "user" and message is not None:
            self._user(line, message, at, where, number, out)
        elif kind == "system":
            self._system(line, at, where, out)
        elif kind == "attachment":
            self._attachment(line, at, where, out)
        self._retrying = kind == "system" and line.subtype == "api_error"
        if line.uuid and self._parents.held:
            for child in self._parents.release(line.uuid):
                self._read(child.line, child.at, child.where, child.number, out)

    def _early(self, line: lines.ClaudeLine) -> bool:
        """Whether a line depends on its parent, which has not come yet."""
        parent = line.parent_uuid
        unnamed = line.is_sidechain and not line.agent_id and not self._alone
        if not parent:
            return bool(unnamed) and not self._agents.awaited(line)
        if parent in self._seen and not self._parents.holds(parent):
            return False
        return bool(unnamed or line.is_compact_summary)

    def _give_up(self, out: list[Event], *, all_of_them: bool = False) -> None:
        """Read the lines whose parent or call never came."""
        now = None if all_of_them else self._taken + 1
        for placed in self._parents.overdue(now):
            self._read(placed.line, placed.at, placed.where, placed.number, out)
        for placed in self._results.overdue(now):
            self.kit.diagnostics.note(placed.where.file, placed.number, "result without a call")

    def _begin(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> None:
        self._begun = True
        self._version = line.version or ""
        self._alone = self._alone or bool(line.is_sidechain)
        self._agents.alone = self._alone
        self._calls.project = line.cwd or ""
        if self.agent == MAIN:
            self.session = line.session_id or self.session
            model = line.message.model if line.message is not None else None
            out.append(
                SessionStart(
                    at=at,
                    where=where,
                    session=self.session,
                    tool=self.name,
                    project=line.cwd or "",
                    branch=line.git_branch or "",
                    version=line.version or "",
                    model=model or "",
                    background=line.session_kind == "bg",
                    synthetic_time=self._clock.made_up,
                    untold=("times", *self.untold) if self._clock.made_up else self.untold,
                )
            )

    def _agent(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> str:
        if self._alone or not line.is_sidechain:
            return self.agent
        return line.agent_id or self._agents.sidechain(line, at, where, out)

    def _assistant(
        self, line: lines.ClaudeLine, message: lines.Message, at: float, where: Where, number: int, out: list[Event]
    ) -> None:
        agent = self._agent(line, at, where, out) if line.is_sidechain else self.agent
        add(self._answers.update(agent, message, at, where), out)
        content = message.content
        if type(content) is list:
            for block in content:
                if block.type == "tool_use":
                    self._call(block, at, agent, where, number, out)
                elif block.type not in PARTS:
                    self._skip(block.type, where)
        if subagents.is_final(message):
            self._close(agent, out)
        if line.is_api_error_message:
            failed = failed_turn(at, agent, where, message.id or "")
            out.append(replace(failed, asked=self._answers.asked.get(agent)))

    def _call(self, block: lines.Block, at: float, agent: str, where: Where, number: int, out: list[Event]) -> None:
        if not block.id or not block.name:
            self.kit.diagnostics.note(where.file, number, "call without id or name")
            return
        if self._calls.begin(block.id, block.name, block.input, at, agent, where) and block.name in STARTERS:
            self._agents.called(block.id, block.input, at, agent)
            for root in self._parents.release("") if self._parents.held else ():
                self._read(root.line, root.at, root.where, root.number, out)
        if self._results.held:
            for early in self._results.release(block.id):
                if early.block is not None:
                    self._result(early.line, early.block, early.at, early.where, early.number, out)

    def _user(
        self, line: lines.ClaudeLine, message: lines.Message, at: float, where: Where, number: int, out: list[Event]
    ) -> None:
        agent = self._agent(line, at, where, out) if line.is_sidechain else self.agent
        self._answers.asked[agent] = at
        content = message.content
        answered = False
        if type(content) is list:
            for block in content:
                if block.type == "tool_result":
                    answered = True
                    self._result(line, block, at, where, number, out)
                elif block.type not in PARTS:
                    self._skip(block.type, where)
        if answered:
            return
        if line.is_compact_summary:
            self._summary(at, agent, where, out)
        elif not line.is_meta and not line.is_sidechain and not line.is_visible_in_transcript_only:
            self._prompt(lines.user_words(content), at, agent, where, out, typed=not lines.is_machine_prompt(line))

    def _result(
        self, line: lines.ClaudeLine, block: lines.Block, at: float, where: Where, number: int, out: list[Event]
    ) -> None:
        call = block.tool_use_id
        if not call:
            self.kit.diagnostics.note(where.file, number, "result without a call")
            return
        tool = self._calls.tool(call)
        if not tool and not self._calls.is_known(call):
            self._results.hold(call, Placed(line, at, where, number, block), self._taken)
            return
        result, details = read_result(line, block, tool)
        use = self._calls.end(call, at, result, where, None, number)
        if use is not None:
            out.append(use)
            if use.outcome == "rejected" and is_advice(result.text):
                out.append(said_event(result.text, at, use.agent, where))
            if tool in STARTERS:
                self._agents.answered(use, details, out)
            elif details is not None and (task := lines.read_part(details.task, lines.BackgroundTask)) is not None:
                self._agents.reported(task.task_id or "", task.status or "", at, where, out)

    def _prompt(self, text: str, at: float, agent: str, where: Where, out: list[Event], *, typed: bool) -> None:
        self._agents.notified(text, at, where, agent, out)
        if lines.is_goodbye(text) and not self._alone:
            self._close(agent, out)
            self._agents.leave(at, where, out)
            out.append(SessionEnd(at=at, agent=agent, where=where, reason="exit"))
        if self._alone or not typed or not lines.is_prompt(text):
            return
        self._close(agent, out)
        interrupt = text.startswith("[Request interrupted by user")
        out.append(
            Prompt(
                at=at,
                agent=agent,
                where=where,
                characters=len(text),
                call=fingerprint(text),
                names=0 if interrupt else self._calls.look_for_names(text, agent),
                interrupt=interrupt,
                mode=self._answers.mode,
            )
        )

    def _system(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> None:
        agent = self._agent(line, at, where, out)
        if line.subtype == "compact_boundary":
            self._close(agent, out)
            self._compacted = True
            metadata = line.compact_metadata
            out.append(
                Compaction(
                    at=at,
                    agent=agent,
                    where=where,
                    trigger=(metadata.trigger if metadata else None) or "",
                    tokens_before=lines.token_count(metadata.pre_tokens if metadata else None),
                    tokens_after=lines.token_count(metadata.post_tokens if metadata else None),
                )
            )
        elif line.subtype in ("turn_duration", "stop_hook_summary"):
            add(self._answers.end(agent), out)
        elif line.subtype == "api_error" and not self._retrying:
            self._close(agent, out)
            out.append(replace(retried_turn(at, agent, where), asked=self._answers.asked.get(agent)))

    def _summary(self, at: float, agent: str, where: Where, out: list[Event]) -> None:
        """The summary after a compaction; older logs have no other sign of one."""
        if not self._compacted:
            self._close(agent, out)
            out.append(Compaction(at=at, agent=agent, where=where))
        self._compacted = False

    def _attachment(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> None:
        queued = lines.read_part(line.attachment, lines.Queued)
        if queued is None:
            return
        if queued.type == "queued_command":
            prompt = queued.prompt
            if isinstance(prompt, list):
                prompt = "\n".join(piece.text for piece in prompt if piece.text)
            typed = queued.commandMode in (None, "prompt")
            self._prompt(prompt or "", at, self._agent(line, at, where, out), where, out, typed=typed)
        elif queued.failed_goal:
            agent = self._agent(line, at, where, out)
            self._close(agent, out)
            out.append(Turn(at=at, agent=agent, where=where, cost=0.0, stop=GOAL_FAILED))
        elif advice := lines.our_advice(queued):
            out.append(said_event(advice, at, self._agent(line, at, where, out), where))

    def _close(self, agent: str, out: list[Event]) -> None:
        add(self._answers.close(agent), out)

    def _settle(self, line: lines.ClaudeLine) -> None:
        """A line read before: its calls are answered elsewhere; a result sent again asks the model again."""
        at = seconds(line.timestamp)
        if line.type == "user" and at is not None and not line.is_sidechain:
            self._answers.asked[self.agent] = at
        if line.type == "assistant" and line.message is not None and isinstance(line.message.content, list):
            for block in line.message.content:
                if block.type == "tool_use" and block.id:
                    self._calls.settle(block.id)


class Spending(ClaudeCode):
    """Reads a session's spending without its calls; notes a fault if only the whole log makes it certain."""

    _skips = False  # The first result is read: it may begin the log.

    def passes(self, record: bytes) -> bool:
        """Whether a record is ignored, or the result of a call."""
        if lines.passes(record):
            return True
        if not lines.is_result(record):
            return False
        skips, self._skips = self._skips, True
        return skips

    def _begin(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> None:
        super()._begin(line, at, where, out)
        if self._clock.made_up or self._taken:
            self._doubt(where)

    def _agent(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> str:
        if line.is_sidechain and not self._alone and not line.agent_id:
            self._doubt(where)
        return super()._agent(line, at, where, out)

    def _early(self, line: lines.ClaudeLine) -> bool:
        early = super()._early(line)
        if early:
            self._doubt(Where(""))
        return early

    def _assistant(
        self, line: lines.ClaudeLine, message: lines.Message, at: float, where: Where, number: int, out: list[Event]
    ) -> None:
        if not subagents.is_thought(message):
            message.content = None
        super()._assistant(line, message, at, where, number, out)

    def _result(
        self, line: lines.ClaudeLine, block: lines.Block, at: float, where: Where, number: int, out: list[Event]
    ) -> None:
        pass

    def _doubt(self, where: Where) -> None:
        self.kit.diagnostics.note(where.file, 0, "calls decide what was spent")


FORMATS = (
    Format(
        *("claude-code", "lines", sniff, ClaudeCode, subagents.sub_agent_files, ClaudeCodeLinks, claude_title),
        title_signs=tuple(f'"{kind}"'.encode() for kind in _KEYS),
        spending=Spending,
    ),
)
