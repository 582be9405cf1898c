"""Codex threads: which lines of a rollout are its parent's, and where the rollouts of its children are."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from core.agents.values import decode, table, text, words
from core.events import AgentEnd, AgentStart, Event, Outcome, Where
from core.logs.format import Companion
from core.logs.lines import head
from core.logs.log_files import absolute_path, is_folder, named_like

_BURST = 2.0  # A copied beginning is written at once: later lines than this are the thread's own.
_SLACK = 1.0
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-")
_ROLLOUT_HEAD = 262_144
_MOST_KNOWN = 20_000
_thread_cache: dict[tuple[str, int], tuple[str, str]] = {}


class Meta(NamedTuple):
    """The facts in the first line of a rollout."""

    session: str = ""
    cwd: str = ""
    version: str = ""
    branch: str = ""
    forked_from: str = ""
    parent: str = ""  # The thread that started this one.
    role: str = ""


def read_meta(payload: dict[str, Any]) -> Meta:
    """Read a session_meta payload."""
    spawn = table(table(table(payload.get("source")).get("subagent")).get("thread_spawn"))
    return Meta(
        text(payload.get("id")),
        text(payload.get("cwd")),
        text(payload.get("cli_version")),
        text(table(payload.get("git")).get("branch")),
        text(payload.get("forked_from_id")),
        text(spawn.get("parent_thread_id")) or text(payload.get("parent_thread_id")),
        text(spawn.get("agent_role")) or text(payload.get("agent_role")),
    )


class Replay:
    """Tells a parent's copied lines from the thread's own.

    Copied lines get a new time when they are written, but the ids of their turns keep the time they ran.
    """

    def __init__(self) -> None:
        self.active = False
        self._own = ""
        self._created = 0.0
        self._written = 0.0

    def begin(self, meta: Meta, at: float) -> bool:
        """Read a session_meta line and return False if it is copied from another thread."""
        if self._own and meta.session != self._own:
            self.active = self.active or at <= self._written + _BURST
            return False
        if self._own:
            return False
        self._own = meta.session
        self._created = minted(meta.session) or at
        self._written = at
        self.active = bool(meta.forked_from)
        return True

    def copied(self, at: float, turn: str) -> bool:
        """Whether a line belongs to the copied beginning."""
        if not self.active:
            return False
        born = minted(turn)
        if born:
            self.active = born < self._created - _SLACK
        elif at > self._written + _BURST:
            self.active = False
        return self.active


def minted(identity: str) -> float:
    """Return the time in a version 7 UUID; 0 for any other id."""
    match = _UUID7.match(identity)
    return int(match.group(1) + match.group(2), 16) / 1000.0 if match else 0.0


def thread_files(path: Path) -> list[Companion]:
    """The rollouts of the threads that this one, or a child of it, started."""
    own, _ = _thread(path)
    if not own:
        return []
    children: dict[str, list[Companion]] = {}
    for folder in filter(is_folder, [path.parent, *thread_folders(path)]):
        for file in sorted(folder.glob("rollout-*.jsonl*")):
            thread, parent = _thread(file)
            if thread and parent and file != path:
                children.setdefault(parent, []).append(Companion(thread, file))
    companions: list[Companion] = []
    waiting, visited = [own], {own}
    while waiting:
        for child in children.get(waiting.pop(0), []):
            if child.agent not in visited:
                visited.add(child.agent)
                companions.append(child)
                waiting.append(child.agent)
    return companions


def thread_folders(path: Path) -> list[Path]:
    """Return the folder of the next day, for threads that start around midnight."""
    day = absolute_path(path.parent)
    try:
        after = date(int(day.parts[-3]), int(day.parts[-2]), int(day.parts[-1])) + timedelta(days=1)
    except (ValueError, IndexError, OverflowError):
        return []
    folder = day.parents[2] / f"{after.year:04}" / f"{after.month:02}" / f"{after.day:02}"
    return [named_like(folder, path)]


def _thread(path: Path) -> tuple[str, str]:
    """The id of a rollout's thread and of the thread that started it."""
    try:
        key = (str(path), path.stat().st_ino)
        if key not in _thread_cache:
            line = head(path, _ROLLOUT_HEAD).partition(b"\n")
            if not line[1]:
                return "", ""
            record = table(decode(line[0]))
            meta = read_meta(table(record.get("payload"))) if record.get("type") == "session_meta" else Meta()
            if len(_thread_cache) >= _MOST_KNOWN:
                _thread_cache.clear()
            _thread_cache[key] = (meta.session, meta.parent)
        return _thread_cache[key]
    except OSError:
        return "", ""


_ENDED = frozenset(("completed", "errored", "failed", "shutdown", "interrupted"))
_FAILED = frozenset(("errored", "failed"))


class ChildThreads:
    """Starts and ends each child once, however often the log reports it."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.states: dict[str, str] = {}  # Of each child begun, `running` or how it ended.
        self._closing: dict[str, str] = {}  # Which child a call is about to close.

    def closes(self, call: str, arguments: Any) -> None:
        """A call is made that closes a child."""
        options = table(arguments)
        self._closing[call] = text(options.get("id")) or text(options.get("target"))

    def answered(self, call: str, tool: str, output: Any, well: bool, at: float, where: Where) -> list[Event]:
        """Return the starts and ends that the answer to a delegating call reports."""
        reply = table(decode(words(output)))
        if tool == "spawn_agent" and well:
            return self.start(text(reply.get("agent_id")) or text(reply.get("thread_id")), "", at, where)
        if tool in ("wait_agent", "wait"):
            ends: list[Event] = []
            for child, status in table(reply.get("status")).items():
                state = next(iter(status), "") if isinstance(status, dict) else text(status)
                ends += self.end(child, state, at, where)
            return ends
        if tool == "close_agent":
            return self.end(self._closing.pop(call, ""), "completed" if well else "", at, where)
        return []

    def activity(self, item: dict[str, Any], at: float, where: Where) -> list[Event]:
        """Return the start or the end of a child that an event or an item reports."""
        if "new_thread_id" in item:
            return self.start(text(item["new_thread_id"]), text(item.get("new_agent_role")), at, where)
        child, kind = text(item.get("agent_thread_id")), text(item.get("kind"))
        if kind == "started":
            return self.start(child, text(item.get("agent_path")).rpartition("/")[2], at, where)
        return self.end(child, kind, at, where)

    def start(self, child: str, role: str, at: float, where: Where) -> list[Event]:
        """A child begins."""
        if not child or child in self.states:
            return []
        self.states[child] = "running"
        return [AgentStart(at=at, agent=self._agent, where=where, child=child, role=role)]

    def end(self, child: str, state: str, at: float, where: Where) -> list[Event]:
        """A child is in a state, which may be its end."""
        if self.states.get(child) != "running" or state not in _ENDED:
            return []
        self.states[child] = state
        outcome: Outcome = "failure" if state in _FAILED else "rejected" if state == "interrupted" else "success"
        return [AgentEnd(at=at, agent=self._agent, where=where, child=child, outcome=outcome)]
