"""The feed: order, cursor, and the way to an event."""

from __future__ import annotations

import pytest
from msgspec.structs import asdict, replace

from bench.workload import session
from core.engine.percept import SIGNALS
from core.events import ToolUse
from core.report.event_words import CAUSE_WORDS
from core.settings import Settings
from core.settings.receptor import ImpulseSettings
from core.timeline.marks import MARK_KINDS, Mark
from core.timeline.timeline import Timeline
from tests.tui.panel_app import MARKS, SIZES, START, PanelApp, check, recording, stuck, text, view_at
from tui.draw.line import STYLES
from tui.widgets.common.timeline_cells import mark_amount, mark_glyph, mark_reason, mark_style, mark_text
from tui.widgets.main.signals import FEED_KINDS, SignalFeed

SHOWN = [place for place, kind, _, _ in MARKS if kind in FEED_KINDS]


def _rows(panel: SignalFeed, width: int = 50, height: int = 40, index: int = 240) -> list[str]:
    """The first line of each entry."""
    lines = text(panel.lines(replace(stuck(), index=index), width, height)).splitlines()
    return [line for line in lines if not line.startswith("  ")]


@pytest.mark.parametrize(("width", "height", "told"), [(36, 6, True), (35, 6, False), (36, 5, False)])
def test_a_second_line_tells_trigger_and_advice_where_there_is_room(width: int, height: int, told: bool) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(600))
    panel = SignalFeed()
    panel.recording = timeline
    lines = text(panel.lines(view_at(timeline, 599), width, height)).splitlines()
    assert any(line.startswith("  ") for line in lines) is told


def test_the_trigger_is_the_value_against_its_threshold() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(600))
    mark = next(mark for mark in timeline.marks if mark.name == "frustration_spike")
    track = timeline.tracks[mark.agent]
    row = track.row(mark.place)
    value, limit = (track.columns.value(f"{name}.frustration", row) for name in ("axis", "threshold"))
    assert value >= limit
    said = mark_reason(mark, timeline)
    assert said.endswith(f"frustration {value:.2f}, fires at {limit:.2f}".replace("0.", "."))
    assert "(x)" in said


def test_a_signal_names_only_causes_that_happened() -> None:
    uses = [ToolUse(at=5.0 * number, tool="Bash", action="shell_exec", outcome="success") for number in range(6)]
    timeline = Timeline(Settings())
    timeline.extend(uses)
    [mark] = [mark for mark in timeline.marks if mark.name == "confidence_sustained"]
    assert mark.causes[0] == ("shell_success", mark.place + 1)
    said = mark_reason(mark, timeline)
    assert f"{mark.place + 1} passing commands" in said
    assert "edit" not in said and "commit" not in said


def test_every_impulse_that_can_be_a_cause_has_words() -> None:
    impulses = {name: asdict(row) for name, row in asdict(ImpulseSettings()).items() if name != "fatigue_per_hour"}
    rising = {name for name, row in impulses.items() if any(amount > 0 for amount in row.values())}
    assert set(CAUSE_WORDS) == {*rising, "earlier_acts"}


def _feed() -> SignalFeed:
    panel = SignalFeed()
    panel.recording = recording()
    return panel


def test_newest_first_in_plain_words() -> None:
    rows = _rows(_feed())
    assert rows[0].startswith("00:39:20 ▲ stuck and searching") and rows[0].endswith("+.26")
    assert rows[1].startswith("00:38:20 ◆ warns: failures") and rows[1].endswith("+.31")
    assert rows[2].startswith("00:36:50 ■ would halt: makes no progress")
    assert rows[3].endswith("▣ affect leaves quarantine")
    assert "▽ compaction, auto" in rows[6] and rows[6].endswith("166.4k")
    assert rows[7].endswith("◇ context shift")
    assert len(rows) == len(SHOWN)


def test_nothing_later_than_the_playhead() -> None:
    assert _rows(_feed(), index=231)[0].startswith("00:38:20 ◆")
    assert _rows(_feed(), index=230)[0].startswith("00:36:50 ■")
    assert _rows(_feed(), index=3) == ["nothing fired so far"]


def test_marks_that_come_later_are_taken_in() -> None:
    panel = _feed()
    assert len(_rows(panel)) == len(SHOWN)
    assert panel.recording is not None
    panel.recording.marks.adopt([*panel.recording.marks, Mark(239, START + 2390, "main", "halt", "SAFETY", 3.0)])
    assert "explores too far" in _rows(panel)[0]
    panel.recording = recording(MARKS[:2])
    assert len(_rows(panel)) == 1


