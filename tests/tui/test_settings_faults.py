"""What is wrong with settings and themes is told on the screen, in one notice each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
        assert notice.message.splitlines()[2:] == [
            "settings.toml:3: wrong",
            "and 2 more: nooscope settings names them",
        ]


async def test_a_broken_theme_is_one_notice(
    log: Path, app_on: Callable[..., NooscopeApp], tmp_path: Path
) -> None:
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
