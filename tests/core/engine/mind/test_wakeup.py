"""Triggers: conditions, intervals, resolution."""

from __future__ import annotations

import pytest

from core.engine.mind.clock import CAUSES, Trigger, Wakeup, Wakeups
from core.engine.mind.stimulus import Cause, Stimulus
from core.settings.mind import WakeupSettings


def stimulus(cause: Cause, measure: float = 1.0) -> Stimulus:
    return Stimulus("anomaly", cause, bytes(16), 0.5, "", measure)


@pytest.mark.parametrize(
    ("cause", "measure", "wakeup"),
    [
        ("prompt", 41, Wakeup("owner_message", "theta")),
        ("prompt", 0, None),
        ("interrupt", 1, Wakeup("owner_message", "theta")),
        ("rejected", 1, Wakeup("policy_tripwire", "theta")),
        ("destructive", 1, Wakeup("policy_tripwire", "theta")),
        ("halt", 1, Wakeup("policy_tripwire", "theta")),
        ("streak", 3, None),
        ("streak", 4, Wakeup("failure_burst", "theta")),
        ("context", 0.86, Wakeup("context_full", "theta")),
        ("report", 1, Wakeup("sub_agent_done", "gamma")),
        ("burn", 2.9, None),
        ("burn", 3, Wakeup("token_burn", "gamma")),
        ("peer", 0.29, None),
        ("peer", 0.3, Wakeup("peer_alarm", "theta")),
        ("deadline", 1, Wakeup("deadline", "theta")),
        ("failure", 99, None),
        ("commit", 1, None),
    ],
)
def test_conditions(cause: Cause, measure: float, wakeup: Wakeup | None) -> None:
    assert Wakeups(WakeupSettings()).update((stimulus(cause, measure),), 0.0) == wakeup


def test_each_trigger_has_its_own_interval() -> None:
    wakeups = Wakeups(WakeupSettings())
    assert wakeups.update((stimulus("streak", 5),), 100.0) is not None
    assert wakeups.update((stimulus("streak", 5),), 159.9) is None
    assert wakeups.update((stimulus("rejected"),), 120.0) is not None
    assert wakeups.update((stimulus("rejected"),), 124.9) is None
    assert wakeups.update((stimulus("rejected"),), 125.0) is not None
    assert wakeups.update((stimulus("streak", 5),), 160.0) is not None
    fired = {trigger.name: (at, times) for trigger, at, times in wakeups.fired()}
    assert fired["failure_burst"] == (160.0, 2)
    assert fired["owner_message"] == (None, 0)


def test_the_highest_resolution_wins() -> None:
    wakeups = Wakeups(WakeupSettings())
    both = (stimulus("report"), stimulus("rejected"))
    assert wakeups.update(both, 0.0) == Wakeup("policy_tripwire", "theta")
    assert [times for _, _, times in wakeups.fired()] == [0, 1, 0, 0, 1, 0, 0, 0]


def test_triggers_are_data_and_can_be_switched_off() -> None:
    quiet = Wakeups(WakeupSettings.parse({name: {"on": False} for name in CAUSES}))
    assert quiet.update((stimulus("rejected"),), 0.0) is None
    own = Wakeups(WakeupSettings(), (Trigger("commits", ("commit",), "gamma", 1.0, 0.0),))
    assert own.update((stimulus("commit"),), 0.0) == Wakeup("commits", "gamma")


def test_a_copy_goes_on_equal() -> None:
    wakeups, copy = Wakeups(WakeupSettings()), Wakeups(WakeupSettings())
    wakeups.update((stimulus("rejected"),), 10.0)
    copy.load(wakeups.dump())
    for at in (12.0, 16.0, 18.0):
        assert copy.update((stimulus("rejected"),), at) == wakeups.update((stimulus("rejected"),), at)
    assert copy.dump() == wakeups.dump()
