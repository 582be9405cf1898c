"""Play: real time, speeds, and pauses cut short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings.program import PlaySettings
from tui.feed.viewpoint import SPEEDS, Playhead, Reel


def reel(times: list[float], idle: float = 5.0) -> Reel:
    made = Reel(idle)
    for at in times:
        made.add(at)
    return made


def head(times: list[float], speed: float = 1.0, *, playing: bool = False) -> Playhead:
    """A playhead at the start of a saved log that was read whole."""
    made = Playhead(PlaySettings(idle=5.0, speed=speed), live=False, playing=True)
    for at in times:
        made.grow(at)
    made.loading, made.playing = False, playing
    return made


def test_a_long_pause_is_cut_short() -> None:
    film = reel([100.0, 102.0, 9000.0, 9001.0])
    assert [film.place(index) for index in range(5)] == [0.0, 0.0, 2.0, 7.0, 8.0]
    assert film.length == 8.0


def test_times_that_run_backwards_stand_still() -> None:
    assert reel([10.0, 4.0, 12.0]).length == 2.0


@pytest.mark.parametrize(("speed", "shown"), [(0.25, 1), (1.0, 2), (3.5, 3), (64.0, 4)])
def test_speed_decides_how_much_is_shown_in_two_seconds(speed: float, shown: int) -> None:
    player = head([100.0, 102.0, 9000.0, 9001.0], speed, playing=True)
    assert player.advance(2.0)
    assert player.index == shown
    assert player.playing == (speed < 64)


def test_a_paused_player_stays_where_it_was_put() -> None:
    player = head([0.0, 1.0, 2.0])
    player.seek(2)
    assert not player.advance(100)
    assert player.index == 2


def test_speeds_go_from_a_quarter_to_sixty_four() -> None:
    player = head([])
    speeds = []
    for steps in (-1,) * 4 + (1,) * 9:
        player.faster(steps)
        speeds.append(player.speed)
    assert speeds[:4] == [0.5, 0.25, 0.25, 0.25]
    assert speeds[-2:] == [64.0, 64.0]
    assert SPEEDS[0] == 0.25 and SPEEDS[-1] == 64.0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.lists(st.floats(0.01, 10), max_size=20))
def test_how_time_is_cut_into_ticks_makes_no_difference(times: list[float], ticks: list[float]) -> None:
    cut = head(times, playing=True)
    shown = []
    for tick in ticks:
        cut.advance(tick)
        shown.append(cut.index)
    assert shown == sorted(shown)
    assert all(count <= len(times) for count in shown)
    if ticks and sum(ticks) > reel(times).length + 1:
        assert shown[-1] == len(times)
