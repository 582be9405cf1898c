"""The sleep gauge: two bars, their forecasts, and the marks of the past."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bench.workload import session
from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import SIZES, PanelApp, check, recording, stuck, text, view_at
from tui.feed.view import View
from tui.widgets.main.sleep import SleepGauge


def _with(view: View, **more: Any) -> View:
    mind = replace(view.frame.mind, sleep=replace(view.frame.mind.sleep, **more))
    return replace(view, frame=replace(view.frame, mind=mind))


def _shown(view: View, width: int, height: int) -> str:
    panel = SleepGauge()
    panel.recording = recording()
    return text(panel.lines(view, width, height))


def test_both_gauges_and_forecasts() -> None:
    rows = _shown(stuck(), 60, 6).splitlines()
    assert rows[0].startswith("sleep") and rows[0].endswith("71%")
    assert rows[1] == "load 21/30 · dream in ~9 ticks, full in 11m 30s of work"
    assert rows[2].startswith("context") and rows[2].endswith("89%")
    assert rows[3] == "148.2k of 167.0k tokens · compaction in ~12 turns"
    assert rows[5] == "▽ 1 compaction  ◦ 2 dreams, the last 13m 20s ago"


def test_a_context_near_compaction_is_an_alert_in_words_and_colour() -> None:
    panel = SleepGauge()
    near = [ink for line in panel.lines(stuck(), 40, 4) for _, ink in line]
    far = [ink for line in panel.lines(_with(stuck(), context=0.4), 40, 4) for _, ink in line]
    assert "alert-tag" in near and "alert-tag" not in far
    assert text(panel.lines(stuck(), 40, 1)).startswith("context")
    assert text(panel.lines(_with(stuck(), context=0.4), 40, 1)).startswith("sleep")


def test_a_log_without_token_counts_says_so() -> None:
    view = _with(stuck(), context_tokens=0, context=0.0, turns_to_compaction=None)
    assert "not in this log" in _shown(view, 40, 6)
    assert "compaction would be at 167.0k" in _shown(view, 40, 6)


def test_a_context_past_the_point_promises_no_turns() -> None:
    view = _with(stuck(), context_tokens=177_600, context=1.0, turns_to_compaction=0)
    assert "177.6k of 167.0k tokens, past the compaction point" in _shown(view, 60, 6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"needed": True, "dream_ticks": 4}, "dream due in 4 ticks"),
        ({"ticks": None, "minutes": None, "dream_ticks": None}, "no dream expected"),
        ({"intensive": True}, "load 21/30, intensive · dream in ~9 ticks"),
    ],
)
def test_the_forecast_in_words(changes: dict[str, Any], words: str) -> None:
    assert words in _shown(_with(stuck(), **changes), 60, 6)


def test_past_compactions_and_dreams_stand_in_their_places() -> None:
    strip = _shown(stuck(), 60, 6).splitlines()[4]
    assert strip.index("▽") == 96 * 60 // 240
    assert strip.index("◦") == 160 * 60 // 240
    early = _shown(replace(stuck(), index=120), 60, 6).splitlines()[4]
    assert early.index("▽") == 96 * 60 // 120
    assert "◦" not in early


def test_curves_come_with_room() -> None:
    assert "so far" not in _shown(stuck(), 60, 6)
    assert "pressure so far" in _shown(stuck(), 60, 10)
    tall = _shown(stuck(), 60, 20)
    assert "pressure so far" in tall and "context so far" in tall


def test_details_list_the_dreams() -> None:
    panel = SleepGauge()
    panel.recording = recording()
    shown = text(panel.details(stuck(), 76, 22))
    assert "00:26:40 ◦ dream at 100%: 5 episodes compressed, 1 faded traces dropped" in shown
    assert "00:16:00 ◦ dream after a compaction: 11 episodes compressed" in shown


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("index", [0, 1, 40, 299])
def test_nothing_is_clipped_on_a_busy_session(width: int, height: int, index: int) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(300))
    panel = SleepGauge()
    panel.recording = timeline
    view = view_at(timeline, index)
    check(panel.lines(view, width, height), width, height)
    check(panel.details(view, width, height), width, max(height, 8))


async def test_it_draws_and_zooms() -> None:
    app = PanelApp(SleepGauge(), stuck(), recording(), size=(60, 12))
    async with app.run_test(size=(60, 12)) as pilot:
        assert "89%" in app.seen()
        await pilot.press("enter")
        await pilot.pause()
        assert app.zoomed == [app.panel]
