"""Crossings that are not heard: found where the gate fires or a method rests, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.workload import session
from core.engine.percept import SIGNALS
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.marks import Mark
from core.timeline.opening import Cache
from core.timeline.run import NAMES, Track
from core.timeline.timeline import Timeline
from core.timeline.whatif import BY_COOLDOWN, BY_FLOW, WhatIf, silenced_by_cooldown, silenced_by_flow, why_unchanged

FLOW = 1 << SIGNALS.index("flow_active")


def track_of(rows: list[tuple[bool, float]]) -> Track:
    """Frustration against a threshold of one half, with and without flow."""
    track = Track(0.0)
    for place, (flows, value) in enumerate(rows):
        row = dict.fromkeys(NAMES, 0.0)
        row.update({f"threshold.{axis}": 1.0 for axis in ("seeking", "confidence", "fatigue", "uncertainty")})
        row.update({"axis.frustration": value, "threshold.frustration": 0.5, "signals": FLOW if flows else 0})
        track.indexes.append(place)
        track.columns.append(tuple(row[name] for name in NAMES))
    return track


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        ([(True, 0.49)], []),
        ([(True, 0.5)], [0]),
        ([(True, 0.51), (True, 0.6), (True, 0.4), (True, 0.7)], [0, 3]),
        ([(False, 0.9)], []),
        ([(False, 0.9), (True, 0.9), (False, 0.9)], [1]),
    ],
)
def test_a_rise_while_the_gate_fires_is_silenced(rows: list[tuple[bool, float]], places: list[int]) -> None:
    found = silenced_by_flow({"main": track_of(rows)}, session(len(rows)))
    assert [mark.place for mark in found] == places
    assert all(mark.name == f"frustration_spike {BY_FLOW}" for mark in found)


@pytest.mark.parametrize(("after", "silenced"), [(-0.001, True), (0.0, False), (0.001, False)])
def test_a_signal_within_the_cooldown_is_silenced(after: float, silenced: bool) -> None:
    settings = Settings()
    rest = settings.response.scoring.low
    marks = [
        Mark(0, 0.0, "main", "background", "frustration_alert", 0.5),
        Mark(1, rest + after, "main", "signal", "frustration_spike", 0.9),
    ]
    found = silenced_by_cooldown({"main": track_of([(False, 0.9)] * 2)}, marks, settings, InitialState())
    assert [mark.name for mark in found if "frustration_alert" in mark.name] == (
        [f"frustration_alert {BY_COOLDOWN}"] if silenced else []
    )


def test_a_method_that_did_fire_is_not_silenced() -> None:
    marks = [
        Mark(0, 0.0, "main", "background", "frustration_alert", 0.5),
        Mark(1, 10.0, "main", "signal", "frustration_spike", 0.9),
        Mark(1, 10.0, "main", "background", "frustration_alert", 0.5),
    ]
    found = silenced_by_cooldown({"main": track_of([(False, 0.9)] * 2)}, marks, Settings(), InitialState())
    assert not any("frustration_alert" in mark.name for mark in found)


def test_why_nothing_changed_is_said() -> None:
    edits = ("receptor.ambient.offset.frustration",)
    low = {"main": track_of([(False, 0.3)])}
    assert why_unchanged(edits, low, (), "main") == [
        "nothing changed, because frustration never reaches its threshold: at most 0.30 of 0.50"
    ]
    flows = {"main": track_of([(True, 0.6)])}
    (said,) = why_unchanged(edits, flows, silenced_by_flow(flows, session(1)), "main")
    assert said.startswith("nothing changed, because flow muted 1 crossing of frustration")
    (floor,) = why_unchanged(edits, low, (), "main", 0.5)
    assert floor.endswith("and receptor.ambient.low keeps thresholds at or above 0.50")
    assert "ambient.low" not in why_unchanged(edits, low, (), "main", 0.49)[0]
    same = {"main": track_of([(False, 0.6)])}
    assert "crosses its threshold at the same places" in why_unchanged(edits, same, (), "main")[0]
    resting = [Mark(3, 3.0, "main", "signal", f"frustration_alert {BY_COOLDOWN}", 0.5)]
    assert "crosses its threshold at the same places" in why_unchanged(edits, same, resting, "main")[0]
    assert why_unchanged(("mind.sleep.x",), same, (), "main") == []


def test_a_what_if_counts_what_is_not_heard_and_compares_words() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(400))
    whatif = WhatIf(timeline, {"receptor.ambient.offset.frustration": 0.0})
    whatif.run(lambda _: None, lambda: False)
    result = whatif.result()
    assert result.complete and result.silenced is not None and result.texts is not None
    actual = silenced_by_flow(timeline.tracks, timeline.events)
    counted = [pair.actual for pair in result.silenced.kept + result.silenced.moved] + [*result.silenced.lost]
    assert sorted(mark for mark in counted if BY_FLOW in mark.name) == actual
    for change in result.texts:
        assert change.before != change.after
    same = WhatIf(timeline, {})
    same.run(lambda _: None, lambda: False)
    assert same.result().texts == () and same.result().silenced is not None
    assert np.isfinite(result.share)


def test_words_are_compared_alike_where_the_cache_did_not_keep_them(tmp_path: Path) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(400))
    cache = Cache(tmp_path, 10**9)
    assert cache.save("s", timeline, ())
    kept = cache.load("s", Settings(), timeline.initial)
    assert kept is not None and not kept.timeline.run.texts
    found = []
    for recording in (timeline, kept.timeline):
        whatif = WhatIf(recording, {"mind.episodes.top_k": 1, "receptor.ambient.offset.frustration": 0.0})
        whatif.run(lambda _: None, lambda: False)
        found.append(whatif.result().texts)
    assert found[0] and found[0] == found[1]
