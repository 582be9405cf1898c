"""The activity: every call in its cell, failures told by glyph, silence of the gate shaded."""

from __future__ import annotations

import numpy as np
import pytest

from bench.workload import session
from core.engine.percept import SIGNALS
from core.events import ToolUse
from core.settings import Settings
from core.timeline.places import TROUBLED, landing
from core.timeline.timeline import Timeline
from tests.tui.screen_app import recorded
from tui.widgets.common.timeline_cells import CallPlaces, EventWindow, activity_names, activity_rows, shade, silenced


def test_every_call_stands_in_one_cell_and_growing_counts_the_same() -> None:
    events = session(400, agents=2)
    window = EventWindow(0, len(events), 37)
    once = CallPlaces().counts(events, "main", window)
    slowly = CallPlaces()
    grown: list[object] = []
    for event in events:
        grown.append(event)
        slowly.counts(grown, "main", window)  # type: ignore[arg-type]
    again = slowly.counts(grown, "main", window)  # type: ignore[arg-type]
    uses = [event for event in events if isinstance(event, ToolUse) and event.agent == "main"]
    assert once[0].sum() == len(uses)
    assert once[1].sum() == sum(use.outcome == "failure" for use in uses)
    assert (once[0] == again[0]).all() and (once[1] == again[1]).all()


@pytest.mark.parametrize(("failures", "glyph"), [(0, " "), (1, "×"), (2, "2"), (9, "9"), (10, "+")])
def test_failures_are_told_by_glyph(failures: int, glyph: str) -> None:
    counts = np.array([12]), np.array([failures])
    assert activity_rows(counts, np.zeros(1, np.float32), 3)[0][0][0] == glyph


@pytest.mark.parametrize("curve", [1, 2, 3, 5, 7])
def test_every_row_has_a_name(curve: int) -> None:
    counts = np.array([3, 0, 1]), np.array([1, 0, 0])
    rows = activity_rows(counts, np.array([0.0, 0.5, 1.0], np.float32), curve)
    assert len(rows) == len(activity_names(curve)) == curve
    assert rows[0][0] == ("×", "alert")
    if curve > 2:
        assert [cell[0] for cell in rows[-1]] == ["▁", "▅", "█"]


def test_silenced_cells_are_those_in_which_the_gate_fires() -> None:
    timeline = recorded()
    track = timeline.tracks["main"]
    bit = 1 << SIGNALS.index("flow_active")
    window = EventWindow(0, len(timeline), len(timeline))
    codes = track.columns.column("signals")
    found = silenced(track, window)
    for row, place in enumerate(track.indexes):
        assert found[place] == bool(int(codes[row]) & bit)
    assert silenced(None, window) == [False] * len(timeline)


def test_shading_spares_what_is_drawn() -> None:
    row = [(" ", "track"), ("█", "plain"), (" ", "quiet")]
    assert [cell[0] for cell in shade(row, [True, True, False])] == ["░", "█", " "]


def test_landings_are_the_nearest_of_their_kind() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(300))
    failures = [
        place
        for place, event in enumerate(timeline.events)
        if isinstance(event, ToolUse) and event.outcome == "failure"
    ]
    first = landing(timeline, -1, True, "failure")
    assert first is not None and first.place == failures[0]
    last = landing(timeline, len(timeline), False, "failure")
    assert last is not None and last.place == failures[-1]
    assert landing(timeline, failures[-1], True, "failure") is None
    assert landing(timeline, failures[0], False, "failure") is None
    here = -1
    while found := landing(timeline, here, True, "trouble"):
        here = found.place
        marks = timeline.marks.between(here, here + 1)
        event = timeline.events[here]
        rejected = isinstance(event, ToolUse) and event.outcome == "rejected"
        assert rejected or any(mark.name in TROUBLED or mark.kind in ("halt", "quarantine", "method") for mark in marks)
    assert here >= 0
