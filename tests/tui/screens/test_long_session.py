"""A session of more than a hundred hours: every column still holds its time."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.logs import log_lines
from tests.tui.conftest import shown
from tui.app import NooscopeApp

CUT = re.compile(r"\b1\d\d:\d\d:\d(?!\d)|\b1\d\d:\d?\d?(?![\d:])")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    made = log_lines.prompt(0)
    for number in range(40):
        at, failed = number * 15_000.0, number % 5 == 0
        made += log_lines.call(at + 1, f"c{number}", tool="Edit" if number % 3 else "Bash")
        made += log_lines.result(at + 9, f"c{number}", "Error: no" if failed else "done", error=failed)
    path.write_bytes(made)
    return path


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_times_of_a_hundred_hours_are_whole(
    app_on: Callable[..., NooscopeApp], log: Path, size: tuple[int, int]
) -> None:
    app = app_on(log, live=False)
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, lambda view: view.total > 80)
        await pilot.press("end")
        await shown(app, pilot, lambda view: view.index == view.total)
        seen = 0
        for key in ("", "e", "m"):
            if key:
                await pilot.press(key)
            await pilot.pause()
            text = [strip.text for strip in app.screen._compositor.render_strips()]
            seen += sum("6d 18:3" in line or "6d 14:2" in line for line in text)
            assert not [line for line in text if CUT.search(line)]
            if key:
                await pilot.press("escape")
        assert seen
