"""One story: how state, flow, regime, phase and governor are told, so that no two of them contradict."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from core.governor.machine import State as GovernorState
from core.mind.cortical import Phase, Regime
from core.percept import AgentState

FAILING = 0.4
"""Share of failing commands from which on nothing is told as going well."""


class Facts(NamedTuple):
    """What the mechanisms say, each for itself."""

    state: AgentState
    flowing: bool
    """The flow gate fires."""
    regime: Regime
    phase: Phase
    governor: GovernorState
    failure_rate: float
    loop: bool
    """A loop goes on."""
    ended: bool
    """The agent has ended its turn."""


class Story(Struct, frozen=True):
    """The same as a person is told it."""

    state: AgentState
    flowing: bool
    regime: Regime
    phase: str
    governor: str


class StoryRule(NamedTuple):
    """Two things that never stand together, and what is told instead."""

    where: str
    never: str
    instead: str


RULES = (
    StoryRule("crisis, a loop or 40 % failing commands", "deep work, flow", "exploring"),
    StoryRule("stuck or a loop", "flow", "no flow"),
    StoryRule("stuck or a loop", "calm, progress", "turbulence"),
    StoryRule("stuck or a loop", "phase thriving or stable", "strained"),
    StoryRule("stuck, a loop or crisis", "governor idle", "watching"),
    StoryRule("the turn has ended", "stuck, deep work, flow", "idle"),
    StoryRule("the governor would halt", "deep work, flow", "exploring"),
)
"""Which combinations may not stand together; the first column wins."""


def tell(facts: Facts) -> Story:
    """The words for one moment."""
    state, regime = facts.state, facts.regime
    failing = facts.failure_rate >= FAILING
    if facts.ended and state in ("stuck", "deep_work"):
        state = "idle"
    trouble = state == "stuck" or (facts.loop and not facts.ended)
    if trouble and regime in ("calm", "progress"):
        regime = "turbulence"
    bad = regime == "crisis" or facts.loop or failing or facts.governor == "HALTED"
    if bad and state == "deep_work":
        state = "exploring"
    flowing = facts.flowing and not (bad or trouble or facts.ended)
    phase = "strained" if trouble and facts.phase in ("thriving", "stable") else facts.phase
    governor = facts.governor.lower()
    if facts.governor == "IDLE" and (trouble or regime == "crisis"):
        governor = "watching"
    return Story(state, flowing, regime, phase, governor)


def contradictions(story: Story, facts: Facts) -> list[str]:
    """Which rules a story breaks; the facts it was told from say where each holds."""
    found = []
    loop = facts.loop and not facts.ended
    trouble = story.state == "stuck" or loop
    well = story.state == "deep_work" or story.flowing
    if well and (story.regime == "crisis" or facts.loop or facts.failure_rate >= FAILING):
        found.append("it goes well while things fail")
    if trouble and story.flowing:
        found.append("flow while stuck")
    if trouble and story.regime in ("calm", "progress"):
        found.append(f"stuck in {story.regime}")
    if trouble and story.phase in ("thriving", "stable"):
        found.append(f"stuck and {story.phase}")
    if story.governor == "idle" and (trouble or story.regime == "crisis"):
        found.append("governor idle in trouble")
    if facts.ended and (story.state in ("stuck", "deep_work") or story.flowing):
        found.append("at work after the end of the turn")
    if facts.governor == "HALTED" and well:
        found.append("it goes well where it would be halted")
    return found
