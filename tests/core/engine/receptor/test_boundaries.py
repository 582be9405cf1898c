"""Thresholds of the receptor at, below and above the value that is set."""

from __future__ import annotations

from math import exp

import pytest
from msgspec import structs

from core.engine.percept import AgentState, Pattern
from core.engine.receptor.commander import Window
from core.engine.receptor.emotion import _ROWS, FRUSTRATION, EmotionEngine, Impulses
from core.engine.receptor.facts import ActionFacts
from core.engine.receptor.heatmap import Heatmap
from core.engine.receptor.persona import (
    _DOMAINS,
    _TECHNOLOGIES,
    Persona,
    WorkContext,
    _draw,
    _with_profile_hash,
    encounter,
    entropy,
    genuine,
)
from core.engine.receptor.receptor import SubjectiveTime
from core.engine.receptor.triangle import NONE, EmotionNeuron, Field, FlowGate, MetaNeuron
from core.events import ToolUse
from core.settings.receptor import (
    AmbientSettings,
    EmotionSettings,
    FactSettings,
    HeatmapSettings,
    ImpulseSettings,
    MetaSettings,
    NeuronSettings,
    TimeSettings,
)
from core.settings.response import PersonaSettings
from tests.core.engine.receptor.acts import touch
from tests.core.engine.receptor.test_commander import commander
from tests.core.engine.receptor.test_persona import SHARES
from tests.core.engine.receptor.test_persona import made as persona


@pytest.mark.parametrize(("flow", "opens"), [(0.4999, False), (0.5, True), (0.5001, True)])
def test_the_gate_opens_at_its_threshold(flow: float, opens: bool) -> None:
    gate = FlowGate(AmbientSettings.parse({"offset": {"flow": 0.25}}))
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


@pytest.mark.parametrize(("share", "pattern"), [(0.49, "exploration"), (0.5, "exploration"), (0.51, "implementation")])
def test_exploration_needs_a_share_of_looks(share: float, pattern: Pattern) -> None:
    assert commander("rrrrreeemm", exploration_share=share, implementation_share=0.3).pattern == pattern


@pytest.mark.parametrize(("back", "at"), [(119.0, 1000.0), (120.0, 1000.0), (121.0, 879.0)])
def test_a_clock_that_was_set_far_back_counts_from_there(back: float, at: float) -> None:
    clock = SubjectiveTime(TimeSettings(freeze=120.0))
    clock.update(1000.0, True)
    clock.update(1000.0 - back, True)
    assert clock.at == at


@pytest.mark.parametrize(("later", "risen"), [(59.0, True), (60.0, False), (61.0, False)])
def test_a_trend_looks_back_as_far_as_it_is_set(later: float, risen: bool) -> None:
    emotion = EmotionEngine(EmotionSettings(trend=60.0), ImpulseSettings())
    emotion.update(1, 0.0, 10.0, ("shell_failure",), "", False)
    assert (emotion.trend(10.0 + later)[FRUSTRATION] > 0.0) is risen


def test_of_two_axes_equally_far_above_their_threshold_the_first_is_the_dominant_one() -> None:
    neuron = EmotionNeuron(NeuronSettings(), AmbientSettings(low=0.25))
    neuron.update((0.5, 0.5, 0.5, 0.5, 0.5, 0.5), [-1.0] * 6, Field(), failing=True)
    assert (neuron.dominant, neuron.greatest) == (FRUSTRATION, 0.25)


@pytest.mark.parametrize(("others", "known"), [(15, True), (16, False)])
def test_so_many_results_of_calls_are_remembered(others: int, known: bool) -> None:
    facts = ActionFacts(FactSettings(kept=16))
    for call in (1, *range(2, 2 + others), 1):
        facts.update(ToolUse(at=0.0, action="search", outcome="success", call=call))
    assert (facts.same_result == 1) is known


@pytest.mark.parametrize(("paths", "known"), [(31, 31), (32, 32), (33, 25)])
def test_the_coldest_paths_are_forgotten_once_there_are_too_many(paths: int, known: int) -> None:
    heatmap = Heatmap(HeatmapSettings(leaves=32, top=2))
    for number in range(paths):
        heatmap.update(touch(f"src/{number}.py"), 0.0, "idle")
    assert heatmap.size == known


