"""How often pictures are made."""

from __future__ import annotations

import pytest

from core.settings.program import ScreenSettings
from tui.feed.feed import Pace


def pace(rate: int = 60, *, busy: bool = False, playing: bool = False) -> Pace:
    """A pace whose last picture was made at 100 s."""
    new = Pace(ScreenSettings(rate=rate))
    assert new.take(100.0, growing=True)
    new.busy, new.playing = busy, playing
    return new


@pytest.mark.parametrize(
    ("rate", "busy", "playing", "most"),
    [(60, False, False, 60), (60, False, True, 30), (60, True, False, 8), (20, False, True, 20), (5, True, True, 5)],
)
def test_a_picture_comes_no_sooner_than_the_rate_allows(rate: int, busy: bool, playing: bool, most: int) -> None:
    for off, drawn in ((-0.001, False), (0.001, True)):
        new = pace(rate, busy=busy, playing=playing)
        new.due = True
        assert new.take(100.0 + 1 / most + off, growing=True) is drawn


def test_a_person_does_not_wait_for_the_rate() -> None:
    new = pace(1)
    new.ask()
    assert new.take(100.0, growing=False)


def test_nothing_is_waited_for_once_all_is_shown_and_the_log_is_complete() -> None:
    assert pace().wait(100.0, live=False) is None
    assert pace(playing=True).wait(100.0, live=False) == pytest.approx(1 / 30)
    assert pace().wait(100.0, live=True) == pytest.approx(ScreenSettings().idle)
