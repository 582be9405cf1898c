"""What is wrong with settings and themes is told on the screen, in one notice each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.settings import Settings
from tests.conftest import Run
from tests.tui.conftest import until
from tui.app import NooscopeApp

WRONG = "[receptor.ambient]\nlow = 7.0\nhihg = 0.9\n"


@pytest.mark.parametrize("words", [("demo",), ("replay", "LOG"), ("watch", "LOG"), ("fleet", "LOG"), ()])
def test_every_screen_is_told_of_them(
    words: tuple[str, ...], home: Path, log: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = home / "mine.toml"
    mine.write_text(WRONG)
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(mine))
    told: list[tuple[str, ...]] = []
    monkeypatch.setenv("TEXTUAL_DRIVER", "there is a screen")
    monkeypatch.setattr(NooscopeApp, "run", lambda app: told.append(tuple(app._faults)))
    _, _, said = run(*(str(log) if word == "LOG" else word for word in words))
    assert "low" in said, "and on standard error"
    assert [len(faults) for faults in told] == [2]
    assert told[0][0].startswith(f"{mine}:2: receptor.ambient.low: 7.0 is not allowed")
    assert "did you mean receptor.ambient.high?" in told[0][1]


async def test_they_are_one_notice(log: Path, app_on: Callable[..., NooscopeApp], tmp_path: Path) -> None:
    app = app_on(log, live=False)
    app._faults = tuple(f"settings.toml:{number}: wrong" for number in range(1, 6))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(len(app._notifications)))
        [notice] = app._notifications
        assert notice.title == "Settings"
        assert notice.message.splitlines()[2:] == ["settings.toml:3: wrong", "and 2 more: nooscope settings lists them"]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_is_wrong_with_themes_leaves_room_for_what_is_wrong_with_settings(
    log: Path, app_on: Callable[..., NooscopeApp], tmp_path: Path, still: Settings, size: tuple[int, int]
) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    (folder / "one.toml").write_text('name = "One!"\nprimary = "blau"\nextra = 1\n')
    (folder / "two.toml").write_text("primary = [")
    settings = still.replace(screen=still.screen.replace(theme="nosuch"))
    app = app_on(log, live=False, settings=settings)
    app._faults = ("settings.toml:1: wrong",)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: len(app._notifications) == 2)
        await until(pilot, lambda: "settings.toml:1: wrong" in screen_text(app))
        text = screen_text(app)
        assert "there is no theme 'nosuch'" in text and "nocturne" in text and "solarized" not in text
        assert "and 2 more: nooscope doctor" in text


def screen_text(app: NooscopeApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


async def test_a_broken_theme_is_one_notice(log: Path, app_on: Callable[..., NooscopeApp], tmp_path: Path) -> None:
    folder = tmp_path / "themes"
    folder.mkdir()
    (folder / "one.toml").write_text('name = "One!"\nprimary = "blau"\ndark = "no"\n')
    (folder / "two.toml").write_text("primary = [")
    app = app_on(log, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: bool(len(app._notifications)))
        await pilot.pause()
        [notice] = app._notifications
        assert "one.toml" in notice.message and "two.toml" in notice.message
