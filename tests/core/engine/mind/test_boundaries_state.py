"""The mind's clock, mood, regime, episodes and budgets at, below and above each limit."""

from __future__ import annotations

from math import exp

import pytest
from msgspec import structs

from core.engine.mind.clock import NO_TICKS, Clock, Ticks, Wakeups
from core.engine.mind.cortical import Mood
from core.engine.mind.episode import Situation
from core.engine.mind.episodes import _PLACES_KEPT, Episodes, Likeness
from core.engine.mind.fabric import Habituated, TicksDropped
from core.engine.mind.forecast import Forecast
from core.engine.mind.heart import RegimeSense
from core.engine.mind.homeostasis import Homeostasis
from core.engine.mind.mind import Mind
from core.engine.mind.salience import Habituation
from core.engine.mind.sleep import _LEAST_SEEN, ContextGauge, SleepPressure
from core.engine.mind.tiers import _NAMES_KEPT, Tiers
from core.settings.mind import (
    ClockSettings,
    ContextSettings,
    EpisodeSettings,
    ForecastSettings,
    HabituationSettings,
    HomeostasisSettings,
    MindSettings,
    MoodSettings,
    RegimeSettings,
    SleepSettings,
    TierSettings,
    WakeupSettings,
)
from tests.core.engine.mind.percepts import percept, shell
from tests.core.engine.mind.test_boundaries import call
from tests.core.engine.mind.test_episodes import brain, past
from tests.core.engine.mind.test_episodes import call as edit
from tests.core.engine.mind.test_tiers import DAY, turn
from tests.core.engine.mind.test_wakeup import stimulus

MICROSECOND = 1e-6


def clock() -> Clock:
    return Clock(ClockSettings(gamma_longest=10, theta_shortest=20, theta_longest=160, delta_every=2))


@pytest.mark.parametrize("now", [10.0, 20.0, 30.0, 60.0, 140.0, 300.0, 460.0])
def test_one_long_step_ticks_as_often_as_many_short_ones(now: float) -> None:
    for until in (now - MICROSECOND, now, now + MICROSECOND):
        long, short = clock(), clock()
        for second in range(int(now)):
            short.advance(float(second))
        short.advance(until)
        long.advance(until)
        assert long.dump() == short.dump()


@pytest.mark.parametrize(
    ("now", "ticks"),
    [
        (10.0 - MICROSECOND, NO_TICKS),
        (10.0, Ticks(1)),
        (20.0 - MICROSECOND, Ticks(1)),
        (20.0, Ticks(2, 1)),
        (60.0 - MICROSECOND, Ticks(5, 1)),
        (60.0, Ticks(6, 2, 1)),
        (140.0 - MICROSECOND, Ticks(13, 2, 1)),
        (140.0, Ticks(14, 3, 1)),
        (300.0, Ticks(30, 4, 2)),
        (460.0, Ticks(46, 5, 2)),
    ],
)
def test_a_tick_comes_at_its_time_and_not_before(now: float, ticks: Ticks) -> None:
    assert clock().advance(now) == ticks


@pytest.mark.parametrize(("now", "ticks"), [(9.9, NO_TICKS), (10.0, Ticks(1)), (20.0, Ticks(2))])
def test_two_gamma_ticks_may_come_due_before_a_theta_tick(now: float, ticks: Ticks) -> None:
    ticking = Clock(ClockSettings(gamma_longest=10, theta_shortest=25, theta_longest=40))
    assert ticking.advance(now) == ticks


@pytest.mark.parametrize(("ticks", "dropped"), [(2, 0), (3, 0), (4, 1)])
@pytest.mark.parametrize("kind", ["gamma", "theta"])
def test_only_ticks_beyond_those_that_may_wait_are_dropped(kind: str, ticks: int, dropped: int) -> None:
    heart = Mind(MindSettings(clock=ClockSettings(pending=3))).heart
    heart.beat(Ticks(**{kind: ticks}))
    assert heart.dropped == dropped
    told = [event for event in heart.fabric.recent() if isinstance(event, TicksDropped)]
    assert len(told) == dropped


def test_the_first_of_its_kind_is_no_habit() -> None:
    mind = Mind(MindSettings())
    habits = []
    for at in (0.0, 1.0):
        mind.step(shell(at, outcome="failure"), percept(at))
        habits.append([event for event in mind.heart.news if isinstance(event, Habituated)])
    assert not habits[0]
    assert habits[1]


@pytest.mark.parametrize(("gain", "trend"), [(-0.26, -1), (-0.25, 0), (0.0, 0), (0.25, 0), (0.26, 1)])
def test_a_forecast_has_a_trend_only_outside_the_band(gain: float, trend: int) -> None:
    forecast = Forecast(ForecastSettings(ignorance=0.5, trend_band=0.5))
    forecast.brier, forecast.slow_brier = 0.5, 0.5 + gain
    assert forecast.trend == trend