def test_an_agent_not_shown_is_named() -> None:
    panel = _feed()
    assert panel.recording is not None
    other = Mark(239, START + 2390, "explorer", "signal", "fatigue_rising", 0.1)
    panel.recording.marks.adopt([*panel.recording.marks, other])
    assert "fatigue · explorer" in _rows(panel)[0]
    panel.everyone = False
    assert "stuck and searching" in _rows(panel)[0]


def test_text_of_a_log_cannot_draw() -> None:
    assert mark_text(Mark(0, 0.0, "main", "method", "\x1b[2J[red]x", 0.0)) == " [2J[red]x"


@pytest.mark.parametrize("kind", MARK_KINDS)
def test_every_kind_of_mark_has_a_face(kind: str) -> None:
    for name in SIGNALS if kind == "signal" else ("enters",):
        mark = Mark(0, 0.0, "main", kind, name, 12.0)  # type: ignore[arg-type]
        assert len(mark_glyph(mark)) == 1 and mark_style(mark) in STYLES and mark_text(mark)
        assert len(mark_amount(mark)) <= 8


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("detailed", [False, True])
def test_nothing_is_clipped_on_a_busy_session(width: int, height: int, detailed: bool) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(600, agents=3))
    panel = SignalFeed()
    panel.recording = timeline
    panel.detailed = detailed
    check(panel.lines(view_at(timeline, 599), max(width, 60) if detailed else width, height), max(width, 60), height)


async def test_enter_takes_the_playhead_to_the_entry() -> None:
    app = PanelApp(_feed(), stuck(), recording())
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("enter")
        await pilot.press("down", "down", "enter")
        await pilot.press("down", "up", "enter")
        await pilot.press("pagedown", "enter", "up", "enter")
        await pilot.pause()
        newest = [place + 1 for place in reversed(SHOWN)]
        assert app.sought == [newest[0], newest[2], newest[0], newest[-1], newest[0]]


async def test_enter_goes_to_the_agent_whose_entry_it_is() -> None:
    past = recording()
    past.marks.adopt([*past.marks, Mark(239, START + 2390, "explorer", "signal", "fatigue_rising", 0.1)])
    app = PanelApp(SignalFeed(), stuck(), past)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("enter", "down", "enter")
        await pilot.pause()
        assert app.sought == [240, 237]
        assert app.agents == ["explorer", "main"]


async def test_the_cursor_stays_on_its_entry_while_others_come() -> None:
    past = recording()
    app = PanelApp(SignalFeed(), replace(stuck(), index=231), past)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("down")
        assert app.panel.border_subtitle == "2 of 9"
        app.panel.view = stuck()
        await pilot.pause()
        assert app.panel.border_subtitle == "3 of 10"
        await pilot.press("enter")
        await pilot.pause()
        assert app.sought == [222]
        assert "stuck and searching" in app.seen().splitlines()[0]


async def test_a_long_feed_scrolls_with_the_cursor() -> None:
    app = PanelApp(_feed(), stuck(), recording(), size=(60, 6))
    async with app.run_test(size=(60, 6)) as pilot:
        assert "would halt" in app.seen()
        await pilot.press("pagedown")
        await pilot.pause()
        assert "would halt" not in app.seen()
        assert "confidence" in app.seen().splitlines()[3]


async def test_unattended_it_shows_the_newest_again() -> None:
    app = PanelApp(_feed(), stuck(), recording(), size=(60, 6))
    async with app.run_test(size=(60, 6)) as pilot:
        await pilot.press("pagedown")
        app.screen.set_focus(None)
        await pilot.pause()
        assert "stuck and searching" in app.seen().splitlines()[0]


async def test_the_mouse_chooses_goes_and_scrolls() -> None:
    app = PanelApp(_feed(), stuck(), recording())
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.click(SignalFeed, offset=(10, 5))
        assert app.panel.border_subtitle == "3 of 10"
        assert app.sought == []
        await pilot.click(SignalFeed, offset=(10, 3), times=2)
        await pilot.pause()
        assert app.sought == [231]
        await pilot._post_mouse_events([_scroll()], SignalFeed, offset=(10, 3))
        await pilot.pause()
        assert app.panel.border_subtitle == "4 of 10"


def _scroll() -> type:
    from textual.events import MouseScrollDown

    return MouseScrollDown


async def test_keys_for_agents_and_zoom() -> None:
    app = PanelApp(_feed(), stuck(), recording())
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("v", "z")
        await pilot.pause()
        assert isinstance(app.panel, SignalFeed) and not app.panel.everyone
        assert app.zoomed == [app.panel]


async def test_an_empty_feed_takes_keys_calmly() -> None:
    app = PanelApp(SignalFeed(), stuck(), None)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("down", "enter", "pageup")
        await pilot.pause()
        assert app.sought == []
        assert "nothing fired so far" in app.seen()
