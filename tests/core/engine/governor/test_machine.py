"""The transition table, the published runs, and what holds in each state."""

from __future__ import annotations

import pytest

from core.engine.governor.machine import RULES, HaltReason, Machine, State, Transition
from core.engine.governor.profile import PUBLISHED, Profile
from core.errors import StateError

STILL = PUBLISHED["balanced"]._replace(inertia=0.99, exploration_decay=0.0, persistence_decay=0.0)
"""Moves so little in one step that loaded budgets decide the transition."""

Budgets = tuple[float, float, float, float]


def standing(profile: Profile, state: State, budgets: Budgets, steps: int = 0, stagnant: int = 0) -> Machine:
    """A machine in the middle of a run."""
    machine = Machine(profile)
    machine.load((state, "", steps, stagnant, budgets, budgets, (0.0,) * 5))
    return machine


def run(profile: Profile, *signals: float, steps: int = 1000) -> tuple[Machine, list[tuple[int, Transition]]]:
    """A run under the same signals every step, with every transition it makes."""
    machine = Machine(profile)
    changes: list[tuple[int, Transition]] = []
    while machine.state != "HALTED" and machine.steps < steps:
        transition = machine.step(*signals)
        if transition:
            changes.append((machine.steps, transition))
    return machine, changes


@pytest.mark.parametrize("signals", [(0, 0, 0), (0, 0, 1), (0, 0, 0.5), (0, 0.1, 0.2)])
@pytest.mark.parametrize(
    ("name", "halt", "step"),
    [("conservative", "STAGNATION", 10), ("balanced", "EXHAUSTION", 14), ("aggressive", "STAGNATION", 30)],
)
def test_without_reward_every_profile_halts_where_published(
    name: str, halt: HaltReason, step: int, signals: tuple[float, float, float]
) -> None:
    _, changes = run(PUBLISHED[name], *signals)
    assert changes == [(6, "dip"), (step, halt)]


@pytest.mark.parametrize(
    ("name", "signals", "halt", "step"),
    [
        ("conservative", (0.5, 0.5, 0.5), "SAFETY", 51),
        ("balanced", (0.5, 0.5, 0.5), "EXTERNAL", 100),
        ("aggressive", (0.5, 0.5, 0.5), "EXTERNAL", 200),
        ("conservative", (1, 1, 0), "SAFETY", 8),
    ],
)
def test_with_reward_every_profile_halts_where_published(
    name: str, signals: tuple[float, float, float], halt: HaltReason, step: int
) -> None:
    _, changes = run(PUBLISHED[name], *signals)
    assert changes == [(step, halt)]


@pytest.mark.parametrize("urgency", [0.0, 0.5, 1.0])
def test_balanced_effort_fades_by_inertia_alone(urgency: float) -> None:
    machine = Machine(PUBLISHED["balanced"])
    for step in range(1, 14):
        machine.step(0.0, 0.0, urgency)
        assert machine.budgets.effort == pytest.approx(0.8**step, abs=1e-12)


@pytest.mark.parametrize("state", ["IDLE", "RECOVERING"])
@pytest.mark.parametrize(
    ("halt", "profile", "budgets", "steps", "stagnant"),
    [
        ("SAFETY", STILL._replace(max_exploration=0.5), (0.9, 0.0, 0.6, 0.9), 0, 0),
        ("OVERRISK", STILL._replace(max_risk=0.5), (0.9, 0.6, 0.0, 0.9), 0, 0),
        ("EXHAUSTION", STILL, (0.05, 0.0, 0.0, 0.9), 0, 0),
        ("STAGNATION", STILL, (0.1, 0.0, 0.0, 0.9), 0, 19),
        ("EXTERNAL", STILL, (0.9, 0.0, 0.0, 0.9), 99, 0),
    ],
)
def test_a_limit_halts_from_any_state(
    halt: HaltReason, profile: Profile, budgets: Budgets, steps: int, stagnant: int, state: State
) -> None:
    machine = standing(profile, state, budgets, steps, stagnant)
    assert machine.step(0.0, 0.0, 0.0) == halt
    assert (machine.state, machine.halt) == ("HALTED", halt)
    assert machine.budgets == (0.0, 0.0, 0.0, 0.0)
    assert not machine.may_act


@pytest.mark.parametrize(
    ("just_under", "steps", "stagnant"),
    [((0.9, 0.0, 0.5, 0.9), 0, 0), ((0.9, 0.5, 0.0, 0.9), 0, 0), ((0.9, 0.0, 0.0, 0.9), 98, 40)],
)
def test_short_of_a_limit_nothing_halts(just_under: Budgets, steps: int, stagnant: int) -> None:
    machine = standing(STILL._replace(max_exploration=0.5, max_risk=0.5), "IDLE", just_under, steps, stagnant)
    assert machine.step(0.0, 0.0, 0.0) == ""
    assert machine.state == "IDLE"


def test_the_first_limit_in_the_table_wins() -> None:
    profile = STILL._replace(max_exploration=0.5, max_risk=0.5, exhaustion_threshold=0.05, max_steps=100)
    every = [0.05, 0.6, 0.6, 0.01]
    fixes = [(2, 0.0), (1, 0.0), (0, 0.08), (0, 0.9)]
    expected: list[Transition] = ["SAFETY", "OVERRISK", "EXHAUSTION", "STAGNATION", "EXTERNAL"]
    for halt in expected:
        effort, risk, exploration, persistence = every
        machine = standing(profile, "IDLE", (effort, risk, exploration, persistence), 99, 19)
        assert machine.step(0.0, 0.0, 0.0) == halt
        if fixes:
            budget, value = fixes.pop(0)
            every[budget] = value


