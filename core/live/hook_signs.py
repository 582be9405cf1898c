"""First-hand signs ahead of the log: agents' hooks, and Claude Code's own file for each running session."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from core.events import Action, Event, Outcome, ToolUse
from core.live.status import STATUS_WORDS, AgentTrouble, Process
from core.logs.lines import seconds
from core.logs.redact.values import one_line
from core.report.plan_limits import PlanLimit


class HookAsk(Struct, frozen=True):
    """Something an agent waits for the person with."""

    since: float
    why: str
    agent: str
    call: str = ""  # Id of the call it is about; blank if none.


class HookOpenCall(Struct, frozen=True):
    """A call that its hooks report as open."""

    id: str
    at: float
    agent: str
    tool: str
    action: Action

    def event(self) -> ToolUse:
        """Return the event as the log would contain it."""
        return ToolUse(at=self.at, agent=self.agent, tool=self.tool, action=self.action, id=self.id, outcome="pending")


class HookEndedCall(HookOpenCall, frozen=True):
    """A call that its hooks report as ended before its log does."""

    outcome: Outcome
    program: str = ""
    targets: tuple[str, ...] = ()

    def event(self) -> ToolUse:
        """Return the event as the log would contain it."""
        return replace(super().event(), outcome=self.outcome, program=self.program, targets=self.targets)


class AskedChoice(Struct, frozen=True):
    """One question an agent asks, and the answers it offers."""

    question: str
    options: tuple[str, ...] = ()


class PermitQuestion(Struct, frozen=True):
    """A call that waits for the person's permit."""

    number: int
    at: float
    session: str
    tool: str
    what: str  # The call in words, redacted.
    reason: str
    late: bool = False  # Nobody answered in time; an answer applies to the next try.
    # Held by our guard, or a prompt of the agent's own whose dialog is open too.
    kind: Literal["guard", "permission", "question", "plan"] = "guard"
    choices: tuple[AskedChoice, ...] = ()  # What a question asks.


class StatusFigures(Struct, frozen=True):
    """Figures from an agent's own status line; shares are between 0 and 1."""

    window: int = 0  # Size of the model's window in tokens; 0 if unknown.
    context: float | None = None  # Share of the window in use.
    cost: float | None = None


class HookSigns(Struct, frozen=True):
    """The present report of one session's hooks."""

    heard: float = 0.0
    mode: Literal["observe", "advise", "guard"] = "observe"  # What its hooks may do, by the last report.
    asks: tuple[HookAsk, ...] = ()
    open: tuple[HookOpenCall, ...] = ()
    ended: tuple[HookEndedCall, ...] = ()  # What ended ahead of the log, the oldest first.
    questions: tuple[PermitQuestion, ...] = ()
    figures: StatusFigures = StatusFigures()
    answers: bool = False  # Its own permission prompts can be answered from here.
    warning: str = ""  # A spending cap that is near or reached, or tokens that go much faster than usual.
    limits: tuple[PlanLimit, ...] = ()  # The windows of the plan that pays for it.
    process: Process = ""

    def asking(self, ended: Iterable[str] = ()) -> AgentTrouble | None:
        """Return what has waited for the person longest, unless its call is known to have ended."""
        ended_ids = set(ended)
        asks = [(ask.since, ask.why) for ask in self.asks if not ask.call or ask.call not in ended_ids]
        prompts = [(one.at, permit_words(one)) for one in self.questions if not one.late]
        if not (asks or prompts):
            return None
        return AgentTrouble(min(asks + prompts)[0], min(prompts or asks)[1])

    def ahead(self, pending: Iterable[Event], ended: Iterable[str]) -> tuple[Event, ...]:
        """Merge the open calls of the log and of the hooks; each call appears once.

        One that ended by its hook is open no longer; it has its outcome until the log tells it.
        """
        ended_ids = frozenset(ended)
        over = {call.id: call for call in self.ended if call.id not in ended_ids}
        in_log = [event for event in pending if not isinstance(event, ToolUse) or event.id not in over]
        ids = ended_ids | over.keys() | {event.id for event in in_log if isinstance(event, ToolUse)}
        done = (call.event() for call in over.values())
        opened = (call.event() for call in self.open if call.id and call.id not in ids)
        return (*in_log, *done, *opened)


class HookBoard(Struct, frozen=True):
    """The reports of all sessions' hooks, from the server's last answer."""

    version: int = 0
    serving: bool = False  # Whether an intake answered.
    sessions: Mapping[str, HookSigns] = field(default_factory=dict)
    limits: tuple[PlanLimit, ...] = ()  # The windows of all the person's plans.

    def of(self, session: str, agent: str = "") -> HookSigns | None:
        """Return the report of one session; without hooks, only its agent's limits."""
        signs = self.sessions.get(session)
        limits = tuple(one for one in self.limits if one.agent == agent)
        return signs if not limits or (signs and signs.heard) else replace(signs or HookSigns(), limits=limits)

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """All that waits for a permit, the oldest first."""
        questions = [one for signs in self.sessions.values() for one in signs.questions]
        return tuple(sorted(questions, key=lambda one: one.number))


def permit_words(question: PermitQuestion) -> str:
    """A question as a reason to look."""
    if question.kind == "permission":
        return f"asks for permission: {question.what}"
    if question.kind != "guard":
        return f"{'asks' if question.kind == 'question' else 'shows a plan'}: {question.what}"
    return f"needs your permit: {question.what} ({question.reason})"


