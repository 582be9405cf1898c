"""The bench at every size, and what the mouse does on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.bench_stage import Stage, seen, settle
from tui.messages import Seek
from tui.tuning.catalogue import Heading
from tui.widgets.comparison import Comparison
from tui.widgets.sliders import SettingsList

SIZE = (120, 40)


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
        await pilot.click(SettingsList, offset=(8, 2))
        await pilot.pause()
        assert isinstance(app.bench.query_one(SettingsList).chosen, Heading)


async def test_a_table_shows_what_it_holds(tmp_path: Path) -> None:
    app = Stage(tmp_path)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.bench.query_one(SettingsList).show("response.loops.tools")
        await pilot.press("enter")
        app.bench.query_one("#typed", Input).value = "{Bash = {exact = 0}}"
        await pilot.press("enter")
        await settle(pilot)
        text = seen(app)
        assert "1 entry" in text
        assert '"Bash" = {"exact" = 0}' in text
