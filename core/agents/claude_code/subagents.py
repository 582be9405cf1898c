"""The sub-agents of a Claude Code session: which call started each, when it reported, where its log is."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from core.agents.calls import Calls
from core.agents.claude_code import lines
from core.agents.models import ENDED, WORDLESS, Usage, joined_words
from core.agents.normalizer import AgentKit
from core.engine.values import fingerprint
from core.events import MAIN, AgentEnd, AgentStart, Event, Outcome, ToolUse, Turn, Where
from core.logs.format import Companion
from core.logs.lines import FAULTS, decoded
from core.logs.log_files import is_folder, is_there, open_log

_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every line.
_WORDLESS = ("tool_use", "thinking")  # Parts that say nothing to the person.
_THOUGHTS = ("thinking", "redacted_thinking")
_FINAL = ("end_turn", "stop_sequence", "max_tokens", "refusal")


class _Answer(NamedTuple):
    """An open answer: its last line, and its words so far."""

    message: lines.Message
    at: float
    where: Where
    said: str
    said_at: Where | None  # The place of its last words.
    asked: float | None  # When the model was asked.


class OpenAnswers:
    """Hold each agent's answer until another begins, with the last usage and all the words of its lines."""

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._usage = Usage(kit.models)
        self._open: dict[str, _Answer] = {}
        self.asked: dict[str, float] = {}  # Time of the last line that is no answer, by agent.
        self.mode = ""  # What the agent may do without asking.

    def update(self, agent: str, message: lines.Message, at: float, where: Where) -> Turn | None:
        """Add a line to an agent's answer, and return the turn of the one before if this is another.

        A line that no model wrote is not an answer.
        """
        before = self._open.get(agent)
        closed = None
        if before is not None and (not message.id or before[0].id != message.id):
            closed = self.close(agent)
            before = None
        if message.usage is None or message.model == "<synthetic>":
            return closed
        content = message.content
        wordless = type(content) is list and len(content) == 1 and content[0].type in _WORDLESS
        answer_text = "" if wordless else lines.user_words(content)
        said_at = where if answer_text else None
        asked_at = self.asked.get(agent)
        if before is not None:
            asked_at = before[5]
            answer_text = joined_words(before[3], answer_text)
            said_at = said_at or before[4]
        self._open[agent] = _make(_Answer, (message, at, where, answer_text, said_at, asked_at))
        return closed

    def close(self, agent: str) -> Turn | None:
        """Close an agent's open answer and return its turn; None if there is none or it was closed before."""
        answer = self._open.pop(agent, None)
        return None if answer is None else self._usage.deduplicate(self._turn(agent, answer))

    def end(self, agent: str) -> Turn | None:
        """Close an agent's answer at the end of its turn, which older answers do not mark themselves."""
        turn = self.close(agent)
        return replace(turn, stop=ENDED) if turn is not None and turn.stop in ("", WORDLESS) else turn

    def read(self) -> Iterator[Turn]:
        """The open answers as far as they are known."""
        for agent, answer in self._open.items():
            turn = self._usage.preview(self._turn(agent, answer))
            if turn is not None:
                yield turn

    def _turn(self, agent: str, answer: _Answer) -> Turn:
        message, at, where, answer_text, said_at, asked_at = answer
        usage = message.usage or lines.Tokens()
        cache = usage.cache_creation
        return self._kit.models.turn(
            at,
            model=message.model or "",
            input_tokens=lines.token_count(usage.input_tokens),
            output_tokens=lines.token_count(usage.output_tokens),
            cache_read=lines.token_count(usage.cache_read_input_tokens),
            cache_write=lines.token_count(usage.cache_creation_input_tokens),
            cache_write_1h=lines.token_count(cache.ephemeral_1h_input_tokens) if cache is not None else 0,
            message=message.id or "",
            agent=agent,
            where=where,
            stop=message.stop_reason or ("" if said_at else WORDLESS),
            said=answer_text,
            said_at=said_at,
            asked=asked_at,
            mode=self.mode,
            searches=lines.token_count(usage.server_tool_use.web_search_requests) if usage.server_tool_use else 0,
        )


def is_final(message: lines.Message) -> bool:
    """Whether a line is the last of its answer; behind thoughts there are words to come."""
    return message.stop_reason in _FINAL and not is_thought(message)


def is_thought(message: lines.Message) -> bool:
    """Whether a line says nothing but thoughts."""
    content = message.content
    return type(content) is list and all(block.type in _THOUGHTS for block in content)


_NAME = re.compile(r"a[a-z_]{4,}-")


def is_helper(agent: str) -> bool:
    """Whether an agent's name is that of a fork, and not of a delegation."""
    return bool(_NAME.match(agent))


