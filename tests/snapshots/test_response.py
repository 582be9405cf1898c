"""Pictures of the response screen in two sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.screen_app import Stage, recorded
from tui.screens.model import ResponseScreen

Snap = Callable[..., bool]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_response(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(Stage(ResponseScreen(), recorded(), 400), terminal_size=size)