@pytest.mark.parametrize("budgets", [(0.29, 0.0, 0.0, 0.9), (0.9, 0.0, 0.0, 0.29)])
def test_a_dip_of_effort_or_persistence_begins_recovering(budgets: Budgets) -> None:
    machine = standing(STILL, "IDLE", budgets)
    assert machine.step(0.5, 0.0, 0.0) == "dip"
    assert machine.state == "RECOVERING"


@pytest.mark.parametrize(("effort", "state"), [(0.49, "RECOVERING"), (0.51, "IDLE")])
def test_recovering_ends_only_at_the_cap(effort: float, state: State) -> None:
    machine = standing(STILL, "RECOVERING", (effort, 0.0, 0.0, 0.9))
    assert machine.step(0.5, 0.0, 0.0) == ("stabilised" if state == "IDLE" else "")
    assert machine.state == state


def test_effort_back_above_the_dip_is_not_yet_idle() -> None:
    """The published program would call this idle at once; its specification does not."""
    machine = Machine(PUBLISHED["balanced"])
    while machine.state != "RECOVERING":
        machine.step(0.0, 0.0, 0.0)
    seen = []
    while machine.state == "RECOVERING":
        machine.step(1.0, 0.5, 0.0)
        seen.append(machine.budgets.effort)
    assert any(0.3 <= effort < 0.5 for effort in seen[:-1])
    assert seen[-1] >= 0.5
    assert machine.state == "IDLE"


def test_neither_risk_nor_exploration_rises_while_recovering() -> None:
    """The published program lets exploration rise here; its specification does not."""
    free = standing(STILL, "IDLE", (0.4, 0.1, 0.1, 0.9))
    locked = standing(STILL, "RECOVERING", (0.4, 0.1, 0.1, 0.9))
    rising = (0.0, 1.0, 1.0)
    for _ in range(5):
        free.step(*rising)
        locked.step(*rising)
    assert free.budgets.exploration > 0.1
    assert locked.state == "RECOVERING"
    assert locked.budgets.risk <= 0.1
    assert locked.budgets.exploration == 0.1


def test_rest_restores_effort_and_persistence_up_to_the_cap() -> None:
    machine = standing(STILL, "RECOVERING", (0.2, 0.0, 0.0, 0.2))
    machine.step(0.0, 0.0, 0.0, 0.0, 0.4)
    assert machine.budgets.effort == pytest.approx(0.99 * 0.2)
    machine.step(0.0, 0.0, 0.0, 0.0, 0.8)
    assert machine.budgets.effort == pytest.approx(0.99**2 * 0.2 + 0.25 * 0.8)
    assert machine.step(0.0, 0.0, 0.0, 0.0, 60.0) == "stabilised"
    assert machine.budgets.effort == machine.budgets.persistence == 0.5


def test_rest_never_takes_away() -> None:
    machine = standing(STILL, "RECOVERING", (0.2, 0.0, 0.0, 0.9))
    machine.step(0.5, 0.0, 0.0, 0.0, 60.0)
    assert machine.budgets.persistence > 0.88


def test_stagnation_needs_an_unbroken_row() -> None:
    machine = Machine(PUBLISHED["aggressive"])
    for _ in range(29):
        machine.step(0.0, 0.0, 0.0)
    assert machine.stagnant == 29
    machine.step(0.1, 0.0, 0.0)
    assert machine.stagnant == 0
    machine.step(-1.0, 0.0, 0.0)
    assert (machine.state, machine.stagnant) == ("RECOVERING", 1)


def test_halted_absorbs_everything() -> None:
    machine, _ = run(PUBLISHED["conservative"], 0, 0, 0)
    before = machine.dump()
    for signals in [(1.0, 1.0, 1.0, 1.0, 1e6), (-1.0, 0.0, 0.0, 0.0, 0.0)]:
        assert machine.step(*signals) == ""
        assert machine.dump() == before


def test_signals_out_of_range_count_as_the_nearest_in_range() -> None:
    wild, tame = Machine(PUBLISHED["balanced"]), Machine(PUBLISHED["balanced"])
    wild.step(7.0, -3.0, 2.0, 9.0, -5.0)
    tame.step(1.0, 0.0, 1.0, 1.0, 0.0)
    wild.step(float("nan"), float("nan"), 0.5, 0.5, float("inf"))
    tame.step(0.0, 0.0, 0.5, 0.5, 0.0)
    assert wild.dump() == tame.dump()


def test_the_table_covers_every_reason_once() -> None:
    assert [rule.priority for rule in RULES] == list(range(1, 9))
    assert [rule.reason for rule in RULES if rule.after == "HALTED" and rule.before == "ANY"] == [
        "SAFETY",
        "OVERRISK",
        "EXHAUSTION",
        "STAGNATION",
        "EXTERNAL",
    ]


@pytest.mark.parametrize("state", [None, (), ("ASLEEP", "", 0, 0, (0,) * 4, (0,) * 4, (0,) * 5)])
def test_a_foreign_state_is_refused(state: object) -> None:
    with pytest.raises(StateError):
        Machine(PUBLISHED["balanced"]).load(state)