class Fork:
    """The answers of a fork since its last prompt.

    Earlier lines may repeat the log it was forked from, with the same ids and times. Its tokens belong to the
    session, but to no agent's context, and nobody reads its words.
    """

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._answers = OpenAnswers(kit)
        self._spent: list[Turn] = []

    def step(self, line: lines.ClaudeLine, at: float, where: Where) -> None:
        """Read one line of its log."""
        message = line.message
        if message is None:
            return
        if line.type == "assistant":
            before = self._answers.update(MAIN, message, at, where)
            if before is not None:
                self._spent.append(before)
        elif line.type == "user" and _asks(lines.user_words(message.content)):
            self._answers = OpenAnswers(self._kit)
            self._spent.clear()

    def pending_events(self) -> list[Event]:
        """Return what it has spent so far, as turns of the main agent."""
        return [
            replace(turn, stop="total", context_tokens=0, context_window=0, checking=0, doubting=0, said=None)
            for turn in (*self._spent, *self._answers.read())
        ]


def _asks(text: str) -> bool:
    return lines.is_prompt(text) and not text.startswith("[Request interrupted by user")


_NOTE = re.compile(r"<task-id>([^<\s]{1,100})</task-id>(?:.*?<status>([a-z_]{1,30})</status>)?", re.DOTALL)
_ENDS: dict[str, Outcome] = {"completed": "success", "failed": "failure", "killed": "rejected", "stopped": "rejected"}


class _Order(NamedTuple):
    """A call that starts an agent."""

    at: float
    agent: str
    role: str
    prompt: int


class _Input(Struct, gc=False):
    prompt: str = ""
    subagent_type: str | None = None


class Delegations:
    """Follows one log's calls for sub-agents."""

    def __init__(self, own: str) -> None:
        self.alone = False  # The log is a sub-agent's own: its side lines are its main lines.
        self._own = own
        self._open: dict[str, _Order] = {}
        # Calls answered before their agents showed up, by the words they were given.
        self._late: dict[int, list[str]] = {}
        self._children: dict[str, str] = {}
        self._started: dict[str, str] = {}  # The agent of each call that has one.
        self._free: dict[str, None] = {}  # Open calls without an agent, and the same by the words they were given.
        self._asked: dict[int, dict[str, None]] = {}
        self._running: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._last = ""

    def called(self, call: str, arguments: Raw, at: float, agent: str) -> None:
        """Register a call for a sub-agent, which may start later."""
        request = decoded(arguments, _Input) or _Input()
        order = _Order(at, agent, request.subagent_type or "", fingerprint(request.prompt))
        self._settle(call)
        self._open[call] = order
        if call not in self._started:
            self._free[call] = None
            self._asked.setdefault(order.prompt, {})[call] = None

    def sidechain(self, line: lines.ClaudeLine, at: float, where: Where, out: list[Event]) -> str:
        """The agent of a side line that names none: by its parent line, or by the words it was given."""
        child = self._lines.get(line.parent_uuid or "") or ("" if line.parent_uuid is None else self._last)
        if not child:
            call = self._match(line)
            child = call or f"sidechain-{(line.uuid or '')[:8]}"
            if child not in self._children:
                self._start(call, child, at, where, out)
        if line.uuid:
            self._lines[line.uuid] = child
        self._last = child
        return child

    def read_notice(self, line: lines.ClaudeLine, at: float, where: Where, calls: Calls, out: list[Event]) -> None:
        """Read progress, which names the agent of a call, or a queued notice that an agent is done."""
        if line.type == "queue-operation":
            text = decoded(line.content)
            if isinstance(text, str):
                self.notified(text, at, where, self._own, out)
            return
        call = line.parent_tool_use_id
        if call in self._open and call not in self._started:
            progress = decoded(line.data, lines.AgentProgress) or lines.AgentProgress()
            if progress.type == "agent_progress" and progress.agent_id and calls.tool(call):
                self._start(call, progress.agent_id, at, where, out)

    def answered(self, use: ToolUse, details: lines.ToolDetails | None, out: list[Event]) -> None:
        """Read a call's result: the agent was launched, or reports back."""
        call = use.id
        child = self._started.get(call, "")
        agent_id = details.agent_id if details is not None and details.agent_id else ""
        if not child:
            if not agent_id and use.outcome in ("failure", "rejected", "collateral", "pending"):
                self._settle(call)
                return
            child = agent_id or call
            if child not in self._children:
                self._start(call, child, use.at, use.where, out)
        order = self._open.get(call)
        self._settle(call)
        if order is not None and child == call:
            self._late.setdefault(order.prompt, []).append(call)
        if details is not None and (details.is_async or details.status == "async_launched"):
            self._running[child] = use.agent
            return
        milliseconds = details.total_duration_ms if details is not None else None
        out.append(
            AgentEnd(
                at=use.at,
                agent=use.agent,
                where=use.where,
                child=child,
                outcome=use.outcome,
                tokens=max(0, details.total_tokens or 0) if details is not None else 0,
                tool_uses=max(0, details.total_tool_use_count or 0) if details is not None else 0,
                duration=milliseconds / 1000 if milliseconds is not None and milliseconds >= 0 else use.duration,
            )
        )

    def notified(self, text: str, at: float, where: Where | None, agent: str, out: list[Event]) -> None:
        """A notice that an agent in the background is done."""
        if not self._running or not text.startswith("<task-notification>"):
            return
        for child, status in _NOTE.findall(text[:4000]):
            if child in self._running:
                outcome = _ENDS.get(status, "success")
                parent = self._running.pop(child)
                out.append(AgentEnd(at=at, agent=parent or agent, where=where, child=child, outcome=outcome))

    def reported(self, child: str, status: str, at: float, where: Where | None, out: list[Event]) -> None:
        """End a background agent whose status a tool reported."""
        if child in self._running and status in _ENDS:
            parent = self._running.pop(child)
            out.append(AgentEnd(at=at, agent=parent, where=where, child=child, outcome=_ENDS[status]))

    def leave(self, at: float, where: Where | None, out: list[Event]) -> None:
        """End the background agents that still run when the session ends."""
        for child, parent in self._running.items():
            out.append(AgentEnd(at=at, agent=parent, where=where, child=child, outcome="pending"))
        self._running.clear()

    def _match(self, line: lines.ClaudeLine) -> str:
        """The open call that gave the words a side line begins with; else the oldest without an agent."""
        words = fingerprint(lines.user_words(line.message.content)) if line.message is not None else 0
        late = self._late.get(words)
        if words not in self._asked and late:
            call = late.pop(0)
            if not late:
                del self._late[words]
            return call
        return next(iter(self._asked.get(words, self._free)), "")

    def awaited(self, line: lines.ClaudeLine) -> bool:
        """Whether a call that a side line without a parent may answer to has come."""
        words = fingerprint(lines.user_words(line.message.content)) if line.message is not None else 0
        return bool(self._free) or words in self._late

    def _settle(self, call: str) -> None:
        """A call asks for no agent any more."""
        self._assign(call)
        self._open.pop(call, None)

    def _assign(self, call: str) -> None:
        """A call has its agent, or needs none."""
        order = self._open.get(call)
        if order is not None and call in self._free:
            del self._free[call]
            alike = self._asked[order.prompt]
            del alike[call]
            if not alike:
                del self._asked[order.prompt]

    def _start(self, call: str, child: str, at: float, where: Where | None, out: list[Event]) -> None:
        order = self._open.get(call)
        self._children[child] = call
        self._started.setdefault(call, child)
        self._assign(call)
        if order is None:
            out.append(AgentStart(at=at, agent=self._own, where=where, child=child))
        else:
            out.append(AgentStart(at=order.at, agent=order.agent, where=where, child=child, role=order.role))