def test_a_success_that_was_expected_is_no_surprise() -> None:
    forecast = Forecast(ForecastSettings())
    forecast.update(call("ls"))
    assert forecast.failed is False
    assert forecast.surprise == forecast.expected < 0.5


def test_without_any_error_to_compare_with_there_is_no_skill() -> None:
    forecast = Forecast(ForecastSettings(initial_accuracy=1.0))
    assert (forecast.base_brier, forecast.read().skill) == (0.0, 0.0)


@pytest.mark.parametrize(("off", "patterns"), [(-1e-9, 1), (0.0, 1), (1e-9, 0)])
def test_a_pattern_is_dropped_only_below_the_level_that_is_set(off: float, patterns: int) -> None:
    settings = HabituationSettings(forgetting=50, faded=exp(-70 / 50) + off)
    habituation = Habituation(settings)
    habituation.observe(b"a" * 16, 0)
    habituation.collect(70)
    assert len(habituation) == patterns


def test_intensive_dreams_end_when_pleasure_is_back_at_its_average() -> None:
    given = {"smoothing": 0.5, "pleasure": {"threshold": 0.05, "persistence": 1}}
    for back, intensive in ((-0.01, True), (0.0, False), (0.01, False)):
        regulating = Homeostasis(HomeostasisSettings.parse(given))
        regulating.update(0.5, 0.5, 0.5)
        regulating.update(0.5, 0.5, 0.0)
        assert regulating.intensive
        average = regulating._averages[2]
        assert average is not None
        regulating.update(0.5, 0.5, average + back)
        assert regulating.intensive is intensive


