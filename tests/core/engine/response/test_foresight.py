"""What affect does to advice: looks ahead, paths suggested, delegates, and the second check in quarantine."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from bench.workload import session
from core.engine.percept import EVEN, NEUTRAL, Composition, SignalName
from core.engine.receptor.persona import Persona, WorkContext, make_persona
from core.engine.response.actions import ALONE, Delegates
from core.engine.society.engine import Engine
from core.events import ACTIONS, AgentEnd, AgentStart
from core.settings import Settings
from core.settings.response import PersonaSettings
from tests.core.engine.response.moments import Stage, mood, percept, use, verdict

SEEKING: tuple[SignalName, float] = ("seeking_spike", 0.4)
LATER = session(3000)[-1].at + 10_000.0


def said(engine: Engine, composition: Composition, method: str = "future_probe") -> str:
    """What a look ahead says, with affect leaning as told."""
    engine.mind.heart.composition = composition
    event = use(LATER)
    seen = percept(LATER, SEEKING)
    thought = engine.mind.step(event, seen, NEUTRAL, composition)
    reaction = engine.response.step(event, seen, thought, verdict(), mood(1.1))
    return next(one.text for one in reaction.fired if one.method == method)


def futures(text: str) -> int:
    """Of how many a look ahead speaks."""
    return int(re.findall(r" of (\d+)\)", text)[0])


def lived() -> Engine:
    engine = Engine(Settings())
    for event in session(3000):
        engine.step(event)
    return engine


def test_affect_widens_deepens_and_prunes_the_look_ahead() -> None:
    even = said(lived(), EVEN)
    wide = said(lived(), EVEN._replace(branching=3.0))
    deep = said(lived(), EVEN._replace(depth=3.0))
    kept, pruned = (said(lived(), EVEN._replace(branching=3.0, pruning=each)) for each in (0.1, 3.0))
    assert even.startswith("Similar moments were followed by")
    assert futures(wide) > futures(even)
    assert deep.count(", then ") > even.count(", then ")
    assert pruned.count(" of ") < kept.count(" of ")


def persona(**actions: float) -> Persona:
    made = make_persona(
        model="claude-x",
        sessions=3,
        mean={"confidence": 0.6},
        variance=0.1,
        snapshots=4,
        seconds=600.0,
        field_adjustment={},
        learned_delta={},
        patterns={"implementation": 0.75, "exploration": 0.25},
        states={"stuck": 0.25, "deep_work": 0.75},
        actions={name: actions.get(name, 0.0) for name in ACTIONS},
        context=WorkContext((), ()),
        settings=PersonaSettings(),
    )
    assert made is not None
    return made


def test_personas_that_work_alike_are_asked() -> None:
    stage = Stage()
    stage.response.meet((persona(shell_exec=1.0), persona(delegation=1.0)))
    for at in range(4):
        stage.act(percept(float(at)), event=use(float(at)))
    fired = stage.act(percept(5.0, SEEKING)).fired
    text = next(one.text for one in fired if one.method == "future_probe")
    assert text == "1 known persona works like this (similarity 1.00): 75% implementation, stuck 25% of the time."
    alone = Stage().act(percept(5.0, SEEKING)).fired
    text = next(one.text for one in alone if one.method == "future_probe")
    assert text == "No similar moment is known, so nothing can be predicted."


@pytest.mark.parametrize(("familiarity", "hot", "rare"), [(0.5, 3, False), (1.0, 6, False), (0.1, 1, True)])
def test_familiarity_decides_what_is_suggested(familiarity: float, hot: int, rare: bool) -> None:
    stage = Stage()
    visits = [f"src/{name}.py" for name in "aaaabbbbccccddddeeeeffff"] + ["odd/one.py"]
    for place, path in enumerate(visits):
        stage.receptor.step(use(float(place), action="file_read", targets=(path,)))
    event, seen = use(30.0), percept(30.0, SEEKING)
    lean = EVEN._replace(familiarity=familiarity)
    thought = stage.mind.step(event, seen, NEUTRAL, lean)
    fired = stage.response.step(event, seen, thought, verdict(), mood(1.1)).fired
    text = next(one.text for one in fired if one.method == "path_suggest")
    assert text.partition(".py.")[0].count("src/") == hot
    assert ("Looked at only once: odd/one.py" in text) is rare


def test_delegation_orders_the_ways_to_go_on() -> None:
    known = Delegates()
    for number, outcome in enumerate(("success", "success", "failure")):
        known.update(AgentStart(at=0.0, child=f"c{number}", role="tester"))
        known.update(AgentEnd(at=1.0, child=f"c{number}", outcome=outcome))  # type: ignore[arg-type]
    assert [way.role for way in known.order(0.9, 0.0)] == ["tester", ALONE]
    assert [way.role for way in known.order(0.1, 0.0)] == [ALONE, "tester"]
    assert [way.role for way in known.order(0.5, 0.9)] == ["tester", ALONE]
    assert [way.role for way in known.order(0.0, 1.0)] == [ALONE]
    again = Delegates()
    again.load(known.dump())
    assert again.order(0.5, 0.5) == known.order(0.5, 0.5)


@pytest.mark.parametrize(("preference", "asks"), [(0.9, True), (0.1, False)])
def test_an_alert_says_whom_to_ask_where_affect_prefers_it(preference: float, asks: bool) -> None:
    stage = Stage()
    for told in (AgentStart(at=0.0, child="c", role="tester"), AgentEnd(at=1.0, child="c")):
        stage.act(percept(told.at), event=told)
    event, seen = use(2.0), percept(2.0, ("frustration_spike", 0.4))
    bent = replace(mood(1.1), modulation=NEUTRAL._replace(delegation_preference=preference))
    fired = stage.response.step(event, seen, stage.thought(event, seen), verdict(), bent).fired
    text = next(one.text for one in fired if one.method == "frustration_alert")
    assert ("A sub-agent may do better: tester went well 1 of 1 times." in text) is asks


@pytest.mark.parametrize(
    ("quarantined", "acceptance", "queued"), [(False, 0.95, True), (True, 0.95, False), (True, 0.01, True)]
)
def test_advice_in_quarantine_passes_a_second_check_or_the_person(
    quarantined: bool, acceptance: float, queued: bool
) -> None:
    stage = Stage()
    bent = replace(mood(1.1), quarantined=quarantined, modulation=NEUTRAL._replace(mutation_acceptance=acceptance))
    event, seen = use(0.0), percept(0.0, ("fatigue_rising", 0.4))
    reaction = stage.response.step(event, seen, stage.thought(event, seen), verdict(), bent)
    assert bool(stage.response.queue.waiting) is queued
    (notice,) = reaction.notices
    assert notice.text.startswith("Not sent to the agent") is not queued
