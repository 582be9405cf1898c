"""The context: its bar, its forecast, what to do, and the marks of the past."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from bench.workload import session
from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import SIZES, PanelApp, check, recording, stuck, text, view_at
from tui.feed.view import View
from tui.widgets.main import context
from tui.widgets.main.context import ContextPanel, advice, advice_line


def _with(view: View, **more: Any) -> View:
    mind = replace(view.frame.mind, sleep=replace(view.frame.mind.sleep, **more))
    return replace(view, frame=replace(view.frame, mind=mind))


def _shown(view: View, width: int, height: int) -> str:
    panel = ContextPanel()
    panel.recording = recording()
    return text(panel.lines(view, width, height))


def test_bar_forecast_and_advice() -> None:
    rows = _shown(stuck(), 68, 7).splitlines()
    sleep = stuck().frame.mind.sleep
    assert rows[0].startswith("sleep") and f"{sleep.pressure:.0%} · dream in ~{sleep.dream_ticks} tick" in rows[0]
    assert rows[1].startswith("context") and rows[1].endswith("89%")
    assert rows[2] == "148.2k of 167.0k tokens · compaction in ~12 turns"
    assert rows[3].rstrip() == "compaction is near: have it write down what matters"
    assert rows[5].startswith("▽ 1 compaction, the last ")


@pytest.mark.parametrize(
    ("ticks", "pressure", "width", "words"),
    [
        (25, 0.34, 40, "34% · dream in ~25 ticks"),
        (1, 0.97, 40, "97% · dream in ~1 tick"),
        (None, 0.34, 40, "34%"),
        (0, 1.0, 40, "100% · dreaming"),
        (25, 0.34, 30, "dream in ~25 ticks"),
    ],
)
def test_the_sleep_gauge_says_what_it_leads_to(ticks: int | None, pressure: float, width: int, words: str) -> None:
    sleep = replace(stuck().frame.mind.sleep, dream_ticks=ticks, pressure=pressure)
    lines = context.sleep_lines(sleep, width)
    assert text(lines).rstrip().endswith(words)
    check(lines, width, 2)


@pytest.mark.parametrize(
    ("context", "words"),
    [(0.49, "plenty of room"), (0.5, "after the next commit"), (0.849, "after the next"), (0.85, "compaction is near")],
)
def test_advice_by_how_full_it_is(context: float, words: str) -> None:
    assert words in advice(_with(stuck(), context=context))


def test_a_context_near_compaction_is_an_alert_in_words_and_colour() -> None:
    panel = ContextPanel()
    near = [ink for line in panel.lines(stuck(), 40, 5) for _, ink in line]
    far = [ink for line in panel.lines(_with(stuck(), context=0.4), 40, 5) for _, ink in line]
    assert "alert-tag" in near and "alert-tag" not in far
    assert "context" in text(panel.lines(stuck(), 40, 2))


def test_a_log_without_token_counts_says_so() -> None:
    view = _with(stuck(), context_tokens=0, context=0.0, turns_to_compaction=None, compactions=0)
    assert "size not reported yet" in _shown(view, 50, 7) and "no token counts yet" in _shown(view, 50, 7)
    view = replace(view, subject=replace(view.subject, untold=("tokens",)))
    assert "not in this log" in _shown(view, 50, 7) and "this log has no token counts" in _shown(view, 50, 7)
    assert "compaction would be at 167.0k" in _shown(view, 40, 6)


def test_a_context_just_cut_is_not_called_unknown() -> None:
    view = _with(stuck(), context_tokens=0, context=0.0, turns_to_compaction=None, compactions=1)
    shown = _shown(view, 40, 6)
    assert "just compacted" in shown and "check that it still knows what was open" in shown
    assert "not in this log" not in shown


def test_a_context_past_the_point_promises_no_turns() -> None:
    view = _with(stuck(), context_tokens=177_600, context=1.0, turns_to_compaction=0)
    assert "177.6k of 167.0k tokens, past the compaction point" in _shown(view, 60, 6)


def test_past_compactions_stand_in_their_places() -> None:
    strip = _shown(stuck(), 60, 7).splitlines()[4]
    assert strip.index("▽") == 96 * 60 // 240 and "◦" not in strip
    early = _shown(replace(stuck(), index=120), 60, 7).splitlines()[4]
    assert early.index("▽") == 96 * 60 // 120


def test_the_curve_comes_with_room() -> None:
    assert "so far" not in _shown(stuck(), 60, 6)
    assert "context so far" in _shown(stuck(), 60, 11)


@pytest.mark.parametrize("height", range(6, 16))
def test_a_curve_without_room_leaves_no_caption_behind(height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [f"open: call {number}" for number in range(4)]
    monkeypatch.setattr(context, "preserved_lines", lambda _: kept)
    view = replace(stuck(), preserved=SimpleNamespace(at=stuck().at))
    rows = _shown(view, 60, height).splitlines()
    assert len(rows) <= height
    if any("context so far" in row for row in rows):
        after = rows[[row.startswith("context so far") for row in rows].index(True) + 1]
        assert not after.startswith("─"), rows


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("index", [0, 1, 40, 299])
def test_nothing_is_clipped_on_a_busy_session(width: int, height: int, index: int) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(300))
    panel = ContextPanel()
    panel.recording = timeline
    view = view_at(timeline, index)
    check(panel.lines(view, width, height), width, height)
    check(panel.details(view, width, height), width, max(height, 8))


async def test_it_draws_and_zooms() -> None:
    app = PanelApp(ContextPanel(), stuck(), recording(), size=(60, 12))
    async with app.run_test(size=(60, 12)) as pilot:
        assert "89%" in app.seen()
        await pilot.press("enter")
        await pilot.pause()
        assert app.zoomed == [app.panel]


@pytest.mark.parametrize(
    ("tokens", "words", "ink"),
    [
        (83_000, "plenty of room", "plain"),
        (84_000, "plenty of room, unless its window is 200k", "plain"),
        (141_900, "plenty of room, unless its window is 200k", "plain"),
        (142_000, "if its window is 200k it compacts now: have it write down what matters", "alert"),
        (200_000, "if its window is 200k it compacts now: have it write down what matters", "alert"),
        (200_001, "plenty of room", "plain"),
    ],
)
def test_a_large_window_that_the_log_does_not_tell_is_no_all_clear(tokens: int, words: str, ink: str) -> None:
    large = _with(stuck(), context_tokens=tokens, compaction_point=920_000, context=tokens / 920_000)
    (line,) = advice_line(replace(large, subject=replace(large.subject, tool="claude-code")), 80)
    assert (line[0].rstrip(), line[1]) == (words, ink)


@pytest.mark.parametrize("change", ["tool", "point"])
def test_a_window_that_is_known_needs_no_such_word(change: str) -> None:
    point = 167_000 if change == "point" else 920_000
    view = _with(stuck(), context_tokens=160_000, compaction_point=point, context=0.2)
    tool = "codex" if change == "tool" else "claude-code"
    told = replace(view, subject=replace(view.subject, tool=tool))
    assert text([advice_line(told, 80)]).rstrip() == "plenty of room"
