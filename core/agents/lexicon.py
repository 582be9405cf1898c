"""How an agent speaks, as two counts: phrases of checking and phrases of doubt."""

from __future__ import annotations

import re
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


def joined_words(before: str, said: str) -> str:
    """An answer's words with more of them, as far as they are looked at."""
    return before + said if len(before) < _LOOKED_AT + len(_CALL) else before


def plain_words(said: str) -> str:
    """An agent's words in lowercase between single spaces, code and calls left out."""
    if _CALL in said:
        said = said[: said.index(_CALL)]
    said = said[:_LOOKED_AT]
    if _FENCE in said:
        said = " ".join(said.split(_FENCE)[::2])
    return f" {' '.join(said.lower().split())} "


def _search() -> re.Pattern[str]:
    """Finds at each space the longest phrase that begins there, by its first letter."""
    letters: dict[str, list[str]] = {}
    for phrase in sorted((*CHECKING, *DOUBTING), key=len, reverse=True):
        letters.setdefault(phrase[1], []).append(re.escape(phrase[2:]))
    return re.compile(
        " (?=(" + "|".join(f"{re.escape(one)}(?:{'|'.join(rest)})" for one, rest in letters.items()) + "))"
    )


_find = _search().findall
_HELD = {
    phrase[1:]: frozenset(one for one in (*CHECKING, *DOUBTING) if phrase.startswith(one))
    for phrase in (*CHECKING, *DOUBTING)
}
"""All phrases that stand where this one was found, itself and those it begins with."""
_CHECKS = frozenset(CHECKING)


def tone(said: str) -> Tone:
    """Count the phrases of an agent's words."""
    found = _find(plain_words(said)) if said else None
    if not found:
        return SILENT
    phrases = set().union(*[_HELD[one] for one in found])
    checking = len(phrases & _CHECKS)
    return Tone(checking, len(phrases) - checking)
