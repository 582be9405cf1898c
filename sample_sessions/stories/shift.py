"""The work moves elsewhere."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import explore, implement
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import PI, moment
from sample_sessions.stories.story import ALARMS, Story

BILLING = (
    "billing/invoice.py",
    "billing/ledger.py",
    "billing/rounding.py",
    "billing/currency.py",
    "tests/billing/test_ledger.py",
    "tests/billing/test_rounding.py",
)
SEARCH = (
    "search/index.py",
    "search/ranking.py",
    "search/tokens.py",
    "search/query.py",
    "tests/search/test_ranking.py",
    "tests/search/test_query.py",
)


def _world() -> World:
    return World(
        "fernpost",
        "parcel invoice ledger amount query token rank",
        "round post settle index rank match",
        test="pytest -q",
    )


def _tell(agent: Actor) -> None:
    agent.ask("Round invoice amounts half to even, everywhere in billing, and tell me what changes in the ledger.")
    agent.narrate("Work in one corner of the project: the paths panel fills up with billing.")
    agent.test(44)
    agent.run("git status --short", "")
    explore(agent, BILLING[:3], ("def round",))
    passed = implement(agent, BILLING, 3, passed=44)
    agent.narrate("Deep work in billing. Hot paths show reads and writes separately.", "state deep_work")
    passed = implement(agent, BILLING, 4, passed=passed)
    agent.commit("Round half to even")
    agent.answer("Done: all amounts go through billing/rounding.py now.")
    agent.narrate("The five hottest paths are the context the engine remembers.")
    agent.ask(
        "Good. Now something else: the search page ranks exact matches below partial ones. Please look.", after=48.0
    )
    explore(agent, SEARCH[:4], ("def rank", "score", "class Query"))
    agent.read(SEARCH[4])
    agent.narrate("Another task, other files. Old paths cool slowly, within hours; the new ones heat up.")
    passed = implement(agent, SEARCH[1:4], 3, passed=passed)
    agent.narrate(
        "Three of the five hottest paths are new: a context shift. From here on a new normal is learned.", "shift"
    )
    implement(agent, SEARCH, 6, passed=passed)
    agent.commit("Rank exact matches first")
    agent.answer("Exact matches come first now; the weights are in search/ranking.py with a test for each.")
    agent.narrate("No alarm came of it: a shift is news, not trouble.")


STORY = Story(
    name="shift",
    title="A context shift",
    sentence="Two tasks in one session: first billing, then search, in the same project.",
    notice="The heat of the paths panel moves, a shift is marked, and the baselines start again.",
    program=PI,
    world=_world,
    start=moment("2026-02-13T08:55:40"),
    tell=_tell,
    must=("shift", "state deep_work", "signal flow_active"),
    never=(*ALARMS, "compaction", "regime crisis"),
)
