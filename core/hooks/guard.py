"""Questions for the person: calls that the guard holds, and the agent's own permission prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from core.agents.normalizer import Sorted
from core.agents.values import table, text
from core.engine.response.permits import Asked, Decision, Permit, PermitPolicy, Safety, Standing
from core.errors import PermitRefused, StoreError
from core.hooks.agent_answers import SILENCE, HookCall, HookReply
from core.hooks.tiers import Verdict, call_tier, command_of
from core.live.hook_signs import AskedChoice, PermitQuestion
from core.logs.redact.values import one_line
from core.settings.response import GuardSettings
from core.store.journals import PermitEntry, PermitJournal

_MOST = 200  # Questions that wait at once, and permits approved ahead.
_encode = msgspec.json.Encoder(order="sorted").encode
APPROVED = HookReply(reason="the person allowed it in nooscope", approved=True)
_PLAIN = GuardSettings()
_UNANSWERED = {
    "down": ("unguarded", "it was not guarded: nooscope was not serving hooks"),
    "late": ("late", "nooscope did not answer in time, so the agent asked or denied"),
}
_RAN = "it ran: its own dialog was answered first"
K = TypeVar("K")
V = TypeVar("V")
Choice = Literal["once", "session", "deny"]


class Objection(NamedTuple):
    """An extension's objection to a call: ask the person, or deny it."""

    verdict: Literal["ask", "deny"]
    reason: str


class _Waiting(NamedTuple):
    question: PermitQuestion
    asked: Asked
    decision: Decision
    doubt: str
    objection: Objection | None
    answered: asyncio.Event


