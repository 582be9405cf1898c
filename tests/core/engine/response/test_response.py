"""From a felt event to words: what each action says, where it lands, and the laws of state."""

from __future__ import annotations

import json

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.engine.percept import SignalName
from core.engine.response.actions import REGISTRY
from core.engine.response.reaction import Firing, Reaction
from core.engine.response.rules import MethodType, add_rules, built_in
from core.engine.society.engine import Engine
from core.errors import StateError
from core.events import Compaction, Event, SessionEnd
from core.settings import Settings
from tests.core.engine.response.moments import DEFAULT, Stage, answer, percept, use
from tests.core.strategies import events

COMPOUND: SignalName = "compound_frustration_seeking"


def firing(reaction: Reaction, method: str) -> Firing:
    return next(each for each in reaction.fired if each.method == method)


def test_no_signal_no_word() -> None:
    stage = Stage()
    assert stage.act(percept(0.0)) == stage.act(percept(1.0)) == Reaction((), (), (), None, ())
    assert all("not triggered" in each.why for each in stage.response.read(0.6).candidates)


def test_every_type_of_method_has_an_action() -> None:
    assert set(REGISTRY) == set(MethodType.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("signal", "intensity", "state", "methods"),
    [
        (COMPOUND, 0.3, "stuck", {"engram_probe", "frustration_alert", "action_logger"}),
        (COMPOUND, 0.3, "deep_work", {"action_logger"}),
        ("frustration_spike", 0.2, "stuck", {"frustration_alert", "action_logger"}),
        ("frustration_spike", 0.4, "exploring",
            {"frustration_alert", "action_logger", "engram_probe_light", "future_probe"}),
        ("seeking_spike", 0.35, "exploring", {"path_suggest", "action_logger", "future_probe"}),
        ("fatigue_rising", 0.3, "deep_work", {"fatigue_warning", "action_logger"}),
        ("confidence_sustained", 0.3, "deep_work", {"context_snapshot", "action_logger"}),
        ("confidence_sustained", 0.35, "exploring", {"push_reminder", "action_logger"}),
        ("uncertainty_spike", 0.6, "stuck", {"action_logger"}),
        ("flow_active", 0.6, "deep_work", set()),
    ],
)  # fmt: skip
def test_who_speaks(signal: SignalName, intensity: float, state: str, methods: set[str]) -> None:
    seen = percept(0.0, (signal, intensity), state=state)  # type: ignore[arg-type]
    assert set(Stage().fired(seen)) == methods


def test_modes_differ_in_where_words_land() -> None:
    stage = Stage()
    reaction = stage.act(percept(0.0, ("frustration_spike", 0.4)))
    reading = stage.response.read(0.6)
    assert {entry.method for entry in reading.memo} == {"engram_probe_light", "frustration_alert"}
    assert {entry.method for entry in reading.log} == {"action_logger", "future_probe"}
    assert [notice.rule for notice in reaction.notices] == ["frustration_alert"]
    assert "Frustration is at 0.80, 0.40 above" in firing(reaction, "frustration_alert").text
    (notice,) = Stage().act(percept(0.0, ("fatigue_rising", 0.4))).notices
    assert (notice.rule, notice.kind, notice.cooldown) == ("fatigue_warning", "risk", 2400.0)
    assert stage.response.memo().startswith("It was like this before: ")


def test_interventions_wait_for_their_windows() -> None:
    stage = Stage()
    stage.act(percept(0.0, ("frustration_spike", 0.4)))
    waiting = {one.sender: one.window for one in stage.response.queue.waiting}
    assert waiting == {"engram_probe_light": "decide"}
    turn = answer(1.0)
    seen = percept(1.0)
    told = stage.act(seen, event=turn).interventions
    assert [each.intervention.sender for each in told] == ["engram_probe_light"]
    assert stage.response.queue.read().past[0].intervention.message.startswith("It was like this before")


def test_a_dream_opens_its_window() -> None:
    stage = Stage()
    stage.act(percept(0.0, ("confidence_sustained", 0.3), state="deep_work"))
    assert [one.window for one in stage.response.queue.waiting] == ["dream"]
    compaction = Compaction(at=5.0, tokens_before=100, tokens_after=10)
    told = stage.act(percept(5.0), event=compaction).interventions
    assert [each.fate for each in told] == ["delivered"]


def test_a_loop_speaks_even_in_flow_and_tells_what_goes_round() -> None:
    stage = Stage()
    loops = []
    for number in range(8):
        reaction = stage.act(
            percept(float(number), ("flow_active", 0.3), state="deep_work"), event=use(float(number), call=7, result=9)
        )
        loops += [each for each in reaction.fired if each.method == "loop_alert"]
        if reaction.loop:
            assert reaction.notices[0].kind == "risk"
    (told,) = loops
    assert told.cue == "loop" and "circles" in told.text
    assert stage.response.queue.read().past[0].intervention.source == "risk"


def test_a_halt_of_the_governor_is_told() -> None:
    reaction = Stage().act(percept(0.0), halted="EXHAUSTION")
    assert firing(reaction, "halt_alert").text == "The governor would stop here: the agent is exhausted."


