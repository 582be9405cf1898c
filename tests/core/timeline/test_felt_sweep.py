"""A sweep that runs only what differs finds what the whole engine finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.agents.registry import make_kit
from core.events import Event
from core.logs.finder import sessions
from core.logs.session import read_session
from core.receptor.replay import only_felt
from core.settings import Settings
from core.settings.layers import tunables
from core.timeline import felt_sweep
from core.timeline.felt_sweep import FeltSweep
from core.timeline.initial_state import PLAIN
from core.timeline.rerun import overlaid
from core.timeline.sweep import fired
from tests.core.strategies import events as streams

NAMES = sorted(
    name
    for name, one in tunables().items()
    if only_felt(name) and one.kind == "number" and one.high is not None
)


def compared(events: list[Event], name: str, shares: list[float]) -> int:
    """How many values needed no whole run; each finds the same as one."""
    one, usual = tunables()[name], Settings()
    low, high = one.low or 0.0, one.high or 1.0
    shared = FeltSweep(events, usual, PLAIN)
    for share in shares:
        other = overlaid(usual, {name: low + share * (high - low)})
        assert shared.fired(other) == fired(events, other, PLAIN)
    return len(shares) - shared.whole_runs


@settings(max_examples=40)
@given(
    events=streams(80, agents=("main", "helper"), backwards=True),
    name=st.sampled_from(NAMES),
    shares=st.lists(st.floats(0, 1), min_size=2, max_size=4),
)
def test_any_setting_of_what_is_felt_over_any_events(
    events: list[Event], name: str, shares: list[float]
) -> None:
    compared(events, name, shares)


@pytest.mark.parametrize("agents", [1, 3])
def test_values_that_nothing_but_the_response_can_tell_apart_share_a_run(agents: int) -> None:
    events = session(400, agents=agents)
    assert compared(events, "receptor.ambient.offset.confidence", [0.5, 0.6, 0.7, 0.8]) >= 2


def test_real_logs(shared_data: Path) -> None:
    folder = shared_data / "real_sessions" / "claude-code"
    small = [path for path in sorted(folder.glob("*.jsonl")) if 50_000 < path.stat().st_size < 700_000]
    spared = 0
    for found in sessions(small, make_kit()):
        events = list(read_session(found, make_kit()))[:250]
        for name in ("receptor.ambient.offset.frustration", "receptor.emotion.disruption_share"):
            spared += compared(events, name, [0.05, 0.3, 0.5])
    assert spared


def test_the_engine_is_left_alone_where_steps_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(felt_sweep, "_MOST", 100)
    assert compared(session(120), "receptor.ambient.offset.frustration", [0.6, 0.7, 0.8]) == 0


def test_other_settings_are_left_to_the_engine() -> None:
    assert not FeltSweep.takes("mind.sleep.base", PLAIN)
    assert not FeltSweep.takes("receptor.commander.short", PLAIN)
    assert FeltSweep.takes("receptor.ambient.offset.flow", PLAIN)
