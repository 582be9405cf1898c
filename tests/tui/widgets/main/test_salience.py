"""The salience queue: order, terms, ages, and what is empty."""

from __future__ import annotations

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from bench.workload import session
from core.settings import Settings
from core.timeline.timeline import Timeline
from tests.tui.panel_app import SIZES, PanelApp, check, flowing, item, recording, stuck, text, view_at
from tui.draw.line import Line
from tui.widgets.main.signals import KINDS, SalienceQueue


def _cells(line: Line, glyph: str) -> int:
    return sum(piece.count(glyph) for piece, _ in line)


def test_a_row_has_score_kind_what_count_and_age() -> None:
    rows = text(SalienceQueue().lines(stuck(), 60, 5)).splitlines()
    assert rows[0].startswith(".83 ")
    assert "▲ anomaly pytest failed x4" in rows[0]
    assert rows[0].endswith("+2 12s")
    assert "› person  prompt, 41 tokens" in rows[1]
    assert rows[-1] == "4 more waiting"


def test_the_bar_is_the_three_terms_of_what_is_left() -> None:
    """Of .88 on arrival, .83 are left: .2 novelty, .58 relevance and .1 urgency, all faded alike."""
    row = SalienceQueue().lines(stuck(), 116, 4)[0]
    full, left = 23, 0.83 / 0.88 / 0.88
    reached = [round(full * left * part) for part in (0.2, 0.78, 0.88)]
    assert _cells(row, "▆") == reached[0]
    assert _cells(row, "▄") == reached[1] - reached[0]
    assert _cells(row, "▂") == reached[2] - reached[1]
    assert _cells(row, "▁") == full - reached[2]


def test_terms_come_with_room_below() -> None:
    narrow = text(SalienceQueue().lines(stuck(), 36, 7)).splitlines()
    assert narrow[1] == "  new .20  matters .58  urgent .10"
    assert "new .20" not in text(SalienceQueue().lines(stuck(), 36, 5))
    assert "new .20" not in text(SalienceQueue().lines(stuck(), 30, 9))


def test_promoted_ones_are_strong() -> None:
    made = SalienceQueue().lines(stuck(), 60, 5)
    assert made[0][0] == (".83 ", "strong")
    assert made[2][0] == (".12 ", "quiet")


def test_time_to_expiry_comes_with_room() -> None:
    assert "left" not in text(SalienceQueue().lines(stuck(), 60, 8))
    wide = text(SalienceQueue().lines(stuck(), 80, 8)).splitlines()
    assert wide[0].endswith("12s   4m 48s left")


def test_expiry_follows_the_settings_in_force_at_the_playhead() -> None:
    panel = SalienceQueue()
    past = recording()
    settings = to_builtins(past.settings)
    settings["mind"]["salience"]["expiry"] = 600.0
    past.changes.append(past.changes[0]._replace(after=100, settings=Settings.parse(settings)))
    panel.recording = past
    assert "9m 48s left" in text(panel.lines(stuck(), 80, 8))
    assert "4m 48s left" in text(panel.lines(replace(stuck(), index=99), 80, 8))


def test_details_give_the_sum() -> None:
    shown = text(SalienceQueue().details(stuck(), 76, 22))
    assert "new .20 + matters .58 + urgent .10 = .88, now .83" in shown
    assert "streak, arrived at 00:33:20, promoted, dropped in 4m 48s" in shown
    assert "9 waiting, 4 of them not shown" in shown


def test_an_empty_queue_says_so() -> None:
    panel = SalienceQueue()
    assert text(panel.lines(flowing(), 40, 6)) == "nothing needs attention"
    assert text(panel.details(flowing(), 40, 6)) == "nothing needs attention"


def test_text_of_a_log_cannot_draw() -> None:
    view = stuck()
    sly = item(0.5, 0.7, "anomaly", "\x1b[31mred\n[bold]x", 5.0)
    mind = replace(view.frame.mind, salience=(sly,))
    shown = text(SalienceQueue().lines(replace(view, frame=replace(view.frame, mind=mind)), 60, 6))
    assert "\x1b" not in shown and "[31mred [bold]x" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_face(kind: str) -> None:
    view = stuck()
    mind = replace(view.frame.mind, salience=(item(0.5, 0.7, kind, "it", 5.0),))
    shown = text(SalienceQueue().lines(replace(view, frame=replace(view.frame, mind=mind)), 60, 6))
    assert KINDS[kind][0] in shown and KINDS[kind][1] in shown  # type: ignore[index]


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("index", [0, 1, 40, 299])
def test_nothing_is_clipped_on_a_busy_session(width: int, height: int, index: int) -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(300))
    panel = SalienceQueue()
    panel.recording = timeline
    view = view_at(timeline, index)
    check(panel.lines(view, width, max(6, height)), width, max(6, height))
    check(panel.details(view, max(64, width), height), max(64, width), height)


async def test_the_legend_stands_on_the_edge() -> None:
    app = PanelApp(SalienceQueue(), stuck(), recording())
    async with app.run_test(size=(60, 12)):
        assert app.panel.border_subtitle == "▆ new ▄ matters ▂ urgent"
        assert "pytest failed" in app.seen()
