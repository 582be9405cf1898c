"""Quarantine begins above one level and ends below another; at either level nothing changes."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from core.engine.affect.affect import _BUCKETS, Quarantine
from core.engine.affect.fields import FIELDS
from core.settings.affect import QuarantineSettings

WINDOW = 300.0
MOVED = 3.5
LEVEL = MOVED * (60.0 / (len(FIELDS) * WINDOW))
"""The volatility that so much movement makes."""


def quarantine(*, enter: float = 1.0, release: float = 0.01, active: bool = False) -> Quarantine:
    made = Quarantine(QuarantineSettings(window=WINDOW).replace(enter=enter, release=release))
    made.active = active
    return made


@pytest.mark.parametrize(("enter", "turn"), [(nextafter(LEVEL, -inf), 1), (LEVEL, 0), (nextafter(LEVEL, inf), 0)])
def test_it_begins_above_its_level(enter: float, turn: int) -> None:
    one = quarantine(enter=enter)
    assert one.update(0.0, MOVED) == turn
    assert (one.active, one.times) == (turn == 1, turn)


@pytest.mark.parametrize(("release", "turn"), [(nextafter(LEVEL, -inf), 0), (LEVEL, 0), (nextafter(LEVEL, inf), -1)])
def test_it_ends_below_its_level(release: float, turn: int) -> None:
    one = quarantine(release=release, active=True)
    one.note(MOVED)
    assert one.holds(0.0) is (turn == 0)
    assert one.update(0.0, 0.0) == turn
    assert one.active is (turn == 0)


def test_movement_leaves_the_window_with_its_slice() -> None:
    one = quarantine(active=True)
    one.note(MOVED)
    end = WINDOW / _BUCKETS * _BUCKETS
    assert one.holds(nextafter(end, -inf)) and not one.holds(end)
    assert one.update(nextafter(end, -inf), 0.0) == 0
    assert one.update(end, 0.0) == -1
