"""Thresholds of the receptor at, below and above the value that is set."""

from __future__ import annotations

import pytest

from core.percept import AgentState, Pattern
from core.receptor.gate import FlowGate
from core.receptor.meta import MetaNeuron
from core.receptor.subjective import SubjectiveTime
from core.receptor.vector import NONE
from core.receptor.windows import Window
from core.settings.receptor import AmbientSettings, MetaSettings, TimeSettings
from tests.core.receptor.test_commander import commander


@pytest.mark.parametrize(("flow", "opens"), [(0.4999, False), (0.5, True), (0.5001, True)])
def test_the_gate_opens_at_its_threshold(flow: float, opens: bool) -> None:
    gate = FlowGate(AmbientSettings.model_validate({"offset": {"flow": 0.25}}))
    assert gate.update(flow, 0.25) is opens


@pytest.mark.parametrize(("failures", "state"), [(3, "exploring"), (4, "stuck"), (5, "stuck")])
def test_so_many_failures_in_a_row_are_stuck(failures: int, state: AgentState) -> None:
    meta = MetaNeuron(MetaSettings(stuck_failures=4))
    meta.update(NONE, False, "exploration", 0.0, 0.0, failures)
    assert meta.state == state


@pytest.mark.parametrize(("flow", "state"), [(0.5, "exploring"), (0.5001, "deep_work")])
def test_deep_work_needs_more_flow_than_its_threshold(flow: float, state: AgentState) -> None:
    meta = MetaNeuron(MetaSettings(deep_flow=0.5))
    meta.update(NONE, False, "implementation", 0.0, flow)
    assert meta.state == state


@pytest.mark.parametrize(
    ("letters", "pattern"),
    [("rrrrrrremm", "exploration"), ("rrrrrreeem", "exploration"), ("rrrrrreeee", "implementation")],
)
def test_exploration_allows_a_share_of_edits(letters: str, pattern: Pattern) -> None:
    made = commander(letters, exploration_share=0.5, exploration_edits=0.3, implementation_share=0.3)
    assert made.pattern == pattern


@pytest.mark.parametrize(("later", "kept"), [(9.0, 3), (10.0, 3), (10.5, 2), (11.0, 2)])
def test_a_window_keeps_what_is_as_old_as_its_span(later: float, kept: int) -> None:
    window = Window(10.0, 50)
    for wall in (0.0, 1.0, 2.0):
        window.add(wall, 2)
    assert window.slide(later) is (kept < 3)
    assert window.total == kept


@pytest.mark.parametrize(("acts", "kept"), [(49, 49), (50, 50), (51, 50)])
def test_a_window_keeps_so_many_acts(acts: int, kept: int) -> None:
    window = Window(1000.0, 50)
    for wall in range(acts):
        window.add(float(wall), 2)
    assert not window.slide(float(acts))
    assert window.total == kept


@pytest.mark.parametrize(("gap", "silent"), [(119.5, False), (120.0, False), (120.5, True)])
def test_only_a_gap_longer_than_the_limit_is_a_silence(gap: float, silent: bool) -> None:
    clock = SubjectiveTime(TimeSettings(cap=60.0, freeze=120.0))
    clock.update(0.0, True)
    clock.update(gap, True)
    assert clock.silence is silent
    assert clock.elapsed == (0.0 if silent else 60.0)
