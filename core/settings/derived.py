"""What is made of settings once and then shared by every agent that has the same ones."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Generic, ParamSpec, TypeVar

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
