"""The styles that lines are drawn in, worked out once for a theme and a background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rich.style import Style
from textual.color import Color

from core.engine.percept import AXES


class StyleRule(NamedTuple):
    """A colour of the theme, how much of it, and how the letters stand."""

    colour: str
    share: float = 1.0
    bold: bool = False
    reverse: bool = False
    tag: bool = False
    """A word on a coloured background, for what must not be missed."""


STYLES: dict[str, StyleRule] = {
    "plain": StyleRule("foreground"),
    "quiet": StyleRule("quiet"),
    "strong": StyleRule("foreground", bold=True),
    "alert": StyleRule("alert", bold=True),
    "live": StyleRule("live", bold=True),
    "threshold": StyleRule("threshold"),
    "baseline": StyleRule("baseline"),
    "cursor": StyleRule("foreground", reverse=True),
    "track": StyleRule("foreground", 0.16),
    "alert-tag": StyleRule("alert", bold=True, tag=True),
    "live-tag": StyleRule("live", bold=True, tag=True),
    **{axis: StyleRule(f"axis-{axis}") for axis in AXES},
    **{f"{axis}-tag": StyleRule(f"axis-{axis}", bold=True, tag=True) for axis in AXES},
    **{f"{axis}-dim": StyleRule(f"axis-{axis}", 0.45) for axis in AXES},
    **{f"heat-{step}": StyleRule(f"heat-{step}") for step in range(1, 5)},
}
"""`track` is the empty part of a bar; dim is for the past."""


def resolve_styles(variables: Mapping[str, str], ground: Color) -> dict[str, Style]:
    """Every style on this background; `variables` are the colours of the theme."""
    page = Color.parse(variables["background"])
    return {
        name: _style(ink, _colour(variables[ink.colour], ink.share), ground, page)
        for name, ink in STYLES.items()
    }


def _colour(said: str, share: float) -> Color:
    """A colour as themes write it: a name or a number, and how much of it."""
    name, _, part = said.partition(" ")
    return Color.parse(name).multiply_alpha(share * (float(part.rstrip("%")) / 100 if part else 1.0))


def _style(ink: StyleRule, colour: Color, ground: Color, page: Color) -> Style:
    under = ground + colour if ink.tag else ground
    over = under + (page if ink.tag else colour)
    return Style(
        color=over.rich_color, bgcolor=under.rich_color, bold=ink.bold or None, reverse=ink.reverse or None
    )
