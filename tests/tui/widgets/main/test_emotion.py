"""The emotion panel: what it shows of an axis, at every size."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bench.workload import session
from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import SIZES, PanelApp, axis, check, recording, stuck, text, view_at
from tui.draw.line import area, meter, sparkline, stack
from tui.feed.view import View
from tui.widgets.common.card import curves
from tui.widgets.main.emotion import EmotionAxes


def _with(view: View, *axes: object) -> View:
    receptor = replace(view.frame.receptor, axes=tuple(axes))
    return replace(view, frame=replace(view.frame, receptor=receptor))


def _lines(view: View, width: int, height: int, *, past: bool = False) -> str:
    panel = EmotionAxes()
    if past:
        panel.recording = recording()
    return text(panel.lines(view, width, height))


def test_a_row_says_value_trend_and_firing() -> None:
    rows = _lines(stuck(), 60, 6).splitlines()
    assert rows[0].startswith("frustration") and rows[0].rstrip().endswith(".71 ▲●")
    assert rows[1].startswith("seeking") and rows[1].rstrip().endswith(".34 ▼○2")
    assert rows[3].startswith("fatigue") and rows[3].rstrip().endswith(".22")


def test_the_bar_and_its_marks_stand_in_proportion() -> None:
    line = meter(0.5, 20, "flow", ((0.75, "│", "threshold"),))
    cells = "".join(piece for piece, _ in line)
    assert cells[15] == "│"
    assert sum(len(piece) for piece, ink in line if ink == "flow") == 10
    assert "".join(p for p, ink in meter(0.525, 20, "flow") if ink == "flow") == "▄" * 10 + "▖"


def test_the_baseline_is_a_bump_in_the_ink_of_what_it_stands_on() -> None:
    inside = EmotionAxes().lines(_with(stuck(), axis("flow", 0.9, 0.95, 0.3)), 60, 6)[0]
    beyond = EmotionAxes().lines(_with(stuck(), axis("flow", 0.1, 0.95, 0.6)), 60, 6)[0]
    assert any("▟" in piece and ink == "flow" for piece, ink in inside)
    assert any(piece == "▟" and ink == "baseline" for piece, ink in beyond)


def test_curves_come_where_there_is_room() -> None:
    assert "30m" not in _lines(stuck(), 60, 6, past=True)
    assert _lines(stuck(), 60, 7, past=True).splitlines()[-1].startswith("frustration")
    tall = _lines(stuck(), 60, 12, past=True).splitlines()
    assert tall[1].startswith("fires .45") and tall[1].rstrip().endswith("30m")
    assert set(tall[1]) & set("▂▃▄▅▆▇█")


def test_a_curve_ends_with_the_value_shown_and_never_looks_past_the_playhead() -> None:
    track = recording().tracks["main"]
    whole = curves(track, ["axis.flow"], 240, 0.0, 2400.0, 24)[0]
    half = curves(track, ["axis.flow"], 120, 0.0, 2400.0, 24)[0]
    assert half[:12] == whole[:12]
    assert len(set(half[12:])) == 1
    assert curves(track, ["axis.flow", "sleep"], 0, 0.0, 2400.0, 4) == [[None] * 4] * 2
    early = curves(track, ["axis.flow"], 10, -1000.0, 100.0, 11)[0]
    assert early[:10] == [None] * 10 and early[10] is not None


def test_a_step_without_an_event_repeats_the_one_before() -> None:
    track = recording().tracks["main"]
    fine = curves(track, ["sleep"], 3, 0.0, 30.0, 6)[0]
    assert fine == pytest.approx([0.0, 0.0, 1 / 160, 1 / 160, 2 / 160, 2 / 160])
    late = curves(track, ["sleep"], 4, 25.0, 45.0, 4)[0]
    assert late == pytest.approx([2 / 160, 3 / 160, 3 / 160, 3 / 160])


def test_firing_axes_are_kept_where_not_all_fit() -> None:
    calm = [axis(name, 0.1, 0.5, 0.2) for name in ("frustration", "seeking", "confidence", "fatigue", "flow")]
    sixth = axis("uncertainty", 0.6, 0.5, 0.2, firing=True, release=3)
    assert "uncertainty" in _lines(_with(stuck(), *calm, sixth), 40, 5)
    assert "uncertainty" not in _lines(_with(stuck(), *calm, axis("uncertainty", 0.1, 0.5, 0.2)), 40, 5)
    assert "uncert" in _lines(_with(stuck(), *calm, sixth), 24, 1)


def test_details_say_why_and_name_the_three_terms() -> None:
    panel = EmotionAxes()
    panel.recording = recording()
    shown = text(panel.details(stuck(), 116, 38))
    assert "fires at .45 = normal .31 + offset .20 - field .06" in shown
    assert "+.43 shell failure x2" in shown
    assert "+.24 trial and error" in shown
    assert "-.02 shell success" in shown
    assert "+.06 all before" in shown


def test_details_say_when_a_bound_holds_the_threshold() -> None:
    low = axis("flow", 0.0, 0.25, 0.0, offset=0.2)
    high = axis("confidence", 0.0, 0.85, 1.0, offset=0.25)
    shown = text(EmotionAxes().details(_with(stuck(), low, high), 60, 12))
    assert "at .25, the minimum:" in shown
    assert "at .85, the maximum:" in shown


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("index", [0, 1, 40, 399])
def test_nothing_is_clipped_on_a_busy_session(width: int, height: int, index: int) -> None:
    timeline = _busy()
    panel = EmotionAxes()
    panel.recording = timeline
    view = view_at(timeline, index)
    check(panel.lines(view, width, height), width, height)
    check(panel.details(view, width, height), width, max(height, 12))


_MADE: list[Timeline] = []


def _busy() -> Timeline:
    if not _MADE:
        _MADE.append(Timeline(Settings()))
        _MADE[0].extend(session(400))
    return _MADE[0]


def test_stacks_and_areas_keep_their_sums() -> None:
    cells = "".join(piece for piece, _ in stack([(0.25, "▆", "flow"), (0.5, "▄", "seeking")], 8))
    assert cells == "▆▆▄▄▄▄  "
    assert sparkline([0.0, 1.0, None, 0.5]) == "▁█ ▄"
    assert area([1.0, 0.5, 0.0, None], 2) == ["█   ", "██▁ "]


async def test_an_empty_panel_says_so() -> None:
    app = PanelApp(EmotionAxes(), None)
    async with app.run_test(size=(60, 12)):
        assert "waiting for the first event" in app.seen()


async def test_enter_asks_for_the_whole_screen() -> None:
    app = PanelApp(EmotionAxes(), stuck(), recording())
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert app.zoomed == [app.panel]
        assert "frustration" in app.seen()


async def test_a_new_view_is_drawn_and_details_come_with_the_zoom() -> None:
    app = PanelApp(EmotionAxes(), stuck(), recording(), size=(80, 24))
    async with app.run_test(size=(80, 24)) as pilot:
        assert ".71" in app.seen() and "shell failure" not in app.seen()
        app.panel.detailed = True
        await pilot.pause()
        assert "shell failure x2" in app.seen()
        app.panel.view = _with(stuck(), axis("flow", 0.33, 0.5, 0.2))
        await pilot.pause()
        assert ".33" in app.seen() and ".71" not in app.seen()