def test_a_path_as_hot_as_the_coldest_of_the_top_does_not_take_its_place() -> None:
    heatmap = Heatmap(HeatmapSettings(top=2, shift=0.0))
    for path in ("a", "b", "c"):
        heatmap.update(touch(path), 0.0, "idle")
    assert heatmap.read(0.0).context == ("a", "b")
    assert heatmap.shifts == 0
    assert heatmap.update(touch("c"), 0.0, "idle")
    assert heatmap.shifts == 1


@pytest.mark.parametrize(("later", "base"), [(1799.0, 0.0), (1800.0, 0.0), (1801.0, 1801.0)])
def test_weights_are_scaled_back_after_thirty_fading_times(later: float, base: float) -> None:
    heatmap = Heatmap(HeatmapSettings(fade=60.0))
    heatmap.update(touch("a"), 0.0, "idle")
    heatmap.update(touch("a"), later, "idle")
    assert heatmap.dump()[0] == base
    assert heatmap.hottest(1)[0].read(exp((later - base) / 60.0)).heat == pytest.approx(1.0)


@pytest.mark.parametrize(("seen", "kept"), [((5.0,), 5.0), ((5.0, 4.0), 5.0), ((5.0, 5.0), 5.0), ((5.0, 6.0), 6.0)])
def test_only_a_later_change_on_disk_replaces_the_one_known(seen: tuple[float, ...], kept: float) -> None:
    heatmap = Heatmap(HeatmapSettings())
    heatmap.update(touch("a"), 0.0, "idle")
    for at in seen:
        heatmap.see_changed("a", at)
    heatmap.see_changed("unknown", 9.0)
    assert [(leaf.path, leaf.last_modified) for leaf in heatmap.leaves] == [("a", kept)]


@pytest.mark.parametrize(("sums", "kept"), [(_ROWS - 1, _ROWS - 1), (_ROWS, _ROWS), (_ROWS + 1, 1)])
def test_sums_of_impulses_are_made_anew_when_there_are_too_many(sums: int, kept: int) -> None:
    impulses = Impulses(ImpulseSettings(fatigue_per_hour=0.011 + sums / 1e6))
    for number in range(sums):
        impulses.row((f"cause {number}",), "", False)
    assert len(impulses._rows) == kept


@pytest.mark.parametrize(("technologies", "kept"), [(_TECHNOLOGIES, True), (_TECHNOLOGIES + 1, False)])
def test_a_persona_names_only_so_many_technologies(technologies: int, kept: bool) -> None:
    names = tuple(f"technology {number}" for number in range(technologies))
    assert genuine(_with_context(WorkContext(names, ()))) is kept  # type: ignore[arg-type]


@pytest.mark.parametrize(("domains", "kept"), [(_DOMAINS, True), (_DOMAINS + 1, False)])
def test_a_persona_names_only_so_many_domains(domains: int, kept: bool) -> None:
    names = tuple(f"domain {number}" for number in range(domains))
    assert genuine(_with_context(WorkContext((), names))) is kept  # type: ignore[arg-type]


def _with_context(context: WorkContext) -> Persona:
    whole = persona()
    assert whole is not None
    return _with_profile_hash(structs.replace(whole, context=context))


@pytest.mark.parametrize(("share", "kept"), [(-0.001, False), (0.0, True), (0.5, True), (1.0, True), (1.001, False)])
def test_a_share_of_a_persona_lies_within_0_and_1(share: float, kept: bool) -> None:
    whole = persona()
    assert whole is not None
    other = _with_profile_hash(structs.replace(whole, patterns={"implementation": share}))
    assert genuine(other) is kept


def test_what_never_happens_adds_nothing_to_the_entropy() -> None:
    assert entropy([0.5, 0.0, 0.5]) == 1.0


@pytest.mark.parametrize(("off", "met"), [(-1e-9, False), (0.0, False), (1e-9, True)])
def test_a_persona_is_met_where_the_draw_is_below_the_chance(off: float, met: bool) -> None:
    whole = persona()
    assert whole is not None
    chance = _draw(7, whole.origin.profile) + off
    assert (encounter([whole], SHARES, 7, PersonaSettings(chance=chance)) is not None) is met