class Guard:
    """Decides calls of all sessions; one at a time, on the intake's own loop."""

    def __init__(self, settings: GuardSettings, key: bytes, journal: PermitJournal, clock: Callable[[], float]) -> None:
        self.safety = Safety(settings, key)
        self._settings = settings
        self.wait = settings.wait  # Seconds a call waits for the person.
        self.journal = journal
        self._clock = clock
        self._number = 0
        self._waiting: dict[int, _Waiting] = {}
        # Approved by the person and not used yet, by session, tool and arguments.
        self._approved: dict[tuple[str, str, str], Permit] = {}
        # What the person approved for a whole session: session, tool, and kind of call.
        self._sessions: set[tuple[str, str, str]] = set()
        self._denied: dict[tuple[str, str, str], str] = {}

    def ask(
        self, call: HookCall, kind: Sorted, standing: Standing, doubt: str = "", objection: Objection | None = None
    ) -> HookReply | int:
        """Decide a call: return an answer, or the number of the question for the person.

        A doubt puts a question in front of what would be permitted, an objection in front of anything;
        neither opens anything.
        """
        request = as_asked(call, kind, self._settings)
        decision = apply_objection(apply_doubt(self.safety.policy.decide(request, standing), doubt), objection)
        try:
            return self._decide(request, decision, doubt, objection)
        except StoreError as error:
            if decision.verdict == "pass":
                return SILENCE
            return HookReply(verdict="ask", reason=f"nooscope cannot record its decisions ({error})")

    def deny(self, call: HookCall, kind: Sorted, reason: str, *, stop: bool = False) -> HookReply:
        """Deny a call by the person's word or a cap; it holds even if it cannot be recorded."""
        request = as_asked(call, kind, self._settings)
        decision = self.safety.policy.decide(request, Standing())
        with suppress(StoreError):
            self._record("denied", request, decision._replace(reason=reason))
        return HookReply(verdict="deny", reason=reason, stop=stop)

    def _decide(self, request: Asked, decision: Decision, doubt: str, objection: Objection | None) -> HookReply | int:
        key = (request.session, request.tool, request.hash)
        if decision.verdict == "deny":
            self._record("denied", request, decision)
            return HookReply(verdict="deny", reason=f"nooscope: {decision.reason}")
        reason = self._denied.pop(key, None)
        if reason is not None:
            return HookReply(verdict="deny", reason=reason)
        if decision.verdict == "pass":
            self._record("passed", request, decision)
            return SILENCE
        approved = self._approved.pop(key, None)
        if approved is not None:
            reply = self._use_permit(approved, request, decision)
            return APPROVED if reply is SILENCE and decision.tier == "privileged" else reply
        if decision.verdict == "permit":
            return self._use_permit(self.safety.permit(request, decision, self._clock()), request, decision)
        if (request.session, request.tool, approval_kind(request)) in self._sessions:
            permit = self.safety.permit(request, decision, self._clock(), approved=True)
            return self._use_permit(permit, request, decision)
        return self._put(request, decision, doubt, objection)

    def _use_permit(self, permit: Permit, request: Asked, decision: Decision) -> HookReply:
        try:
            self.safety.use(permit, request, self._clock())
        except PermitRefused as refused:
            self._record("refused", request, decision._replace(reason=str(refused)), permit.number)
            return HookReply(verdict="ask", reason=f"nooscope: {refused}")
        self._record("used", request, decision, permit.number)
        return SILENCE

    def continue_numbers(self) -> None:
        """Number questions after all that were ever put, so that no number means another call than it did."""
        with suppress(StoreError):
            self._number = max(self._number, self.journal.last_question())

    def next_number(self) -> int:
        """A number for the next question or prompt."""
        self._number += 1
        return self._number

    def _put(self, request: Asked, decision: Decision, doubt: str, objection: Objection | None) -> int:
        for waiting in self._waiting.values():
            if waiting.asked == request:
                return waiting.question.number
        self.next_number()
        words = one_line(request.command or " ".join((request.tool, *request.targets)), 160)
        question = PermitQuestion(self._number, self._clock(), request.session, request.tool, words, decision.reason)
        if len(self._waiting) >= _MOST:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[self._number] = _Waiting(question, request, decision, doubt, objection, asyncio.Event())
        self._record("asked", request, decision, self._number)
        return self._number

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """Questions that wait for the person, the oldest first."""
        return tuple(one.question for one in self._waiting.values())

    async def answer_to(
        self, number: int, call: HookCall, kind: Sorted, standing: Standing, doubt: str = ""
    ) -> HookReply:
        """Wait for the person; if nobody answers, the agent shows its own prompt."""
        waiting, objection = self._waiting.get(number), None
        if waiting is not None:
            doubt, objection = doubt or waiting.doubt, waiting.objection
            try:
                async with asyncio.timeout(self.wait):
                    await waiting.answered.wait()
            except TimeoutError:
                with suppress(StoreError):
                    self._record("unanswered", waiting.asked, waiting.decision, number)
                if number in self._waiting:
                    self._waiting[number] = waiting._replace(
                        question=msgspec.structs.replace(waiting.question, late=True)
                    )
                return _ask_yourself(waiting.decision.reason)
        reply = self.ask(call, kind, standing, doubt, objection)
        return _ask_yourself("it is waiting for the person") if isinstance(reply, int) else reply

    def holds(self, number: int, call: HookCall, kind: Sorted) -> bool:
        """Whether this question is about this very call; another nooscope has numbers of its own."""
        waiting = self._waiting.get(number)
        return waiting is not None and waiting.asked == as_asked(call, kind, self._settings)

    def hand_over(self) -> None:
        """Another nooscope takes over: the calls that wait are put to the person from there."""
        for number, waiting in self._waiting.items():
            if not waiting.question.late:
                with suppress(StoreError):
                    self._record("elsewhere", waiting.asked, waiting.decision, number)
        self._waiting.clear()

    def record_unanswered(self, at: float, why: str, session: str, tool: str) -> None:
        """Write down a call that passed unguarded, or that the agent put to the person by itself."""
        what, reason = _UNANSWERED[why]
        request = Asked(one_line(session, 200), one_line(tool, 100), b"")
        with suppress(StoreError):
            self._record(what, request, Decision("pass", "write", f"{reason} at {at:.0f}"))

    def drop_late(self, call: HookCall, kind: Sorted) -> None:
        """Drop the late question on a call that the agent's own prompt now asks about."""
        request = as_asked(call, kind, self._settings)
        for number, waiting in list(self._waiting.items()):
            if waiting.question.late and waiting.asked == request:
                del self._waiting[number]

    def observe_end(self, call: HookCall, kind: Sorted) -> None:
        """A call has run: a question about it that is late, or was denied too late, was settled in its own dialog."""
        late = {one.asked: number for number, one in self._waiting.items() if one.question.late}
        if not late and not self._denied:
            return
        request = as_asked(call, kind, self._settings)
        denied = self._denied.pop((request.session, request.tool, request.hash), "")
        number = late.get(request, 0)
        self._waiting.pop(number, None)
        if denied or number:
            decision = self.safety.policy.decide(request, Standing())
            with suppress(StoreError):
                self._record("elsewhere", request, decision._replace(reason=_RAN), number)

    def forget(self, session: str) -> None:
        """A session is over: nothing of it waits any more, and nothing approved for it holds."""
        for number in [number for number, one in self._waiting.items() if one.asked.session == session]:
            del self._waiting[number]
        for store in (self._approved, self._denied):
            for key in [key for key in store if key[0] == session]:
                del store[key]
        self._sessions = {key for key in self._sessions if key[0] != session}

    def decide(self, number: int, choice: Choice, reason: str = "", by: str = "") -> bool:
        """Apply the person's decision; return False if no such question waits. Nothing happens without a journal
        entry."""
        waiting = self._waiting.get(number)
        if waiting is None:
            return False
        request, decision = waiting.asked, waiting.decision
        key = (request.session, request.tool, request.hash)
        if choice == "deny":
            why = f"the person denied it{': ' + one_line(reason, 200) if reason else ''}"
            self._record("denied", request, decision._replace(reason=why), number, by)
            _put_in(self._denied, key, why)
        else:
            permit = self.safety.permit(request, decision, self._clock(), approved=True)
            self._record("approved", request, decision, permit.number, by)
            _put_in(self._approved, key, permit)
            if choice == "session" and not request.own:
                self._sessions.add((request.session, request.tool, approval_kind(request)))
        del self._waiting[number]
        waiting.answered.set()
        return True

    def _record(self, what: str, request: Asked, decision: Decision, number: int = 0, by: str = "") -> None:
        call, policy = (request.session, request.tool, request.hash), self.safety.policy.hash
        self.journal.add(PermitEntry(self._clock(), what, *call, policy, decision.tier, decision.reason, number, by))


