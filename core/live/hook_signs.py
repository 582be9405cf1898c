"""What agents' hooks tell ahead of their logs: open calls, what waits for the person, what only they know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from core.events import Action, Event, Outcome, ToolUse
from core.live.status import AgentTrouble
from core.report.plan_limits import PlanLimit


class HookAsk(Struct, frozen=True):
    """Something an agent waits for the person with."""

    since: float
    why: str
    agent: str
    call: str = ""
    """Id of the call it is about; blank where it is about none."""


class HookOpenCall(Struct, frozen=True):
    """A call that was begun and not ended, as far as hooks told."""

    id: str
    at: float
    agent: str
    tool: str
    action: Action

    def event(self) -> ToolUse:
        """As the log would tell it."""
        return ToolUse(
            at=self.at, agent=self.agent, tool=self.tool, action=self.action, id=self.id, outcome="pending"
        )


class HookEndedCall(HookOpenCall, frozen=True):
    """A call that hooks say has ended and of whose end the log tells nothing yet."""

    outcome: Outcome
    program: str = ""
    targets: tuple[str, ...] = ()

    def event(self) -> ToolUse:
        """As the log would tell it."""
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
    what: str
    """The call in words, redacted."""
    reason: str
    late: bool = False
    """Nobody answered in time: the agent went on without it, and an answer holds for the next try."""
    kind: Literal["guard", "permission", "question", "plan"] = "guard"
    """Held by our guard, or a prompt of the agent's own whose dialog is open too."""
    choices: tuple[AskedChoice, ...] = ()
    """What a question asks."""


class StatusFigures(Struct, frozen=True):
    """What only an agent's own status line knows, as shares of one where it is a share."""

    window: int = 0
    """Tokens the model's window holds; 0 where nobody told."""
    context: float | None = None
    """Share of the window in use."""
    cost: float | None = None


class HookSigns(Struct, frozen=True):
    """All that hooks tell of one session now."""

    heard: float = 0.0
    mode: Literal["observe", "advise", "guard"] = "observe"
    """What its hooks may do, as the last of them said."""
    asks: tuple[HookAsk, ...] = ()
    open: tuple[HookOpenCall, ...] = ()
    ended: tuple[HookEndedCall, ...] = ()
    """What ended ahead of the log, the oldest first."""
    questions: tuple[PermitQuestion, ...] = ()
    figures: StatusFigures = StatusFigures()
    answers: bool = False
    """Its own permission prompts can be answered from here."""
    warning: str = ""
    """A spending cap that is near or reached, or tokens that go much faster than usual."""
    limits: tuple[PlanLimit, ...] = ()
    """The windows of the plan that pays for it."""

    def asking(self, ended: Iterable[str] = ()) -> AgentTrouble | None:
        """What waits for the person longest, unless its call is known to have ended."""
        known = set(ended)
        asks = [(ask.since, ask.why) for ask in self.asks if not ask.call or ask.call not in known]
        prompts = [(one.at, permit_words(one)) for one in self.questions if not one.late]
        if not (asks or prompts):
            return None
        return AgentTrouble(min(asks + prompts)[0], min(prompts or asks)[1])

    def ahead(self, held: Iterable[Event], ended: Iterable[str]) -> tuple[Event, ...]:
        """What the log holds open, with what hooks know of it already; a call stands in it once.

        One that ended by its hook is open no longer; it has its outcome until the log tells it.
        """
        known = frozenset(ended)
        over = {call.id: call for call in self.ended if call.id not in known}
        told = [event for event in held if not isinstance(event, ToolUse) or event.id not in over]
        named = known | over.keys() | {event.id for event in told if isinstance(event, ToolUse)}
        done = (call.event() for call in over.values())
        begun = (call.event() for call in self.open if call.id and call.id not in named)
        return (*told, *done, *begun)


class HookBoard(Struct, frozen=True):
    """What the hooks of all sessions tell, as the intake last said it."""

    version: int = 0
    serving: bool = False
    """Whether an intake answered."""
    sessions: Mapping[str, HookSigns] = field(default_factory=dict)
    limits: tuple[PlanLimit, ...] = ()
    """The windows of all the person's plans."""

    def of(self, session: str) -> HookSigns | None:
        """Those of one session."""
        return self.sessions.get(session)

    @property
    def questions(self) -> tuple[PermitQuestion, ...]:
        """All that waits for a permit, the oldest first."""
        found = [one for signs in self.sessions.values() for one in signs.questions]
        return tuple(sorted(found, key=lambda one: one.number))


def permit_words(question: PermitQuestion) -> str:
    """A question as a reason to look."""
    if question.kind == "permission":
        return f"asks for permission: {question.what}"
    if question.kind != "guard":
        return f"{'asks' if question.kind == 'question' else 'shows a plan'}: {question.what}"
    return f"needs your permit: {question.what} ({question.reason})"
