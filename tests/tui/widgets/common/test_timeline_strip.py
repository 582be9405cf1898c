"""The strip: cells stand for the right events, and what is drawn is what was recorded."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workload import session
from core.engine.percept import AGENT_STATES
from core.settings import Settings
from core.settings.program import Series
from core.timeline.marks import Mark, MarkKind
from core.timeline.timeline import Timeline
from tests.tui.panel_app import view_at
from tui.widgets.common import timeline_cells as strip
from tui.widgets.common.timeline_cells import EventWindow
from tui.widgets.common.timeline_strip import TimelineStrip, legend


@pytest.fixture(scope="module")
def alone() -> Timeline:
    made = Timeline(Settings())
    made.extend(session(900))
    return made


@pytest.fixture(scope="module")
def together() -> Timeline:
    made = Timeline(Settings())
    made.extend(session(900, agents=3))
    return made


@given(st.integers(0, 5000), st.integers(1, 5000), st.integers(8, 300), st.data())
@settings(max_examples=150, deadline=None)
def test_a_click_lands_in_the_cell_that_was_clicked(start: int, span: int, width: int, data: st.DataObject) -> None:
    window = EventWindow(start, start + span, width)
    cell = data.draw(st.integers(0, width - 1))
    place = window.place(cell)
    assert start <= place <= start + span
    if cell < width - 1 and span >= width:
        assert abs(window.cell(place) - cell) <= 1
    assert window.place(width - 1) == start + span


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(8, 200))
@settings(max_examples=100, deadline=None)
def test_cells_cover_every_event_once(start: int, span: int, width: int) -> None:
    edges = EventWindow(start, start + span, width).edges()
    assert (edges[0], edges[-1], len(edges)) == (start, start + span, width + 1)
    assert edges == sorted(edges)


@pytest.mark.parametrize(("series", "column"), [("frustration", "axis.frustration"), ("sleep", "sleep")])
@pytest.mark.parametrize("window", [EventWindow(0, 900, 90), EventWindow(200, 500, 60), EventWindow(10, 40, 100)])
def test_a_cell_is_as_high_as_its_highest_event(alone: Timeline, series: str, column: str, window: EventWindow) -> None:
    track = alone.tracks["main"]
    values = track.columns.column(column)
    edges = window.edges()
    for cell, height in enumerate(strip.heights(track, series, window)):
        inside = values[edges[cell] : edges[cell + 1]]
        if len(inside):
            assert float(height) >= float(inside.min())
            neighbours = values[max(0, edges[max(0, cell - 1)]) : edges[min(window.width, cell + 2)]]
            assert float(height) <= float(neighbours.max())


def test_with_several_agents_only_the_chosen_ones_events_count(together: Timeline) -> None:
    window = EventWindow(0, 900, 60)
    for agent, track in together.tracks.items():
        values = track.columns.column("axis.fatigue")
        edges = window.edges()
        last = 0.0
        for cell, height in enumerate(strip.heights(track, "fatigue", window)):
            mine = [row for row, index in enumerate(track.indexes) if edges[cell] <= index < edges[cell + 1]]
            expected = float(values[mine].max()) if mine else last
            assert float(height) == pytest.approx(expected), (agent, cell)
            last = float(values[mine[-1]]) if mine else last


def test_the_band_shows_every_stretch_of_being_stuck(together: Timeline) -> None:
    window = EventWindow(0, 900, 45)
    track = together.tracks["main"]
    codes = track.columns.column("state")
    edges = window.edges()
    drawn = strip.band(track, window)
    for cell, state in enumerate(drawn):
        mine = [row for row, index in enumerate(track.indexes) if edges[cell] <= index < edges[cell + 1]]
        states = [AGENT_STATES[int(codes[row])] for row in mine]
        if states:
            assert state == ("stuck" if "stuck" in states else states[-1])


@pytest.mark.parametrize(
    ("marks", "cells"),
    [
        ([(50, "shift", ""), (51, "halt", "")], {5: "■"}),
        ([(50, "halt", ""), (51, "prompt", "")], {5: "│", 6: "■"}),
        ([(50, "halt", ""), (51, "prompt", ""), (60, "shift", "")], {5: "│", 6: "◇"}),
        ([(50, "signal", "flow_active")], {5: "△"}),
        ([(50, "signal", "flow_active"), (51, "signal", "frustration_spike")], {5: "▲"}),
    ],
)
def test_a_prompt_is_never_hidden_and_good_signs_differ(
    marks: list[tuple[int, MarkKind, str]], cells: dict[int, str]
) -> None:
    window = EventWindow(0, 100, 10)
    drawn = strip.mark_cells([Mark(place, 0.0, "main", kind, name) for place, kind, name in marks], window)
    assert {cell: glyph for cell, (glyph, _) in drawn.items()} == cells


def test_the_legend_explains_as_many_marks_as_there_is_room_for() -> None:
    glyphs = frozenset("│▲△■~ ")
    assert legend(glyphs, 30) == "│ prompt  ▲ problem"
    assert legend(glyphs, 5) == ""
    assert "△ good sign" in legend(glyphs, 60) and "■ would halt" in legend(glyphs, 60)


def test_the_legend_explains_only_marks_that_are_there() -> None:
    assert legend(frozenset("▲~ "), 60) == "▲ problem  ~ regime"
    assert legend(frozenset(), 60) == ""


def test_a_long_silence_is_a_gap(alone: Timeline) -> None:
    window = EventWindow(0, 900, 90)
    silences = {place: later.at - earlier.at for place, (earlier, later) in enumerate(pairwise(alone.events), 1)}
    longest = max(silences.values())
    cells = {window.cell(place) for place, silence in silences.items() if silence == longest}
    assert strip.gaps(alone, window, longest) == cells
    assert strip.gaps(alone, window, longest + 1) == set()


def test_bookmarks_outside_the_window_are_not_drawn() -> None:
    assert strip.bookmarked([5, 55, 95], EventWindow(50, 90, 40)) == {5}


@pytest.mark.parametrize(("value", "cells"), [(0.0, " ▁"), (0.5, " █"), (1.0, "██"), (0.25, " ▄"), (0.75, "▄█")])
def test_a_curve_is_an_eighth_of_a_cell_fine(value: float, cells: str) -> None:
    assert "".join(row[0][0] for row in strip.bar_cells([round(16 * value)], 2, "flow", "▁")) == cells


def test_nothing_recorded_draws_nothing() -> None:
    window = EventWindow(0, 0, 20)
    assert strip.heights(None, "flow", window).tolist() == [0.0] * 20
    assert strip.band(None, window) == ["idle"] * 20


@pytest.mark.parametrize("series", ["activity", "frustration"])
def test_once_all_is_read_the_last_events_are_drawn_too(series: Series) -> None:
    events = list(session(600))
    growing = Timeline(Settings())
    growing.extend(events[:598])
    early, late = TimelineStrip(), TimelineStrip()
    for strip_ in (early, late):
        strip_.set_reactive(TimelineStrip.recording, growing)
        strip_.set_reactive(TimelineStrip.series, series)
    early.lines(replace(view_at(growing, 598), loading=0.99), 110, 5)
    growing.extend(events[598:])
    whole = view_at(growing, 600)
    assert whole.mode == "replay"
    assert early.lines(whole, 110, 5) == late.lines(whole, 110, 5)
    assert early._ground is not None and early._ground.window.stop == 600
