"""A long pause, and a person who says no."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import explore, implement
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import DOCS_BOT, moment
from sample_sessions.stories.story import ALARMS, Story

PAGES = ("docs/install.md", "docs/first-steps.md", "docs/recipes.md", "docs/reference.md")


def _world() -> World:
    return World("orchard", "tree graft harvest crate season", "prune plant pick store", test="make check")


def _tell(agent: Actor) -> None:
    agent.ask("Bring the documentation up to date with the new release, page by page, and publish it when I say so.")
    agent.narrate("Not a known agent: a custom bot that writes the open event format, one line per call.")
    agent.test(22)
    explore(agent, PAGES[:2], ("release",))
    passed = implement(agent, PAGES, 3, passed=22)
    agent.narrate("It works steadily; what is normal for it is learned along the way.", "state deep_work")
    passed = implement(agent, PAGES, 3, passed=passed)
    agent.refuse("publish --all")
    agent.refuse("publish docs/install.md")
    agent.narrate("Two calls are refused. The person did that, so they do not count as failures.")
    agent.answer("I am ready to publish; I wait for your word.")
    agent.silence(2700.0)
    agent.ask("Sorry, that was a long lunch. Go on with the recipes, then publish.")
    agent.read(PAGES[2])
    agent.narrate("45 minutes of silence, and hardly anything moved: subjective time did not pass.", "state idle")
    implement(agent, PAGES[2:], 6, passed=passed)
    agent.run("publish --all", "4 pages published", took=(3.0, 9.0))
    agent.answer("Published.")
    agent.narrate("It goes on where it was. A night's pause would have looked the same.", "signal flow_active")


STORY = Story(
    name="silence",
    title="A long silence",
    sentence="A bot is refused twice, waits for three quarters of an hour, and goes on.",
    notice="The state turns idle and time freezes; refusals count as the person's, not as failures.",
    program=DOCS_BOT,
    world=_world,
    start=moment("2026-02-20T10:14:33"),
    tell=_tell,
    must=("state idle", "state deep_work", "pattern implementation"),
    never=(*ALARMS, "compaction", "regime crisis", "regime turbulence"),
)
