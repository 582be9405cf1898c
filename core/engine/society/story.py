"""One story: state, flow, regime, phase and governor in words that do not contradict each other."""

from __future__ import annotations

from typing import NamedTuple

from core.engine.governor.machine import State as GovernorState
from core.engine.mind.cortical import Phase, Regime
from core.engine.mind.heart import ROUGH
from core.engine.percept import AgentState
from core.engine.values import Value

FAILING = 0.4  # Share of failing commands at which nothing is reported as going well.


class Facts(NamedTuple):
    """The facts each model contributes to the story."""

    state: AgentState
    flowing: bool  # The flow gate fires.
    regime: Regime
    phase: Phase
    governor: GovernorState
    failure_rate: float
    loop: bool  # A loop is running.
    ended: bool  # The agent has ended its turn.
    failures: int = 0  # Failed calls of any kind among the last ones.
    resolved: bool = False  # A test passed or a commit succeeded, and nothing has failed since.


class Story(Value, frozen=True):
    """The words for one moment."""

    state: AgentState
    flowing: bool
    regime: Regime
    phase: str
    governor: str


class StoryRule(NamedTuple):
    """Two things that never appear together, and the words used instead."""

    where: str
    never: str
    instead: str


# Combinations that may not appear together; the first column wins.
RULES = (
    StoryRule("crisis, turbulence, a loop or 40 % failing commands", "deep work, flow", "exploring"),
    StoryRule("stuck or a loop", "flow", "no flow"),
    StoryRule("a test passed or a commit succeeded, and nothing failed since", "stuck", "exploring"),
    StoryRule("a test passed or a commit succeeded, and nothing failed since", "crisis", "turbulence"),
    StoryRule("stuck or a loop, with failures", "calm, progress", "turbulence"),
    StoryRule("stuck, a loop, crisis, turbulence or 40 % failing commands", "phase thriving or stable", "strained"),
    StoryRule("stuck, a loop, crisis, turbulence or 40 % failing commands", "governor idle", "watching"),
    StoryRule("the turn has ended", "stuck, deep work, exploring, flow", "idle"),
    StoryRule("the governor would halt", "deep work, flow", "exploring"),
)

_AT_WORK = ("stuck", "deep_work", "exploring")
_GOOD_PHASES = ("thriving", "stable")


def make_story(facts: Facts) -> Story:
    """The words for one moment."""
    state, regime = facts.state, facts.regime
    failing = facts.failure_rate >= FAILING
    if facts.ended and state in _AT_WORK:
        state = "idle"
    if facts.resolved and state == "stuck":
        state = "exploring"
    trouble = state == "stuck" or (facts.loop and not facts.ended)
    if trouble and facts.failures and regime not in ROUGH:
        regime = "turbulence"
    if facts.resolved and regime == "crisis":
        regime = "turbulence"
    bad = regime in ROUGH or facts.loop or failing or facts.governor == "HALTED"
    if bad and state == "deep_work":
        state = "exploring"
    flowing = facts.flowing and not (bad or trouble or facts.ended)
    strained = trouble or failing or regime in ROUGH
    phase = "strained" if strained and facts.phase in _GOOD_PHASES else facts.phase
    governor = "watching" if strained and facts.governor == "IDLE" else facts.governor.lower()
    return Story(state, flowing, regime, phase, governor)
