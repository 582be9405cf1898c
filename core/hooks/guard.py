"""Guarded calls: decided by policy, permitted once, put to the person where they must decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from core.agents.normalizer import Sorted
from core.engine.response.permits import Asked, Decision, Permit, Safety, Standing
from core.errors import PermitRefused, StoreError
from core.hooks.agent_replies import SILENCE, HookCall, HookReply
from core.hooks.tiers import Verdict, call_tier, command_of
from core.live.hook_signs import PermitQuestion
from core.logs.redact.values import one_line
from core.settings.response import GuardSettings
from core.store.journals import PermitEntry, PermitJournal

_MOST = 200
"""Questions that wait at once, and permits approved ahead."""
_encode = msgspec.json.Encoder(order="sorted").encode
APPROVED = HookReply(reason="the person let it pass in nooscope", approved=True)
_PLAIN = GuardSettings()
_UNANSWERED = {
    "down": ("unguarded", "it passed unguarded: no nooscope served hooks"),
    "late": ("late", "nooscope did not answer in time, so the agent asked or denied"),
}
K = TypeVar("K")
V = TypeVar("V")
Choice = Literal["once", "session", "deny"]


class Objection(NamedTuple):
    """What an extension has against a call: the person is to decide, or it is not to be made."""

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

    def __init__(
        self, settings: GuardSettings, key: bytes, journal: PermitJournal, clock: Callable[[], float]
    ) -> None:
        self.safety = Safety(settings, key)
        self._settings = settings
        self._wait = settings.wait
        self.journal = journal
        self._clock = clock
        self._number = 0
        self._waiting: dict[int, _Waiting] = {}
        self._approved: dict[tuple[str, str, str], Permit] = {}
        """Approved by the person and not used yet, by session, tool and arguments."""
        self._sessions: set[tuple[str, str, str]] = set()
        """What the person approved for a whole session: session, tool, and kind of call."""
        self._denied: dict[tuple[str, str, str], str] = {}

    def ask(
        self,
        call: HookCall,
        kind: Sorted,
        standing: Standing,
        doubt: str = "",
        objection: Objection | None = None,
    ) -> HookReply | int:
        """What becomes of a call: an answer, or the number of the question that was put to the person.

        A doubt puts a question in front of what would be permitted, an objection in front of anything;
        neither opens anything.
        """
        asked = as_asked(call, kind, self._settings)
        decision = objected(doubted(self.safety.policy.decide(asked, standing), doubt), objection)
        try:
            return self._decide(asked, decision, doubt, objection)
        except StoreError as error:
            if decision.verdict == "pass":
                return SILENCE
            return HookReply(verdict="ask", reason=f"nooscope cannot write down what it decides ({error})")

    def _decide(
        self, asked: Asked, decision: Decision, doubt: str, objection: Objection | None
    ) -> HookReply | int:
        key = (asked.session, asked.tool, asked.hash)
        if decision.verdict == "deny":
            self._note("denied", asked, decision)
            return HookReply(verdict="deny", reason=f"nooscope: {decision.reason}")
        reason = self._denied.pop(key, None)
        if reason is not None:
            return HookReply(verdict="deny", reason=reason)
        if decision.verdict == "pass":
            self._note("passed", asked, decision)
            return SILENCE
        held = self._approved.pop(key, None)
        if held is not None:
            reply = self._used(held, asked, decision)
            return APPROVED if reply is SILENCE and decision.tier == "privileged" else reply
        if decision.verdict == "permit":
            return self._used(self.safety.permit(asked, decision, self._clock()), asked, decision)
        if (asked.session, asked.tool, approval_kind(asked)) in self._sessions:
            permit = self.safety.permit(asked, decision, self._clock(), approved=True)
            return self._used(permit, asked, decision)
        return self._put(asked, decision, doubt, objection)

    def _used(self, permit: Permit, asked: Asked, decision: Decision) -> HookReply:
        try:
            self.safety.use(permit, asked, self._clock())
        except PermitRefused as refused:
            self._note("refused", asked, decision._replace(reason=str(refused)), permit.number)
            return HookReply(verdict="ask", reason=f"nooscope: {refused}")
        self._note("used", asked, decision, permit.number)
        return SILENCE

    def next_number(self) -> int:
        """A number for the next question or prompt."""
        self._number += 1
        return self._number

    def _put(self, asked: Asked, decision: Decision, doubt: str, objection: Objection | None) -> int:
        for waiting in self._waiting.values():
            if waiting.asked == asked:
                return waiting.question.number
        self.next_number()
        words = one_line(asked.command or " ".join((asked.tool, *asked.targets)), 160)
        question = PermitQuestion(
            self._number, self._clock(), asked.session, asked.tool, words, decision.reason
        )
        if len(self._waiting) >= _MOST:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[self._number] = _Waiting(question, asked, decision, doubt, objection, asyncio.Event())
        self._note("asked", asked, decision, self._number)
        return self._number

    @property
    def wait(self) -> float:
        """Seconds a call waits for the person."""
        return self._wait

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """What waits for the person, the oldest first."""
        return tuple(one.question for one in self._waiting.values())

    async def answer_to(
        self, number: int, call: HookCall, kind: Sorted, standing: Standing, doubt: str = ""
    ) -> HookReply:
        """Wait for the person; where nobody answers, the agent asks itself."""
        waiting, objection = self._waiting.get(number), None
        if waiting is not None:
            doubt, objection = doubt or waiting.doubt, waiting.objection
            try:
                async with asyncio.timeout(self._wait):
                    await waiting.answered.wait()
            except TimeoutError:
                with suppress(StoreError):
                    self._note("unanswered", waiting.asked, waiting.decision, number)
                self._late(number)
                return _ask_yourself(waiting.decision.reason)
        reply = self.ask(call, kind, standing, doubt, objection)
        return _ask_yourself("it waits for the person") if isinstance(reply, int) else reply

    def holds(self, number: int, call: HookCall, kind: Sorted) -> bool:
        """Whether this question is about this very call; another nooscope has numbers of its own."""
        waiting = self._waiting.get(number)
        return waiting is not None and waiting.asked == as_asked(call, kind, self._settings)

    def hand_over(self) -> None:
        """Another nooscope takes over: the calls that wait are put to the person from there."""
        for number, waiting in self._waiting.items():
            with suppress(StoreError):
                self._note("elsewhere", waiting.asked, waiting.decision, number)
        self._waiting.clear()

    def note_unanswered(self, at: float, why: str, session: str, tool: str) -> None:
        """Write down a call that passed unguarded, or that the agent put to the person by itself."""
        what, reason = _UNANSWERED[why]
        asked = Asked(one_line(session, 200), one_line(tool, 100), b"")
        with suppress(StoreError):
            self._note(what, asked, Decision("pass", "write", f"{reason} at {at:.0f}"))

    def _late(self, number: int) -> None:
        waiting = self._waiting.get(number)
        if waiting is not None:
            self._waiting[number] = waiting._replace(question=replace(waiting.question, late=True))

    def forget(self, session: str) -> None:
        """A session is over: nothing of it waits any more, and nothing approved for it holds."""
        for number in [number for number, one in self._waiting.items() if one.asked.session == session]:
            del self._waiting[number]
        for kept in (self._approved, self._denied):
            for key in [key for key in kept if key[0] == session]:
                del kept[key]
        self._sessions = {key for key in self._sessions if key[0] != session}

    def decide(self, number: int, choice: Choice, reason: str = "", by: str = "") -> bool:
        """The person decided; False where no such question waits. What cannot be written down is not done."""
        waiting = self._waiting.get(number)
        if waiting is None:
            return False
        asked, decision = waiting.asked, waiting.decision
        key = (asked.session, asked.tool, asked.hash)
        if choice == "deny":
            why = f"the person denied it{': ' + one_line(reason, 200) if reason else ''}"
            self._note("denied", asked, decision._replace(reason=why), number, by)
            _put_in(self._denied, key, why)
        else:
            permit = self.safety.permit(asked, decision, self._clock(), approved=True)
            self._note("approved", asked, decision, permit.number, by)
            _put_in(self._approved, key, permit)
            if choice == "session" and not asked.own:
                self._sessions.add((asked.session, asked.tool, approval_kind(asked)))
        del self._waiting[number]
        waiting.answered.set()
        return True

    def _note(self, what: str, asked: Asked, decision: Decision, number: int = 0, by: str = "") -> None:
        entry = PermitEntry(
            at=self._clock(),
            what=what,
            session=asked.session,
            tool=asked.tool,
            arguments=asked.hash,
            policy=self.safety.policy.hash,
            tier=decision.tier,
            reason=decision.reason,
            number=number,
            by=by,
        )
        self.journal.add(entry)


def doubted(decision: Decision, doubt: str) -> Decision:
    """The decision, with a question before what would be permitted without one; nothing gets easier by it."""
    if doubt and decision.verdict == "permit":
        return Decision("person", decision.tier, doubt)
    return decision


def approval_kind(asked: Asked) -> str:
    """What an approval for a session covers: calls of the same kind, or this very call if it has none."""
    return asked.kind or asked.hash


def objected(decision: Decision, objection: Objection | None) -> Decision:
    """The decision, or the objection where that is stricter."""
    if objection is None or decision.verdict == "deny":
        return decision
    if objection.verdict == "deny":
        return Decision("deny", decision.tier, objection.reason)
    return decision if decision.verdict == "person" else Decision("person", decision.tier, objection.reason)


def _put_in(kept: dict[K, V], key: K, value: V) -> None:
    """Keep a value, and give up the oldest where there are too many."""
    while len(kept) >= _MOST:
        del kept[next(iter(kept))]
    kept[key] = value


def _ask_yourself(reason: str) -> HookReply:
    """The agent puts its own question; the person may still let the same call pass later."""
    return HookReply(
        verdict="ask", reason=f"nooscope: {reason}; the person decides, and may let it pass later"
    )


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
