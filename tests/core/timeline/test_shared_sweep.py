"""A sweep that runs only what differs finds what the whole engine finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.agents.registry import make_kit
from core.events import AgentEnd, AgentStart, Event, ToolUse
from core.logs.finder import sessions
from core.logs.session import read_session
from core.mind.homeostasis import Homeostasis
from core.mind.mood import Mood
from core.mind.regime import RegimeSense
from core.settings import Settings
from core.settings.layers import tunables
from core.state import Stateful
from core.timeline import heard, shared_sweep
from core.timeline.heard import Regulation
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.rerun import overlaid
from core.timeline.shared_sweep import SharedSweep
from core.timeline.sweep import fired
from tests.core.strategies import events as streams


def named(*rooms: str) -> list[str]:
    """Settings with a range that a sweep shares runs for."""
    return sorted(
        name
        for name, one in tunables().items()
        if SharedSweep.takes(name, PLAIN, 0)
        and name.startswith(rooms)
        and one.kind in ("number", "integer")
        and one.high is not None
    )


FELT = named("receptor.")
OTHERS = named("mind.", "governor.", "affect.", "response.")


def compared(events: list[Event], name: str, shares: list[float], initial: InitialState = PLAIN) -> int:
    """How many values needed no whole run; each finds the same as one."""
    one, usual = tunables()[name], Settings()
    low, high = one.low or 0.0, one.high or 1.0
    shared = SharedSweep(events, usual, initial)
    for share in shares:
        value = low + share * (high - low)
        other = overlaid(usual, {name: round(value) if one.kind == "integer" else value})
        assert shared.fired(other) == fired(events, other, initial)
    return len(shares) - shared.whole_runs


@settings(max_examples=40)
@given(
    events=streams(80, agents=("main", "helper"), backwards=True),
    name=st.sampled_from(FELT),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=4),
)
def test_any_setting_of_what_is_felt_over_any_events(
    events: list[Event], name: str, shares: list[float]
) -> None:
    compared(events, name, shares)


@settings(max_examples=40)
@given(
    events=streams(80, agents=("main", "helper"), backwards=True),
    name=st.sampled_from(OTHERS),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=4),
)
def test_any_setting_of_another_room_over_any_events(
    events: list[Event], name: str, shares: list[float]
) -> None:
    compared(events, name, shares)


@pytest.mark.parametrize("agents", [1, 3])
def test_values_that_nothing_but_the_response_can_tell_apart_share_a_run(agents: int) -> None:
    events = session(400, agents=agents)
    assert compared(events, "receptor.ambient.offset.confidence", [0.5, 0.6, 0.7, 0.8]) >= 2


def test_values_that_move_the_axes_share_a_run_where_no_regime_or_dream_tells_of_it() -> None:
    assert compared(session(300), "receptor.emotion.half_life.fatigue", [0.2, 0.3, 0.4, 0.5]) == 3


def test_a_mood_that_changes_how_it_dreams_is_a_run_of_its_own() -> None:
    events = session(300)
    usual = overlaid(Settings(), {"mind.homeostasis.pleasure.persistence": 1, "mind.sleep.least_ticks": 1})
    usual = overlaid(usual, {"mind.homeostasis.pleasure.threshold": 0.0})
    name = "receptor.impulse.every_event.confidence"
    shared = SharedSweep(events, usual, PLAIN)
    for value in (0.0, 0.5, 1.0):
        other = overlaid(usual, {name: value})
        assert shared.fired(other) == fired(events, other, PLAIN)
    modes = [
        [note.intensive for row in run.notes.rows for note in row if isinstance(note, Regulation)]
        for run in shared._runs
    ]
    assert len(modes) > 1 and modes[0] != modes[1]


def test_engines_that_serve_one_sub_agent_after_another_are_heard_of_alike() -> None:
    """More sub-agents end than are kept awake, so that their engines serve others."""
    events: list[Event] = []
    for number in range(24):
        at, name = 100.0 * number, f"helper-{number}"
        events.append(AgentStart(at=at, child=name))
        events += [
            ToolUse(
                at=at + 2.0 * place, agent=name, tool="Bash", action="shell_exec", outcome="failure", call=1
            )
            for place in range(12)
        ]
        events.append(AgentEnd(at=at + 50.0, child=name, outcome="success"))
    for setting in ("receptor.ambient.offset.frustration", "response.escalation.loop"):
        compared(events, setting, [0.1, 0.2, 0.3, 0.9])


@pytest.mark.plain
@pytest.mark.parametrize("mechanism", [Mood, Homeostasis, RegimeSense])
def test_nothing_is_shared_with_a_run_whose_notes_do_not_account_for_it(
    mechanism: type[Stateful], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the engine asked one of its mechanisms in another way."""
    method = "tick" if mechanism is Mood else "update"
    noted = next(each for each in mechanism.__subclasses__() if each.__module__ == heard.__name__)
    monkeypatch.setattr(noted, method, getattr(mechanism, method))
    assert compared(session(300), "receptor.emotion.half_life.fatigue", [0.2, 0.3, 0.4]) == 0


def test_real_logs(shared_data: Path) -> None:
    folder = shared_data / "real_sessions" / "claude-code"
    small = [path for path in sorted(folder.glob("*.jsonl")) if 50_000 < path.stat().st_size < 700_000]
    spared = 0
    for found in sessions(small, make_kit()):
        events = list(read_session(found, make_kit()))[:250]
        for name in (
            "receptor.ambient.offset.frustration",
            "receptor.emotion.disruption_share",
            "response.escalation.loop",
            "governor.appraisal.difficulty_frustration",
        ):
            spared += compared(events, name, [0.05, 0.3, 0.5])
    assert spared


def test_what_earlier_sessions_left_is_begun_with() -> None:
    begun = InitialState(
        3, prior={"frustration": 0.3, "seeking": 0.2}, thresholds={"frustration": 0.35, "seeking": 0.3}
    )
    compared(session(300), "receptor.ambient.offset.frustration", [0.1, 0.2, 0.3], begun)


def test_no_more_steps_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_sweep, "MOST", 200)
    assert not SharedSweep.takes("receptor.ambient.offset.flow", PLAIN, 201)
    shared = SharedSweep(session(120), Settings(), PLAIN)
    for value in (0.05, 0.3, 0.4):
        shared.fired(overlaid(Settings(), {"receptor.ambient.offset.frustration": value}))
    assert shared.whole_runs == 3 and len(shared._runs) == 2


def test_what_the_receptor_is_given_is_left_to_the_engine() -> None:
    assert not SharedSweep.takes("receptor.commander.short", PLAIN, 10)
    assert not SharedSweep.takes("timeline.branch.near", PLAIN, 10)
    assert SharedSweep.takes("receptor.ambient.offset.flow", PLAIN, 10)
    assert SharedSweep.takes("mind.sleep.threshold", PLAIN, 10)
