"""What a mechanism names as its state is dumped and loaded, to the bit, apart from the mechanism."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import pytest

from core.errors import StateError
from core.state import Stateful, inner, listed, made, mapped, queued, rows


class Row(NamedTuple):
    at: float
    name: str


class Small(Stateful):
    __slots__ = ("count",)
    STATE = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Whole(Stateful):
    __slots__ = ("_at", "_last", "_levels", "_names", "_rows", "_seen", "small", "total")
    STATE = (
        "_at",
        listed("_levels"),
        queued("_last"),
        mapped("_names"),
        inner("small"),
        made("_seen", lambda seen: tuple(sorted(seen)), set),
        rows("_rows", Row),
    )

    def __init__(self) -> None:
        self._at = 0.0
        self._levels = [0.0, 0.0]
        self._last: deque[int] = deque(maxlen=3)
        self._names: dict[str, int] = {}
        self.small = Small()
        self._seen: set[str] = set()
        self._rows: deque[Row] = deque(maxlen=2)
        self.total = 0.0

    def restored(self) -> None:
        self.total = sum(self._levels)

    def step(self, number: int) -> None:
        self._at += 0.1 * number
        self._levels[number % 2] += number
        self._last.append(number)
        self._names[f"n{number}"] = number
        self.small.count += 1
        self._seen.add(f"s{number}")
        self._rows.append(Row(self._at, f"r{number}"))
        self.total = sum(self._levels)


class ByName(Whole):
    __slots__ = ()
    NAMED = True
    STATE = Whole.STATE


@pytest.mark.parametrize("kind", [Whole, ByName])
def test_a_loaded_one_goes_on_as_the_dumped_one(kind: type[Whole]) -> None:
    one, other = kind(), kind()
    for number in range(5):
        one.step(number)
    state = one.dump()
    other.load(state)
    assert other.same(one) and other.total == one.total and other._last.maxlen == 3
    for number in range(5, 9):
        one.step(number)
        other.step(number)
    assert other.dump() == one.dump() != state


def test_a_dump_is_apart_from_what_it_was_made_of() -> None:
    one = Whole()
    one.step(1)
    before = repr(one.dump())
    state = one.dump()
    one.step(2)
    assert repr(state) == before


def test_parts_are_named_without_their_underscore() -> None:
    assert set(ByName().dump()) == {"at", "levels", "last", "names", "small", "seen", "rows"}


@pytest.mark.parametrize("state", [(), (1,), None, (0.0, 5, (), (), (0,), (), ()), 7])
def test_a_dump_of_something_else_is_refused(state: object) -> None:
    with pytest.raises(StateError, match="does not fit Whole"):
        Whole().load(state)
