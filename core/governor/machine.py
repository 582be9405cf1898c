"""The states of bounded agency, and the only ways between them."""

from __future__ import annotations

from math import inf
from typing import Any, Literal, NamedTuple, get_args

from core.errors import StateError
from core.governor.appraisal import Appraisal, Pressures
from core.governor.kinetics import Budgets, Kinetics
from core.governor.profile import Profile
from core.settings.governor import AppraisalSettings, WeightSettings

State = Literal["IDLE", "RECOVERING", "HALTED"]
STATES: tuple[State, ...] = get_args(State)

HaltReason = Literal["SAFETY", "OVERRISK", "EXHAUSTION", "STAGNATION", "EXTERNAL"]
HALT_REASONS: tuple[HaltReason, ...] = get_args(HaltReason)

Transition = Literal["", "SAFETY", "OVERRISK", "EXHAUSTION", "STAGNATION", "EXTERNAL", "dip", "stabilised"]
"""Why a step changed the state; empty where it did not."""


class Rule(NamedTuple):
    """One row of the transition table; the first that applies wins."""

    priority: int
    before: Literal["ANY", "IDLE", "RECOVERING", "HALTED"]
    condition: str
    after: State
    reason: str


RULES = (
    Rule(1, "ANY", "exploration >= max_exploration", "HALTED", "SAFETY"),
    Rule(2, "ANY", "risk >= max_risk", "HALTED", "OVERRISK"),
    Rule(3, "ANY", "effort <= exhaustion_threshold", "HALTED", "EXHAUSTION"),
    Rule(4, "ANY", "stagnating and effort <= stagnation_floor", "HALTED", "STAGNATION"),
    Rule(5, "ANY", "steps >= max_steps", "HALTED", "EXTERNAL"),
    Rule(6, "IDLE", "effort < dip or persistence < dip", "RECOVERING", "dip"),
    Rule(7, "RECOVERING", "effort >= recovery_cap", "IDLE", "stabilised"),
    Rule(8, "HALTED", "always", "HALTED", ""),
)

_FRESH = (1.0, 0.0, 0.0, 1.0)
"""A new run may spend all effort and persistence, and no risk or exploration."""
_NOTHING = (0.0, 0.0, 0.0, 0.0)


