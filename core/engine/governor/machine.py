"""The states of bounded agency, and the only ways between them."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple, TypeAlias, get_args

from core.engine.governor.profile import Profile
from core.engine.state import Stateful, tupled
from core.engine.values import Derived
from core.settings.governor import AppraisalSettings, WeightSettings


class Pressures(NamedTuple):
    """The pressures on the agent: unbounded, and only ever added to."""

    confidence: float
    frustration: float
    curiosity: float
    arousal: float
    risk: float


PlainBudgets: TypeAlias = tuple[float, float, float, float]
PlainPressures: TypeAlias = tuple[float, float, float, float, float]


class Appraisal:
    """Read one step's signals as a change of each pressure."""

    def __init__(self, settings: AppraisalSettings) -> None:
        self._weights = (
            settings.reward_confidence, settings.difficulty_confidence, settings.difficulty_frustration,
            settings.urgency_frustration, settings.novelty_curiosity, settings.sameness_curiosity,
            settings.urgency_arousal, settings.outcome_risk, settings.danger_risk,
        )  # fmt: skip

    def change(
        self, reward: float, novelty: float, urgency: float, difficulty: float, danger: float = 0.0
    ) -> Pressures:
        """Return what one step adds to each pressure."""
        return Pressures(*self.add((0.0, 0.0, 0.0, 0.0, 0.0), reward, novelty, urgency, difficulty, danger))

    def add(
        self, pressures: PlainPressures, reward: float, novelty: float, urgency: float, difficulty: float, danger: float
    ) -> PlainPressures:
        """The pressures after one more step."""
        confidence, frustration, curiosity, arousal, risk = pressures
        gain, doubt, obstacle, hurry, new, sameness, stir, settle, threat = self._weights
        return (
            confidence + (gain * reward - doubt * difficulty),
            frustration + ((0.0 if reward > 0.0 else obstacle * difficulty) + hurry * urgency),
            curiosity + (new * novelty - sameness * (1.0 - novelty)),
            arousal + stir * urgency,
            risk + threat * danger - settle * (reward if reward > 0.0 else -reward),
        )


# The four that grant, and the one that takes.
_PRESSURES = ("confidence", "curiosity", "arousal", "risk", "frustration")


class Budgets(NamedTuple):
    """The budgets of the agent, each from 0 to 1."""

    effort: float
    risk: float
    exploration: float
    persistence: float


class Kinetics:
    """Let pressures grant and take budget: selective in granting, global in taking, slow in both."""

    def __init__(self, profile: Profile, weights: WeightSettings) -> None:
        self._weights: tuple[float, ...] = tuple(
            getattr(weights, f"{pressure}_{budget}") for budget in Budgets._fields for pressure in _PRESSURES
        )
        self._scales = (profile.effort_scale, profile.risk_scale, profile.exploration_scale, profile.persistence_scale)
        self._stagnation = (profile.stagnation_effort_scale, profile.stagnation_persistence_scale)
        self._decay = (profile.exploration_decay, profile.persistence_decay, profile.time_decay)
        self._inertia = (profile.inertia, 1.0 - profile.inertia)

    def next(self, pressures: PlainPressures, before: PlainBudgets, stagnating: bool, dt: float) -> PlainBudgets:
        """The budgets after one step: scaled, decayed, clipped, and slowed by inertia."""
        confidence, frustration, curiosity, arousal, danger = pressures
        e1, e2, e3, e4, e5, r1, r2, r3, r4, r5, x1, x2, x3, x4, x5, p1, p2, p3, p4, p5 = self._weights
        effort = e1 * confidence + e2 * curiosity + e3 * arousal + e4 * danger - e5 * frustration
        risk = r1 * confidence + r2 * curiosity + r3 * arousal + r4 * danger - r5 * frustration
        exploration = x1 * confidence + x2 * curiosity + x3 * arousal + x4 * danger - x5 * frustration
        persistence = p1 * confidence + p2 * curiosity + p3 * arousal + p4 * danger - p5 * frustration
        if stagnating:
            for_effort, for_persistence = self._stagnation
            effort *= for_effort
            persistence *= for_persistence
        scale_effort, scale_risk, scale_exploration, scale_persistence = self._scales
        decay_exploration, decay_persistence, decay_time = self._decay
        effort *= scale_effort
        risk *= scale_risk
        exploration = exploration * scale_exploration - (decay_exploration + dt * decay_time)
        persistence = persistence * scale_persistence - (decay_persistence + dt * decay_time)
        keep, take = self._inertia
        old_effort, old_risk, old_exploration, old_persistence = before
        return (
            keep * old_effort + take * (0.0 if effort < 0.0 else 1.0 if effort > 1.0 else effort),
            keep * old_risk + take * (0.0 if risk < 0.0 else 1.0 if risk > 1.0 else risk),
            keep * old_exploration + take * (0.0 if exploration < 0.0 else 1.0 if exploration > 1.0 else exploration),
            keep * old_persistence + take * (0.0 if persistence < 0.0 else 1.0 if persistence > 1.0 else persistence),
        )


