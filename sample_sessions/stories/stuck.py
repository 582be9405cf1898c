"""Round and round, and out of it."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import implement
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import CLAUDE, moment
from sample_sessions.stories.story import Story

DATES = "src/dates/parse.ts"
ZONES = "src/dates/zones.ts"
FEED = "src/feed/entries.ts"
TESTS = "tests/dates/parse.test.ts"
LOCAL = "  return new Date(year, month - 1, day, hours, minutes);"
UTC = "  return new Date(Date.UTC(year, month - 1, day, hours, minutes));"
DAY = "tests/dates/parse.test.ts > keeps the day across midnight | expected '2026-03-28' to be '2026-03-29'"
HOUR = "tests/dates/parse.test.ts > reads an hour without a zone | expected 21 to be 22"


def _world() -> World:
    world = World(
        "paperlane",
        "entry feed date zone offset reader page",
        "parse sort merge render fetch trim",
        test="npx vitest run",
    )
    world.put(DATES, world.text(DATES) + f"\nexport function toDate(text: string): Date {{\n{LOCAL}\n}}\n")
    return world


def _tell(agent: Actor) -> None:
    agent.ask(
        "Entries published around midnight show up under the wrong day. The test for it has been red since the "
        "weekend; please find out why and fix it."
    )
    agent.narrate("A bug report. The agent sees the test fail, reads one file, and thinks that it knows the cause.")
    agent.test(57, DAY, thought="Let me see it fail first.")
    agent.read(DATES)
    agent.edit(DATES, LOCAL, UTC, thought="Local time where it should be UTC.")
    agent.test(57, HOUR)
    agent.read(TESTS, thought="Now another one is red.")
    agent.edit(DATES)
    agent.test(56, HOUR, DAY)
    agent.narrate(
        "Edit, run, fail, edit, run, fail: trial and error. Frustration rises above normal and fires.",
        "pattern trial_error",
        "state stuck",
        "signal frustration_spike",
    )
    agent.edit(DATES, UTC, LOCAL, thought="Then back to local time, but with care.")
    agent.test(57, DAY)
    agent.read(FEED)
    agent.edit(FEED)
    agent.test(57, DAY)
    agent.edit(DATES, LOCAL, UTC, thought="It must be UTC after all.")
    agent.test(57, HOUR)
    agent.narrate("Stuck, says the meta neuron C, and lowers the threshold of frustration further.")
    agent.search("getTimezoneOffset", where="src", thought="Is there an offset somewhere?")
    agent.edit(DATES, UTC, LOCAL)
    agent.test(56, DAY)
    agent.narrate(
        "The same line went back and forth three times. The loop detector reports it once.", "loop oscillation"
    )
    agent.search("process\\.env\\.TZ", where="tests")
    agent.look_up("vitest Date local time zone differs in CI", thought="Maybe the runner does something.")
    agent.edit(TESTS, thought="Let me print what it gets.")
    agent.test(56, DAY)
    agent.search("setSystemTime", where="tests")
    agent.narrate(
        "It fails and searches in vain at once: the compound signal, regime crisis. Step in here.",
        "signal compound_frustration_seeking",
        "regime crisis",
    )
    agent.ask(
        "Look at zones.ts: entries carry their own offset, it is only thrown away before toDate sees it.", after=31.0
    )
    agent.read(ZONES, thought="That is the missing piece.")
    agent.edit(ZONES, thought="The offset has to travel with the text.")
    agent.edit(DATES)
    agent.test(58, thought="Both at once now.")
    agent.narrate("One sentence from the person, one look at the right file, and the tests pass.")
    implement(agent, (ZONES, DATES, TESTS, FEED), 8, passed=58)
    agent.commit("Keep an entry's own offset when reading its date")
    agent.answer("Fixed. An entry's offset was dropped in zones.ts; both tests pass now, and I added three more.")
    agent.narrate(
        "Frustration halves every three minutes, the pattern is implementation again. Out of the loop.",
        "pattern implementation",
        "state deep_work",
    )


STORY = Story(
    name="stuck",
    title="Stuck, and out of it",
    sentence="An edit-run-fail loop over one line of date handling, until the person names the right file.",
    notice="Frustration climbs past its threshold, the loop is reported, seeking joins in, then all of it fades.",
    program=CLAUDE,
    world=_world,
    start=moment("2026-02-11T13:40:31"),
    tell=_tell,
    must=(
        "pattern trial_error",
        "state stuck",
        "signal frustration_spike",
        "signal compound_frustration_seeking",
        "loop oscillation",
        "regime crisis",
        "state deep_work",
    ),
    never=("halt", "quarantine", "compaction", "loop burn"),
)
