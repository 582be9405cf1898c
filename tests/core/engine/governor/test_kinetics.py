"""Signals to pressures, pressures to budgets."""

from __future__ import annotations

import pytest

from core.engine.governor.machine import Appraisal, Kinetics
from core.engine.governor.profile import PUBLISHED
from core.settings.governor import AppraisalSettings, WeightSettings

PLAIN = PUBLISHED["balanced"]._replace(exploration_decay=0.0, persistence_decay=0.0, time_decay=0.0, inertia=0.5)
NONE = (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("reward", "novelty", "urgency", "difficulty", "change"),
    [
        (0.0, 0.0, 0.0, 0.0, (0.0, 0.0, -0.2, 0.0, 0.0)),
        (1.0, 1.0, 0.0, 0.0, (0.3, 0.0, 0.5, 0.0, -0.3)),
        (0.5, 0.5, 0.5, 0.0, (0.15, 0.1, 0.15, 0.3, -0.15)),
        (-1.0, 0.0, 0.0, 1.0, (-0.4, 0.4, -0.2, 0.0, -0.3)),
        (0.1, 0.0, 0.0, 1.0, (-0.07, 0.0, -0.2, 0.0, -0.03)),
        (0.0, 0.0, 1.0, 1.0, (-0.1, 0.6, -0.2, 0.6, 0.0)),
    ],
)
def test_what_one_step_adds(
    reward: float, novelty: float, urgency: float, difficulty: float, change: tuple[float, ...]
) -> None:
    appraisal = Appraisal(AppraisalSettings())
    assert appraisal.change(reward, novelty, urgency, difficulty) == pytest.approx(change)


def test_pressures_are_never_clipped() -> None:
    appraisal = Appraisal(AppraisalSettings())
    pressures = (0.0, 0.0, 0.0, 0.0, 0.0)
    for _ in range(1000):
        pressures = appraisal.add(pressures, -1.0, 0.0, 1.0, 1.0, 0.0)
    assert pressures == pytest.approx((-400.0, 600.0, -200.0, 600.0, -300.0))


@pytest.mark.parametrize(
    ("pressures", "granted"),
    [
        ((0.5, 0.0, 0.0, 0.0, 0.0), (0.3, 0.15, 0.1, 0.25)),
        ((0.0, 0.0, 0.5, 0.0, 0.0), (0.1, 0.05, 0.35, 0.05)),
        ((0.0, 0.0, 0.0, 0.5, 0.0), (0.15, 0.1, 0.05, 0.1)),
        ((0.0, 0.0, 0.0, 0.0, 0.5), (0.05, 0.25, 0.15, 0.05)),
        ((1.0, 0.2, 0.0, 0.0, 0.0), (0.46, 0.12, 0.02, 0.34)),
        ((0.0, 5.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
        ((9.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)),
    ],
)
def test_each_pressure_grants_by_its_weights_and_frustration_takes(
    pressures: tuple[float, float, float, float, float], granted: tuple[float, ...]
) -> None:
    budgets = Kinetics(PLAIN, WeightSettings()).next(pressures, NONE, False, 0.0)
    assert budgets == pytest.approx(tuple(0.5 * budget for budget in granted))


def test_the_order_is_stagnation_scale_decay_clip_inertia() -> None:
    before = (0.5, 0.4, 0.3, 0.2)
    effort, risk, exploration, persistence = Kinetics(PUBLISHED["conservative"], WeightSettings()).next(
        (2.0, 0.0, 0.0, 0.0, 0.0), before, True, 10.0
    )
    assert effort == pytest.approx(0.8 * 0.5 + 0.2 * (1.2 * 0.5 * 0.9))
    assert risk == pytest.approx(0.8 * 0.4 + 0.2 * (0.6 * 0.6))
    assert exploration == pytest.approx(0.8 * 0.3 + 0.2 * (0.4 * 0.5 - 0.10 - 0.04))
    assert persistence == pytest.approx(0.8 * 0.2 + 0.2 * (1.0 * 0.4 * 0.9 - 0.08 - 0.04))