def apply_doubt(decision: Decision, doubt: str) -> Decision:
    """The decision, with a question before what would be permitted without one; nothing gets easier by it."""
    if doubt and decision.verdict == "permit":
        return Decision("person", decision.tier, doubt)
    return decision


def approval_kind(request: Asked) -> str:
    """The calls that an approval for a session covers: this kind, or only this call if it has none."""
    return request.kind or request.hash


def apply_objection(decision: Decision, objection: Objection | None) -> Decision:
    """Return the stricter of a decision and an objection."""
    if objection is None or decision.verdict == "deny":
        return decision
    if objection.verdict == "deny":
        return Decision("deny", decision.tier, objection.reason)
    return decision if decision.verdict == "person" else Decision("person", decision.tier, objection.reason)


def _put_in(store: dict[K, V], key: K, value: V) -> None:
    """Add a value, and drop the oldest if there are too many."""
    while len(store) >= _MOST:
        del store[next(iter(store))]
    store[key] = value


def _ask_yourself(reason: str) -> HookReply:
    """The agent puts its own question; the person may still let the same call pass later."""
    return HookReply(verdict="ask", reason=f"nooscope: {reason}; the person decides, and may allow it later")


def as_asked(call: HookCall, kind: Sorted, settings: GuardSettings = _PLAIN) -> Asked:
    """A hook's call as the policy sees it; a call that cannot be judged needs the person."""
    try:
        arguments = _encode(call.arguments)
    except (TypeError, ValueError, RecursionError):
        arguments = repr(call.arguments).encode("utf-8", "replace")
    command = command_of(call.arguments)
    words = command if isinstance(command, str) else " ".join(map(str, command or ()))
    try:
        verdict = call_tier(call.tool, kind, call.arguments, settings)
    except Exception as fault:  # noqa: BLE001 whatever the input, the answer is never a pass
        verdict = Verdict("privileged", f"the call cannot be judged ({type(fault).__name__})")
    return Asked(call.session, call.tool, arguments, words, kind.targets, *verdict)


QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
_MOST_PROMPTS = 200  # Prompts that wait at once; the oldest goes back to the agent's own dialog.
_LOOK = 0.25  # Seconds between two checks whether the agent still waits.
_OVER = frozenset(("prompt", "stop", "session_end"))  # Moments after which nothing of the agent's turn can still wait.


class _Pending(NamedTuple):
    question: PermitQuestion
    call: HookCall
    asked: Asked
    # What an approval for the session covers: session, permission mode, tool and kind of call.
    rule: tuple[str, str, str, str]
    patience: float
    reply: asyncio.Future[HookReply]


class Answers:
    """Prompts of all sessions that wait for the person; used from the hook server's loop only.

    Without an answer nothing is decided: the reply is silence, and the agent's own dialog decides.
    """

    def __init__(
        self, policy: PermitPolicy, journal: PermitJournal, clock: Callable[[], float], next_number: Callable[[], int]
    ) -> None:
        self._policy = policy
        self._journal = journal
        self._clock = clock
        self._next_number = next_number
        self._pending: dict[int, _Pending] = {}
        # Prompts with a reply that was not fetched yet: an answer may come before the hook waits for it.
        self._over: dict[int, _Pending] = {}
        self._denied: dict[int, _Pending] = {}  # Denied here, which its own dialog may have allowed just before.
        self._rules: set[tuple[str, str, str, str]] = set()

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """Prompts that wait, the oldest first."""
        return tuple(one.question for one in self._pending.values())

    def put(self, call: HookCall, kind: Sorted, patience: float, *, beside: bool = True) -> HookReply | int:
        """Put a prompt to the person: its number, or the reply if this kind was approved for the session.

        It waits for `patience` seconds; `beside` says whether the agent's own dialog is open meanwhile.
        """
        request = as_asked(call, kind)
        tier, _ = self._policy.tier(request)
        rule = (call.session, call.permissions, call.tool, approval_kind(request))
        number = self._next_number()
        choices = _asked_choices(call)
        question = PermitQuestion(
            number,
            self._clock(),
            call.session,
            call.tool,
            _words(call, request, choices),
            "its own prompt is open too" if beside else "its own prompt opens if you do not answer",
            kind="question" if choices else "plan" if call.tool == PLAN_TOOL else "permission",
            choices=choices,
        )
        try:
            if rule in self._rules and question.kind == "permission":
                self._record("approved", request, tier, "this kind is approved for the session", number)
                return HookReply(approved=True)
            self._record("asked", request, tier, "the agent's own prompt", number)
        except StoreError:
            return SILENCE
        while len(self._pending) >= _MOST_PROMPTS:
            self.close(next(iter(self._pending)), "too many prompts are waiting")
        reply = asyncio.get_running_loop().create_future()
        self._pending[number] = _Pending(question, call, request, rule, patience, reply)
        return number

    async def wait(self, number: int, is_gone: Callable[[], bool] = lambda: False) -> tuple[HookCall, HookReply] | None:
        """The prompt and its reply; silence if nobody answers in time, or it was answered elsewhere."""
        pending = self._pending.get(number) or self._over.get(number)
        if pending is None:
            return None
        left = pending.patience
        while not pending.reply.done():
            if is_gone():
                self.close(number, "closed in its own terminal")
            elif left <= 0:
                self.close(number, "nobody answered", "unanswered")
            else:
                await asyncio.wait((pending.reply,), timeout=min(_LOOK, left))
                left -= _LOOK
        self._over.pop(number, None)
        reply = pending.reply.result()
        if reply is not SILENCE and is_gone():
            self._note("elsewhere", pending, "its own dialog was answered first")
            reply = SILENCE
        return pending.call, reply

    def decide(self, number: int, choice: Choice, reason: str = "", by: str = "", answers: Sequence[str] = ()) -> str:
        """Answer a prompt; blank, or why not. What cannot be written down is not done."""
        pending = self._pending.get(number)
        if pending is None:
            return f"question {number} is no longer waiting: it was answered elsewhere, or is over"
        question, call = pending.question, pending.call
        if choice == "deny":
            why = one_line(reason, 200) or "the person said no"
            self._record("denied", pending.asked, "", why, number, by)
            _put_in(self._denied, number, pending)
            self._finish(number, HookReply(verdict="deny", reason=f"denied in nooscope: {why}"))
            return ""
        if question.choices and len(answers) != len(question.choices):
            return f"choose one answer for each of its {len(question.choices)} questions"
        if choice == "session" and question.kind != "permission":
            return "a question or a plan can be answered only once"
        self._record("approved", pending.asked, "", "for this session" if choice == "session" else "", number, by)
        if choice == "session" and not pending.asked.own:
            self._rules.add(pending.rule)
        updated: Any = None
        if question.kind != "permission":
            updated = dict(table(call.arguments))
        if question.choices:
            questions = [one["question"] for one in _asked_questions(call)]
            updated["answers"] = dict(zip(questions, answers, strict=True))
        self._finish(number, HookReply(approved=True, input=updated))
        return ""

    def observe(self, call: HookCall) -> None:
        """Close the prompts that a later hook call proves to be over, and record what ran although it was denied."""
        for number, one in list(self._denied.items()):
            mine = one.call
            if (mine.session, mine.agent) == (call.session, call.agent):
                same = (mine.tool, mine.arguments) == (call.tool, call.arguments)
                if same and call.moment == "after_tool":
                    self._note("elsewhere", one, _RAN)
                if call.moment in _OVER or (same and call.moment in ("after_tool", "before_tool")):
                    del self._denied[number]
        for number, one in list(self._pending.items()):
            mine = one.call
            if mine.session != call.session or (mine.agent != call.agent and call.moment != "session_end"):
                continue
            same = (mine.tool, mine.arguments) == (call.tool, call.arguments)
            if call.moment in _OVER or (call.moment == "after_tool" and same):
                self.close(number, "answered in its own terminal")
        if call.moment == "session_end":
            self._rules = {rule for rule in self._rules if rule[0] != call.session}

    def close_session(self, session: str, before: float) -> bool:
        """Close the prompts of a session from before a time at which it said that it does not wait."""
        mine = [(number, one) for number, one in self._pending.items() if one.call.session == session]
        over = [number for number, one in mine if one.question.at < before]
        for number in over:
            self.close(number, "answered in its own terminal")
        return bool(over)

    def close(self, number: int, reason: str, what: str = "elsewhere") -> None:
        """A prompt is over without an answer from here."""
        if number in self._pending:
            self._note(what, self._pending[number], reason)
            self._finish(number, SILENCE)

    def _note(self, what: str, pending: _Pending, reason: str) -> None:
        """Write down what became of a prompt without an answer from here, if that is possible."""
        with suppress(StoreError):
            self._record(what, pending.asked, "", reason, pending.question.number)

    def _finish(self, number: int, reply: HookReply) -> None:
        pending = self._over[number] = self._pending.pop(number)
        if len(self._over) > _MOST_PROMPTS:
            del self._over[next(iter(self._over))]
        if not pending.reply.done():
            pending.reply.set_result(reply)

    def _record(self, what: str, request: Asked, tier: str, reason: str, number: int, by: str = "") -> None:
        call = request.session, request.tool, request.hash
        self._journal.add(PermitEntry(self._clock(), what, *call, self._policy.hash, tier, reason, number, by))


def _asked_questions(call: HookCall) -> list[dict[str, Any]]:
    questions = table(call.arguments).get("questions") if call.tool == QUESTION_TOOL else None
    return [one for one in questions if isinstance(one, dict)] if isinstance(questions, list) else []


def _asked_choices(call: HookCall) -> tuple[AskedChoice, ...]:
    choices = []
    for one in _asked_questions(call):
        labels = tuple(text(table(option).get("label")) for option in one.get("options") or ())
        choices.append(AskedChoice(one_line(text(one.get("question")), 300), labels))
    return tuple(choices)


def _words(call: HookCall, request: Asked, choices: Sequence[AskedChoice]) -> str:
    """The prompt in one line, redacted."""
    if choices:
        return one_line("; ".join(one.question for one in choices), 300)
    if call.tool == PLAN_TOOL:
        return one_line(text(table(call.arguments).get("plan")) or "a plan", 300)
    return one_line(request.command or " ".join((request.tool, *request.targets)), 300)
