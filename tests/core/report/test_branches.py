"""Branches in words: what was foreseen stands beside what came, and a dream's findings pass a gate."""

from __future__ import annotations

import pytest

from bench.workload import session
from core.report.conversation import applied_changes, applied_lines, dream_lines, findings, steer_lines
from core.settings import Settings
from core.settings.layers import with_value
from core.timeline.rerun import dream, pre_steer
from core.timeline.timeline import Timeline

STREAM = session(600)
LOW = with_value(Settings(), "receptor.ambient.low", 0.05)
EAGER = with_value(LOW, "receptor.ambient.offset.frustration", 0.05)


def recorded(*, change: int = 0) -> Timeline:
    timeline = Timeline(Settings())
    timeline.extend(STREAM[:change])
    if change:
        timeline.apply(EAGER)
    timeline.extend(STREAM[change:])
    return timeline


def test_a_session_without_changes_says_so() -> None:
    assert applied_changes(recorded()) == []
    assert "no settings were applied" in applied_lines([], 0.0)[0]


def test_predictions_are_listed_beside_the_outcome() -> None:
    (change,) = applied_changes(recorded(change=400))
    assert (change.after, change.events) == (400, 200)
    assert change.settings == ("receptor.ambient.low 0.05", "receptor.ambient.offset.frustration 0.05")
    whole = Timeline(EAGER)
    whole.extend(STREAM[:400])
    assert change.rows
    for row in change.rows:
        assert row.foreseen != row.before
        assert row.foreseen == pytest.approx(sum(mark.name == row.name for mark in whole.marks) / 4)
    words = applied_lines([change], STREAM[0].at)
    assert "200 events since" in words[0] and any("predicted" in line for line in words[1:])


def test_right_is_nearer_to_what_was_foreseen() -> None:
    (change,) = applied_changes(recorded(change=400))
    row = change.rows[0]
    assert row._replace(before=1.0, foreseen=3.0, since=2.0).right
    assert not row._replace(before=1.0, foreseen=3.0, since=1.9).right


def test_findings_of_a_dream_count_by_their_strength() -> None:
    branch = dream(recorded(), 3)
    branch.grow()
    every, none = findings(branch, 0.0)
    assert every and not none
    least = min(each.strength for each in every)
    greatest = max(each.strength for each in every)
    assert findings(branch, least)[1] == []
    sure, unsure = findings(branch, greatest + 0.01)
    assert sure == [] and unsure == every
    assert "below the threshold" in dream_lines(branch, greatest + 0.01)[-1]


def test_a_message_can_be_previewed() -> None:
    timeline = recorded()
    branch = pre_steer(timeline, "run the tests first " * 8, 300)
    branch.grow()
    assert "before event 301" in steer_lines(branch)[0]
    assert len(timeline) == len(STREAM)
