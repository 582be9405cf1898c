"""Thresholds and cadences of affect at, below and above the value that is set."""

from __future__ import annotations

import pytest

from core.affect.contagion import Exposure, Zone
from core.affect.fields import control_fields
from core.affect.inheritance import Emission
from core.affect.lineage import CONTAGION
from core.affect.stability import Stabiliser
from core.settings.affect import AffectSettings, ContagionSettings, StabilitySettings


@pytest.mark.parametrize(
    ("deviation", "passed_on"), [(0.1249, ()), (0.125, ()), (0.1251, (2,)), (-0.125, ()), (-0.1251, (2,))]
)
def test_only_what_is_larger_than_the_least_is_passed_on(
    deviation: float, passed_on: tuple[int, ...]
) -> None:
    exposure = Exposure(ContagionSettings(least=0.125))
    assert exposure.felt((0.0, 0.0, deviation, 0.0, 0.0, 0.0, 0.0)) == passed_on


@pytest.mark.parametrize(
    ("off", "side"), [(0.0624, 0), (0.0625, 0), (0.0626, 1), (-0.0625, 0), (-0.0626, -1)]
)
def test_a_field_takes_a_side_only_outside_the_band(off: float, side: int) -> None:
    field = control_fields(AffectSettings().fields, 0.5)[0]
    field.rest = 0.5
    field.magnitude = 0.5 + off
    Stabiliser(StabilitySettings(band=0.0625)).watch(field)
    assert field.side == side


def pulled(deviation: float, limit: float = 1.0) -> tuple[float, int]:
    """The step of the first field and why it was cut, by a deviation that reaches it halved."""
    rules = AffectSettings().fields
    fields = control_fields(rules, 0.5)
    for field in fields:
        field.magnitude = field.rest
    fields[0].contagion_limit = limit
    exposure = Exposure(ContagionSettings(delegation=0.5, strength=1.0, gap=0.125, least=0.01))
    raws = exposure.pull(fields, Emission((deviation, *(0.0,) * 6), bytes(32)), "down", 0.0)
    return (raws or [0.0])[0], exposure.cuts[0]


@pytest.mark.parametrize(("deviation", "step"), [(0.249, 0.0), (0.25, 0.0), (0.5, 0.25), (-0.25, 0.0)])
def test_only_a_gap_larger_than_the_least_moves_another(deviation: float, step: float) -> None:
    assert pulled(deviation)[0] == step


@pytest.mark.parametrize(
    ("limit", "step", "cut"), [(0.5, 0.25, 0), (0.25, 0.25, 0), (0.125, 0.125, CONTAGION)]
)
def test_a_step_as_large_as_what_is_left_is_not_cut(limit: float, step: float, cut: int) -> None:
    assert pulled(0.5, limit) == (step, cut)


@pytest.mark.parametrize(("mean", "suppressed"), [(0.249, False), (0.25, False), (0.251, True)])
def test_a_spiral_is_suspected_above_its_level(mean: float, suppressed: bool) -> None:
    zone = Zone(ContagionSettings(memory=1.0, spiral=0.25, calm=0.0625, suppression=0.5))
    zone.update([(mean,) * 7])
    assert (zone.factors[0] < 1.0) is suppressed


@pytest.mark.parametrize(("mean", "suppressed"), [(0.0624, False), (0.0625, True), (0.0626, True)])
def test_the_suspicion_ends_below_its_level(mean: float, suppressed: bool) -> None:
    zone = Zone(ContagionSettings(memory=1.0, spiral=0.25, calm=0.0625, suppression=0.5))
    zone.update([(0.5,) * 7])
    zone.update([(mean,) * 7])
    assert (zone.factors[0] < 1.0) is suppressed
