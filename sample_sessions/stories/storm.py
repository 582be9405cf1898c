"""Many sub-agents, one bad mood."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.deeds import Order
from sample_sessions.stage.phrases import implement
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import CLAUDE, moment
from sample_sessions.stories.story import Story

PARTS = ("nest", "flight", "ringing", "weather", "archive", "portal")
NAMES = {part: f"a{number}f{number}{number + 2}c{9 - number}" for number, part in enumerate(PARTS, 1)}
HOT = "ringing"
SHARED = "shared/logging.py"


def _world() -> World:
    return World(
        "kestrel",
        "nest flight ring record sighting station handler",
        "log track record report filter export",
        test="pytest -q",
    )


def _files(part: str) -> tuple[str, ...]:
    return (f"services/{part}/app.py", f"services/{part}/jobs.py", f"services/{part}/tests/test_jobs.py")


def _order(part: str) -> Order:
    task = (
        f"Move services/{part} to structured logging: replace the standard logger by shared/logging.py in "
        f"app.py and jobs.py, adjust the tests, and make `pytest -q services/{part}` pass. Touch no other."
    )
    return Order(NAMES[part], "general-purpose", f"Structured logging in {part}", task, "claude-haiku-4-5-20251001")


def _calm(agent: Actor, part: str, rounds: int) -> None:
    """A service without surprises."""
    where = f"services/{part}"
    agent.read(_files(part)[0])
    agent.run("git status --short", "")
    agent.read(SHARED)
    agent.edit(_files(part)[0])
    implement(agent, _files(part), rounds, passed=9, only=where)
    agent.read(SHARED, thought="One more look at the shared part.")
    implement(agent, _files(part), 1, passed=12, only=where)


def _hot(agent: Actor, rounds: int) -> None:
    """A service whose tests flip at every turn, worked on in haste."""
    where = f"services/{HOT}"
    app, jobs, tests = _files(HOT)
    agent.pace = 0.28
    agent.read(SHARED)
    agent.read(jobs)
    for turn in range(rounds):
        agent.edit((jobs, app, SHARED, tests)[turn % 4])
        for count in range(3):
            wrong = f"{tests}::test_{('context', 'order', 'level')[count]} | assert {turn} == {turn + count + 1}"
            agent.test(8, wrong, only=f"{where} -x", took=(0.8, 1.6))
        agent.test(1 + turn % 3, only=f"{where} -k format", took=(0.6, 1.2))


def _cool(agent: Actor) -> None:
    """The same service, once it is understood."""
    agent.pace = 1.3
    agent.read(SHARED, thought="Slowly now: the handler is shared, and I changed it under the others.")
    agent.edit(SHARED)
    implement(agent, _files(HOT), 5, passed=11, only=f"services/{HOT}")
    agent.narrate(
        "It slowed down and its tests pass. Its affect moves little, so the quarantine ends.", "quarantine leaves"
    )
    implement(agent, _files(HOT), 4, passed=11, only=f"services/{HOT}")


def _tell(agent: Actor) -> None:
    agent.ask("Move all six services to structured logging. None depends on another, so do them in parallel.")
    agent.narrate("One agent is about to become seven.")
    agent.test(54, thought="All green before we begin?")
    agent.read(SHARED)
    agent.edit(SHARED, thought="The handler first, so that all can use it.")
    agent.test(56)
    children = dict(zip(PARTS, agent.delegate("Six services, six agents.", *map(_order, PARTS)), strict=True))
    agent.narrate("Six sub-agents start, each with a mind of its own and a part of its parent's mood.", "agent")
    for number, part in enumerate(part for part in PARTS if part != HOT):
        _calm(children[part], part, 6 + number % 3)
    hot = children[HOT]
    _hot(hot, 7)
    hot.narrate(
        "One runs hot: it fails, passes and fails in haste. Others begin to feel it, so it is quarantined.",
        "contagion",
        "state stuck",
        "quarantine enters",
    )
    _hot(hot, 4)
    hot.narrate("Its affect moves too much; while in quarantine it passes nothing on to anybody.")
    _hot(hot, 3)
    _cool(hot)
    done = "uses shared/logging.py now; its tests pass."
    agent.gather(*((child, f"services/{part} {done}") for part, child in children.items()))
    agent.narrate("The reports are in, and the main agent takes over again.")
    agent.test(61, thought="Everything together.")
    implement(agent, (SHARED, "services/portal/app.py"), 3, passed=61)
    agent.commit("Move all services to structured logging")
    agent.answer("All six services use shared/logging.py. Ringing needed a fix in the shared part, see the commit.")
    agent.narrate("Seven minds, one of them held back in time. All is quiet again.")


STORY = Story(
    name="storm",
    title="A delegation storm",
    sentence="Six sub-agents at once; one runs hot, its mood spreads, and it is put in quarantine.",
    notice="The agents: who started whom, whose mood is moved by others, and who is held back.",
    program=CLAUDE,
    world=_world,
    start=moment("2026-02-17T14:31:52"),
    tell=_tell,
    must=("agent", "state delegating", "contagion", "quarantine enters", "quarantine leaves"),
    never=("compaction", "loop burn"),
    speed=8.0,
)
