"""Whether a story breaks one of the rules of what may stand together."""

from __future__ import annotations

from core.engine.society.engine import FAILING, Facts, Story

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
