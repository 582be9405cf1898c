"""What no sequence of signals can break."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import cbor2
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.governor.machine import Machine
from core.engine.governor.profile import PUBLISHED, Profile, chosen
from core.settings.governor import GovernorSettings, ProfileSettings

Signals = tuple[float, float, float, float, float]

unit = st.floats(0, 1, allow_nan=False)
signal = st.tuples(st.floats(-1, 1, allow_nan=False), unit, unit, unit, st.sampled_from([0.0, 0.1, 1.0, 30.0, 200.0]))
runs = st.one_of(
    st.lists(signal, min_size=1, max_size=80),
    st.tuples(st.lists(signal, min_size=1, max_size=4), st.integers(10, 60)).map(lambda it: it[0] * it[1]),
)


def _own(**figures: float) -> Profile:
    return chosen(GovernorSettings(override=figures))


profiles = st.one_of(
    st.sampled_from([*PUBLISHED.values(), chosen(GovernorSettings())]),
    st.builds(
        _own,
        inertia=st.floats(0.05, 0.95),
        effort_scale=st.floats(0.1, 3),
        exhaustion_threshold=st.floats(0, 0.3),
        max_risk=st.floats(0.1, 2),
        max_exploration=st.floats(0.1, 2),
        recovery_cap=st.floats(0.3, 1),
        recovery_rate=st.floats(0, 1),
        stagnation_window=st.integers(2, 40),
        max_steps=st.integers(5, 300),
    ),
)


def obey(profile: Profile, run: Iterable[Signals]) -> None:
    """Take a run and look at every invariant on every step."""
    machine = Machine(profile)
    frozen = None
    for signals in run:
        state, before, steps = machine.state, machine.budgets, machine.steps
        transition = machine.step(*signals)
        budgets = machine.budgets
        assert min(budgets) >= 0.0
        assert max(budgets) <= 1.0
        if frozen is not None:
            assert transition == ""
            assert machine.dump() == frozen
        elif machine.state == "HALTED":
            assert transition == machine.halt != ""
            assert budgets == (0.0, 0.0, 0.0, 0.0)
            assert not machine.may_act
            frozen = machine.dump()
        else:
            assert machine.steps == steps + 1 < profile.max_steps
            assert budgets.effort > profile.exhaustion_threshold
            assert machine.may_act
            assert bool(transition) == (machine.state != state)
            if "RECOVERING" in (state, machine.state):
                assert budgets.risk <= before.risk
                assert budgets.exploration <= before.exploration
            if state == "RECOVERING" and machine.state == "IDLE":
                assert budgets.effort >= profile.recovery_cap


@settings(max_examples=600)
@given(profiles, runs)
def test_every_invariant_on_every_step(profile: Profile, run: list[Signals]) -> None:
    obey(profile, run)


@settings(max_examples=60)
@given(profiles, st.integers(0, 2**32))
def test_every_invariant_in_thousands_of_runs(profile: Profile, seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    for _ in range(50):
        lift, new, hurry, hard = (chance.random() for _ in range(4))
        pause = chance.choice((0.0, 0.3, 5.0, 90.0))
        obey(
            profile,
            (
                (
                    max(-1.0, min(1.0, 2 * lift - 1 + chance.gauss(0, 0.3))),
                    new * chance.random(),
                    hurry * chance.random(),
                    hard * chance.random(),
                    pause * chance.random(),
                )
                for _ in range(60)
            ),
        )


@settings(max_examples=300)
@given(profiles, runs)
def test_two_runs_give_equal_bytes(profile: Profile, run: list[Signals]) -> None:
    one, other = Machine(profile), Machine(profile)
    for signals in run:
        one.step(*signals)
    for signals in run:
        other.step(*signals)
    assert cbor2.dumps(one.dump()) == cbor2.dumps(other.dump())


@settings(max_examples=300)
@given(profiles, runs, st.data())
def test_a_loaded_machine_goes_on_as_the_dumped_one(profile: Profile, run: list[Signals], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(run)))
    whole, second = Machine(profile), Machine(profile)
    for signals in run[:cut]:
        whole.step(*signals)
    second.load(cbor2.loads(cbor2.dumps(whole.dump(), canonical=True)))
    for signals in run[cut:]:
        assert whole.step(*signals) == second.step(*signals)
    assert whole.dump() == second.dump()


@settings(max_examples=300)
@given(st.floats(-1, 0), unit, unit, unit)
def test_without_reward_every_published_run_ends(
    reward: float, novelty: float, urgency: float, difficulty: float
) -> None:
    """Where nothing is new the fuse is not even needed."""
    for profile in PUBLISHED.values():
        machine = Machine(profile)
        while machine.state != "HALTED":
            machine.step(reward, novelty, urgency, difficulty)
        assert machine.steps <= profile.max_steps
        if novelty == 0.0:
            assert machine.halt != "EXTERNAL"


def test_our_own_figures_carry_the_names_of_a_profile() -> None:
    assert ProfileSettings.__struct_fields__ == Profile._fields
