"""The hook server on its socket, and every request to it; a newer server takes over."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import stat
from collections.abc import Callable, Mapping, Sequence
from hmac import compare_digest
from math import ceil
from pathlib import Path
from typing import Any

import msgspec

from core.agents.normalizer import Normalizer, Sorted
from core.agents.registry import known_agents, make_kit
from core.agents.values import items, table, text
from core.engine.response.interventions import Advised, sentence
from core.engine.values import fingerprint
from core.errors import Refused, StoreError
from core.events import ADVICE_MARK, MAIN
from core.extension.hooks import ToolCall
from core.extension.registry import Registry, listening
from core.hooks.agent_answers import HOOKS, MODES, SILENCE, AgentHooks, HookCall, HookReply
from core.hooks.codex_daemon import CodexDaemon, daemon_socket
from core.hooks.connection import HEADER, TEST_EVENT, IntakeFolder, call, process_line
from core.hooks.guard import Answers, Choice, Guard, Objection, as_asked
from core.hooks.install import Installer
from core.hooks.limits import Caps, DayLedger, burn_rate, figures_json, figures_of, status_text
from core.hooks.phone import PhoneLinks, Verdict, post_json
from core.hooks.receiver import JSON, Answer, LoopThread, Receiver, Request
from core.hooks.session import HookedSession
from core.live.carry_over import CarryOver
from core.live.hook_signs import ClaudeSession, HookBoard, PermitQuestion, claude_sessions, first_hand
from core.logs.redact.values import one_line
from core.report.plan_limits import LimitHistory, claude_samples, codex_log_samples
from core.settings import Settings
from core.store.carry_over import CarryOverStore
from core.store.journals import PermitJournal, Said, SaidStore
from core.timeline import initial_state, opening, run_inputs

Follow = Callable[[AgentHooks, str], HookedSession]  # Begins to follow a session of an agent, by its id.


_SESSIONS = 200  # Sessions kept at once; the one longest silent goes first.
_PROBLEMS = 100
_LINED = "claude"  # The agent that has a status line.
_LOOK = 20.0  # Seconds a request for the board waits for a change.
PROMPT_WAIT = 3500.0  # Seconds a permission prompt may be answered from here while the agent's own dialog is open.
_SETTLE = 0.5  # Seconds by which a process may say that it works just before it says that it waits.
_TAKEN = 2.0  # Seconds an agent may take to close the dialog of a prompt that was answered from here.
_NOTHING = Answer(b"", JSON, 200)
PARENT = "x-nooscope-parent"


class IntakeHandler:
    """Takes requests on one loop; nothing in here blocks it for long."""

    def __init__(
        self,
        follow: Follow,
        normalizer: Normalizer,
        settings: Settings,
        place: IntakeFolder,
        clock: Callable[[], float],
        leave: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        folder = place.folder.parent
        self._follow = follow
        self._normalizer = normalizer
        self._token = place.prepare().encode()
        self._clock = clock
        self._leave = leave
        self._say = say
        self._registry = Registry(listening()[0], tolerance=settings.extensions.faults)
        self._said = SaidStore(folder / "said.jsonl")
        self.caps = Caps(settings.response.caps)
        self.limits = LimitHistory(folder / "limits.jsonl")
        self.ledger = DayLedger(folder / "spent_today.json")
        journal = PermitJournal(folder / "permits.jsonl")
        self.guard = Guard(settings.response.guard, secrets.token_bytes(32), journal, clock)
        self.answers = Answers(self.guard.safety.policy, journal, clock, self.guard.next_number)
        self.sessions: dict[str, HookedSession] = {}
        self.calls = 0
        self.problems: dict[str, None] = {}  # Problems, each reported once.
        self.unanswered: dict[str, int] = {}
        self.claude: Mapping[str, ClaudeSession] = {}  # The state that each running Claude Code process reports.
        self._catching: dict[str, asyncio.Task[None]] = {}
        self._agents: dict[tuple[int, str], None] = {}  # Processes that hooks were called by.
        self._replied: dict[str, float] = {}  # When a prompt of a session was last answered from here.
        # Begins elsewhere in each run, so that nobody takes one run's board for another's.
        self._version = int(1000 * clock())
        self._changed = asyncio.Event()

    def admit(self, headers: Mapping[str, str]) -> None:
        """Let only those in who know the token."""
        token = headers.get(HEADER, "").encode("utf-8", "replace")
        if not compare_digest(token, self._token):
            raise Refused(401, "the token is missing or wrong")

    async def handle(self, request: Request) -> Answer:
        """Answer one request; raises `Refused`."""
        self.admit(request.headers)
        match request.path.strip("/").split("/"):
            case ["hook", agent, mode, *more] if more in ([], ["answer"]):
                return await self._hook(request, agent, mode, answer=bool(more))
            case ["answer", agent, number] if number.isdecimal() and agent in HOOKS:
                return await self._prompt_answer(request, agent, int(number))
            case ["wait", agent, number] if number.isdecimal():
                return await self._waited(request, agent, int(number))
            case ["statusline"]:
                return self._statusline(request)
            case ["sessions"]:
                return _json([self._status(one) for one in self.sessions.values()])
            case ["board"]:
                return await self._board(request)
            case ["ask", what]:
                return self._ask(request, what)
            case ["questions"]:
                return _json(self.questions)
            case ["decide" | "steer" | "leave" as what]:
                return self._do_command(request, what)
            case _:
                raise Refused(404, "not found")

    def _do_command(self, request: Request, what: str) -> Answer:
        """Do what only the person may ask for."""
        why = self._not_the_person(request)
        if why:
            return _json({"done": False, "why": why})
        if what == "leave":
            asyncio.get_running_loop().call_soon(self._leave)
            return _json({})
        return self._decide(request) if what == "decide" else self._steer(request)

    def _not_the_person(self, request: Request) -> str:
        """Why a request that only the person may make is refused; blank if it is theirs."""
        if not request.process:
            return "this is only accepted on the socket" if hasattr(socket, "SO_PEERCRED") else ""
        if any(process in self._agents for process in process_line(request.process)):
            return "an agent, or a program that it started, cannot decide about its own calls"
        return ""

    def _remember_agent(self, request: Request) -> None:
        """Keep the process that a hook was called by."""
        above = request.headers.get(PARENT, "")
        for process in process_line(int(above)) if above.isdecimal() and len(above) < 10 else ():
            self._agents[process] = None
            if len(self._agents) > 2 * _SESSIONS:
                del self._agents[next(iter(self._agents))]
            return

    def record_unanswered(self, calls: Sequence[tuple[float, str, str, str]]) -> None:
        """Record calls that got no answer, and report them to the person."""
        for at, why, session, tool in calls:
            self.guard.record_unanswered(at, why, session, tool)
            self.unanswered[why] = self.unanswered.get(why, 0) + 1
        if calls:
            unguarded, late = self.unanswered.get("down", 0), self.unanswered.get("late", 0)
            self._say(f"{unguarded} calls were not guarded, {late} were answered by the agent alone")
            self._notify()

    async def _hook(self, request: Request, agent: str, mode: str, *, answer: bool = False) -> Answer:
        hooks = HOOKS.get(agent)
        if hooks is None or mode not in MODES:
            raise Refused(404, "no hook of this name")
        body = _request_body(request)
        call = hooks.read(body)
        if call is None:
            if body.get("hook_event_name") == TEST_EVENT:
                return _json({TEST_EVENT: f"{mode}, answer" if answer else mode})
            return _NOTHING
        self.calls += 1
        self._remember_agent(request)
        session = self._session(hooks, call)
        session.mode, session.answers = mode, answer
        try:
            session.step(call, self._clock())
        except Exception as fault:  # noqa: BLE001 the guard answers whatever the model makes of a call
            self._trouble(f"a call of {session.name} cannot be followed: {type(fault).__name__}: {fault}")
        self.answers.observe(call)
        if not session.reading:
            self._read_on(session)  # A decision is made with the state that the screen shows.
        reply, wait = self._reply_to(hooks, session, call), ("wait", self.guard.wait)
        if call.moment == "session_end" and call.agent == MAIN:
            self.guard.forget(call.session)
        # A question of the agent's own whose dialog is hidden could only be allowed, not answered.
        answerable = hooks.answers and hooks.answers_by_hook and not (hooks.hides_dialog and session.asks_itself(call))
        if answer and call.moment == "permission" and answerable:
            kind = self._sorted(hooks, call)
            self.guard.drop_late(call, kind)
            wait = "answer", self._patience(hooks, call.session)
            reply = self.answers.put(call, kind, wait[1], beside=not hooks.hides_dialog)
            if not isinstance(reply, int):
                self._answered(call, reply)
        self._notify()
        self._catch_up(session)
        if isinstance(reply, int):
            return Answer(f"{wait[0]} {reply} {ceil(wait[1]) + 1}\n".encode(), "text/plain")
        return self._final(hooks, call, reply)

    def _final(self, hooks: AgentHooks, call: HookCall, reply: HookReply) -> Answer:
        """The reply as the agent gets it; a call that it denies is not open."""
        denied = reply.verdict == "deny" or (reply.verdict == "ask" and call.unattended)
        session = self.sessions.get(call.session)
        if session is not None and call.moment == "before_tool" and denied:
            session.ahead.drop(call)
            self._notify()
        return _answer(hooks, call, reply)

    def _reply_to(self, hooks: AgentHooks, session: HookedSession, call: HookCall) -> HookReply | int:
        """The guard's decision or the advice that is due, or the number of the question for the person."""
        reached = self._over_cap(session)
        if session.mode == "guard":
            if call.moment == "before_tool":
                return self._guarded(call, self._sorted(hooks, call), session)
            if call.moment == "prompt" and reached and self.caps.stops:
                return HookReply(reason=f"nooscope: {reached}", stop=True)
            if call.moment == "after_tool":
                self.guard.observe_end(call, self._sorted(hooks, call))
        if session.mode != "observe" and (call.compacted or call.moment in ("batch", "after_tool", "prompt")):
            return self._advise(hooks, session, call)
        return SILENCE

    def _patience(self, hooks: AgentHooks, session: str) -> float:
        """Seconds a prompt waits for an answer from here; short if no dialog of its own is open beside it."""
        own = self.claude.get(session)
        return PROMPT_WAIT if not hooks.hides_dialog and (own is None or own.attended) else self.guard.wait

    async def _prompt_answer(self, request: Request, agent: str, number: int) -> Answer:
        """The second half of a permission prompt: it waits beside the agent's own dialog."""
        answered = await self.answers.wait(number, request.is_gone)
        self._notify()
        if answered is None:
            return _NOTHING
        self._answered(*answered)
        return _answer(HOOKS[agent], *answered)

    def _answered(self, call: HookCall, reply: HookReply = SILENCE) -> None:
        """A prompt is over, by a reply from here or elsewhere."""
        if reply is not SILENCE:
            self._replied[call.session] = self._clock()
        if (session := self.sessions.get(call.session)) is not None:
            session.ahead.answered(call)

    def update_processes(self, sessions: Mapping[str, ClaudeSession]) -> None:
        """Take in what Claude Code's processes say of themselves, and close prompts that are over."""
        changed = sessions != self.claude
        alive = {name for name, own in sessions.items() if own.status != "gone"}
        ended_sessions = {name for name in self.claude if name not in alive}
        self.claude = sessions
        for name in ended_sessions:
            changed |= self.answers.close_session(name, self._clock())
        for name, own in sessions.items():
            if own.status != "waiting":
                changed |= self.answers.close_session(name, own.since - _SETTLE)
        for name in [name for name, at in self._replied.items() if self._clock() - at >= _TAKEN]:
            del self._replied[name]
            changed = True
        if changed:
            self._notify()

    def _guarded(self, call: HookCall, kind: Sorted, session: HookedSession) -> HookReply | int:
        """The most restrictive of what extensions and our own policy say; none can let a call through."""
        reached = self._over_cap(session)
        if reached and self.caps.stops:
            return self.guard.deny(call, kind, f"nooscope: {reached}", stop=True)
        if call.agent == MAIN and (cancelled := session.cancellation()) is not None:
            if self._record_said(session, cancelled):
                return self.guard.deny(call, kind, cancelled.sentence)
            return HookReply(verdict="ask", reason=f"you wanted to deny it: {cancelled.sentence}")
        objection = self._objection(call, kind) if self._registry.wants("on_tool_call") else None
        if reached and (objection is None or objection.verdict == "ask"):
            objection = Objection("ask", reached)
        return self.guard.ask(call, kind, session.standing(), session.doubt(), objection)

    def _over_cap(self, session: HookedSession) -> str:
        """Return why a session may not continue, and update its warning and limits."""
        now = self._clock()
        today = {name: one.use.on_day(now) for name, one in self.sessions.items()}
        use = self.caps.use(session.total_use(), self.ledger.update(now, today))
        burn = burn_rate(session.use, (one.use for one in self.sessions.values()), now)
        unguarded = self.unanswered.get("down", 0)
        session.limits = self.limits.limits(now, session.framework) if session.on_plan else ()
        warnings = [self.caps.warning(use, burn), f"{unguarded} calls were not guarded" if unguarded else ""]
        warnings += [one.words() for one in session.limits if one.urgent]
        session.warning = next(filter(None, warnings), "")
        return self.caps.reached(session.name, use)

    def _objection(self, call: HookCall, kind: Sorted) -> Objection | None:
        words = one_line(f"{call.tool} {as_asked(call, kind).command or ' '.join(kind.targets)}", 200)
        tool_call = ToolCall(call.session, call.tool, kind.action, kind.purpose, words, kind.targets)
        answer, who = self._registry.ask("on_tool_call", tool_call)
        for fault in self._registry.faults:
            self._trouble(fault.sentence)
        self._registry.faults.clear()
        if answer == "block":
            return Objection("deny", f"the extension {who} blocks it")
        return Objection("ask", f"the extension {who} wants you to decide") if answer == "ask" else None

    async def _waited(self, request: Request, agent: str, number: int) -> Answer:
        """The second half of a guarded call: it waits for the person."""
        hooks = HOOKS.get(agent)
        call = hooks.read(_request_body(request)) if hooks is not None else None
        if hooks is None or call is None:
            raise Refused(404, "no hook of this name")
        session, kind = self._session(hooks, call), self._sorted(hooks, call)
        if not self.guard.holds(number, call, kind):
            reply = self._guarded(call, kind, session)
            self._notify()
            if isinstance(reply, HookReply):
                return self._final(hooks, call, reply)
            number = reply
        reply = await self.guard.answer_to(number, call, kind, session.standing(), session.doubt())
        self._notify()
        return self._final(hooks, call, reply)

    def _advise(self, hooks: AgentHooks, session: HookedSession, call: HookCall) -> HookReply:
        """Return one sentence if one is due; it is recorded before it is sent."""
        first = session.is_new and call.moment == "prompt"
        advised = session.advice(call.moment, self._registry.starting_lines(session.name) if first else ())
        if advised is None or hooks.answer(call, HookReply(advised.sentence)) is None:
            return SILENCE
        if advised.rule != "person" and self._registry.wants("on_intervention"):
            answer, _ = self._registry.ask("on_intervention", advised.sentence, advised.rule)
            if answer != "pass":
                return SILENCE
        if advised.rule != "person" and self._registry.wants("on_context"):
            words = advised.sentence.removeprefix(ADVICE_MARK).strip()
            changed = sentence(self._registry.change("on_context", session.name, words))
            advised = Advised(changed, advised.rule, advised.sentence)
            if not advised.sentence:
                return SILENCE
        withheld = session.adviser.withholds(advised, session.name)
        sent = self._record_said(session, advised, withheld=withheld) and not withheld
        return HookReply(advised.sentence) if sent else SILENCE

    def _record_said(self, session: HookedSession, advised: Advised, *, withheld: bool = False) -> bool:
        """Record a sentence before it is sent; if that fails, it must not be sent."""
        at, words = self._clock(), advised.sentence
        try:
            self._said.add(Said(at, session.agent, session.name, advised.rule, words, fingerprint(words), withheld))
        except StoreError as error:
            self._trouble(f"no advice is sent to agents: {error}")
            return False
        session.record_said(advised, at, withheld=withheld)
        return True

    def _session(self, hooks: AgentHooks, call: HookCall) -> HookedSession:
        session = self.sessions.pop(call.session, None)
        if session is None:
            session = self._follow(hooks, call.session)
            if len(self.sessions) >= _SESSIONS:
                del self.sessions[next(iter(self.sessions))]
        self.sessions[call.session] = session
        return session

    def sort_codex(self, call: HookCall) -> Sorted:
        """Sort a call that Codex's daemon reports."""
        return self._sorted(HOOKS["codex"], call)

    def prompt_changed(self, call: HookCall | None) -> None:
        """A prompt of Codex's daemon came, or is over."""
        if call is not None:
            self._answered(call)
        self._notify()

    def adopt_codex(self, call: HookCall) -> None:
        """Take up a thread that Codex's daemon has, and whose prompts may be answered from here."""
        if call.session not in self.sessions:
            self._begin(HOOKS["codex"], call).answers = True

    def codex_threads(self, connected: bool) -> list[str]:
        """The Codex sessions whose prompts may be answered through its daemon."""
        sessions = [one for one in self.sessions.values() if one.agent == "codex" and one.answers]
        for one in sessions:
            one.reachable = connected
        return [one.name for one in sessions]

    def _sorted(self, hooks: AgentHooks, call: HookCall) -> Sorted:
        return self._normalizer.sort(hooks.framework, call.tool, call.arguments)

    def _read_on(self, session: HookedSession) -> bool:
        """Read a little of a session's log; whether there is more."""
        try:
            return session.catch_up()
        except Exception as fault:  # noqa: BLE001 a log that cannot be followed must not cost the hooks
            self._trouble(f"the log of {session.name} cannot be followed: {fault}")
            return False

    def _catch_up(self, session: HookedSession) -> None:
        """Read the session's log once the answer is out."""
        if session.name not in self._catching:
            self._catching[session.name] = asyncio.create_task(self._caught(session))

    async def _caught(self, session: HookedSession) -> None:
        try:
            while self._read_on(session):
                await asyncio.sleep(0)
        finally:
            self._catching.pop(session.name, None)
            self._notify()

    def _trouble(self, sentence: str) -> None:
        if sentence not in self.problems and len(self.problems) < _PROBLEMS:
            self.problems[sentence] = None
            self._say(sentence)

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """Everything that waits for the person."""
        return (*self.guard.questions, *self.answers.questions)

    def _questions(self, session: HookedSession) -> list[PermitQuestion]:
        return [one for one in self.questions if one.session == session.name]

    def _status(self, session: HookedSession) -> dict[str, object]:
        return session.status(self._clock(), self._questions(session))

    def _notify(self) -> None:
        """Wake everyone who waits for a change."""
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def _board(self, request: Request) -> Answer:
        """Return the state of all sessions; a caller who has this version waits for the next."""
        if _request_body(request).get("since") == self._version:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._changed.wait()
        signs = {one.name: one.signs(self._questions(one)) for one in self.sessions.values()}
        limits = self.limits.limits(self._clock())
        closing = {name for name, at in self._replied.items() if name in self.claude and self._is_closing(name, at)}
        own = {name: state for name, state in self.claude.items() if name not in closing}
        return _json(first_hand(HookBoard(self._version, True, signs, limits), own))

    def _is_closing(self, name: str, at: float) -> bool:
        """Whether a process still reports the very wait that was answered at a time."""
        return self.claude[name].status == "waiting" and self.claude[name].since < at + _SETTLE

    def _statusline(self, request: Request) -> Answer:
        """A line for the agent's own screen; what it brings is kept."""
        value = _request_body(request)
        session = self._lined(value)
        figures, now = figures_of(value), self._clock()
        samples = list(claude_samples(value, now))
        self.limits.add(samples)
        status = figures_json(figures, self.limits.limits(now, "claude-code") if samples else ())
        if session is not None:
            session.figures = figures
            session.on_plan = bool(samples)
            self._over_cap(session)
            self._notify()
            status = self._status(session)
        return Answer(status_text(status).encode(), "text/plain; charset=utf-8")

    def _lined(self, value: Mapping[str, Any]) -> HookedSession | None:
        """Return the session of a status line, and start to follow it if it is new."""
        name = text(value.get("session_id"))
        hooks = HOOKS.get(_LINED)
        if name in self.sessions or hooks is None:
            return self.sessions.get(name)
        call = hooks.read({**value, "hook_event_name": "SessionStart"})
        if call is None or not call.transcript:
            return None
        return self._begin(hooks, call)

    def _begin(self, hooks: AgentHooks, call: HookCall) -> HookedSession:
        """Start to follow a session before its first hook call."""
        session = self._session(hooks, call)
        session.step(call, self._clock())
        self._catch_up(session)
        return session

    def _ask(self, request: Request, what: str) -> Answer:
        """Answer an agent's question about its own session, or about the last one in its project."""
        body = _request_body(request)
        name = text(body.get("session"))
        session = self.sessions.get(name) if name else self._nearest(text(body.get("project")))
        if session is None:
            return _json({"known": False, "reason": "no hook of such a session has called yet"})
        status = self._status(session)
        if what == "failed":
            return _json({"known": True, "failed": session.failed_before(text(body.get("path")))})
        return _json({"known": True, **status})

    def _nearest(self, project: str) -> HookedSession | None:
        sessions = [one for one in self.sessions.values() if not project or one.project == project]
        return sessions[-1] if sessions else None

    def _decide(self, request: Request) -> Answer:
        body = _request_body(request)
        number, choice = body.get("number"), body.get("choice")
        if choice == "lift":
            session = text(body.get("session"))
            self.caps.lift(session)
            for one in self.guard.questions:
                if one.session == session and one.reason.startswith("cap reached"):
                    self.settle(one.number, "once", one_line(text(body.get("by")), 80))
            self._notify()
            return _json({"done": session in self.sessions})
        if not isinstance(number, int) or choice not in ("once", "session", "deny"):
            raise Refused(400, "give the question's number, then once, session or deny")
        answers = [text(one) for one in items(body.get("answers"))]
        by = one_line(text(body.get("by")), 80)
        asked = next((one.at for one in self.questions if one.number == number), None)
        if asked is not None and body.get("at", asked) != asked:  # another nooscope began to count at 1 again
            return _json({"done": False, "why": f"question {number} has changed since you saw it"})
        try:
            fault = self.settle(number, choice, by, answers, text(body.get("reason")))
        except StoreError as error:
            raise Refused(503, f"it cannot be recorded: {error}") from None
        return _json({"done": False, "why": fault} if fault else {"done": True})

    def settle(self, number: int, choice: Choice, by: str, answers: Sequence[str] = (), reason: str = "") -> str:
        """Answer a question; blank, or why not. Raises `StoreError` if it cannot be written down."""
        if any(one.number == number for one in self.answers.questions):
            fault = self.answers.decide(number, choice, reason, by, answers)
        else:
            question = next((one for one in self.guard.questions if one.number == number), None)
            done = self.guard.decide(number, choice, reason, by)
            fault = "" if done else f"question {number} is no longer waiting: it was answered elsewhere, or is over"
            if done and question is not None and choice == "session" and question.reason.startswith("cap reached"):
                self.caps.lift(question.session)
        self._notify()
        return fault

    def _steer(self, request: Request) -> Answer:
        body = _request_body(request)
        session, message = self.sessions.get(text(body.get("session"))), text(body.get("message")).strip()
        if session is None or not message:
            return _json({"done": False})
        message = self._registry.change("on_input", session.name, message)
        if not message:
            return _json({"done": False, "why": "an extension withholds it"})
        cancel = body.get("cancel") is True
        session.steer(message, self._clock(), cancel=cancel)
        unguarded = {"why": "its hooks do not guard, so no call is denied"}
        return _json({"done": True, **(unguarded if cancel and session.mode != "guard" else {})})


