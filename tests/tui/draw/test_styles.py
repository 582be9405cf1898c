"""The styles: every word can be read in every theme of ours, on both grounds it stands on."""

from __future__ import annotations

import pytest
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

import themes
from tui.draw.line import STYLES, resolve_styles

OURS = {theme.name: theme for theme in themes.load().themes}
WORDS = ("plain", "strong", "quiet", "cursor")
SHAPES = ("track", "heat-1")
"""Only ever drawn as blocks beside a figure."""


def _variables(theme: Theme) -> dict[str, str]:
    return {**themes.defaults(theme), **theme.to_color_system().generate(), **theme.variables}


def _light(colour: Color) -> float:
    parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(style: Style) -> float:
    assert style.color is not None and style.bgcolor is not None
    pair = (_light(Color.from_rich_color(style.color)), _light(Color.from_rich_color(style.bgcolor)))
    return (max(pair) + 0.05) / (min(pair) + 0.05)


@pytest.mark.parametrize("ground", ["background", "panel"])
@pytest.mark.parametrize("name", OURS)
def test_words_stand_out_from_the_ground(name: str, ground: str) -> None:
    variables = _variables(OURS[name])
    mixed = resolve_styles(variables, Color.parse(variables[ground]))
    assert {word: _contrast(mixed[word]) for word in WORDS if _contrast(mixed[word]) < 4.5} == {}
    rest = [ink for ink in STYLES if ink not in SHAPES and not ink.endswith("-dim")]
    assert {ink: _contrast(mixed[ink]) for ink in rest if _contrast(mixed[ink]) < 2.9} == {}


@pytest.mark.parametrize("name", BUILTIN_THEMES)
def test_every_theme_of_textual_has_all_inks(name: str) -> None:
    variables = _variables(BUILTIN_THEMES[name])
    mixed = resolve_styles(variables, Color.parse(variables["background"]))
    assert set(mixed) == set(STYLES)
    assert mixed["alert-tag"].bgcolor == mixed["alert"].color


def test_a_share_of_a_colour_is_mixed_with_the_ground() -> None:
    variables = {**_variables(OURS["contrast"]), "foreground": "#ffffff 50%"}
    assert resolve_styles(variables, Color.parse("#000000"))["plain"].color == Color(127, 127, 127).rich_color