_KEYS = {"question": "y answer  d decline", "plan": "y approve  d reject"}  # These are answered only once.


def answer_keys(signs: HookSigns | None) -> str:
    """The keys that answer what waits for the person; blank if nothing does."""
    waits = [one for one in signs.questions if not one.late] if signs is not None else []
    if waits:
        keys = _KEYS.get(waits[0].kind, "y allow  Y session  d deny")
        return f"{keys}{f' (1 of {len(waits)})' if len(waits) > 1 else ''}"
    return "answer in its terminal: R" if signs is not None and signs.asks else ""


_LARGEST = 65_536
_MOST = 500  # Files looked at; a folder with more is not Claude Code's.


class ClaudeSession(NamedTuple):
    """The report of one running Claude Code process about itself."""

    pid: int
    session: str
    project: str
    status: str  # busy, shell, idle or waiting; gone if the process was killed.
    waiting_for: str
    since: float  # When this status began.
    attended: bool  # A person can see its dialogs; not so under `claude -p`.


def claude_sessions(environment: Mapping[str, str], home: Path) -> dict[str, ClaudeSession]:
    """The sessions of processes that run, or were killed and left their file, and of background jobs, by id."""
    own = environment.get("CLAUDE_CONFIG_DIR")
    folder = Path(own) if own else home / ".claude"
    sessions = {one.session: one for one in _states(folder, "jobs/*/state.json", _job)}
    for one in _states(folder, "sessions/*.json", _process):
        job = sessions.get(one.session)
        if one.status != "gone" or job is None:
            needs = one.status == "waiting" and job is not None and job.waiting_for
            sessions[one.session] = one._replace(waiting_for=needs) if needs else one
    return sessions


def _states(
    folder: Path, pattern: str, read: Callable[[dict[str, Any]], ClaudeSession | None]
) -> Iterator[ClaudeSession]:
    """Return the readable states among Claude Code's own files."""
    with suppress(OSError):
        for path in sorted(folder.glob(pattern))[:_MOST]:
            with suppress(OSError, ValueError, TypeError, KeyError, RecursionError), path.open("rb") as file:
                state = read(json.loads(file.read(_LARGEST)))
                if state is not None:
                    yield state


def _process(value: dict[str, Any]) -> ClaudeSession | None:
    """The session of a process; None if it moved to the background, or is out of sight in a container."""
    pid, session, status = value["pid"], value["sessionId"], value["status"]
    domain = str(value.get("pidDomain") or "")
    typed = isinstance(pid, int) and isinstance(session, str) and isinstance(status, str)
    if not typed or value.get("parkedJobId") or (domain and not domain.endswith(_pid_namespace())):
        return None
    if not _alive(pid, str(value.get("procStart") or "")):
        status = "gone"
    since = float(value.get("statusUpdatedAt", 0)) / 1000.0
    waits = str(value.get("waitingFor") or "")
    attended = value.get("entrypoint") != "sdk-cli"
    return ClaudeSession(pid, session, str(value.get("cwd") or ""), status, waits, since, attended)


_TEMPOS = {"active": "busy", "idle": "idle", "blocked": "waiting"}


def _job(value: dict[str, Any]) -> ClaudeSession | None:
    """The session of a background job, by what it does mechanically and by whether somebody stopped it."""
    session, tempo = value["sessionId"], value["tempo"]
    if not isinstance(session, str) or tempo not in _TEMPOS:
        return None
    over = {"stopped": "gone", "done": "idle", "failed": "idle"}.get(str(value.get("state")))
    since = seconds(value.get("updatedAt")) or 0.0
    needs = str(value.get("needs") or "")
    return ClaudeSession(0, session, str(value.get("cwd") or ""), over or _TEMPOS[tempo], needs, since, False)


def _pid_namespace() -> str:
    """The name of the namespace in which we see processes; blank if there is none."""
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""


def _alive(pid: int, start: str) -> bool:
    """Whether the process that wrote a file still runs; a killed one leaves its file."""
    if pid <= 0:
        return False
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return not start or not start.isdecimal() or fields[19] == start
    with suppress(OSError):
        if not Path("/proc/self/stat").exists():
            os.kill(pid, 0)
            return True
    return False


def first_hand(board: HookBoard, sessions: Mapping[str, ClaudeSession]) -> HookBoard:
    """A board with what each session says of itself: it waits, or it no longer does."""
    changed = {name: _merge_signs(board.of(name), state) for name, state in sessions.items()}
    return replace(board, sessions={**board.sessions, **{k: v for k, v in changed.items() if v is not None}})


def _merge_signs(signs: HookSigns | None, state: ClaudeSession) -> HookSigns | None:
    if state.status == "waiting":
        signs = signs or HookSigns(heard=state.since)
        if signs.asks or signs.questions:
            return signs
        why = STATUS_WORDS["waits"].get(state.waiting_for) or one_line(state.waiting_for, 80) or "waits in its terminal"
        return replace(signs, asks=(HookAsk(state.since, why, "main"),))
    if state.status == "gone":
        return replace(signs or HookSigns(), asks=(), questions=(), process="gone")
    if state.status in ("busy", "shell"):
        signs = replace(signs or HookSigns(), process="busy")
    if signs is None or not signs.asks:
        return signs
    return replace(signs, asks=tuple(ask for ask in signs.asks if ask.since > state.since))
