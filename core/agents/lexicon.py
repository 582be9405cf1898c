"""How an agent speaks, as two counts: phrases of checking and phrases of doubt."""

from __future__ import annotations

import tomllib
from typing import NamedTuple

from core.agents.tables import OURS

_CALL = "<function="
_FENCE = "```"
_LOOKED_AT = 8000
"""Characters of one answer that are looked at."""


class Tone(NamedTuple):
    """How many different phrases of each kind an answer holds."""

    checking: int = 0
    doubting: int = 0


def _phrases() -> tuple[tuple[str, ...], tuple[str, ...]]:
    table = tomllib.loads((OURS / "lexicon.toml").read_text("utf-8"))["lexicon"]
    return tuple(table["checking"]), tuple(table["doubting"])


CHECKING, DOUBTING = _phrases()
SILENT = Tone()


def plain_words(said: str) -> str:
    """An agent's words in lowercase between single spaces, code and calls left out."""
    if _CALL in said:
        said = said[: said.index(_CALL)]
    said = said[:_LOOKED_AT]
    if _FENCE in said:
        said = " ".join(said.split(_FENCE)[::2])
    return f" {' '.join(said.lower().split())} "


def tone(said: str) -> Tone:
    """Count the phrases of an agent's words."""
    if not said:
        return SILENT
    text = plain_words(said)
    return Tone(
        sum([1 for phrase in CHECKING if phrase in text]), sum([1 for phrase in DOUBTING if phrase in text])
    )
