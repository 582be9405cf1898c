"""The sleep pressure keeps its place beside the context, with what it leads to, however narrow the header."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.tui.panel_app import stuck
from tui.widgets.common.header import StatusHeader, dream_words


@pytest.mark.parametrize("width", [74, 76, 78, 118, 198])
@pytest.mark.parametrize("turns", [12, 269])
@pytest.mark.parametrize("others", [0, 1])
def test_sleep_pressure_is_always_shown(width: int, turns: int, others: int) -> None:
    view = stuck()
    sleep = replace(view.frame.mind.sleep, context=0.06, turns_to_compaction=turns)
    frame = replace(view.frame, mind=replace(view.frame.mind, sleep=sleep))
    subject = replace(view.subject, project="/p/spotter-fum", model="claude-opus-4-6", title="")
    view = replace(view, frame=frame, subject=subject, mode="replay", playing=True, others=others, notice="", edge=None)
    (pieces,) = StatusHeader().lines(view, width, 1)
    text = "".join(piece for piece, _ in pieces)
    assert "context" in text and "sleep " in text, text
    assert "dream in ~9 ticks" in text or (others and ", dream ~9" in text), text
    assert others or width > 78 or "sleep ━" in text, text


@pytest.mark.parametrize(
    ("ticks", "long", "brief"), [(None, "", ""), (0, "dreaming", "dreaming"), (1, "dream in ~1 tick", "dream ~1")]
)
def test_what_the_sleep_pressure_leads_to(ticks: int | None, long: str, brief: str) -> None:
    sleep = replace(stuck().frame.mind.sleep, dream_ticks=ticks)
    assert (dream_words(sleep), dream_words(sleep, brief=True)) == (long, brief)


def test_the_share_is_shown_where_it_fits_exactly() -> None:
    view = stuck()
    view = replace(view, subject=replace(view.subject, project="/p/a", model="", title=""), mode="replay", others=0)

    def line(width: int) -> str:
        (pieces,) = StatusHeader().lines(view, width, 1)
        return "".join(piece for piece, _ in pieces)

    share = f" {view.frame.mind.sleep.pressure:.0%}, dream in"
    shown = [width for width in range(50, 79) if share in line(width)]
    assert shown and "  context" in line(shown[0]) and "   " not in line(shown[0]), line(shown[0])