_kinetics = Derived(Kinetics)

State = Literal["IDLE", "RECOVERING", "HALTED"]
STATES: tuple[State, ...] = get_args(State)

HaltReason = Literal["SAFETY", "OVERRISK", "EXHAUSTION", "STAGNATION", "EXTERNAL"]
HALT_REASONS: tuple[HaltReason, ...] = get_args(HaltReason)
# What the agent does that each halt is about.
HALT_WORDS: dict[HaltReason, str] = {
    "SAFETY": "explores too far",
    "OVERRISK": "takes too much risk",
    "EXHAUSTION": "is exhausted",
    "STAGNATION": "makes no progress",
    "EXTERNAL": "took too many steps",
}

# Why a step changed the state; empty where it did not.
Transition = Literal["", "SAFETY", "OVERRISK", "EXHAUSTION", "STAGNATION", "EXTERNAL", "dip", "stabilised"]


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
    Rule(6, "IDLE", "effort < effort_dip or persistence < persistence_dip", "RECOVERING", "dip"),
    Rule(7, "RECOVERING", "effort >= recovery_cap", "IDLE", "stabilised"),
    Rule(8, "HALTED", "always", "HALTED", ""),
)

_FRESH = (1.0, 0.0, 0.0, 1.0)  # A new run may spend all effort and persistence, and no risk or exploration.
_NOTHING = (0.0, 0.0, 0.0, 0.0)
_SPENT = 1e-4  # Effort below this is none: inertia alone never brings it to 0.