class Machine:
    """One governed run, from a fresh start to a halt that nothing undoes but a new run."""

    __slots__ = (
        "_appraisal",
        "_brink",
        "_budgets",
        "_halt",
        "_kinetics",
        "_pressures",
        "_profile",
        "_recovery",
        "_stagnant",
        "_state",
        "_steps",
    )

    def __init__(
        self,
        profile: Profile,
        appraisal: AppraisalSettings | None = None,
        weights: WeightSettings | None = None,
    ) -> None:
        self._profile = profile
        self._appraisal = Appraisal(appraisal or AppraisalSettings())
        self._kinetics = Kinetics(profile, weights or WeightSettings())
        self._recovery = (profile.recovery_delay, profile.recovery_rate, profile.recovery_cap)
        self.reset()

    def reset(self) -> None:
        """Begin a new run."""
        self._state: State = "IDLE"
        self._halt: HaltReason | Literal[""] = ""
        self._steps = 0
        self._stagnant = 0
        self._budgets: tuple[float, float, float, float] = _FRESH
        self._brink: tuple[float, float, float, float] = _FRESH
        self._pressures: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def state(self) -> State:
        """Where the run stands."""
        return self._state

    @property
    def halt(self) -> HaltReason | Literal[""]:
        """Why it halted, if it did."""
        return self._halt

    @property
    def steps(self) -> int:
        """Steps taken; the halting one is the last."""
        return self._steps

    @property
    def stagnant(self) -> int:
        """Steps in a row without reward."""
        return self._stagnant

    @property
    def budgets(self) -> Budgets:
        """What may be spent now."""
        return Budgets(*self._budgets)

    @property
    def brink(self) -> tuple[float, float, float, float]:
        """The budgets as the last step computed them, before a halt took them away."""
        return self._brink

    @property
    def pressures(self) -> Pressures:
        """What weighs on the run."""
        return Pressures(*self._pressures)

    @property
    def may_act(self) -> bool:
        """Whether any action is allowed."""
        return self._state != "HALTED" and self._budgets[0] > 0.0

    def step(
        self, reward: float, novelty: float, urgency: float, difficulty: float = 0.0, dt: float = 0.0
    ) -> Transition:
        """Take one step, `dt` seconds after the one before, and say which transition it made."""
        if self._state == "HALTED":
            return ""
        if not -1.0 <= reward <= 1.0:
            reward = _bounded(reward, -1.0)
        if not 0.0 <= novelty <= 1.0:
            novelty = _bounded(novelty, 0.0)
        if not 0.0 <= urgency <= 1.0:
            urgency = _bounded(urgency, 0.0)
        if not 0.0 <= difficulty <= 1.0:
            difficulty = _bounded(difficulty, 0.0)
        if not 0.0 <= dt < inf:
            dt = 0.0
        self._steps += 1
        self._stagnant = 0 if reward > 0.0 else self._stagnant + 1
        stagnating = self._stagnant >= self._profile.stagnation_window
        self._pressures = self._appraisal.add(self._pressures, reward, novelty, urgency, difficulty)
        return self._settle(
            self._kinetics.next(self._pressures, self._budgets, stagnating, dt), stagnating, dt
        )

    def _settle(self, computed: tuple[float, float, float, float], stagnating: bool, dt: float) -> Transition:
        effort, _, _, persistence = computed
        recovering = self._state == "RECOVERING"
        dip = self._profile.dip
        dipping = not recovering and (effort < dip or persistence < dip)
        if recovering or dipping:
            computed = self._recover(computed, dt)
        self._brink = self._budgets = computed
        halt = self._limit(computed, stagnating)
        if halt:
            self._state = "HALTED"
            self._halt = halt
            self._budgets = _NOTHING
            return halt
        if dipping:
            self._state = "RECOVERING"
            return "dip"
        if recovering and computed[0] >= self._recovery[2]:
            self._state = "IDLE"
            return "stabilised"
        return ""

    def _recover(
        self, computed: tuple[float, float, float, float], dt: float
    ) -> tuple[float, float, float, float]:
        effort, risk, exploration, persistence = computed
        _, old_risk, old_exploration, _ = self._budgets
        delay, rate, cap = self._recovery
        if dt >= delay:
            effort = max(effort, min(cap, effort + rate * dt))
            persistence = max(persistence, min(cap, persistence + rate * dt))
        return (effort, min(risk, old_risk), min(exploration, old_exploration), persistence)

    def _limit(
        self, budgets: tuple[float, float, float, float], stagnating: bool
    ) -> HaltReason | Literal[""]:
        effort, risk, exploration, _ = budgets
        profile = self._profile
        if exploration >= profile.max_exploration:
            return "SAFETY"
        if risk >= profile.max_risk:
            return "OVERRISK"
        if effort <= profile.exhaustion_threshold:
            return "EXHAUSTION"
        if stagnating and effort <= profile.stagnation_floor:
            return "STAGNATION"
        if self._steps >= profile.max_steps:
            return "EXTERNAL"
        return ""

    def dump(self) -> tuple[Any, ...]:
        """Everything the run is."""
        return (
            self._state,
            self._halt,
            self._steps,
            self._stagnant,
            self._budgets,
            self._brink,
            self._pressures,
        )

    def load(self, state: Any) -> None:
        """Go on as the machine that was dumped."""
        try:
            name, halt, steps, stagnant, budgets, brink, pressures = state
            effort, risk, exploration, persistence = map(float, budgets)
            confidence, frustration, curiosity, arousal, danger = map(float, pressures)
            last_effort, last_risk, last_exploration, last_persistence = map(float, brink)
        except (TypeError, ValueError) as error:
            raise StateError(f"This is no state of a governor: {error}.") from error
        if name not in STATES or halt not in ("", *HALT_REASONS):
            raise StateError("This is no state of a governor: its state has no known name.")
        self._state = name
        self._halt = halt
        self._steps = int(steps)
        self._stagnant = int(stagnant)
        self._budgets = (effort, risk, exploration, persistence)
        self._brink = (last_effort, last_risk, last_exploration, last_persistence)
        self._pressures = (confidence, frustration, curiosity, arousal, danger)


def _bounded(value: float, low: float) -> float:
    return low if value < low else 1.0 if value > 1.0 else 0.0