def sub_agent_files(path: Path) -> list[Companion]:
    """The logs of a session's sub-agents and helpers: in its folder, or beside it and naming it."""
    files: dict[str, Path] = {}
    folder = path.with_name(path.name.partition(".jsonl")[0])
    for file in sorted(folder.rglob("agent-*.jsonl*")) if is_folder(folder) else []:
        files.setdefault(_agent_of(file), file)
    for file in _logs_beside(path.parent).of(path.parent, folder.name):
        if file != path:
            files.setdefault(_agent_of(file), file)
    return [Companion(agent, file, is_helper(agent)) for agent, file in files.items()]


_TICK = 0.1  # Seconds within which a folder may change twice and show one time.
_FOLDERS = 64
_NAMELESS = 100  # Folders kept in memory, and logs of one without a session yet that are read again.


class LogsBeside:
    """The logs of sub-agents in one folder, by the sessions that they name.

    The folder is listed again only when it changed, and each log is opened once: there may be thousands.
    """

    def __init__(self) -> None:
        self._stamp = (0, 0)
        self._settled = False  # Nothing can have come since it was listed without another time of the folder.
        self._told: set[Path] = set()
        self._sessions: dict[str, list[Path]] = {}
        self._nameless: list[Path] = []

    def of(self, folder: Path, session: str) -> list[Path]:
        """Return one session's sub-agents by name."""
        try:
            status = folder.stat()
        except OSError:
            return []
        stamp = (status.st_ino, status.st_mtime_ns)
        again = self._nameless[-_NAMELESS:]
        if stamp != self._stamp or not self._settled:
            self._stamp, self._settled = stamp, time.time() - status.st_mtime > _TICK
            again = [file for file in folder.glob("agent-*.jsonl") if file not in self._told]
            self._nameless = again
        for file in again:
            if name := _session_of(file):
                self._told.add(file)
                self._sessions.setdefault(name, []).append(file)
        self._nameless = [file for file in self._nameless if file not in self._told]
        return sorted(file for file in self._sessions.get(session, ()) if is_there(file))


_beside: OrderedDict[Path, LogsBeside] = OrderedDict()


def _logs_beside(folder: Path) -> LogsBeside:
    logs = _beside.pop(folder, None) or LogsBeside()
    _beside[folder] = logs
    if len(_beside) > _FOLDERS:
        _beside.popitem(last=False)
    return logs


def _agent_of(file: Path) -> str:
    return file.name.partition(".jsonl")[0].removeprefix("agent-")


def _session_of(file: Path) -> str:
    try:
        with open_log(file) as stream:
            line = stream.readline(1 << 20)
        return msgspec.json.decode(line, type=lines.ClaudeLine).session_id or ""
    except (OSError, *FAULTS):
        return ""
