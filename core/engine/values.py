"""What the rooms hand each other and show: values that never change.

A class keyword such as `frozen` is lost where its module is compiled; its base keeps the option for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import is_
from typing import Generic, ParamSpec, TypeVar

from blake3 import blake3
from msgspec import Struct


class Value(Struct, frozen=True):
    """A value that never changes."""


class StepValue(Struct, frozen=True, gc=False):
    """One of those made for every event; it holds no circle, so Python's collector need not look at it."""


LONGEST = 32_768
"""Of a longer text only its beginning, its end and its length are looked at."""
_HALF = LONGEST // 2

_BLANKED = re.compile(r"""[0-9"'`](?:(?<=\d)[0-9a-fA-FxX-]*|(?<=")[^"\n]*"|(?<=')[^'\n]*'|(?<=`)[^`\n]*`)""")
_HEX = "abcdefABCDEF"
_number = int.from_bytes


def fingerprint(text: str | bytes) -> int:
    """64 bits that stand for a text; 0 where it is blank."""
    if not text or text.isspace():
        return 0
    if isinstance(text, bytes):
        return _number(blake3(text).digest(8), "big")
    if len(text) > LONGEST:
        text = f"{text[:_HALF]}\0{len(text)}\0{text[-_HALF:]}"
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    return _number(blake3(data).digest(8), "big")


def blanked(text: str) -> str:
    """The text with its numbers, ids and quoted strings taken out."""
    pieces = _BLANKED.split(text)
    if len(pieces) == 1:
        return text
    last = pieces.pop()
    return "#".join([*[piece.rstrip(_HEX) for piece in pieces], last])


def shape(text: str) -> int:
    """A fingerprint that near-duplicates share."""
    return fingerprint(blanked(text))


_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


class Derived(Generic[_Given, _Made]):
    """A pure function that keeps what it made of the last objects it was given, known by identity.

    Settings never change, so the same objects give the same value; who gets it must not change it.
    """

    __slots__ = ("_held", "_make")

    def __init__(self, make: Callable[_Given, _Made]) -> None:
        self._make = make
        self._held: tuple[tuple[object, ...], _Made] | None = None

    def __call__(self, *given: _Given.args, **named: _Given.kwargs) -> _Made:
        """The value for these objects."""
        held = self._held
        asked = (*given, *named.values())
        if held is not None and len(held[0]) == len(asked) and all(map(is_, held[0], asked)):
            return held[1]
        made = self._make(*given, **named)
        self._held = (asked, made)
        return made
