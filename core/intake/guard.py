"""Guarded calls: decided by policy, permitted once, put to the person where they must decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from core.agents.hook import SILENCE, HookCall, HookReply
from core.agents.normalizer import Sorted
from core.errors import StoreError
from core.live.hook_signs import PermitQuestion
from core.logs.event_redaction import one_line
from core.response.permits import Asked, Decision, Permit, PermitRefused, Safety, Standing
from core.settings.advice import GuardSettings
from core.store.permits import PermitEntry, PermitJournal

_MOST = 200
"""Questions that wait at once, and permits approved ahead."""
_encode = msgspec.json.Encoder(order="sorted").encode
APPROVED = HookReply(reason="the person let it pass in nooscope", approved=True)
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
        self._wait = settings.wait
        self._journal = journal
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
        asked = as_asked(call, kind)
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
        if (asked.session, asked.tool, _kind(asked, decision)) in self._sessions:
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

    def _put(self, asked: Asked, decision: Decision, doubt: str, objection: Objection | None) -> int:
        for waiting in self._waiting.values():
            if waiting.asked == asked:
                return waiting.question.number
        self._number += 1
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
                return _ask_yourself(waiting.decision.reason, number)
        reply = self.ask(call, kind, standing, doubt, objection)
        return _ask_yourself("it waits for the person", reply) if isinstance(reply, int) else reply

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

    def decide(self, number: int, choice: Choice, reason: str = "") -> bool:
        """The person decided; False where no such question waits. What cannot be written down is not done."""
        waiting = self._waiting.get(number)
        if waiting is None:
            return False
        asked, decision = waiting.asked, waiting.decision
        key = (asked.session, asked.tool, asked.hash)
        if choice == "deny":
            why = f"the person denied it{': ' + one_line(reason, 200) if reason else ''}"
            self._note("denied", asked, decision._replace(reason=why), number)
            _put_in(self._denied, key, why)
        else:
            permit = self.safety.permit(asked, decision, self._clock(), approved=True)
            self._note("approved", asked, decision, permit.number)
            _put_in(self._approved, key, permit)
            if choice == "session":
                self._sessions.add((asked.session, asked.tool, _kind(asked, decision)))
        del self._waiting[number]
        waiting.answered.set()
        return True

    def _note(self, what: str, asked: Asked, decision: Decision, number: int = 0) -> None:
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
        )
        self._journal.add(entry)


def doubted(decision: Decision, doubt: str) -> Decision:
    """The decision, with a question before what would be permitted without one; nothing gets easier by it."""
    if doubt and decision.verdict == "permit":
        return Decision("person", decision.tier, doubt)
    return decision


def _kind(asked: Asked, decision: Decision) -> str:
    """What an approval for a session holds for: of privileged calls those of the same program and reason."""
    if decision.tier != "privileged":
        return decision.tier
    return f"{asked.command.partition(' ')[0]} {decision.reason}"


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


def _ask_yourself(reason: str, number: int) -> HookReply:
    """The agent puts its own question; the person may still let the same call pass later."""
    way = f"the person may run `nooscope permits approve {number}`, which lets it pass once"
    return HookReply(verdict="ask", reason=f"nooscope: {reason}; {way}")


def as_asked(call: HookCall, kind: Sorted) -> Asked:
    """A hook's call as the policy sees it."""
    try:
        arguments = _encode(call.arguments)
    except (TypeError, ValueError, RecursionError):
        arguments = repr(call.arguments).encode("utf-8", "replace")
    return Asked(
        call.session, call.tool, kind.action, kind.purpose, arguments, _command(call.arguments), kind.targets
    )


def _command(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return arguments if isinstance(arguments, str) else ""
    found = arguments.get("command", arguments.get("cmd"))
    if isinstance(found, list):
        return " ".join(map(str, found))
    return found if isinstance(found, str) else ""
