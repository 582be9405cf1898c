"""When the person is asked."""

from __future__ import annotations

import pytest

from core.engine.response.loops import Loop
from core.engine.response.response import Escalation
from core.settings.response import ResponseEscalationSettings
from tests.core.engine.response.moments import Stage, percept

LOOP = Loop("repeat", 1, 4, "Bash", "pytest 4 times", 0.5, 0.0)


def made() -> Escalation:
    return Escalation(ResponseEscalationSettings())


@pytest.mark.parametrize(
    ("calm", "loop", "halted", "pressure"),
    [
        (1.0, None, False, 0.0),
        (0.6, None, False, 0.4),
        (1.0, LOOP, False, 0.5),
        (0.6, LOOP, False, 0.7),
        (1.0, None, True, 0.7),
        (0.5, LOOP, True, 0.925),
    ],
)
def test_troubles_join_as_independent_chances(calm: float, loop: Loop | None, halted: bool, pressure: float) -> None:
    escalation = made()
    asked = escalation.update(calm, loop, halted, 0.6)
    assert escalation.pressure == pytest.approx(pressure)
    assert (asked is not None) == (pressure >= 0.6)


def test_one_is_asked_once_and_again_after_calm_or_an_answer() -> None:
    escalation = made()
    assert escalation.update(0.2, None, False, 0.6)
    assert escalation.update(0.1, None, False, 0.6) is None
    assert escalation.update(0.5, None, False, 0.6) is None
    assert escalation.update(0.2, None, False, 0.6) is None
    assert escalation.update(0.9, None, False, 0.6) is None
    assert escalation.update(0.2, None, False, 0.6)
    escalation.answer()
    assert escalation.update(0.2, None, False, 0.6)


@pytest.mark.parametrize(("asks_at", "asked"), [(0.2, True), (0.31, True), (0.33, False), (0.9, False)])
def test_affect_decides_how_soon(asks_at: float, asked: bool) -> None:
    """Compound at .4 presses .32."""
    reaction = Stage().act(percept(0.0, ("compound_frustration_seeking", 0.4)), asks_at)
    kinds = {notice.kind for notice in reaction.notices if notice.rule == "ask_person"}
    assert kinds == ({"needs_you"} if asked else set())
    assert ("ask_person" in [firing.method for firing in reaction.fired]) == asked
