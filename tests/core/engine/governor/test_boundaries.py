"""Limits of the governor at, below and above the value that is set."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from core.engine.governor.episode import GovernorEpisodes
from core.engine.governor.governor import Inputs
from core.engine.governor.machine import HaltReason, Machine
from core.engine.governor.profile import PUBLISHED
from core.settings.governor import GovernorEpisodeSettings, InputSettings
from tests.core.engine.governor.events import call
from tests.core.engine.governor.test_machine import STILL, Budgets, standing

LIMITS = STILL._replace(max_exploration=0.9, max_risk=0.8, exhaustion_threshold=0.1, stagnation_floor=0.3, max_steps=50)


@pytest.mark.parametrize(
    ("budgets", "halt"),
    [
        ((0.5, 0.5, 0.899, 0.5), ""),
        ((0.5, 0.5, 0.9, 0.5), "SAFETY"),
        ((0.5, 0.5, 0.901, 0.5), "SAFETY"),
        ((0.5, 0.799, 0.5, 0.5), ""),
        ((0.5, 0.8, 0.5, 0.5), "OVERRISK"),
        ((0.5, 0.801, 0.5, 0.5), "OVERRISK"),
        ((0.101, 0.5, 0.5, 0.5), ""),
        ((0.1, 0.5, 0.5, 0.5), "EXHAUSTION"),
        ((0.099, 0.5, 0.5, 0.5), "EXHAUSTION"),
    ],
)
def test_a_run_halts_where_a_budget_reaches_its_limit(budgets: Budgets, halt: HaltReason) -> None:
    assert Machine(LIMITS)._limit(budgets, False) == halt


@pytest.mark.parametrize(("effort", "halt"), [(0.301, ""), (0.3, "STAGNATION"), (0.299, "STAGNATION")])
def test_without_progress_it_halts_at_the_floor(effort: float, halt: HaltReason) -> None:
    assert Machine(LIMITS)._limit((effort, 0.5, 0.5, 0.5), True) == halt


@pytest.mark.parametrize(("place", "name"), [(0, "effort_dip"), (3, "persistence_dip")])
@pytest.mark.parametrize(("off", "state"), [(-1e-9, "IDLE"), (0.0, "IDLE"), (1e-9, "RECOVERING")])
def test_recovering_begins_only_below_a_dip(place: int, name: str, off: float, state: str) -> None:
    calm = STILL._replace(effort_dip=0.0, persistence_dip=0.0)
    half = (0.5, 0.2, 0.2, 0.5)
    before = standing(calm, "IDLE", half)
    before.step(0.5, 0.5, 0.5)
    changes: dict[str, Any] = {name: before.brink[place] + off}
    after = standing(calm._replace(**changes), "IDLE", half)
    after.step(0.5, 0.5, 0.5)
    assert after.state == state


@pytest.mark.parametrize(("rest", "restored"), [(9.9, False), (10.0, True), (10.1, True)])
def test_a_rest_restores_once_it_is_as_long_as_the_delay(rest: float, restored: bool) -> None:
    profile = STILL._replace(recovery_delay=10.0, recovery_rate=0.01, recovery_cap=0.9)
    effort, _, _, persistence = Machine(profile)._recover((0.3, 0.2, 0.2, 0.3), rest)
    assert (effort > 0.3) is (persistence > 0.3) is restored


@pytest.mark.parametrize(("effort", "may"), [(0.0, False), (0.001, True)])
def test_without_effort_nothing_may_be_done(effort: float, may: bool) -> None:
    assert standing(STILL, "IDLE", (effort, 0.2, 0.2, 0.5)).may_act is may


@pytest.mark.parametrize("dt", [inf, -inf, -1.0])
@pytest.mark.parametrize("reward", [0.5, 2.0])
def test_a_pause_that_cannot_be_counts_as_none(dt: float, reward: float) -> None:
    profile = PUBLISHED["balanced"]
    odd, plain = Machine(profile), Machine(profile)
    for machine in (odd, plain, odd, plain, odd, plain):
        machine.step(1.0, 0.5, 0.0)
    assert odd.brink[3] > 0.5
    odd.step(reward, 0.5, 0.5, 0.5, dt)
    plain.step(reward, 0.5, 0.5, 0.5, 0.0)
    assert odd.dump() == plain.dump()


@pytest.mark.parametrize(("reward", "fruitless"), [(-0.1, 1), (0.0, 1), (0.1, 0)])
def test_a_step_without_reward_is_fruitless(reward: float, fruitless: int) -> None:
    episodes = GovernorEpisodes(GovernorEpisodeSettings())
    episodes.record(0.0, 1, (0.5,) * 4, reward)
    assert episodes.current(0.0).fruitless == fruitless


@pytest.mark.parametrize(("steps", "points"), [(31, 31), (32, 16), (33, 16), (34, 17)])
def test_every_other_point_goes_once_there_are_too_many(steps: int, points: int) -> None:
    episodes = GovernorEpisodes(GovernorEpisodeSettings(points=32))
    for step in range(1, steps + 1):
        episodes.record(0.0, step, (0.5,) * 4, 0.1)
    assert len(episodes.current(0.0).trajectory()) == points


@pytest.mark.parametrize(
    ("novelty", "words"),
    [
        (0.29, "well known"),
        (0.3, "seen before"),
        (0.89, "seen before"),
        (0.9, "new of its kind"),
        (1.0, "new of its kind"),
    ],
)
def test_novelty_has_words_from_a_level_on(novelty: float, words: str) -> None:
    inputs = Inputs(InputSettings())
    inputs.derive(call(1), novelty, "exploration", 0.0)
    assert inputs.read()[1].cause == words


@pytest.mark.parametrize(("gap", "words"), [(-1.0, "no hurry"), (0.0, "prompts 0 s apart"), (5.0, "prompts 5 s apart")])
def test_prompts_that_come_together_are_a_hurry_too(gap: float, words: str) -> None:
    inputs = Inputs(InputSettings())
    inputs.open(gap)
    inputs.derive(call(1), 0.5, "exploration", 0.0)
    assert inputs.read()[2].cause == words
    assert (inputs.read()[2].value > 0.0) is (gap >= 0.0)
