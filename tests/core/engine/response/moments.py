"""Percepts, verdicts and runs made by hand."""

from __future__ import annotations

from core.engine.affect.reading import AffectStep
from core.engine.governor.governor import Verdict
from core.engine.mind.mind import Mind
from core.engine.mind.readings import Thought
from core.engine.percept import NEUTRAL, AgentState, Percept, Signal, SignalName
from core.engine.receptor import Receptor
from core.engine.response.reaction import Reaction
from core.engine.response.response import Response
from core.engine.response.rules import Learned, RuleSet
from core.events import Action, Event, Outcome, ToolUse, Turn
from core.settings import Settings

AXES_AT = (0.8, 0.7, 0.6, 0.5, 0.1, 0.3)
DEFAULT = Settings()


def percept(
    at: float = 0.0,
    *signals: tuple[SignalName, float],
    state: AgentState = "stuck",
    fresh: bool = True,
    axes: tuple[float, float, float, float, float, float] = AXES_AT,
) -> Percept:
    return Percept(
        at=at,
        now=at,
        elapsed=1.0,
        silence=False,
        pattern="trial_error",
        medium_pattern="trial_error",
        state=state,
        axes=axes,
        signals=tuple(Signal(name, intensity, fresh) for name, intensity in signals),
        shifted=False,
        failure_rate=0.5,
        events=6,
    )


def verdict(halted: str = "", state: str = "IDLE") -> Verdict:
    return Verdict("HALTED" if halted else state, bool(halted), halted, "", 12, False, 0)  # type: ignore[arg-type]


def mood(asks_at: float = 0.6) -> AffectStep:
    return AffectStep(NEUTRAL._replace(escalation_threshold=asks_at), False, False, False, None, 0.0, None)


def use(
    at: float,
    outcome: Outcome = "success",
    *,
    action: Action = "shell_exec",
    targets: tuple[str, ...] = (),
    call: int = 0,
    result: int = 0,
) -> ToolUse:
    return ToolUse(
        at=at, action=action, tool="Bash", outcome=outcome, targets=targets, call=call or int(at), result=result
    )


class Stage:
    """A response whose percepts are made by hand."""

    def __init__(
        self, settings: Settings = DEFAULT, rules: RuleSet | None = None, learned: Learned | None = None
    ) -> None:
        self.receptor = Receptor(settings.receptor)
        self.mind = Mind(settings.mind)
        self.response = Response(settings.response, self.receptor, self.mind, rules=rules, learned=learned)

    def thought(self, event: Event, seen: Percept) -> Thought:
        return self.mind.step(event, seen)

    def act(self, seen: Percept, asks_at: float = 1.1, halted: str = "", event: Event | None = None) -> Reaction:
        """One call, felt as said; nobody is asked unless a threshold is named."""
        happened = event or use(seen.at)
        return self.response.step(happened, seen, self.thought(happened, seen), verdict(halted), mood(asks_at))

    def fired(self, seen: Percept, **more: float) -> list[str]:
        return [firing.method for firing in self.act(seen, **more).fired]  # type: ignore[arg-type]


def answer(at: float, stop: str = "") -> Turn:
    return Turn(at=at, model="large", output_tokens=10, stop=stop)
