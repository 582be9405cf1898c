"""Codex threads: which lines are a parent's, where the rollouts of children are, and which tokens each answer took."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from core.agents.models import ENDED, WORDLESS, failed_turn, joined_words
from core.agents.normalizer import AgentKit
from core.agents.values import decode, table, text, token_counts, whole_number, words
from core.engine.values import fingerprint
from core.events import MAIN, AgentEnd, AgentStart, Event, Outcome, Turn, Where
from core.logs.format import Companion
from core.logs.lines import head
from core.logs.log_files import absolute_path, is_folder, named_like

_BURST = 2.0  # A copied beginning is written at once: later lines than this are the thread's own.
_SLACK = 1.0
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-")
_UUID = 36  # Characters of an id at the end of a rollout's name.
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
    history_start: int = 0  # The ordinal of its first own line, if lines of its parent precede it.
    kept: Where | None = None  # The end of what it goes on from in another rollout, which is named by its id.


def read_meta(payload: dict[str, Any]) -> Meta:
    """Read a session_meta payload."""
    spawn = table(table(table(payload.get("source")).get("subagent")).get("thread_spawn"))
    base = table(payload.get("history_base"))
    rollout = text(base.get("thread_id"))
    return Meta(
        text(payload.get("id")),
        text(payload.get("cwd")),
        text(payload.get("cli_version")),
        text(table(payload.get("git")).get("branch")),
        text(payload.get("forked_from_id")),
        text(spawn.get("parent_thread_id")) or text(payload.get("parent_thread_id")),
        text(spawn.get("agent_role")) or text(payload.get("agent_role")),
        whole_number(payload.get("subagent_history_start_ordinal")),
        Where(rollout, whole_number(base.get("end_byte_offset"))) if rollout else None,
    )


class Replay:
    """Tells a parent's copied lines from the thread's own.

    Newer logs say where the own lines begin. In others, copied lines have a new time, but the ids of their turns
    keep the time they ran.
    """

    def __init__(self) -> None:
        self.active = False
        self._own = ""
        self._created = 0.0
        self._written = 0.0
        self._start = 0

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
        self._start = meta.history_start
        return True

    def copied(self, at: float, turn: str, ordinal: Any) -> bool:
        """Whether a line belongs to the copied beginning."""
        if not self.active:
            return False
        born = minted(turn)
        if self._start and isinstance(ordinal, int):
            self.active = ordinal < self._start
        elif born:
            self.active = born < self._created - _SLACK
        elif at > self._written + _BURST:
            self.active = False
        return self.active


def minted(identity: str) -> float:
    """Return the time in a version 7 UUID; 0 for any other id."""
    match = _UUID7.match(identity)
    return int(match.group(1) + match.group(2), 16) / 1000.0 if match else 0.0


def thread_files(path: Path) -> list[Companion]:
    """The rollouts of this thread after rollbacks, and of the threads that it or a child of it started."""
    own, _ = _thread(path)
    if not own:
        return []
    companions: list[Companion] = []
    children: dict[str, list[Companion]] = {}
    for folder in filter(is_folder, [path.parent, *thread_folders(path)]):
        for file in sorted(folder.glob("rollout-*.jsonl*")):
            thread, parent = _thread(file)
            if thread == own and goes_on(path, file):
                companions.append(Companion(MAIN, file))
            elif thread and parent and thread != own and file != path:
                children.setdefault(parent, []).append(Companion(thread, file))
    waiting, visited = [own], {own}
    while waiting:
        for child in children.get(waiting.pop(0), []):
            if child.agent not in visited:
                visited.add(child.agent)
                companions.append(child)
                waiting.append(child.agent)
    return companions


def goes_on(path: Path, file: Path) -> bool:
    """Whether the thread that begins in a rollout goes on in another file after a rollback, by their names."""
    thread = path.name.partition(".")[0][-_UUID:]
    return "_" not in path.name and f"-{thread}_" in file.name


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


_PHASES = {"final_answer": ENDED, "commentary": "commentary"}  # Newer logs mark words as the answer or as commentary.
_HEARD = 16  # Words remembered until their second sign comes; logs with one sign alone never bring it.


class TokenCount(NamedTuple):
    """Tokens of one answer, or of all so far; those sent include cached and written ones."""

    sent: int = 0
    cached: int = 0
    answered: int = 0
    written: int = 0

    def since(self, before: TokenCount) -> TokenCount | None:
        """Return the difference; None if the count started again."""
        more = TokenCount(*(now - then for now, then in zip(self, before, strict=True)))
        return more if min(more) >= 0 else None


class Counts(NamedTuple):
    """The token counts of a thread between two answers."""

    model: str = ""
    spent: TokenCount = TokenCount()  # All so far.
    counted: bool = False  # The log counts tokens at all.
    recorded: bool = False  # Answers have records of their own, and running totals repeat them.
    window: int = 0
    context: int = 0


class _Words(NamedTuple):
    """The agent's words since its last counted answer."""

    said: str
    at: float
    where: Where  # Where it last did.
    stop: str


