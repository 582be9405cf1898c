"""The neuron triangle: what lights, what acts, what was fired last."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bench.workload import session
from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import SIZES, PanelApp, check, flowing, recording, stuck, text, view_at
from tui.draw.line import Canvas, Line
from tui.feed.view import View
from tui.widgets.main.triangle import Fired, NeuronTriangle, neurons

EDGE = "⠀"


def _made(view: View, width: int, height: int) -> list[Line]:
    panel = NeuronTriangle()
    panel.recording = recording()
    return panel.lines(view, width, height)


def _dots(lines: list[Line], ink: str) -> int:
    return sum(1 for line in lines for piece, used in line if used == ink for char in piece if char > EDGE)


@pytest.mark.parametrize(("width", "height"), [(30, 7), (44, 9), (60, 14)])
def test_suppression_lights_only_while_a_fires(width: int, height: int) -> None:
    lit, dark = _made(flowing(), width, height), _made(stuck(), width, height)
    assert _dots(lit, "flow") > 0
    assert _dots(dark, "flow") == 0
    assert "muted by A" in text(lit) and "muted" not in text(dark)


@pytest.mark.parametrize(("width", "height"), [(30, 7), (44, 9), (60, 14)])
def test_the_field_edge_lights_only_while_c_bends(width: int, height: int) -> None:
    lit, dark = _made(stuck(), width, height), _made(flowing(), width, height)
    assert "◀━" in text(lit) and "◀" not in text(dark)
    assert "┄┄" in text(dark)
    assert "seek -.09" in text(lit)


def test_margins_to_the_thresholds_are_told() -> None:
    shown = text(_made(stuck(), 60, 14))
    assert "● frust  .26 above" in shown
    assert "○ seek   .07 below" in shown
    assert "○ .37 below" in shown
    assert "stuck" in shown
    assert "frust 55%" in shown


def test_c_is_told_to_be_what_the_header_says() -> None:
    view = stuck()
    frame = replace(view.frame, story=replace(view.frame.story, state="exploring"))
    for width, height in ((24, 4), (44, 9), (60, 14)):
        shown = text(_made(replace(view, frame=frame), width, height))
        assert "exploring" in shown and "◉ stuck" not in shown


def test_the_smallest_panel_names_all_three() -> None:
    rows = text(_made(stuck(), 24, 4)).splitlines()
    assert rows[0].startswith("A ○ .37 below")
    assert rows[1].startswith("B ● frust  .26 above")
    assert rows[2].startswith("C ◉ stuck")
    assert "40s ago" in rows[3]


def test_the_newest_firing_glows_by_events_or_by_time() -> None:
    past = recording()
    now = stuck()
    fresh = neurons(now, past).fired
    assert fresh is not None and (fresh.events, fresh.glows) == (3, True)
    late = neurons(replace(now, index=300, at=now.at + 600.0), past).fired
    assert late is not None and (late.events, late.glows) == (63, False)
    soon = neurons(replace(now, index=300, at=now.at - 20.0), past).fired
    assert soon is not None and soon.glows
    before = neurons(replace(now, index=236), past).fired
    assert before is not None and before.name == "seeking_spike"
    assert neurons(replace(now, index=20), past).fired is None


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "flow begins, just now"), (29.9, "flow begins, just now"), (30.0, "flow begins, 30s ago")],
)
def test_the_last_event_is_just_now_only_as_long_as_it_is(seconds: float, told: str) -> None:
    """A session that rests for months at its last event fired nothing just now."""
    assert Fired("flow_active", "flow", 0, seconds).words(40) == told
    assert Fired("flow_active", "flow", 0, 217 * 86_400.0).words(40) == "flow begins, 217d ago"
    assert Fired("flow_active", "flow", 0, 86_400.0).words(12) == "flow, 1d ago"


def test_a_glow_is_drawn_on_the_node_that_fired() -> None:
    inks = {ink for line in _made(stuck(), 60, 14) for _, ink in line}
    assert "frustration-tag" in inks and "flow-tag" not in inks
    inks = {ink for line in _made(flowing(), 60, 14) for _, ink in line}
    assert "flow-tag" in inks


def test_without_a_recording_only_the_frame_speaks() -> None:
    panel = NeuronTriangle()
    assert "nothing has fired lately" in text(panel.lines(stuck(), 60, 14))


def test_details_say_who_acts_on_whom() -> None:
    panel = NeuronTriangle()
    panel.recording = recording()
    shown = text(panel.details(stuck(), 116, 38))
    assert "C lowers the threshold of seeking by 0.09." in shown
    assert "A does not fire: flow is 0.37 below its threshold." in shown
    assert "A fires, so B is muted" in text(panel.details(flowing(), 116, 38))
    assert "C does not change B's thresholds." in text(panel.details(flowing(), 116, 38))


def test_the_field_never_reaches_the_last_line() -> None:
    panel = NeuronTriangle()
    panel.recording = recording()
    for height in range(12, 21):
        lines = panel.lines(stuck(), 76, height)
        assert "ago" in text(lines[-1:]) and "+." not in text(lines[-1:]) and "-." not in text(lines[-1:])


def test_a_line_of_dots_joins_its_ends() -> None:
    canvas = Canvas(6, 3)
    canvas.stroke((0.0, 0.0), (5.5, 2.75), "flow")
    rows = text(canvas.lines()).splitlines()
    assert rows[0][0] == "⠉" or rows[0][0] > EDGE
    assert rows[2][5] > EDGE
    canvas.put(-2, 0, "abcd")
    assert text(canvas.lines()).startswith("cd")


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("index", [0, 1, 40, 299])
def test_nothing_is_clipped_on_a_busy_session(width: int, height: int, index: int) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(300))
    panel = NeuronTriangle()
    panel.recording = timeline
    view = view_at(timeline, index)
    check(panel.lines(view, width, height), width, height)
    check(panel.details(view, width, height), width, height)


async def test_it_draws_and_zooms() -> None:
    app = PanelApp(NeuronTriangle(), stuck(), recording(), size=(60, 16))
    async with app.run_test(size=(60, 16)) as pilot:
        assert "A flow gate" in app.seen() and "C meta" in app.seen()
        await pilot.press("enter")
        await pilot.pause()
        assert app.zoomed == [app.panel]
