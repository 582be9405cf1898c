"""All goes well, and the screen keeps quiet."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import explore, implement
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import CODEX, moment
from sample_sessions.stories.story import ALARMS, Story

MODELS = ("src/tidebook/models/station.py", "src/tidebook/models/reading.py")
TABLES = (
    "src/tidebook/tables/harmonics.py",
    "src/tidebook/tables/forecast.py",
    "tests/tables/test_forecast.py",
    "src/tidebook/tables/calendar.py",
    "tests/tables/test_calendar.py",
)


def _world() -> World:
    return World(
        "tidebook",
        "tide station reading level gauge harmonic forecast",
        "predict measure smooth store compare align",
        test="pytest -q",
    )


def _tell(agent: Actor) -> None:
    agent.ask(
        "Add a monthly tide calendar: one table for each station with the high and low waters of every day, "
        "made from the harmonic forecast we have. Tests, please, and keep the public API as it is."
    )
    agent.narrate("A person asks for a new feature. The agent runs the tests and looks around, not for long.")
    agent.run("git status --short", "?? notes.txt")
    agent.test(31, thought="First, does everything pass as it is?")
    explore(agent, (MODELS[0], TABLES[1]), ("def forecast",))
    agent.plan("Model of a calendar day", "Table for a month", "Command line option", "Tests")
    agent.write(TABLES[3], thought="I know enough. First the day itself.")
    agent.narrate(
        "It begins to write. Flow and confidence rise with every edit and every passing test.",
        "pattern implementation",
        "state deep_work",
    )
    agent.write(TABLES[4])
    agent.test(35)
    passed = implement(agent, TABLES[3:], 1, passed=36)
    agent.narrate(
        "Flow has crossed its threshold. While gate A fires, no other signal is sent: do not interrupt.",
        "signal flow_active",
        "regime progress",
    )
    passed = implement(agent, (*TABLES[1:], MODELS[0]), 4, passed=passed)
    agent.narrate("The threshold follows slowly: what is normal is learned, so flow must rise to stay remarkable.")
    passed = implement(agent, (*TABLES[1:], MODELS[0]), 4, passed=passed)
    agent.run("ruff check src tests", "All checks passed!")
    agent.commit("Add a monthly tide calendar")
    agent.narrate("The regime is progress, the governor's budgets are full, no alarms. Leave it alone.")
    passed = implement(agent, TABLES[1:4], 4, passed=passed, edits=3)
    agent.commit("Let the calendar start on any weekday")
    agent.answer("The calendar is in place: `tidebook month STATION 2026-03` prints it, and 11 new tests cover it.")
    agent.narrate("Done. A quiet screen is a result too.")


STORY = Story(
    name="flow",
    title="In the flow",
    sentence="A feature is built in one go: a short look around, then edits and passing tests.",
    notice="Flow makes gate A fire, and A mutes all other signals.",
    program=CODEX,
    world=_world,
    start=moment("2026-02-10T09:12:04"),
    tell=_tell,
    must=("signal flow_active", "state deep_work", "pattern implementation", "regime progress"),
    never=(
        *ALARMS,
        "signal seeking_spike",
        "signal uncertainty_spike",
        "shift",
        "compaction",
        "regime turbulence",
        "regime crisis",
    ),
)