class Machine(Stateful):
    """One governed run, from a fresh start to a halt that nothing undoes but a new run."""

    STATE = ("state", "halt", "steps", "stagnant", tupled("_budgets"), tupled("brink"), tupled("_pressures"))

    def __init__(
        self, profile: Profile, appraisal: AppraisalSettings | None = None, weights: WeightSettings | None = None
    ) -> None:
        self._appraisal = Appraisal(appraisal or AppraisalSettings())
        self._kinetics = _kinetics(profile, weights or WeightSettings())
        self._recovery = (profile.recovery_delay, profile.recovery_rate, profile.recovery_cap)
        self._dips = (profile.stagnation_window, profile.effort_dip, profile.persistence_dip)
        self._limits = (
            profile.max_exploration,
            profile.max_risk,
            profile.exhaustion_threshold,
            profile.stagnation_floor,
            profile.max_steps,
        )
        self.reset()

    def reset(self) -> None:
        """Begin a new run."""
        self.state: State = "IDLE"
        self.halt: HaltReason | Literal[""] = ""  # Why it halted, if it did.
        self.steps = 0  # Steps taken; the halting one is the last.
        self.stagnant = 0  # Steps in a row without reward.
        # The budgets as the last step computed them, before a halt took them away.
        self.brink: PlainBudgets = _FRESH
        self._budgets: PlainBudgets = _FRESH
        self._pressures: PlainPressures = (0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def budgets(self) -> Budgets:
        """The current budgets."""
        return Budgets(*self._budgets)

    @property
    def pressures(self) -> Pressures:
        """The current pressures."""
        return Pressures(*self._pressures)

    @property
    def levels(self) -> tuple[float, ...]:
        """Budgets, then pressures, as they are."""
        return self._budgets + self._pressures

    @property
    def may_act(self) -> bool:
        """Whether any action is allowed."""
        return self.state != "HALTED" and self._budgets[0] > 0.0

    def step(
        self,
        reward: float,
        novelty: float,
        urgency: float,
        difficulty: float = 0.0,
        dt: float = 0.0,
        danger: float = 0.0,
    ) -> Transition:
        """Take one step, `dt` seconds after the one before, and return the transition it made."""
        if self.state == "HALTED":
            return ""
        if not (
            -1.0 <= reward <= 1.0
            and 0.0 <= novelty <= 1.0
            and 0.0 <= urgency <= 1.0
            and 0.0 <= difficulty <= 1.0
            and 0.0 <= danger <= 1.0
            and 0.0 <= dt < inf
        ):
            reward = _bounded(reward, -1.0)
            novelty, urgency = _bounded(novelty), _bounded(urgency)
            difficulty, danger = _bounded(difficulty), _bounded(danger)
            dt = dt if 0.0 <= dt < inf else 0.0
        self.steps += 1
        self.stagnant = stagnant = 0 if reward > 0.0 else self.stagnant + 1
        window, effort_dip, persistence_dip = self._dips
        stagnating = stagnant >= window
        self._pressures = pressures = self._appraisal.add(self._pressures, reward, novelty, urgency, difficulty, danger)
        computed = self._kinetics.next(pressures, self._budgets, stagnating, dt)
        recovering = self.state == "RECOVERING"
        dipping = not recovering and (computed[0] < effort_dip or computed[3] < persistence_dip)
        if recovering or dipping:
            computed = self._recover(computed, dt)
        self.brink = self._budgets = computed
        halt = self._limit(computed, stagnating)
        if halt:
            self.state = "HALTED"
            self.halt = halt
            self._budgets = _NOTHING
            return halt
        if dipping:
            self.state = "RECOVERING"
            return "dip"
        if recovering and computed[0] >= self._recovery[2]:
            self.state = "IDLE"
            return "stabilised"
        return ""

    def _recover(self, computed: PlainBudgets, dt: float) -> PlainBudgets:
        effort, risk, exploration, persistence = computed
        _, old_risk, old_exploration, _ = self._budgets
        delay, rate, cap = self._recovery
        if dt >= delay:
            effort = max(effort, min(cap, effort + rate * dt))
            persistence = max(persistence, min(cap, persistence + rate * dt))
        return (effort, min(risk, old_risk), min(exploration, old_exploration), persistence)

    def _limit(self, budgets: PlainBudgets, stagnating: bool) -> HaltReason | Literal[""]:
        effort, risk, exploration, _ = budgets
        max_exploration, max_risk, exhaustion, floor, max_steps = self._limits
        if exploration >= max_exploration:
            return "SAFETY"
        if risk >= max_risk:
            return "OVERRISK"
        if effort <= exhaustion or effort < _SPENT:
            return "EXHAUSTION"
        if stagnating and effort <= floor:
            return "STAGNATION"
        if self.steps >= max_steps:
            return "EXTERNAL"
        return ""

    def restored(self) -> None:
        """Refuse names and numbers that no machine has."""
        if self.state not in STATES or (self.halt and self.halt not in HALT_REASONS):
            raise ValueError("its state has no known name")
        if (len(self._budgets), len(self.brink), len(self._pressures)) != (4, 4, 5):
            raise ValueError("it has too many or too few numbers")


def _bounded(value: float, low: float = 0.0) -> float:
    return low if value < low else 1.0 if value > 1.0 else value if value == value else 0.0
