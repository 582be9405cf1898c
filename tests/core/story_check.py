"""Whether a story breaks one of the rules of what may stand together."""

from __future__ import annotations

from collections.abc import Sequence

from core.engine.society.engine import FAILING, Facts, Frame, Story
from core.events import MAIN, Event, ToolUse

AT_WORK = ("stuck", "deep_work", "exploring")
ROUGH = ("crisis", "turbulence")
GOOD_PHASES = ("thriving", "stable")


def contradictions(story: Story, facts: Facts) -> list[str]:
    """Which rules a story breaks; the facts it was told from say where each holds."""
    found = []
    failing = facts.failure_rate >= FAILING
    trouble = story.state == "stuck" or (facts.loop and not facts.ended)
    strained = trouble or failing or story.regime in ROUGH
    well = story.state == "deep_work" or story.flowing
    if well and (story.regime in ROUGH or facts.loop or failing):
        found.append("it goes well while things fail")
    if trouble and story.flowing:
        found.append("flow while stuck")
    if trouble and facts.failures and story.regime not in ROUGH:
        found.append(f"stuck in {story.regime}")
    if trouble and story.regime == "progress":
        found.append("progress in trouble")
    if facts.ended and story.regime == "crisis":
        found.append("crisis after the end of the turn")
    if strained and story.phase in GOOD_PHASES:
        found.append(f"{story.phase} in trouble")
    if strained and story.governor == "idle":
        found.append("governor idle in trouble")
    if facts.ended and (story.state in AT_WORK or story.flowing):
        found.append("at work after the end of the turn")
    if facts.governor == "HALTED" and well:
        found.append("it goes well where it would be halted")
    return found


def clashes(word: str, frame: Frame, events: Sequence[Event]) -> list[str]:
    """Readings of the main agent that contradict its status, or its last four commands, on one screen."""
    found, story = [], frame.story
    words = frame.response.outlook.words_beside(word, story.state, story.regime)
    trouble = word in ("looping", "stuck")
    if trouble and (story.regime == "progress" or story.flowing or story.state == "deep_work"):
        found.append(f"{word} beside {story.state} in {story.regime}")
    if story.regime == "crisis" and word == "done":
        found.append("done in a crisis")
    if words == "better than usual" and (trouble or story.state == "stuck" or story.regime == "crisis"):
        found.append(f"{words} beside {word}, {story.state} in {story.regime}")
    commands = [one.outcome for one in events if isinstance(one, ToolUse) and one.agent == MAIN and one.program]
    firing = {axis.axis for axis in frame.receptor.axes if axis.firing}
    if commands[-4:] == ["failure"] * 4 and (story.flowing or firing & {"flow", "confidence"}):
        found.append("flow or confidence after four failing commands")
    return found
