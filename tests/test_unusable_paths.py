"""A path of the person's settings that cannot be used: one message, and the program goes on without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.cli import main

PATHS = {
    "missing": "/nowhere/tools.toml",
    "folder": "/",
    "nobody": "~nobody-of-that-name/tools.toml",
    "device": "/dev/zero",
    "null": "a\\u0000b",
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("name", ["ingest.tables.tools", "ingest.tables.models"])
@pytest.mark.parametrize("words", [("analyze", "LOG"), ("watch", "LOG", "--headless", "--idle", "0.05")])
def test_a_path_that_cannot_be_used_is_one_message(
    words: tuple[str, ...],
    name: str,
    path: str,
    home: Path,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = home / "mine.toml"
    mine.write_text(f'{name} = "{path}"\n')
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(mine))
    assert main([str(log) if word == "LOG" else word for word in words]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if name in line]
    assert len(said) == 1 and "ignored" in said[0] and str(mine) in said[0]


@pytest.mark.parametrize("folder", ["FILE", "~nobody-of-that-name/x", "a\\u0000b"])
def test_a_folder_that_cannot_be_used_is_one_message(
    folder: str, home: Path, log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = home / "mine.toml"
    mine.write_text(f'response.persona.folder = "{folder.replace("FILE", str(log))}"\n')
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(mine))
    assert main(["watch", str(log), "--headless", "--idle", "0.05"]) == 0
    assert capsys.readouterr().err.count("response.persona.folder") == 1
