"""Episodes from prompt to prompt, watched and never stopped."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.governor.governor import Governor
from core.engine.governor.machine import HALT_REASONS, HaltReason, Machine
from core.engine.governor.profile import chosen
from core.engine.percept import PATTERNS
from core.errors import StateError
from core.events import ACTIONS, OUTCOMES, PURPOSES, Compaction, Event, Outcome, SessionEnd, SessionStart, Turn
from core.settings.governor import GovernorEpisodeSettings, GovernorSettings, ProfileName
from tests.core.engine.governor.events import Heard, call, feed, prompt

NOT_STEPS: list[Event] = [
    Turn(at=1.0),
    Compaction(at=1.0),
    SessionStart(at=1.0, session="s", tool="t"),
    SessionEnd(at=1.0),
    call(1, outcome="pending"),
    call(1, outcome="collateral"),
    prompt(interrupt=True),
]


def failing(governor: Governor) -> int:
    """Fail without rest until it would halt; the step at which it would."""
    for number in range(1, 200):
        verdict = Heard(call(number, outcome="failure", at=float(number)), elapsed=0.0).to(governor)
        if verdict.halted_now:
            return verdict.step
    raise AssertionError("never halts")


@pytest.mark.parametrize("event", NOT_STEPS)
def test_only_tool_uses_with_an_outcome_are_steps(event: Event) -> None:
    governor = Governor(GovernorSettings())
    feed(governor, prompt(), call(1))
    verdict = feed(governor, event)[0]
    assert (verdict.step, verdict.changed, verdict.opened) == (1, False, False)
    assert governor.read().step == 1


def test_a_halt_is_said_once_and_the_rest_is_counted() -> None:
    governor = Governor(GovernorSettings(profile="balanced"))
    feed(governor, prompt())
    step = failing(governor)
    after = feed(governor, *(call(number, "file_edit") for number in range(1, 8)))
    assert all(verdict.state == "HALTED" and not verdict.halted_now for verdict in after)
    assert [verdict.after_halt for verdict in after] == list(range(1, 8))
    reading = governor.read()
    assert (reading.state, reading.may_act, reading.step) == ("HALTED", False, step)
    assert (reading.after_halt, reading.halts) == (7, 1)
    assert reading.would_halt.startswith("would halt here: ")
    assert f"{step} of {step} steps without progress" in reading.would_halt
    assert reading.inputs[0].cause == "failed"


def test_only_a_prompt_leaves_a_halt() -> None:
    governor = Governor(GovernorSettings(profile="balanced"))
    feed(governor, prompt())
    failing(governor)
    for event in NOT_STEPS:
        assert feed(governor, event)[0].state == "HALTED"
    verdict = feed(governor, prompt(at=500.0))[0]
    assert (verdict.state, verdict.changed, verdict.opened, verdict.step) == ("IDLE", True, True, 0)
    assert governor.read().pressures == (0.0, 0.0, 0.0, 0.0, 0.0)


def test_each_episode_is_kept_with_its_course_and_end() -> None:
    governor = Governor(GovernorSettings(profile="balanced"))
    feed(governor, prompt(at=10.0), call(1, at=11.0), call(2, at=12.0), prompt(at=20.0))
    step = failing(governor)
    feed(governor, prompt(interrupt=True), call(1), prompt(at=900.0), prompt(at=901.0))
    first, second = governor.read().past
    assert (first.number, first.opened_at, first.closed_at, first.steps, first.halt) == (1, 10.0, 20.0, 2, "")
    assert first.sentence == ""
    assert [point.step for point in first.trajectory()] == [1, 2]
    assert (second.number, second.steps, second.fruitless, second.halt) == (2, step, step, "EXHAUSTION")
    assert (second.halted_at, second.closed_at) == (float(step), 900.0)
    assert (second.dips, second.interrupts, second.after_halt) == (1, 1, 1)
    assert second.halt_value <= second.halt_limit == 0.05
    assert second.trajectory()[-1].effort == pytest.approx(second.halt_value, abs=1e-6)
    assert governor.read().episodes == 4


def test_work_before_any_prompt_is_an_episode_too() -> None:
    governor = Governor(GovernorSettings())
    verdicts = feed(governor, Turn(at=1.0), call(1, at=2.0), call(2, at=3.0), prompt(at=4.0))
    assert [verdict.opened for verdict in verdicts] == [False, True, False, True]
    assert [(episode.number, episode.opened_at) for episode in governor.read().past] == [(1, 2.0)]


def test_rest_counts_all_the_time_since_the_step_before() -> None:
    rested, restless = (Governor(GovernorSettings(profile="balanced")) for _ in range(2))
    for governor in (rested, restless):
        feed(governor, prompt())
        for number in range(1, 7):
            Heard(call(number, outcome="failure"), elapsed=0.0).to(governor)
        assert governor.read().state == "RECOVERING"
    for _ in range(3):
        Heard(Turn(at=1.0), elapsed=3.0).to(rested)
        Heard(Turn(at=1.0), elapsed=0.0).to(restless)
    for governor in (rested, restless):
        Heard(call(9, outcome="failure"), elapsed=0.0).to(governor)
    difference = rested.read().budgets.effort - restless.read().budgets.effort
    assert difference == pytest.approx(0.25 * 0.6)


def test_the_published_profiles_forgive_an_agent_that_pauses() -> None:
    """Half a minute between failures brings effort back to the cap every time."""
    governor = Governor(GovernorSettings(profile="balanced"))
    feed(governor, prompt())
    for number in range(1, 150):
        Heard(call(number, outcome="failure"), elapsed=30.0).to(governor)
    assert governor.read().halt == "EXTERNAL"


@pytest.mark.parametrize("profile", ["observing", "conservative", "balanced", "aggressive"])
def test_each_profile_dips_recovers_by_resting_and_is_exhausted(profile: ProfileName) -> None:
    governor = Governor(GovernorSettings(profile=profile))
    feed(governor, prompt())
    calls = [(call(number, outcome="failure"), 0.0) for number in range(1, 300)]
    dip = 5 if profile != "observing" else 7
    calls[dip + 1 : dip + 2] = [(call(500, "file_edit"), 300.0)]
    calls[dip + 10 :: 9] = [(call(600 + place), 0.0) for place in range(len(calls[dip + 10 :: 9]))]
    verdicts = [Heard(event, elapsed=rest).to(governor) for event, rest in calls]
    changes = [verdict.transition for verdict in verdicts if verdict.transition]
    assert changes == ["dip", "stabilised", "dip", "EXHAUSTION"]


def test_repeated_destruction_reaches_overrisk() -> None:
    governor = Governor(GovernorSettings())
    feed(governor, prompt(), *(call(number, purpose="destructive") for number in range(1, 31)))
    reading = governor.read()
    assert (reading.halt, reading.would_halt.startswith("would halt here: risk rose")) == ("OVERRISK", True)
    assert 5 <= reading.step <= 25


def test_work_without_danger_never_reaches_overrisk() -> None:
    governor = Governor(GovernorSettings())
    feed(governor, prompt(), *(call(number) for number in range(1, 200)))
    assert governor.read().halt == ""


@pytest.mark.parametrize("good", [0, 20, 100])
@pytest.mark.parametrize("loop", [False, True])
def test_our_own_profile_halts_a_stuck_agent_with_a_reason(good: int, loop: bool) -> None:
    governor = Governor(GovernorSettings())
    work = (call(number, "file_edit") for number in range(1, good + 1))
    stuck = (call(7 if loop else 1000 + n, outcome="success" if loop else "failure") for n in range(40))
    feed(governor, prompt(), *work)
    assert governor.read().state == "IDLE"
    feed(governor, *stuck)
    reading = governor.read()
    assert reading.halt == "STAGNATION"
    assert reading.step <= good + 40
    assert "in a row without progress" in reading.would_halt


def test_prompts_close_together_press() -> None:
    governor = Governor(GovernorSettings())
    feed(governor, prompt(), call(1), Turn(at=3.0), prompt(), call(2))
    urgency = governor.read().inputs[2]
    assert urgency.cause == "prompts 15 s apart"
    assert urgency.value == pytest.approx(0.3 * 60 / 75)


def test_memory_is_bounded() -> None:
    governor = Governor(GovernorSettings(episodes=GovernorEpisodeSettings(kept=3, points=16)))
    for _ in range(10):
        feed(governor, prompt(), *(call(number, "file_edit") for number in range(1, 400)))
    size = len(cbor2.dumps(governor.dump()))
    reading = governor.read()
    assert [episode.number for episode in reading.past] == [7, 8, 9]
    assert all(8 <= len(episode.trajectory()) <= 16 for episode in reading.past)
    for _ in range(10):
        feed(governor, prompt(), *(call(number, "file_edit") for number in range(1, 400)))
    assert len(cbor2.dumps(governor.dump())) <= size + 16


@pytest.mark.parametrize("steps", [1, 31, 32, 33, 500, 3000])
def test_a_long_course_is_thinned_evenly(steps: int) -> None:
    governor = Governor(GovernorSettings(override={"max_steps": 100_000}))
    feed(governor, prompt(), *(call(number, "file_edit") for number in range(1, steps + 1)))
    at = [point.step for point in governor.read().episode.trajectory()]
    assert len(at) <= 32
    assert len({later - sooner for sooner, later in zip([0, *at], at, strict=False)}) == 1
    assert at[-1] > steps - (at[0] if at else 0)


@pytest.mark.parametrize(
    ("halt", "figure", "limit", "outcome", "words"),
    [
        ("SAFETY", "max_exploration", 0.2, "success", "exploration rose to 0.2"),
        ("OVERRISK", "max_risk", 0.1, "success", "risk rose to 0.1"),
        ("EXHAUSTION", "exhaustion_threshold", 0.3, "failure", "effort fell to 0.2"),
        ("STAGNATION", "stagnation_floor", 0.9, "failure", "no progress, and effort fell to 0."),
        ("EXTERNAL", "max_steps", 9, "success", "step fuse, 9 of 9 steps"),
    ],
)
def test_every_halt_says_what_it_measured(
    halt: HaltReason, figure: str, limit: float, outcome: Outcome, words: str
) -> None:
    override = {figure: limit, "stagnation_window": 5 if halt == "STAGNATION" else 500}
    governor = Governor(GovernorSettings(profile="aggressive", override=override))
    feed(governor, prompt())
    for number in range(1, 40):
        Heard(call(number, outcome=outcome), novelty=1.0, elapsed=0.0).to(governor)
    episode = governor.read().episode
    assert (episode.halt, episode.halt_limit) == (halt, limit)
    assert words in episode.sentence
    assert halt == "EXTERNAL" or f", limit {limit:.2f}" in episode.sentence
    assert (episode.halt_value >= limit) == (outcome == "success")


heard = st.builds(
    Heard,
    event=st.one_of(
        st.builds(
            call,
            st.integers(1, 6),
            st.sampled_from(ACTIONS),
            st.sampled_from(OUTCOMES),
            st.sampled_from(PURPOSES),
            st.integers(0, 3),
        ),
        st.builds(call, st.integers(1, 100), outcome=st.just("failure")),
        st.builds(prompt, interrupt=st.booleans()),
        st.just(Turn(at=3.0)),
    ),
    novelty=st.floats(0, 1),
    elapsed=st.floats(0, 200),
    pattern=st.sampled_from(PATTERNS),
    failure_rate=st.floats(0, 1),
)


@settings(max_examples=200)
@given(st.lists(heard, max_size=60), st.integers(0, 60), st.sampled_from(["observing", "conservative", "balanced"]))
def test_a_loaded_governor_goes_on_as_the_dumped_one(run: list[Heard], cut: int, name: str) -> None:
    settings = GovernorSettings.parse({"profile": name})
    whole, second = Governor(settings), Governor(settings)
    for item in run[:cut]:
        item.to(whole)
    reading = whole.read()
    saved = cbor2.dumps(whole.dump(), canonical=True)
    second.load(cbor2.loads(saved))
    assert second.read() == reading
    assert [item.to(whole) for item in run[cut:]] == [item.to(second) for item in run[cut:]]
    whole.read()
    assert cbor2.dumps(whole.dump(), canonical=True) == cbor2.dumps(second.dump(), canonical=True)


@settings(max_examples=200)
@given(st.lists(heard, max_size=80))
def test_a_halt_lasts_until_the_prompt(run: list[Heard]) -> None:
    governor = Governor(GovernorSettings(profile="conservative"))
    halts = 0
    for item in run:
        before = governor.read().state
        verdict = item.to(governor)
        halts += bool(verdict.halted_now)
        assert verdict.halted_now in ("", *HALT_REASONS)
        assert verdict.state == governor.read().state
        assert verdict.changed == (verdict.state != before)
        if before == "HALTED" and not verdict.opened:
            assert verdict.state == "HALTED"
    assert governor.read().halts == halts


def test_a_dump_is_a_snapshot() -> None:
    governor = Governor(GovernorSettings())
    feed(governor, prompt(), call(1), call(1))
    saved = governor.dump()
    copy = cbor2.dumps(saved)
    feed(governor, call(2), prompt(), call(3))
    assert cbor2.dumps(saved) == copy


@pytest.mark.parametrize("state", [None, (1, 2), (0, 0, 0, 0, 0, 0)])
def test_a_foreign_dump_is_refused(state: object) -> None:
    with pytest.raises(StateError):
        Governor(GovernorSettings()).load(state)


@pytest.mark.parametrize(
    ("reason", "inputs"),
    [
        ("OVERRISK", (0.3, 1.0, 0.0, 0.0)),
        ("EXHAUSTION", (0.01, 0.0, 0.0, 1.0)),
        ("STAGNATION", (0.0, 0.0, 0.0, 0.0)),
        ("EXTERNAL", (0.3, 0.2, 1.0, 0.0)),
        ("SAFETY", (1.0, 1.0, 0.0, 0.0)),
    ],
)
def test_our_own_profile_can_reach_these_halts(reason: str, inputs: tuple[float, float, float, float]) -> None:
    settings = GovernorSettings()
    machine = Machine(chosen(settings), settings.appraisal, settings.weights)
    for _ in range(chosen(settings).max_steps):
        machine.step(*inputs, dt=1.0)
    assert machine.halt == reason
