"""The percept: the receptor's result for one event, and all that the other models get from it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

from msgspec import Struct

Axis = Literal["frustration", "seeking", "confidence", "fatigue", "flow", "uncertainty"]
AXES: tuple[Axis, ...] = get_args(Axis)  # The five axes of the emotion vector and, last, the auxiliary sixth.

Pattern = Literal["stagnation", "wandering", "exploration", "implementation", "trial_error", "delegation"]
PATTERNS: tuple[Pattern, ...] = get_args(Pattern)


def spell_name(name: str) -> str:
    """Return the name of a pattern, state or trigger as a person would say it."""
    return name.replace("trial_error", "trial and error").replace("sub_agent", "sub-agent").replace("_", " ")


# Meaning of a change from the pattern of the medium window to that of the short one.
CHANGES: dict[tuple[Pattern, Pattern], str] = {
    ("exploration", "trial_error"): "It found something, but it is not working.",
    ("wandering", "trial_error"): "It tries things without knowing the cause.",
    ("implementation", "trial_error"): "What worked has begun to fail.",
    ("trial_error", "implementation"): "The run of failures is over.",
    ("exploration", "implementation"): "It knows enough and acts.",
    ("wandering", "implementation"): "It found the place and acts.",
    ("implementation", "exploration"): "It stopped writing to look around.",
    ("implementation", "wandering"): "It lost the thread.",
    ("trial_error", "exploration"): "It steps back from the failures to look around.",
    ("trial_error", "wandering"): "It stopped trying and searches without direction.",
    ("exploration", "wandering"): "It searches with less and less direction.",
    ("wandering", "exploration"): "Its search now has a direction.",
}

AgentState = Literal["idle", "delegating", "stuck", "deep_work", "exploring"]
AGENT_STATES: tuple[AgentState, ...] = get_args(AgentState)

SignalName = Literal[
    "flow_active", "compound_frustration_seeking", "frustration_spike", "seeking_spike", "uncertainty_spike",
    "confidence_sustained", "fatigue_rising",
]  # fmt: skip
SIGNALS: tuple[SignalName, ...] = get_args(SignalName)
SIGNAL_AXES: dict[str, tuple[Axis, ...]] = {
    "flow_active": ("flow",),
    "compound_frustration_seeking": ("frustration", "seeking"),
    "frustration_spike": ("frustration",),
    "seeking_spike": ("seeking",),
    "uncertainty_spike": ("uncertainty",),
    "confidence_sustained": ("confidence",),
    "fatigue_rising": ("fatigue",),
}

Cause: TypeAlias = tuple[str, int]  # A row of the table of impulses, and how often it moved an axis.


class Signal(NamedTuple):
    """One detection of the neuron triangle."""

    name: SignalName
    intensity: float  # How far above the threshold, never negative.
    fresh: bool  # True on the event that fired it, False on later events.


class Percept(Struct, frozen=True, gc=False):
    """The receptor after one event."""

    at: float
    now: float  # Subjective seconds since the first event.
    elapsed: float  # Subjective seconds since the event before.
    silence: bool  # The event came after a silence long enough to freeze time.
    pattern: Pattern  # Of the short window.
    medium_pattern: Pattern
    state: AgentState
    axes: tuple[float, float, float, float, float, float]  # In the order of AXES.
    signals: tuple[Signal, ...]
    shifted: bool  # The work moved to other paths with this event.
    failure_rate: float  # Share of shell commands in the short window that failed.
    events: int  # Events of the short window.
    failures: int = 0  # Failed actions among the last ones, as many as `receptor.facts.failing` says.
    recovered: bool = False  # Enough commands in a row have passed since one failed.

    @property
    def change(self) -> str:
        """Meaning of the difference between the medium and the short window; blank if there is none."""
        return CHANGES.get((self.medium_pattern, self.pattern), "")


class Modulation(NamedTuple):
    """The eight parameters affect may bend, each already within its bounds."""

    promotion_threshold: float = 0.3  # Least score with which a salience item is promoted.
    search_breadth: float = 5.0  # How many past episodes a recall looks at.
    branch_growth: float = 1.0  # How many speculative branches a dream may open, as a factor.
    unpromoted_decay: float = 1.0  # How fast items that were not promoted fade, as a factor on their decay.
    escalation_threshold: float = 0.6  # Pressure at which the person is asked.
    persistence: float = 3.0  # Retries before a line of work is called failed.
    delegation_preference: float = 0.5  # 0 works alone, 1 delegates.
    mutation_acceptance: float = 0.5  # How strict the gate for proposed changes is.


NEUTRAL = Modulation()


class Composition(NamedTuple):
    """How affect leans confidence, forecasting and discovery; 1 is neutral for a factor."""

    confidence_decay: float = 1.0  # Caution makes confidence fade faster.
    confidence_recovery: float = 1.0  # Persistence lets confidence come back faster.
    branching: float = 1.0  # Novelty appetite looks at more futures.
    pruning: float = 1.0  # Sensitivity to risk cuts more of the unlikely ones.
    depth: float = 1.0  # Persistence looks further ahead.
    familiarity: float = 0.5  # 0 goes where nothing is known, 1 stays where all is.


EVEN = Composition()