class Turns:
    """Make a turn of every count that is news, and of words for which none comes."""

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self.counts = Counts()
        # Words logged by only one sign so far: the sign and a fingerprint of each.
        self._unconfirmed: tuple[tuple[str, int], ...] = ()
        self._over = False
        self._open_words: _Words | None = None
        self._answered = False  # Whether a call was answered since the agent last said or did something.
        self.searches = 0  # Web searches that no turn has paid for yet.
        self.mode = ""  # What the agent may do without asking.

    def say(self, sign: str, answer_text: str, phase: str, at: float, agent: str, where: Where) -> Turn | None:
        """Add words of the agent, and return the turn of the answer before if it is over.

        Two kinds of records may repeat the same words, with the count of their answer between them.
        """
        if not answer_text.strip():
            return None
        digest = fingerprint(answer_text)
        again = [place for place, one in enumerate(self._unconfirmed) if one[1] == digest and one[0] != sign]
        if again:
            self._unconfirmed = self._unconfirmed[: again[0]] + self._unconfirmed[again[0] + 1 :]
            return None
        over = self.acts(agent)
        self._unconfirmed = (*self._unconfirmed, (sign, digest))[-_HEARD:]
        before = "" if self._open_words is None else self._open_words.said
        self._open_words = _Words(joined_words(before, answer_text), at, where, _PHASES.get(phase, ""))
        return over

    def set_model(self, *, model: Any = None, window: Any = None) -> None:
        """Set the model or its window, if given."""
        self.counts = self.counts._replace(
            model=text(model) or self.counts.model, window=whole_number(window) or self.counts.window
        )

    def total(self, info: dict[str, Any] | None, at: float, agent: str, where: Where) -> Turn | None:
        """Return the turn of a running total; None if nothing was added."""
        self.counts = self.counts._replace(counted=True)
        if info is None:
            return None
        self.set_model(window=info.get("model_context_window"))
        total, last = _count(info.get("total_token_usage")), _count(info.get("last_token_usage"))
        before = self.counts.spent
        if total == before or self.counts.recorded:
            return None
        self.counts = self.counts._replace(spent=total)
        return self._turn(total.since(before) or (last if any(last) else total), last.sent, "", at, agent, where)

    def record(self, record: dict[str, Any], at: float, agent: str, where: Where) -> Turn | None:
        """Return the turn of one answer's usage, which newer logs have."""
        self.counts = self.counts._replace(counted=True, recorded=True)
        usage = _count(record.get("usage"))
        if not any(usage):
            return None
        return self._turn(usage, usage.sent, text(record.get("response_id")), at, agent, where)

    def pass_over(self, info: Any) -> None:
        """Start counting from a running total of the parent thread."""
        total = _count(table(info).get("total_token_usage"))
        if any(total):
            self.counts = self.counts._replace(spent=total)

    def acts(self, agent: str) -> Turn | None:
        """Advance to an act of the agent; in a log without counts, answered calls end an answer."""
        self._over = False
        answered, self._answered = self._answered, False
        return self.close(agent) if answered and not self.counts.counted else None

    def answered(self) -> None:
        """A call got its answer."""
        self._answered = True

    def uncounted(self, agent: str) -> Turn | None:
        """Return the turn of words whose tokens are not logged yet; they keep waiting."""
        words = self._open_words
        return None if words is None else self._build_turn(words.at, agent, words.where)

    def close(self, agent: str) -> Turn | None:
        """Close the open words, whose tokens will not be logged, and return their turn."""
        turn, self._open_words = self.uncounted(agent), None
        self._over = turn is not None and turn.stop == ENDED
        return turn

    def end(self, at: float, agent: str, where: Where) -> Turn | None:
        """Return the turn that the log ends; None if an answer or an error ended it before."""
        over, last_turn = self._over, self.close(agent)
        self._over = True
        if last_turn is not None:
            return replace(last_turn, stop=ENDED)
        return None if over else replace(self._build_turn(at, agent, where), stop=ENDED, cost=0.0)

    def fail(self, at: float, agent: str, where: Where) -> list[Turn]:
        """An error ended the agent's turn, maybe after words."""
        last_turn = self.close(agent)
        self._over = True
        return [*filter(None, [last_turn]), failed_turn(at, agent, where)]

    def _turn(self, usage: TokenCount, context: int, message: str, at: float, agent: str, where: Where) -> Turn:
        turn = self._build_turn(
            at,
            agent,
            where,
            message=message,
            input_tokens=max(0, usage.sent - usage.cached - usage.written),
            cache_read=min(usage.sent, usage.cached),
            cache_write=usage.written,
            output_tokens=usage.answered,
            searches=self.searches,
        )
        self.searches = 0
        self._open_words, self._answered, self._over = None, False, turn.stop == ENDED
        context = context or turn.context_tokens
        self.counts = self.counts._replace(context=context)
        return turn if context == turn.context_tokens else replace(turn, context_tokens=context)

    def _build_turn(self, at: float, agent: str, where: Where, **facts: Any) -> Turn:
        """A turn with the words that wait."""
        words = self._open_words
        return self._kit.models.turn(
            at,
            model=self.counts.model,
            mode=self.mode,
            agent=agent,
            where=where,
            window=self.counts.window,
            stop=words.stop if words else WORDLESS,
            said=words.said if words else "",
            said_at=words.where if words else None,
            **facts,
        )


def _count(value: Any) -> TokenCount:
    """Read a token_usage object."""
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "cache_write_input_tokens")
    return TokenCount(*token_counts(table(value), *names))
