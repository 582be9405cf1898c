"""Answers what comes in: hook calls, status lines, and the person's own questions and decisions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from hmac import compare_digest
from math import ceil
from typing import Any

import msgspec

from core.agents.fingerprint import fingerprint
from core.agents.hook import MODES, SILENCE, AgentHooks, HookCall, HookReply
from core.agents.loose import table, text
from core.agents.normalizer import Normalizer, Sorted
from core.errors import StoreError
from core.events import MAIN
from core.extension.hooks import ToolCall
from core.extension.registry import Registry
from core.intake.guard import Guard, Objection, as_asked
from core.intake.place import HEADER
from core.intake.statusline import figures_json, figures_of, status_text
from core.intake.watched import Follow, Watched
from core.live.hook_signs import HookBoard, PermitQuestion
from core.logs.event_redaction import one_line
from core.store.said import Said, SaidStore
from core.telemetry.receiver import JSON, Answer, Refused, Request

_SESSIONS = 200
"""Sessions kept at once; the one longest silent goes first."""
_PROBLEMS = 100
_LINED = "claude"
"""The agent that has a status line."""
_LOOK = 20.0
"""Seconds for which one who looks on is kept waiting where nothing changes."""
_NOTHING = Answer(b"", JSON, 200)


class IntakeHandler:
    """Takes requests on one loop; nothing in here blocks it for long."""

    def __init__(
        self,
        hooks: Mapping[str, AgentHooks],
        follow: Follow,
        normalizer: Normalizer,
        token: str,
        guard: Guard,
        said: SaidStore,
        clock: Callable[[], float],
        leave: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = lambda _: None,
        registry: Registry | None = None,
    ) -> None:
        self._registry = registry or Registry()
        self._hooks = hooks
        self._follow = follow
        self._normalizer = normalizer
        self._token = token.encode()
        self.guard = guard
        self._said = said
        self._clock = clock
        self._leave = leave
        self._say = say
        self.sessions: dict[str, Watched] = {}
        self.calls = 0
        self.problems: dict[str, None] = {}
        """What went wrong, each said once."""
        self._catching: dict[str, asyncio.Task[None]] = {}
        self._version = int(1000 * clock())
        """Begins elsewhere in each run, so that nobody takes one run's board for another's."""
        self._changed = asyncio.Event()

    def admit(self, headers: Mapping[str, str]) -> None:
        """Let only those in who know the token."""
        given = headers.get(HEADER, "").encode("utf-8", "replace")
        if not compare_digest(given, self._token):
            raise Refused(401, "the token is missing or wrong")

    async def handle(self, request: Request) -> Answer:
        """Answer one request; raises `Refused` where it is not taken."""
        self.admit(request.headers)
        match request.path.strip("/").split("/"):
            case ["hook", agent, mode]:
                return await self._hook(request, agent, mode)
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
                return _json(self.guard.questions)
            case ["decide"]:
                return self._decide(request)
            case ["steer"]:
                return self._steer(request)
            case ["leave"]:
                asyncio.get_running_loop().call_soon(self._leave)
                return _json({})
            case _:
                raise Refused(404, "nothing is here")

    async def _hook(self, request: Request, agent: str, mode: str) -> Answer:
        hooks = self._hooks.get(agent)
        if hooks is None or mode not in MODES:
            raise Refused(404, "no hook of this name")
        call = hooks.read(_body(request))
        if call is None:
            return _NOTHING
        self.calls += 1
        session = self._session(hooks, call)
        session.mode = mode
        session.take(call, self._clock())
        reply: HookReply | int = SILENCE
        if mode == "guard" and call.moment == "before_tool":
            reply = self._guarded(call, self._sorted(hooks, call), session)
        elif mode != "observe" and (call.compacted or call.moment in ("batch", "after_tool", "prompt")):
            reply = self._advise(hooks, session, call)
        if call.moment == "session_end" and call.agent == MAIN:
            self.guard.forget(call.session)
        self._tell()
        self._catch_up(session)
        if isinstance(reply, int):
            return Answer(f"wait {reply} {ceil(self.guard.wait) + 1}\n".encode(), "text/plain")
        answer = hooks.answer(call, reply)
        return _NOTHING if answer is None else _json(answer)

    def _guarded(self, call: HookCall, kind: Sorted, session: Watched) -> HookReply | int:
        """The most restrictive of what extensions and our own policy say; none can let a call through."""
        objection = self._objection(call, kind) if self._registry.wants("on_tool_call") else None
        return self.guard.ask(call, kind, session.standing(), session.doubt(), objection)

    def _objection(self, call: HookCall, kind: Sorted) -> Objection | None:
        words = one_line(f"{call.tool} {as_asked(call, kind).command or ' '.join(kind.targets)}", 200)
        told = ToolCall(call.session, call.tool, kind.action, kind.purpose, words, kind.targets)
        answer, who = self._registry.ask("on_tool_call", told)
        for fault in self._registry.faults:
            self._trouble(fault.sentence)
        self._registry.faults.clear()
        if answer == "block":
            return Objection("deny", f"the extension {who} blocks it")
        return Objection("ask", f"the extension {who} wants you to decide") if answer == "ask" else None

    async def _waited(self, request: Request, agent: str, number: int) -> Answer:
        """The second half of a guarded call: it waits for the person."""
        hooks = self._hooks.get(agent)
        call = hooks.read(_body(request)) if hooks is not None else None
        if hooks is None or call is None:
            raise Refused(404, "no hook of this name")
        session, kind = self._session(hooks, call), self._sorted(hooks, call)
        reply = await self.guard.answer_to(number, call, kind, session.standing(), session.doubt())
        self._tell()
        answer = hooks.answer(call, reply)
        return _NOTHING if answer is None else _json(answer)

    def _advise(self, hooks: AgentHooks, session: Watched, call: HookCall) -> HookReply:
        """One sentence where there is one, written down before it is handed over."""
        advised = session.advice(call.moment)
        if advised is None or hooks.answer(call, HookReply(advised.sentence)) is None:
            return SILENCE
        if advised.rule != "person" and self._registry.wants("on_intervention"):
            answer, _ = self._registry.ask("on_intervention", advised.sentence, advised.rule)
            if answer != "pass":
                return SILENCE
        at = self._clock()
        entry = Said(
            at, hooks.name, session.name, advised.rule, advised.sentence, fingerprint(advised.sentence)
        )
        try:
            self._said.add(entry)
        except StoreError as error:
            self._trouble(f"nothing is said to agents: {error}")
            return SILENCE
        session.said(advised, at)
        return HookReply(advised.sentence)

    def _session(self, hooks: AgentHooks, call: HookCall) -> Watched:
        session = self.sessions.pop(call.session, None)
        if session is None:
            session = self._follow(hooks, call.session)
            if len(self.sessions) >= _SESSIONS:
                del self.sessions[next(iter(self.sessions))]
        self.sessions[call.session] = session
        return session

    def _sorted(self, hooks: AgentHooks, call: HookCall) -> Sorted:
        return self._normalizer.sort(hooks.framework, call.tool, call.arguments)

    def _catch_up(self, session: Watched) -> None:
        """Read the session's log once the answer is out."""
        if session.name not in self._catching:
            self._catching[session.name] = asyncio.create_task(self._caught(session))

    async def _caught(self, session: Watched) -> None:
        try:
            while session.catch_up():
                await asyncio.sleep(0)
        except Exception as fault:  # noqa: BLE001 a log that cannot be followed must not cost the hooks
            self._trouble(f"the log of {session.name} cannot be followed: {fault}")
        finally:
            self._catching.pop(session.name, None)
            self._tell()

    def _trouble(self, sentence: str) -> None:
        if sentence not in self.problems and len(self.problems) < _PROBLEMS:
            self.problems[sentence] = None
            self._say(sentence)

    def _questions(self, session: Watched) -> list[PermitQuestion]:
        return [one for one in self.guard.questions if one.session == session.name]

    def _status(self, session: Watched) -> dict[str, object]:
        return session.status(self._clock(), self._questions(session))

    def _tell(self) -> None:
        """Something changed: those who look on are told."""
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def _board(self, request: Request) -> Answer:
        """What hooks tell of all sessions; who has seen this version already waits for the next."""
        if _body(request).get("since") == self._version:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._changed.wait()
        signs = {one.name: one.signs(self._questions(one)) for one in self.sessions.values()}
        return _json(HookBoard(self._version, True, signs))

    def _statusline(self, request: Request) -> Answer:
        """A line for the agent's own screen; what it brings is kept."""
        value = _body(request)
        session = self._lined(value)
        figures = figures_of(value)
        status = figures_json(figures)
        if session is not None:
            session.tell(figures)
            self._tell()
            status = self._status(session)
        return Answer(status_text(status).encode(), "text/plain; charset=utf-8")

    def _lined(self, value: Mapping[str, Any]) -> Watched | None:
        """The session of a status line; one that no hook has called for yet is followed from here on."""
        name = text(value.get("session_id"))
        hooks = self._hooks.get(_LINED)
        if name in self.sessions or hooks is None:
            return self.sessions.get(name)
        call = hooks.read({**value, "hook_event_name": "SessionStart"})
        if call is None or not call.transcript:
            return None
        session = self._session(hooks, call)
        session.take(call, self._clock())
        self._catch_up(session)
        return session

    def _ask(self, request: Request, what: str) -> Answer:
        """What an agent asks of itself: the session it names, else the one heard last."""
        asked = _body(request)
        name = text(asked.get("session"))
        session = self.sessions.get(name) if name else self._nearest(text(asked.get("project")))
        if session is None:
            return _json({"known": False, "reason": "no hook has called for such a session yet"})
        status = self._status(session)
        if what == "failed":
            return _json({"known": True, "failed": session.failed_before(text(asked.get("path")))})
        return _json({"known": True, **status})

    def _nearest(self, project: str) -> Watched | None:
        found = [one for one in self.sessions.values() if not project or one.project == project]
        return found[-1] if found else None

    def _decide(self, request: Request) -> Answer:
        asked = _body(request)
        number, choice = asked.get("number"), asked.get("choice")
        if not isinstance(number, int) or choice not in ("once", "session", "deny"):
            raise Refused(400, "name a number, and once, session or deny")
        try:
            done = self.guard.decide(number, choice, text(asked.get("reason")))
            self._tell()
            return _json({"done": done})
        except StoreError as error:
            raise Refused(503, f"it cannot be written down: {error}") from None

    def _steer(self, request: Request) -> Answer:
        asked = _body(request)
        session, message = self.sessions.get(text(asked.get("session"))), text(asked.get("message")).strip()
        if session is None or not message:
            return _json({"done": False})
        session.steer(message, self._clock())
        return _json({"done": True})


def _body(request: Request) -> Mapping[str, Any]:
    if request.method != "POST":
        raise Refused(405, "send with POST")
    try:
        return table(msgspec.json.decode(request.body)) if request.body else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "not JSON") from None


def _json(value: Any) -> Answer:
    return Answer(msgspec.json.encode(value))
