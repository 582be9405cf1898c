"""An agent's own permission prompts and questions, answered from here while its own dialog stays open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from core.agents.normalizer import Sorted
from core.agents.values import table, text
from core.engine.response.permits import Asked, PermitPolicy
from core.errors import StoreError
from core.hooks.agent_replies import SILENCE, HookCall, HookReply
from core.hooks.guard import Choice, approval_kind, as_asked
from core.live.hook_signs import AskedChoice, PermitQuestion
from core.logs.redact.values import one_line
from core.store.journals import PermitEntry, PermitJournal

QUESTION_TOOL = "AskUserQuestion"
PLAN_TOOL = "ExitPlanMode"
_MOST = 200
"""Prompts that wait at once; the oldest goes back to the agent's own dialog."""
_LOOK = 0.25
"""Seconds between two checks whether the agent still waits."""
_OVER = frozenset(("prompt", "stop", "session_end"))
"""Moments after which nothing of the agent's turn can still wait."""


class _Pending(NamedTuple):
    question: PermitQuestion
    call: HookCall
    asked: Asked
    rule: tuple[str, str, str]
    """What an approval for the session covers: session, tool and kind of call."""
    reply: asyncio.Future[HookReply]


class Answers:
    """Prompts of all sessions that wait for the person; used from the hook server's loop only.

    Without an answer nothing is decided: the reply is silence, and the agent's own dialog decides.
    """

    def __init__(
        self,
        policy: PermitPolicy,
        journal: PermitJournal,
        clock: Callable[[], float],
        next_number: Callable[[], int],
    ) -> None:
        self._policy = policy
        self._journal = journal
        self._clock = clock
        self._next_number = next_number
        self._pending: dict[int, _Pending] = {}
        self._over: dict[int, _Pending] = {}
        """Prompts with a reply that was not fetched yet: an answer may come before the hook waits for it."""
        self._rules: set[tuple[str, str, str]] = set()

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """Prompts that wait, the oldest first."""
        return tuple(one.question for one in self._pending.values())

    def put(self, call: HookCall, kind: Sorted) -> HookReply | int:
        """Put a prompt to the person: its number, or the reply if this kind was approved for the session."""
        asked = as_asked(call, kind)
        tier, _ = self._policy.tier(asked)
        rule = (call.session, call.tool, approval_kind(asked))
        number = self._next_number()
        choices = _choices(call)
        question = PermitQuestion(
            number,
            self._clock(),
            call.session,
            call.tool,
            _words(call, asked, choices),
            "its own prompt is open too",
            kind="question" if choices else "plan" if call.tool == PLAN_TOOL else "permission",
            choices=choices,
        )
        try:
            if rule in self._rules and question.kind == "permission":
                self._note("approved", asked, tier, "this kind is approved for the session", number)
                return HookReply(approved=True)
            self._note("asked", asked, tier, "the agent's own prompt", number)
        except StoreError:
            return SILENCE
        while len(self._pending) >= _MOST:
            self._close(next(iter(self._pending)), "too many prompts wait")
        reply = asyncio.get_running_loop().create_future()
        self._pending[number] = _Pending(question, call, asked, rule, reply)
        return number

    async def wait(
        self, number: int, seconds: float, is_gone: Callable[[], bool] = lambda: False
    ) -> tuple[HookCall, HookReply] | None:
        """The prompt and its reply; silence if nobody answers in time, or it was answered elsewhere."""
        pending = self._pending.get(number) or self._over.get(number)
        if pending is None:
            return None
        left = seconds
        while not pending.reply.done():
            if is_gone():
                self._close(number, "closed in its own terminal")
            elif left <= 0:
                self._close(number, "nobody answered", "unanswered")
            else:
                await asyncio.wait((pending.reply,), timeout=min(_LOOK, left))
                left -= _LOOK
        self._over.pop(number, None)
        return pending.call, pending.reply.result()

    def session_of(self, number: int) -> str:
        """The session of a prompt; blank if it is not known."""
        pending = self._pending.get(number) or self._over.get(number)
        return "" if pending is None else pending.call.session

    def decide(
        self, number: int, choice: Choice, reason: str = "", by: str = "", answers: Sequence[str] = ()
    ) -> str:
        """Answer a prompt; blank, or why not. What cannot be written down is not done."""
        pending = self._pending.get(number)
        if pending is None:
            return f"{number} is not waiting any more: it was answered elsewhere"
        question, call = pending.question, pending.call
        if choice == "deny":
            why = one_line(reason, 200) or "the person said no"
            self._note("denied", pending.asked, "", why, number, by)
            self._finish(number, HookReply(verdict="deny", reason=f"denied in nooscope: {why}"))
            return ""
        if question.choices and len(answers) != len(question.choices):
            return f"choose one answer for each of its {len(question.choices)} questions"
        if choice == "session" and question.kind != "permission":
            return "a question or a plan is answered once only"
        self._note(
            "approved", pending.asked, "", "for this session" if choice == "session" else "", number, by
        )
        if choice == "session" and not pending.asked.own:
            self._rules.add(pending.rule)
        updated: Any = None
        if question.kind != "permission":
            updated = dict(table(call.arguments))
        if question.choices:
            asked = [one["question"] for one in _questions(call)]
            updated["answers"] = dict(zip(asked, answers, strict=True))
        self._finish(number, HookReply(approved=True, input=updated))
        return ""

    def observe(self, call: HookCall) -> None:
        """Close the prompts that a later hook call proves to be over."""
        for number, one in list(self._pending.items()):
            mine = one.call
            if mine.session != call.session or (mine.agent != call.agent and call.moment != "session_end"):
                continue
            same = (mine.tool, mine.arguments) == (call.tool, call.arguments)
            if call.moment in _OVER or (call.moment == "after_tool" and same):
                self._close(number, "answered in its own terminal")
        if call.moment == "session_end":
            self._rules = {rule for rule in self._rules if rule[0] != call.session}

    def close_session(self, session: str, before: float) -> bool:
        """Close the prompts of a session from before a time at which it said that it does not wait."""
        over = [
            number
            for number, one in self._pending.items()
            if one.call.session == session and one.question.at < before
        ]
        for number in over:
            self._close(number, "answered in its own terminal")
        return bool(over)

    def close(self, number: int, reason: str) -> None:
        """A prompt is over without an answer from here."""
        if number in self._pending:
            self._close(number, reason)

    def _close(self, number: int, reason: str, what: str = "elsewhere") -> None:
        with suppress(StoreError):
            self._note(what, self._pending[number].asked, "", reason, number)
        self._finish(number, SILENCE)

    def _finish(self, number: int, reply: HookReply) -> None:
        pending = self._over[number] = self._pending.pop(number)
        if len(self._over) > _MOST:
            del self._over[next(iter(self._over))]
        if not pending.reply.done():
            pending.reply.set_result(reply)

    def _note(self, what: str, asked: Asked, tier: str, reason: str, number: int, by: str = "") -> None:
        entry = PermitEntry(
            at=self._clock(),
            what=what,
            session=asked.session,
            tool=asked.tool,
            arguments=asked.hash,
            policy=self._policy.hash,
            tier=tier,
            reason=reason,
            number=number,
            by=by,
        )
        self._journal.add(entry)


def _questions(call: HookCall) -> list[dict[str, Any]]:
    given = table(call.arguments).get("questions") if call.tool == QUESTION_TOOL else None
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _choices(call: HookCall) -> tuple[AskedChoice, ...]:
    return tuple(
        AskedChoice(
            one_line(text(one.get("question")), 300),
            tuple(text(table(option).get("label")) for option in one.get("options") or ()),
        )
        for one in _questions(call)
    )


def _words(call: HookCall, asked: Asked, choices: Sequence[AskedChoice]) -> str:
    """The prompt in one line, redacted."""
    if choices:
        return one_line("; ".join(one.question for one in choices), 300)
    if call.tool == PLAN_TOOL:
        return one_line(text(table(call.arguments).get("plan")) or "a plan", 300)
    return one_line(asked.command or " ".join((asked.tool, *asked.targets)), 300)
