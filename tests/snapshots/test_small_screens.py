"""Pictures of the picker and of the box that asks for a place, small and large, by night and by day."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from core.logs.found import Found
from tests.tui.screen_app import recorded
from tests.tui.still_app import Observatory
from tui.screens.picker import PickerScreen

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40)}
_NAMES = (("claude-code", "/home/dev/api"), ("codex", "/home/dev/shop"), ("pi", "/home/dev/notes"))


class _StillPicker(PickerScreen):
    """Lists the same sessions for ever."""

    def _look(self) -> None:  # type: ignore[override]
        now = time.time()
        found = [
            Found(
                agent=agent,
                path=Path(f"/logs/{number}.jsonl"),
                paths=(Path(f"/logs/{number}.jsonl"),),
                session=f"{number}" * 8,
                project=project,
                modified=now - 3630.0 * number,
                events=130 * number,
                size=41_000 * number,
                active=number == 1,
            )
            for number, (agent, project) in enumerate(_NAMES, 1)
        ]
        self.post_message(self.Listed(found))


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("size", SIZES)
def test_go_to(snap_compare: Compare, size: str, theme: str) -> None:
    app = Observatory(recorded(60, 1), 40, theme=theme)
    assert snap_compare(app, press=["g", "4", "1", "m"], terminal_size=SIZES[size])


@pytest.mark.parametrize("theme", ["nocturne", "daylight"])
@pytest.mark.parametrize("size", SIZES)
def test_picker(snap_compare: Compare, size: str, theme: str) -> None:
    app = Observatory(recorded(60, 1), 40, theme=theme)

    async def open_it(pilot: Pilot[None]) -> None:
        await app.push_screen(_StillPicker(app.settings))
        await pilot.pause()
        await pilot.press("down")

    assert snap_compare(app, run_before=open_it, terminal_size=SIZES[size])