@pytest.mark.parametrize("side", [False, True])
@pytest.mark.parametrize(("off", "beyond"), [(-0.01, False), (0.0, False), (0.01, True)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_of_mood_changes_sides_only_beyond_the_dead_zone(
    axis: int, off: float, beyond: bool, side: bool
) -> None:
    mood = Mood(MoodSettings(dead_zone=0.25, pleasure_rise=0.125, arousal_step=0.125, dominance_rise=0.125))
    level = (-0.25 if side else 0.25) + off - 0.125
    mood.octant = (side, side, side)
    mood.pleasure = mood.arousal = mood.dominance = level
    mood.rate, mood.share = 1e9, 1.0
    mood.tick(0.0, (0.0, 0.0, 1.0, 0.0, 1.0, 0.0), 1.0)
    assert (mood.pleasure, mood.arousal, mood.dominance)[axis] == level + 0.125
    assert mood.octant[axis] is beyond


@pytest.mark.parametrize(("events", "regime"), [(3, "calm"), (4, "turbulence"), (5, "turbulence")])
def test_failures_count_once_there_are_enough_events(events: int, regime: str) -> None:
    sense = RegimeSense(RegimeSettings(least_events=4, rise_hold=0))
    sense.update(percept(failure_rate=1.0, events=events, failures=2), False)
    assert sense.regime == regime


@pytest.mark.parametrize(("failures", "regime"), [(1, "calm"), (2, "turbulence"), (3, "turbulence")])
def test_one_failure_alone_is_never_turbulence(failures: int, regime: str) -> None:
    sense = RegimeSense(RegimeSettings(rise_hold=0))
    sense.update(percept(failure_rate=0.5, events=8, failures=failures), False)
    assert sense.regime == regime


@pytest.mark.parametrize(("tokens", "point"), [(999, False), (1000, True), (1001, True)])
def test_a_context_too_small_to_be_compacted_is_no_point_to_measure_against(tokens: int, point: bool) -> None:
    assert _LEAST_SEEN == 1000
    gauge = ContextGauge(ContextSettings())
    gauge.compacted(0.0, 0, tokens)
    assert (gauge.point == tokens) is point


@pytest.mark.parametrize(("tokens", "grows"), [(1999, 1000.0), (2000, 1000.0), (2001, 500.5)])
def test_only_a_context_that_grew_tells_how_fast_it_grows(tokens: int, grows: float) -> None:
    gauge = ContextGauge(ContextSettings(smoothing=0.5))
    for each in (1000, 2000, tokens):
        gauge.turn(each, 200_000)
    assert gauge._growth == grows


def test_a_full_load_needs_consolidation_even_where_nothing_tires() -> None:
    sleep = SleepPressure(SleepSettings(threshold=1.0, complexity=1.0, least_ticks=0))
    for load, ticks in ((0.999, None), (1.0, 0), (1.001, 0)):
        sleep.restore(load)
        assert sleep.forecast(0.0) == ticks


@pytest.mark.parametrize(("off", "opinion"), [(-0.001, "T0"), (0.0, "T1"), (0.001, "T1")])
def test_a_model_is_wanted_from_the_threshold_on(off: float, opinion: str) -> None:
    tiers = Tiers(TierSettings())
    theta = tiers.threshold(0.5, 1.0, 0.0)
    assert tiers.opinion(theta + off, 0.5, 1.0, 0.0).wanted == opinion


@pytest.mark.parametrize(("off", "opinion"), [(-0.001, "T1"), (0.0, "T2"), (0.001, "T2")])
def test_a_large_model_is_wanted_from_a_multiple_of_it_on(off: float, opinion: str) -> None:
    tiers = Tiers(TierSettings(gate_large=2.0))
    theta = tiers.threshold(0.5, 1.0, 0.0)
    assert tiers.opinion(theta * 2.0 + off, 0.5, 1.0, 0.0).wanted == opinion


@pytest.mark.parametrize(("at", "ends"), [(None, 0.0), (0.0, DAY), (DAY - 1, DAY), (DAY, 2 * DAY)])
def test_a_budget_lasts_until_the_day_of_the_last_turn_ends(at: float | None, ends: float) -> None:
    tiers = Tiers(TierSettings())
    if at is not None:
        tiers.update(turn(1.0, at=at), 1)
    assert tiers.read().resets_at == ends


@pytest.mark.parametrize(("models", "kept"), [(_NAMES_KEPT, _NAMES_KEPT), (_NAMES_KEPT + 1, 1)])
def test_places_of_models_are_looked_up_anew_when_there_are_too_many(models: int, kept: int) -> None:
    tiers = Tiers(TierSettings())
    for number in range(models):
        tiers.update(turn(model=f"model-{number}"), 1)
    assert len(tiers._places) == kept


@pytest.mark.parametrize(("places", "kept"), [(_PLACES_KEPT, _PLACES_KEPT), (_PLACES_KEPT + 1, 1)])
def test_folders_of_paths_are_looked_up_anew_when_there_are_too_many(places: int, kept: int) -> None:
    episodes = Episodes(EpisodeSettings())
    for number in range(places):
        episodes.update(edit(target=f"src/{number}.py"), "exploration", brain(), 0)
    assert len(episodes._places) == kept


@pytest.mark.parametrize(("later", "fires"), [(-1.0, True), (0.0, False), (4.9, False), (5.0, True)])
def test_a_trigger_waits_its_time_before_it_fires_again(later: float, fires: bool) -> None:
    wakeups = Wakeups(WakeupSettings.parse({"policy_tripwire": {"refire": 5.0}}))
    assert wakeups.update((stimulus("rejected"),), 100.0)
    assert (wakeups.update((stimulus("rejected"),), 100.0 + later) is not None) is fires


@pytest.mark.parametrize(("folders", "named"), [(7, 8), (8, 8)])
def test_an_open_episode_names_only_so_many_things(folders: int, named: int) -> None:
    episodes = Episodes(EpisodeSettings(open_size=8))
    for number in range(folders):
        episodes.update(edit(target=f"folder{number}/a.py"), "exploration", brain(), 0)
    assert len(episodes._counts) == named


@pytest.mark.parametrize(("verdict", "told"), [(0.24, "gain"), (0.25, "gain"), (0.26, "flat")])
def test_an_episode_is_a_gain_from_a_mean_on(verdict: float, told: str) -> None:
    episodes = Episodes(EpisodeSettings(verdict=verdict))
    episodes._calls, episodes._score = 4, 1.0
    assert episodes._verdict() == told
    episodes._score = -1.0
    assert episodes._verdict() == told.replace("gain", "loss")


@pytest.mark.parametrize(("off", "recalled"), [(-1, 3), (0, 4), (1, 4)])
def test_a_recall_fits_a_budget_that_it_just_fills(off: int, recalled: int) -> None:
    episodes = Episodes(EpisodeSettings())
    episodes.remember([past(number=number) for number in range(4)])
    lines = {found.line for found in episodes.recall(brain(), 0, tier="T2", tokens=1000)}
    (width,) = {len(line) + 1 for line in lines}
    assert len(episodes.recall(brain(), 0, tier="T2", tokens=width + off)) == recalled


def test_asked_for_no_episode_none_comes() -> None:
    now = Situation("calm", 0.0, 0.0, 0.0, {"file_edit": 3})
    for most, found in ((0, 0), (1, 1), (2, 1)):
        assert len(Likeness(EpisodeSettings()).best(now, [(past(), 0.0)], most)) == found


def test_of_two_episodes_equally_alike_the_newer_one_comes() -> None:
    same = past()
    now = Situation("calm", 0.0, 0.0, 0.0, dict(same.signature))
    newer = structs.replace(same, until=same.until + 1.0)
    (found,) = Likeness(EpisodeSettings()).best(now, [(same, 0.0), (newer, 0.0)], 1)
    assert found.episode is newer
