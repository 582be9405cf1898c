"""The flow gate opens at its threshold, not above it, and no baseline moves the threshold past its bounds."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from core.engine.receptor.triangle import FlowGate
from core.settings.receptor import AmbientSettings

SETTINGS = AmbientSettings()
OFFSET = SETTINGS.offset.flow
BASELINE = (SETTINGS.low + SETTINGS.high) / 2 - OFFSET
EDGE = BASELINE + OFFSET


@pytest.mark.parametrize(
    ("flow", "fires"), [(nextafter(EDGE, -inf), False), (EDGE, True), (nextafter(EDGE, inf), True)]
)
def test_the_gate_fires_at_its_threshold_and_above(flow: float, fires: bool) -> None:
    gate = FlowGate(SETTINGS)
    assert gate.threshold(BASELINE) == EDGE
    assert gate.update(flow, BASELINE) is fires
    assert (gate.firing, gate.fresh, gate.intensity) == (fires, fires, flow - EDGE if fires else 0.0)


def test_it_is_fresh_once() -> None:
    gate = FlowGate(SETTINGS)
    gate.update(EDGE, BASELINE)
    gate.update(EDGE, BASELINE)
    assert gate.firing and not gate.fresh


@pytest.mark.parametrize("bound", [SETTINGS.low, SETTINGS.high])
def test_the_threshold_stays_within_its_bounds(bound: float) -> None:
    gate = FlowGate(SETTINGS)
    baseline = -1.0 if bound == SETTINGS.low else 2.0
    assert gate.threshold(baseline) == bound
    assert not gate.update(nextafter(bound, -inf), baseline)
    assert gate.update(bound, baseline)
