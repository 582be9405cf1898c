"""Immutable values, fingerprints of texts, and values derived from settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import is_
from typing import Generic, ParamSpec, TypeVar

from blake3 import blake3
from msgspec import Struct


# A class keyword such as `frozen` is lost where its module is compiled; its base keeps the option for it.
class Value(Struct, frozen=True):
    """A value that never changes."""


class StepValue(Struct, frozen=True, gc=False):
    """A value made for every event; it has no cycles, so Python's garbage collector skips it."""


_Reading = TypeVar("_Reading", bound=Struct)


def reading_of(kind: type[_Reading], source: object, /, **own: object) -> _Reading:
    """Return a reading whose fields are attributes of a mechanism, but for those given here."""
    return kind(**own, **{name: getattr(source, name) for name in kind.__struct_fields__ if name not in own})


LONGEST = 32_768  # Of a longer text only its beginning, its end and its length count.
_HALF = LONGEST // 2

_BLANKED = re.compile(r"""[0-9"'`](?:(?<=\d)[0-9a-fA-FxX-]*|(?<=")[^"\n]*"|(?<=')[^'\n]*'|(?<=`)[^`\n]*`)""")
_HEX = "abcdefABCDEF"
_number = int.from_bytes


def fingerprint(text: str | bytes) -> int:
    """Return a 64-bit fingerprint of a text; 0 if it is blank."""
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
    """Return the text without its numbers, ids and quoted strings."""
    pieces = _BLANKED.split(text)
    if len(pieces) == 1:
        return text
    last = pieces.pop()
    return "#".join([*[piece.rstrip(_HEX) for piece in pieces], last])


def shape(text: str) -> int:
    """Return a fingerprint that near-duplicates share."""
    return fingerprint(blanked(text))


_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


class Derived(Generic[_Given, _Made]):
    """A pure function that caches its last result by the identity of its arguments.

    Settings never change, so the same objects give the same value; callers must not change it.
    """

    def __init__(self, make: Callable[_Given, _Made]) -> None:
        self._make = make
        self._held: tuple[tuple[object, ...], _Made] | None = None

    def __call__(self, *arguments: _Given.args, **keywords: _Given.kwargs) -> _Made:
        """Return the value for these objects."""
        last = self._held
        inputs = (*arguments, *keywords.values())
        if last is not None and len(last[0]) == len(inputs) and all(map(is_, last[0], inputs)):
            return last[1]
        value = self._make(*arguments, **keywords)
        self._held = (inputs, value)
        return value