def test_paths_hot_and_left_are_suggested() -> None:
    stage = Stage()
    for place, path in enumerate(["old/a.py"] * 4 + ["new/b.py"] * 7 + ["new/c.py"] * 6 + ["new/d.py"] * 5):
        at = float(place) if path.startswith("old") else 600.0 + place
        stage.receptor.step(use(at, action="file_read", targets=(path,)))
    text = firing(stage.act(percept(620.0, ("seeking_spike", 0.4))), "path_suggest").text
    assert "Work is in new/b.py, new/c.py, new/d.py" in text
    assert "Not visited for a while: old/a.py." in text


def test_a_snapshot_is_named_after_the_centre_of_work() -> None:
    stage = Stage()
    for place, path in enumerate(["src/load/a.py"] * 3 + ["src/load/b.py"] * 3 + ["docs/x.md"]):
        stage.receptor.step(use(float(place), action="file_edit", targets=(path,)))
    reaction = stage.act(percept(10.0, ("confidence_sustained", 0.4), state="deep_work"))
    (checkpoint,) = reaction.checkpoints
    assert (checkpoint.centre, checkpoint.state) == ("src/load/b.py", "deep_work")
    assert checkpoint.name == "deep work in src/load/b.py"
    assert stage.response.read(0.6).checkpoints == (checkpoint,)


def test_the_past_is_recalled_with_what_ended_it_and_what_followed() -> None:
    engine = Engine(DEFAULT)
    said: dict[str, list[str]] = {}
    for event in session(4000):
        for each in engine.step(event).reaction.fired:
            said.setdefault(each.method, []).append(each.text)
    assert any("ended by a" in text and ", then " in text for text in said["engram_probe"])
    assert any(
        text.startswith("Similar moments were followed by") and " of 5)" in text for text in said["future_probe"]
    )


@pytest.mark.parametrize(("stop", "told"), [("end_turn", True), ("tool_use", False), ("", False)])
def test_done_is_told_when_the_agent_hands_over(stop: str, told: bool) -> None:
    notices = Stage().act(percept(0.0), event=answer(0.0, stop)).notices
    assert [(notice.kind, notice.rule) for notice in notices] == ([("done", "done")] if told else [])


def test_the_end_of_a_session_is_told() -> None:
    (notice,) = Stage().act(percept(0.0), event=SessionEnd(at=0.0)).notices
    assert notice.text == "The session is over."


def test_a_rule_switched_off_keeps_silent_and_a_bent_one_speaks() -> None:
    text = json.dumps(
        {
            "methods": [
                {"id": "frustration_alert", "enabled": False},
                {"id": "fatigue_warning", "trigger": {"signals": ["frustration"]}, "action": {"say": "{state}!"}},
            ]
        }
    )
    stage = Stage(rules=add_rules(built_in(), text.encode(), "t"))
    reaction = stage.act(percept(0.0, ("frustration_spike", 0.4)))
    assert firing(reaction, "fatigue_warning").text == "stuck!"
    assert "frustration_alert" not in [each.method for each in reaction.fired]


def test_a_word_of_the_persons_own_is_queued_first() -> None:
    stage = Stage()
    stage.act(percept(0.0, ("frustration_spike", 0.4)))
    stage.response.steer("Stop and read the log.", 0.5)
    told = stage.act(percept(1.0)).interventions
    assert [each.intervention.sender for each in told] == ["person"]


def canonical(engine: Engine) -> bytes:
    return cbor2.dumps(engine.response.dump(), canonical=True)


EAGER = Settings.parse({"response": {"scoring": {"threshold": 0.01, "low": 20, "medium": 10, "high": 5}}})


@settings(max_examples=40)
@given(events(max_size=80), st.data())
def test_a_loaded_response_goes_on_as_the_dumped_one(stream: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(stream)))
    whole, loaded = Engine(EAGER), Engine(EAGER)
    for event in stream[:cut]:
        whole.step(event)
    loaded.load(cbor2.loads(cbor2.dumps(whole.dump(), canonical=True)))
    assert loaded.response.read(0.6) == whole.response.read(0.6)
    for event in stream[cut:]:
        assert loaded.step(event).reaction == whole.step(event).reaction
        assert loaded.response.read(0.6) == whole.response.read(0.6)
    assert canonical(loaded) == canonical(whole)


def test_a_dump_is_a_snapshot_and_goes_on_exactly_where_much_fires() -> None:
    stream = session(3000)
    whole = Engine(EAGER)
    for event in stream[:1500]:
        whole.step(event)
    dumped = whole.response.dump()
    frozen = cbor2.dumps(dumped, canonical=True)
    loaded = Engine(EAGER)
    loaded.load(cbor2.loads(cbor2.dumps(whole.dump(), canonical=True)))
    fired = 0
    for event in stream[1500:]:
        one, other = whole.step(event).reaction, loaded.step(event).reaction
        assert one == other
        fired += len(one.fired)
    assert fired > 100
    assert cbor2.dumps(dumped, canonical=True) == frozen
    assert canonical(whole) == canonical(loaded)


def test_looking_changes_nothing() -> None:
    engine, alone = Engine(EAGER), Engine(EAGER)
    for event in session(800):
        engine.step(event)
        engine.response.read(0.6)
        engine.response.memo(10)
        engine.response.session()
        alone.step(event)
    assert canonical(engine) == canonical(alone)


def test_a_foreign_dump_is_refused() -> None:
    with pytest.raises(StateError, match="does not fit"):
        Stage().response.load({"scorer": 3})
