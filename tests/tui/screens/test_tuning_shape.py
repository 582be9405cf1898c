"""The bench at every size, and what the mouse does on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.settings.draft import SettingGroup
from tests.tui.tuning_app import Stage, seen, settle
from tui.feed.messages import Seek
from tui.widgets.tuning.comparison import Comparison
from tui.widgets.tuning.settings_list import SettingsList


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_it_fits_and_a_click_seeks(size: tuple[int, int], tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("left", "left", "left", "left")
        await settle(pilot)
        text = seen(app)
        assert "What would have fired" in text
        assert "offset.frustration" in text
        assert all(len(line) <= size[0] for line in text.splitlines())
        await pilot.click(Comparison, offset=(5, 3))
        await pilot.pause()
        assert isinstance(app.asked[-1], Seek)
        settings = app.bench.query_one(SettingsList)
        settings.focus()
        await pilot.press("2")
        await settle(pilot)
        line = next(
            number
            for number in range(settings.page)
            if isinstance(settings._rows[settings.scroll_offset.y + number], SettingGroup)
        )
        await pilot.click(SettingsList, offset=(8, line + 1))
        await pilot.pause()
        assert isinstance(settings.chosen, SettingGroup)
