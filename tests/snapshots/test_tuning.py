"""Pictures of the bench: at rest, turned, swept, refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.tuning_app import Stage, settle
from tui.widgets.tuning.settings_list import SettingsList

Compare = Callable[..., bool]
SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


async def turned(pilot: Pilot[None]) -> None:
    await settle(pilot)
    await pilot.press("down", "down", "left", "left", "left", "left")
    await settle(pilot)
    await pilot.press("]")
    await settle(pilot)


async def swept(pilot: Pilot[None]) -> None:
    await settle(pilot)
    await pilot.press("down", "down", "v")
    await settle(pilot)


async def refused(pilot: Pilot[None]) -> None:
    await settle(pilot)
    await pilot.press("enter", "9", "enter")
    await settle(pilot)


async def presets(pilot: Pilot[None]) -> None:
    await settle(pilot)
    stage = pilot.app
    assert isinstance(stage, Stage)
    stage.bench.profile_files = stage.profile_files
    await pilot.press("S")
    await settle(pilot)


async def typing(pilot: Pilot[None]) -> None:
    """A table that is typed as TOML."""
    stage = pilot.app
    assert isinstance(stage, Stage)
    await settle(pilot)
    stage.bench.draft.set("response.loops.tools", {"Bash": {"repeat": 40, "stalled": 0}, "Edit": {"oscillation": 60}})
    stage.bench._show()
    stage.bench.query_one(SettingsList).show("response.loops.tools")
    await settle(pilot)
    await pilot.press("enter")
    await settle(pilot)


@pytest.mark.parametrize(("size", "theme"), [*((size, "nocturne") for size in SIZES), ("120x40", "daylight")])
def test_turned(snap_compare: Compare, size: str, theme: str, tmp_path: Path) -> None:
    assert snap_compare(Stage(tmp_path, theme=theme), run_before=turned, terminal_size=SIZES[size])


@pytest.mark.parametrize("size", ["80x24", "120x40"])
@pytest.mark.parametrize("before", [settle, swept, refused, presets, typing])
def test_other_moments(snap_compare: Compare, before: Callable[..., object], size: str, tmp_path: Path) -> None:
    assert snap_compare(Stage(tmp_path), run_before=before, terminal_size=SIZES[size])
