"""Thresholds of the receptor as a whole, at, below and above."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.engine.percept import Percept
from core.engine.receptor import Receptor
from core.engine.receptor.emotion import CONFIDENCE, FLOW, FRUSTRATION
from core.events import Event, Prompt, Turn
from core.settings.receptor import ReceptorSettings
from tests.core.engine.receptor.acts import START, spell

SILENCE = 180.0
ALWAYS_FLOWS = {"low": 0.0, "offset": {"flow": 0.0, "frustration": 0.8, "seeking": 0.8, "confidence": 0.8}}
"""Nothing but failing commands can close the gate."""


def felt(events: Sequence[Event], **settings: object) -> tuple[Receptor, Percept]:
    """The receptor after the events and its last percept."""
    receptor = Receptor(ReceptorSettings.parse(settings))
    for event in events:
        percept = receptor.step(event)
    return receptor, percept


def baseline(receptor: Receptor) -> float:
    return receptor.levels()[6 + CONFIDENCE]


@pytest.mark.parametrize(("gap", "silent"), [(SILENCE - 1, False), (SILENCE, False), (SILENCE + 1, True)])
def test_an_act_after_a_silence_starts_a_new_baseline(gap: float, silent: bool) -> None:
    first = spell("eb")
    receptor, percept = felt([*first, *spell("e", start=first[-1].at + gap)], ambient={"silence": SILENCE})
    assert (percept.state == "idle") is silent
    assert (baseline(receptor) == percept.axes[CONFIDENCE]) is silent


@pytest.mark.parametrize(("gap", "silent"), [(SILENCE - 1, False), (SILENCE, False), (SILENCE + 1, True)])
def test_a_turn_after_a_silence_does_so_for_the_next_act(gap: float, silent: bool) -> None:
    first = spell("eb")
    turn = Turn(at=first[-1].at + gap)
    receptor, percept = felt([*first, turn], ambient={"silence": SILENCE})
    assert (percept.state == "idle") is silent
    receptor, percept = felt([*first, turn, *spell("e", start=turn.at + 1)], ambient={"silence": SILENCE})
    assert (baseline(receptor) == percept.axes[CONFIDENCE]) is silent


@pytest.mark.parametrize(("gap", "silent"), [(SILENCE - 1, False), (SILENCE, False), (SILENCE + 1, True)])
def test_looking_at_it_later_finds_it_idle_after_a_silence(gap: float, silent: bool) -> None:
    receptor, percept = felt(spell("eb"), ambient={"silence": SILENCE})
    reading = receptor.read(percept.at + gap)
    assert reading.idle is silent
    assert (reading.meta.state == "idle") is silent


@pytest.mark.parametrize(("letters", "flows"), [("fbb", True), ("fb", False), ("ffb", False)])
def test_nothing_flows_from_so_large_a_share_of_failing_commands_on(letters: str, flows: bool) -> None:
    _, percept = felt(spell(letters), ambient=ALWAYS_FLOWS, flow={"failures": 0.5})
    assert [signal.name for signal in percept.signals] == ["flow_active"] * flows


@pytest.mark.parametrize(("failures", "flows"), [(0.45, False), (0.5, False), (0.55, True)])
def test_flow_ends_once_time_has_passed_over_the_commands_that_went_well(failures: float, flows: bool) -> None:
    acts = [*spell("b"), *spell("bf", start=START + 30.0)]
    settings = {"ambient": ALWAYS_FLOWS, "flow": {"failures": failures}, "commander": {"short": 60}}
    receptor, percept = felt(acts, **settings)
    assert [signal.name for signal in percept.signals] == ["flow_active"]
    assert receptor.read(START + 70.0).gate.firing is flows
    _, percept = felt([*acts, Turn(at=START + 70.0)], **settings)
    assert percept.failure_rate == 0.5
    assert [signal.name for signal in percept.signals] == ["flow_active"] * flows


@pytest.mark.parametrize(("above", "disrupted"), [(-1e-6, True), (0.0, True), (1e-6, False)])
def test_a_signal_disrupts_flow_from_a_level_on(above: float, disrupted: bool) -> None:
    ambient = {"low": 0.0, "high": 0.5, "offset": {"flow": 0.8, "confidence": 0.0}}
    acts = spell("eb" * 3)
    whole: Percept
    _, whole = felt(acts, ambient=ambient, emotion={"disruption_share": 0.0})
    assert any(signal.intensity > 0.0 for signal in whole.signals)
    level = whole.axes[FLOW]
    assert 0.01 < level < 0.5
    before = felt(acts[:-1], ambient=ambient, emotion={"disruption_share": 0.0})[1].axes[FLOW]
    assert before < level
    emotion = {"disruption_share": 0.5, "disruption_flow": level + above}
    _, percept = felt(acts, ambient=ambient, emotion=emotion)
    assert (percept.axes[FLOW] < level) is disrupted


@pytest.mark.parametrize(("characters", "told"), [(99, False), (100, False), (101, True)])
def test_only_a_prompt_longer_than_the_limit_tells_something(characters: int, told: bool) -> None:
    receptor, _ = felt([Prompt(at=START, characters=characters)], emotion={"long_prompt": 100})
    sources = {part.source for axis in receptor.explain() for part in axis.contributions}
    assert ("long_prompt" in sources) is told


@pytest.mark.parametrize(("failures", "storm"), [(3, False), (4, True), (5, True)])
def test_so_many_failures_in_a_row_are_a_storm(failures: int, storm: bool) -> None:
    assert felt(spell("f" * failures), meta={"stuck_failures": 4})[0].storm is storm


def test_a_storm_that_is_switched_off_never_comes() -> None:
    assert not felt(spell("b"), meta={"stuck_failures": 0})[0].storm


@pytest.mark.parametrize(("off", "held"), [(-1e-9, True), (0.0, False), (1e-9, False)])
def test_a_signal_is_held_while_its_axis_is_below_its_threshold(off: float, held: bool) -> None:
    receptor, _ = felt(spell("f" * 8), ambient={"low": 0.05, "offset": {"frustration": 0.0}})
    assert receptor._neuron.release(FRUSTRATION)
    threshold = receptor.levels()[FRUSTRATION]
    assert receptor._axis(FRUSTRATION, threshold + off, 0.0, False).held is held