def _request_body(request: Request) -> Mapping[str, Any]:
    if request.method != "POST":
        raise Refused(405, "use POST")
    try:
        return table(msgspec.json.decode(request.body)) if request.body else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "not JSON") from None


def _json(value: Any) -> Answer:
    return Answer(msgspec.json.encode(value))


def _answer(hooks: AgentHooks, call: HookCall, reply: HookReply) -> Answer:
    answer = hooks.answer(call, reply)
    return _NOTHING if answer is None else _json(answer)


_BODY = 8 * 1024 * 1024
_PATIENCE = 5.0
_CONNECTIONS = 128
_WATCH = 0.3  # Seconds between two looks at the files of Claude Code's processes.
_LIMITS = 30.0  # Seconds between two looks at the limits in Codex's logs.
_STAND_BY = 2.0  # Seconds between two checks whether the server that took over is still there.


class IntakeServer:
    """Serves hooks; waits while a newer server runs, and takes over when that one ends."""

    def __init__(
        self,
        settings: Settings,
        place: IntakeFolder,
        clock: Callable[[], float],
        environment: Mapping[str, str],
        home: Path,
        *,
        initial: initial_state.InitialState = initial_state.PLAIN,
        starts: CarryOverStore | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._place = place
        self._say = say
        self._settings = settings
        self._initial = initial
        self._starts = starts  # Stored initial states of sessions; without it they start plain.
        self._kit = make_kit(settings.ingest)
        self._environment = environment
        self._home = home
        self.handler = IntakeHandler(self._follow, self._kit.normalizer, settings, place, clock, self._step_back, say)
        codex, handler = daemon_socket(environment, home), self.handler
        sort, changed, adopt = handler.sort_codex, handler.prompt_changed, handler.adopt_codex
        self._codex = CodexDaemon(codex, handler.answers, sort, changed, adopt, PROMPT_WAIT)
        self._phone = PhoneLinks(settings.response.phone, self._settle, clock, self._send_notice)
        self._clock = clock
        self._limits_read = 0.0
        self._receivers: list[Receiver] = []
        self._inode = 0
        self._halted = ""
        self._watching: asyncio.Task[None] | None = None
        self._standing_by: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self.serving = False

    def _follow(self, hooks: AgentHooks, session: str) -> HookedSession:
        return HookedSession(hooks, session, self._kit, self._settings, self._begin, self._is_log)

    def _begin(self, session: str, tool: str, project: str) -> run_inputs.RunInputs:
        """Return a session's initial state and settings, the same as for the screen."""
        states = run_inputs.InitialStates(self._settings, self._initial, store=self._starts)
        if self._starts is None:
            return states.of(session)
        carry_over = CarryOver(self._settings, initial=self._initial, use=self._settings.response.prior.enabled)
        carry_over.session = session
        carry_over.belongs(tool, project)
        now, seed = self._clock(), opening.seed_of(session)
        return states.begin(session, lambda: carry_over.initial_state(session, seed, now))

    def _is_log(self, path: Path) -> bool:
        """Whether a log lies where an agent keeps its logs, so that nothing else is ever read.

        The agent creates the folder with its first log, which may be after its first hook call.
        """
        places = [one.location for one in known_agents() if one.location is not None]
        folders = [root for place in places for root in place.roots(self._environment, self._home)]
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            return any(path.resolve().is_relative_to(root.resolve()) for root in folders)
        return False

    async def start(self) -> None:
        """Listen, taking over from an older server; raises `StoreError` if that fails."""
        at = self._place.socket
        answer = await asyncio.to_thread(call, self._place, "leave", {}, 1.0)
        if isinstance(answer, dict) and answer.get("why"):
            raise StoreError(f"{at}: another nooscope process is still serving there: {answer['why']}")
        await asyncio.to_thread(self.handler.guard.continue_numbers)
        handler = self.handler
        admit, most = handler.admit, _CONNECTIONS
        receivers = [Receiver(handler.handle, body=_BODY, place=at, patience=_PATIENCE, connections=most, admit=admit)]
        phone = self._settings.response.phone.address
        if phone:
            receivers.append(self._phone.receiver())
        try:
            with contextlib.suppress(FileNotFoundError):
                if not stat.S_ISSOCK(at.lstat().st_mode):
                    raise StoreError(f"{at}: something else is there; move it away")
                at.unlink()
            await receivers[0].start()
            at.chmod(0o600)
            self._inode = at.stat().st_ino
            if phone:
                await receivers[-1].start()
                self._say(f"phones may answer at {phone.rstrip('/')}/list/{self._phone.token}")
        except OSError as error:
            for receiver in receivers:
                await receiver.close()
            raise StoreError(f"{at}: cannot listen there: {error.strerror or error}") from error
        self._receivers = receivers
        self.serving = True
        installer = Installer(self._place.folder.parent / "hooks", self._place.folder, self._environment, self._home)
        self._codex.all_threads = installer.answers(HOOKS["codex"])
        self._watching = asyncio.create_task(self._watch_processes())

    async def _watch_processes(self) -> None:
        while self.serving:
            self.handler.record_unanswered(self._place.take_unanswered())
            self._mark_halted()
            self.handler.ledger.write(now := self._clock())
            if now - self._limits_read >= _LIMITS:
                self._limits_read = now
                samples = codex_log_samples(self._environment, self._home)
                self.handler.limits.add(await asyncio.to_thread(list, samples))
            if self._settings.response.phone.address:
                self._phone.update(self.handler.questions)
            await self._codex.follow(self.handler.codex_threads(self._codex.connected))
            self.handler.update_processes(claude_sessions(self._environment, self._home))
            await asyncio.sleep(_WATCH)

    def _settle(self, number: int, verdict: Verdict, by: str, answers: Sequence[str]) -> str:
        try:
            return self.handler.settle(number, verdict, by, answers)
        except StoreError as error:
            return f"it cannot be recorded: {error}"

    def _send_notice(self, address: str, notice: Mapping[str, Any]) -> None:
        post_json(address, notice, self._environment.get("NOOSCOPE_NTFY_TOKEN", ""))

    def _mark_halted(self) -> None:
        """Name the halted sessions for stubs that get no answer."""
        halted = "".join(f"{one.name}\n" for one in self.handler.sessions.values() if one.standing().halt)
        if halted != self._halted:
            with contextlib.suppress(OSError):
                self._place.halted_file.write_text(halted, "utf-8", "replace")
                self._halted = halted

    async def start_behind(self) -> None:
        """Listen if no other server does; otherwise wait until it ends."""
        if await asyncio.to_thread(call, self._place, "sessions", {}, 1.0) is None:
            await self.start()
        else:
            self._standing_by = asyncio.create_task(self._stand_by())

    def _step_back(self) -> None:
        """A newer one asks for the place."""
        if self.serving and self._leaving is None:
            self._leaving = asyncio.create_task(self._stop_serving(stand_by=True))

    async def _stop_serving(self, *, stand_by: bool = False) -> None:
        self.serving = False
        self.handler.ledger.write(self._clock(), at_once=True)
        if self._watching is not None:
            self._watching.cancel()
        await self._codex.close()
        await asyncio.sleep(0.05 if stand_by else 0)
        for receiver in self._receivers:
            await receiver.close()
        self._receivers = []
        with contextlib.suppress(OSError):
            if self._place.socket.stat().st_ino == self._inode:
                self._place.socket.unlink()
        self._leaving = None
        self.handler.guard.hand_over()
        if stand_by:
            self._say("another nooscope process took over the hooks; this one is waiting")
            self._standing_by = asyncio.create_task(self._stand_by())

    async def _stand_by(self) -> None:
        while True:
            await asyncio.sleep(_STAND_BY)
            if await asyncio.to_thread(call, self._place, "sessions", {}, 1.0) is None:
                with contextlib.suppress(StoreError):
                    await self.start()
                    self._say("this process is serving the hooks again")
                    return

    async def close(self) -> None:
        """Stop serving and remove the socket."""
        if self._standing_by is not None:
            self._standing_by.cancel()
        await self._stop_serving()


class IntakeThread:
    """Serves from its start until it is closed."""

    def __init__(self, server: IntakeServer, *, take_over: bool = True) -> None:
        self._server = server
        self._thread = LoopThread("intake")
        try:
            self._thread.wait(server.start() if take_over else server.start_behind())
        except BaseException:
            self._thread.stop()
            raise

    def close(self) -> None:
        """Stop serving."""
        try:
            self._thread.wait(self._server.close())
        finally:
            self._thread.stop()
