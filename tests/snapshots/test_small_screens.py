"""Pictures of the box that asks for a place, small and large, by night and by day."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40)}


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("size", SIZES)
def test_go_to(snap_compare: Compare, size: str, theme: str) -> None:
    app = Observatory(recorded(60, 1), 40, theme=theme)
    assert snap_compare(app, press=["g", "4", "1", "m"], terminal_size=SIZES[size])
