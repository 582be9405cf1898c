"""Flow is work without failures: the gate never opens while things fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.percept import Percept
from core.engine.receptor import Receptor
from core.events import Event, Outcome, ToolUse, Turn
from tests.core.engine.receptor.acts import DEFAULTS, START, spell, touch, tuned

GAPS = st.sampled_from((0.5, 5.0, 29.0, 100.0))
WORDS = st.lists(st.sampled_from(("ebebebeb", "bbbb", "ffff", "efefef", "eeee", "r", "b", "f", "t")), max_size=25)


def acts(words: list[str], gap: float) -> list[Event]:
    """Acts that a word spells, with `t` for a turn long after, which lets old acts leave the window."""
    events: list[Event] = []
    at = START
    for letter in "".join(words):
        at += gap if letter != "t" else 170.0
        events += [Turn(at=at)] if letter == "t" else spell(letter, start=at)
    return events


def lawful(percept: Percept, limit: float) -> bool:
    flowing = any(signal.name == "flow_active" for signal in percept.signals)
    return percept.failure_rate < limit or not (flowing or percept.state == "deep_work")


@settings(max_examples=150)
@given(WORDS, GAPS, st.floats(0, 400))
def test_with_a_failure_rate_at_the_limit_nothing_flows(words: list[str], gap: float, later: float) -> None:
    made = Receptor(DEFAULTS)
    limit = DEFAULTS.flow.failures
    for event in acts(words, gap):
        assert lawful(made.step(event), limit)
        for reading in (made.read(), made.read(event.at + later)):
            failing = reading.behaviour.short.failure_rate >= limit
            names = [signal.name for signal in reading.signals]
            flow = next(axis for axis in reading.axes if axis.axis == "flow")
            assert not failing or (
                "flow_active" not in names
                and not reading.gate.firing
                and not flow.firing
                and reading.meta.state != "deep_work"
            )


def flowing(failures: int, successes: int) -> bool:
    """Whether the gate is open at the end, with flow in plenty and frustration out of the way."""
    changes = {
        "impulse": {"file_edit": {"flow": 0.5}, "shell_failure": {"frustration": 0.0}},
        "emotion": {"disruption_share": 0.0},
    }
    made = Receptor(tuned(**changes))
    for event in spell("f" * failures + "b" * successes + "eeee", 0.1):
        made.step(event)
    return made.read().gate.firing


@pytest.mark.parametrize(("failures", "successes", "flows"), [(3, 5, True), (4, 6, False), (5, 5, False)])
def test_below_at_and_above_the_limit(failures: int, successes: int, flows: bool) -> None:
    assert flowing(failures, successes) is flows


OUTCOMES: tuple[Outcome, ...] = ("empty", "failure", "success")


def test_frustration_above_its_threshold_closes_the_gate() -> None:
    def ends(frustration: float) -> bool:
        impulses = {"failed_edit": {"frustration": frustration}, "file_edit": {"flow": 0.5}}
        made = Receptor(tuned(impulse=impulses))
        for outcome in OUTCOMES:
            made.step(touch("a", action="file_edit", outcome=outcome))
        return made.read().gate.firing

    assert ends(0.24)
    assert not ends(0.25)
    assert not ends(0.26)


def test_a_storm_of_failures_is_being_stuck_within_eight_events() -> None:
    made = Receptor(DEFAULTS)
    states = [made.step(event).state for event in spell("f" * 40)]
    assert states[DEFAULTS.meta.stuck_failures - 2] != "stuck"
    assert set(states[DEFAULTS.meta.stuck_failures - 1 :]) == {"stuck"}
    assert DEFAULTS.meta.stuck_failures <= 8


def test_any_kind_of_failing_counts_towards_being_stuck() -> None:
    made = Receptor(DEFAULTS)
    events = [ToolUse(at=START + n, action="file_edit", outcome="failure") for n in range(6)]
    states = [made.step(event).state for event in events]
    assert states[-2:] == ["exploring", "stuck"]
