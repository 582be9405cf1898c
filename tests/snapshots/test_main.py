"""Pictures of the observatory as a whole, small, medium and large, by night and by day."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("size", SIZES)
def test_main(snap_compare: Compare, size: str, theme: str) -> None:
    assert snap_compare(Observatory(recorded(), 420, theme=theme), terminal_size=SIZES[size])


@pytest.mark.parametrize("theme", ["contrast", "orrery"])
def test_main_in_other_colours(snap_compare: Compare, theme: str) -> None:
    assert snap_compare(Observatory(recorded(), 420, theme=theme), terminal_size=SIZES["120x40"])


@pytest.mark.parametrize("keys", ["3", "4", "5", "0"])
def test_main_with_a_panel_in_focus(snap_compare: Compare, keys: str) -> None:
    app = Observatory(recorded(), 420)
    assert snap_compare(app, press=list(keys), terminal_size=SIZES["80x24"])


@pytest.mark.parametrize("size", ["80x24", "120x40"])
def test_timeline_zoomed(snap_compare: Compare, size: str) -> None:
    app = Observatory(recorded(), 420)
    assert snap_compare(app, press=["plus", "plus", "0", "down"], terminal_size=SIZES[size])
