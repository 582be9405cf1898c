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
    assert ThemeFile.parse(said) == ThemeFile(**said)
    assert path.stem in {theme.name for theme in load().themes}


def test_the_theme_for_colour_blind_people_loads() -> None:
    (okabe,) = (theme for theme in load().themes if theme.name == "okabe")
    axes = [okabe.variables[name] for name in okabe.variables if name.startswith("axis-")]
    assert len(axes) == len(set(axes)) > 3


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('primary = "nosuch"', "primary: 'nosuch' is not a colour; write #rrggbb or a name such as teal"),
        ('primary = "red"\nshade = "red"', "shade: unknown; a theme has name, primary, sentence, dark, "),
        ('primary = "red"\ndark = "very"', "dark: must be true or false"),
        ("primary = 3", "primary: must be a colour: #rrggbb or a name such as teal"),
        ('primary = "red"\nvariables = 3', "variables: must be a table of colours"),
        ('primary = "red"\nvariables = {live = 3}', "variables.live: must be a colour"),
        ('primary = "red"\nvariables = {nosuch = "red"}', "variables: nosuch is not a variable"),
        ('accent = "red"', "primary: missing; it must be a colour"),
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


def test_a_name_that_cannot_be_one_is_told_what_it_may_be(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "My theme"\nprimary = "red"\n', "utf-8")
    (said,) = themes.load(tmp_path).complaints
    assert said.endswith("name: must be 1 to 40 of a-z, 0-9 and -, and not begin with -")


def test_a_theme_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\nprimary = "red"\n', "utf-8")
    loaded = themes.load(tmp_path)
    assert [themes.missing_theme(name, loaded) for name in ("mine", "nocturne", "nord")] == ["", "", ""]
    said = themes.missing_theme("zzz", loaded)
    assert said.startswith("there is no theme 'zzz'; available: almanac, aurora, contrast, daylight, mine, ")
    assert "nord" in said
