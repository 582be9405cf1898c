from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import themes
from themes import FOLDER, ThemeFile, load

OURS = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_own_themes_pass_the_check_that_a_persons_must_pass(path: Path) -> None:
    said = tomllib.loads(path.read_text("utf-8"))
    assert ThemeFile.model_validate(said) == ThemeFile.model_construct(**said)
    assert path.stem in {theme.name for theme in load().themes}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('primary = "nosuch"', "primary: 'nosuch' is not a colour; write #rrggbb or a name such as teal"),
        ('primary = "red"\nshade = "red"', "shade: Extra inputs are not permitted"),
        ('primary = "red"\nvariables = {nosuch = "red"}', "variables: nosuch is not a variable"),
        ('accent = "red"', "primary: Field required"),
    ],
)
def test_a_persons_theme_is_checked(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "mine.toml").write_text(f'name = "mine"\n{line}\n', "utf-8")
    loaded = themes.load(tmp_path)
    assert len(loaded.themes) == len(OURS)
    (said,) = loaded.complaints
    assert complaint in said


def test_a_persons_sound_theme_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\nprimary = "red"\n', "utf-8")
    loaded = themes.load(tmp_path)
    assert not loaded.complaints
    assert loaded.themes[-1].name == "mine" and loaded.themes[-1].primary == "red"
