"""Sets a mind, and every part of it, back to how a new one begins."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import isfinite
from types import CodeType
from typing import Any

_PLAIN = (int, float, str, bytes, bool, type(None))


def resetting(new: Any) -> Callable[[Any], None]:
    """A function that gives any object built like `new` every value that `new` has now.

    It is one flat list of assignments: that takes a fifth of loading each part from a dump. Where minds are
    compiled, each part has a method for it.
    """
    if "begin_as" in vars(type(new)):
        return lambda whole: whole.begin_as(new)
    writer = _Writer()
    writer.write(new, "whole")
    scope = {f"v{place}": value for place, value in enumerate(writer.values)}
    exec(_compiled("def reset(whole):\n" + "\n".join(writer.lines)), scope)  # noqa: S102 our own words
    reset: Callable[[Any], None] = scope["reset"]
    return reset


@lru_cache(4)
def _compiled(text: str) -> CodeType:
    return compile(text, "<reset>", "exec")


class _Writer:
    """Writes the assignments part by part."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.values: list[Any] = []
        self._seen: set[int] = set()

    def write(self, part: Any, name: str) -> None:
        """The lines for one part, then those for the parts inside it."""
        self._seen.add(id(part))
        kept = kept_names(part)
        inside: list[tuple[str, Any]] = []
        for slot in slots(part):
            value, place = getattr(part, slot, None), f"{name}.{slot}"
            if is_part(value):
                inside.append((place, value))
            elif isinstance(value, tuple | list) and any(map(is_part, value)):
                inside += [(f"{place}[{number}]", one) for number, one in enumerate(value)]
            elif right := self._right(value, place, slot in kept):
                self.lines.append(f"    {right}")
        for place, value in inside:
            if id(value) not in self._seen:
                own = f"part{len(self._seen)}"
                self.lines.append(f"    {own} = {place}")
                self.write(value, own)

    def _right(self, value: Any, place: str, kept: bool) -> str:
        """The line that brings one value back; blank for settings, tables and memos, which never change."""
        if value is None or isinstance(value, bool):
            return f"{place} = {value}"
        if isinstance(value, deque):
            return f"{place}.clear()" + (f"; {place}.extend({self._given(tuple(value))})" if value else "")
        if isinstance(value, list):
            return f"{place} = [*{self._given(tuple(value))}]" if value else f"{place} = []"
        if isinstance(value, dict):
            return (f"{place} = {self._given(value)}.copy()" if value else f"{place} = {{}}") if kept else ""
        return f"{place} = {self._given(value)}" if is_plain(value) else ""

    def _given(self, value: Any) -> str:
        """How a value is written: itself where that reads back the same, else a name for it."""
        if type(value) in (int, str, bytes) or (type(value) is float and isfinite(value)):
            return repr(value)
        self.values.append(value.copy() if isinstance(value, dict) else value)
        return f"v{len(self.values) - 1}"


def is_part(value: Any) -> bool:
    """Whether something is a mechanism of ours, whose slots can be set."""
    kind = type(value)
    setting: object = kind.__setattr__
    ours = kind.__module__.startswith("core.") and _own_slots(kind) is not None
    return ours and setting is object.__setattr__ and not isinstance(value, tuple)


def slots(part: Any) -> Iterator[str]:
    """The names of all that a part holds."""
    for kind in type(part).__mro__:
        yield from _own_slots(kind) or ()


def _own_slots(kind: type) -> Sequence[str] | None:
    """What a class adds to its bases; a compiled one names it otherwise."""
    own: Sequence[str] | None = vars(kind).get("__slots__", vars(kind).get("__mypyc_attrs__"))
    return own


def is_plain(value: Any) -> bool:
    """Whether it holds nothing but numbers and words; what holds a part or a function belongs to one mind."""
    return all(map(is_plain, value)) if isinstance(value, tuple) else isinstance(value, _PLAIN)


def kept_names(part: Any) -> set[str]:
    """The names of what a part declares as its state."""
    return {one if isinstance(one, str) else one.name for one in getattr(part, "STATE", ())}
