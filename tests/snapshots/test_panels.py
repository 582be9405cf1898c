"""Pictures of every instrument as it stands in the small and the large layout, by night and by day."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.panel_app import PanelApp, flowing, recording, stuck
from tui.widgets.common.panel import Panel
from tui.widgets.main.context import ContextPanel
from tui.widgets.main.emotion import EmotionAxes
from tui.widgets.main.signals import SalienceQueue, SignalFeed
from tui.widgets.main.triangle import NeuronTriangle

Compare = Callable[..., bool]
PANELS: dict[str, type[Panel]] = {
    "emotion": EmotionAxes,
    "triangle": NeuronTriangle,
    "sleep": ContextPanel,
    "salience": SalienceQueue,
    "signals": SignalFeed,
}
ROOMS = {"small": (28, 8), "medium": (40, 12), "large": (66, 20)}
"""A panel's place on 80x24, 120x40 and 200x60."""


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("name", PANELS)
def test_panel(snap_compare: Compare, name: str, room: str, theme: str) -> None:
    app = PanelApp(PANELS[name](), stuck(), recording(), theme=theme, size=ROOMS[room])
    assert snap_compare(app, terminal_size=ROOMS[room])


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", PANELS)
def test_panel_alone_with_its_details(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    app = PanelApp(PANELS[name](), stuck(), recording(), size=size, detailed=True)
    assert snap_compare(app, terminal_size=size)


@pytest.mark.parametrize("name", ["triangle", "salience"])
def test_on_a_good_day(snap_compare: Compare, name: str) -> None:
    app = PanelApp(PANELS[name](), flowing(), recording(), size=(66, 20))
    assert snap_compare(app, terminal_size=(66, 20))


@pytest.mark.parametrize("name", PANELS)
def test_before_the_first_event(snap_compare: Compare, name: str) -> None:
    assert snap_compare(PanelApp(PANELS[name](), None, size=(40, 8)), terminal_size=(40, 8))
