"""The prior: an initial condition, and nothing but."""

from __future__ import annotations

import pytest

from bench.workload import session
from core.engine.percept import AXES, Axis
from core.engine.receptor.persona import AmbientPrior, Prior, blend_prior, seeds, session_prior, usable
from core.engine.society.engine import Engine
from core.settings import Settings
from core.settings.response import PriorSettings

FIGURES = PriorSettings()
DAY = 86_400.0


def prior(level: float = 0.4, ts: float = 0.0, count: int = 1) -> Prior:
    return Prior(ts, count, AmbientPrior(dict.fromkeys(AXES, level), {}), {"wandering": 1.0}, {"search": 1.0})


def of(engine: Engine, ts: float) -> Prior:
    levels, tally = engine.receptor.levels(), engine.response.session()
    thresholds = dict(zip(AXES, levels[:6], strict=True))
    baseline = dict(zip(AXES, levels[6:], strict=True))
    return session_prior(ts, baseline, thresholds, tally.patterns, tally.actions)


def test_a_prior_of_one_run_changes_the_next_runs_first_thresholds_and_nothing_else() -> None:
    settings = Settings()
    first = Engine(settings)
    for event in session(600):
        first.step(event)
    left = of(first, 1.0)
    plain, seeded = Engine(settings), Engine(settings)
    seeded.receptor.seed(seeds(left))
    without, given = plain.dump(), seeded.dump()
    assert without.pop("receptor").keys() == given["receptor"].keys()
    changed = {name for name, state in given.pop("receptor").items() if state != plain.receptor.dump()[name]}
    assert changed == {"ambient"}
    assert without == given
    before, after = plain.receptor.levels()[:6], seeded.receptor.levels()[:6]
    assert before != after
    for axis, threshold in zip(AXES, after, strict=True):
        offset = getattr(settings.receptor.ambient.offset, axis)
        expected = min(max(left.ambient.baseline_emotion[axis] + offset, 0.25), 0.85)
        assert threshold == pytest.approx(expected)


def test_new_events_outweigh_the_prior() -> None:
    events = session(4000)
    plain, seeded = Engine(Settings()), Engine(Settings())
    seeded.receptor.seed(dict.fromkeys(AXES, 0.6))
    gaps = []
    for event in events:
        plain.step(event)
        seeded.step(event)
        pairs = zip(plain.receptor.levels()[6:], seeded.receptor.levels()[6:], strict=True)
        gaps.append(max(abs(one - other) for one, other in pairs))
    assert gaps[0] > 0.4
    assert min(gaps[-500:]) < 0.1


@pytest.mark.parametrize(
    ("age", "fits"), [(0.0, True), (6.9, True), (7.0, True), (7.1, False), (-0.1, False), (-8.0, False)]
)
def test_an_old_prior_is_not_used(age: float, fits: bool) -> None:
    assert usable(prior(ts=100 * DAY), (100 + age) * DAY, FIGURES) is fits
    assert not usable(prior(ts=100 * DAY), 100 * DAY, PriorSettings(enabled=False))


def test_sessions_blend_by_three_tenths() -> None:
    after = blend_prior(prior(0.4, 10.0, 3), prior(0.8, 5.0), FIGURES)
    assert after.session_count == 4
    assert after.ts == 10.0
    assert after.ambient.baseline_emotion["seeking"] == pytest.approx(0.7 * 0.4 + 0.3 * 0.8)
    assert blend_prior(None, prior(0.8), FIGURES) == prior(0.8)


def test_what_one_side_does_not_say_is_taken_from_the_other() -> None:
    silent = Prior(1.0, 1, AmbientPrior(), {}, {})
    assert blend_prior(prior(0.4), silent, FIGURES).ambient.baseline_emotion["flow"] == 0.4
    assert blend_prior(silent, prior(0.4), FIGURES).action_signature == {"search": 1.0}


def test_seeds_stay_within_an_axis() -> None:
    wild: dict[Axis, float] = {"flow": 7.0, "seeking": -3.0}
    assert seeds(Prior(0.0, 1, AmbientPrior(wild), {}, {})) == {"flow": 1.0, "seeking": 0.0}
