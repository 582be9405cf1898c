"""What a mechanism names as its state is dumped and loaded, to the bit, apart from the mechanism."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import cbor2
import pytest

from core.engine.state import (
    Stateful,
    byte_queue,
    custom,
    each,
    grouped,
    inner,
    inners,
    keyed,
    mapped,
    plain_list,
    queued,
    row,
    tabled,
    through,
    tuple_queue,
    tupled,
)
from core.errors import StateError


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
        plain_list("_levels"),
        queued("_last"),
        mapped("_names"),
        inner("small"),
        custom("_seen", lambda seen: tuple(sorted(seen)), set),
        tuple_queue("_rows", Row),
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


class Rich(Stateful):
    __slots__ = ("_fired", "_flags", "_high", "_last", "_low", "_pair", "_seen", "_short", "_smalls", "_words")
    NAMED = True
    VERSION = 3
    STATE = (
        tupled("_pair"),
        tabled("_fired", 2),
        inners("_smalls"),
        each("_words", str.encode, bytes.decode),
        row("_last", Row),
        grouped("range", "_low", tupled("_high"), custom("_short", b"".join, lambda whole: [whole])),
        through("doubled", "halve"),
        keyed("_seen"),
        byte_queue("_flags", bool),
    )

    def __init__(self) -> None:
        self._pair = (0, 0)
        self._fired: dict[str, tuple[float, int]] = {}
        self._smalls = (Small(), Small())
        self._words: deque[str] = deque(maxlen=2)
        self._last: Row | None = None
        self._low = 1
        self._high = (2, 3)
        self._short = [b"{a}", b"{b}"]
        self._seen: dict[str, None] = {}
        self._flags: deque[bool] = deque(maxlen=2)

    @property
    def doubled(self) -> int:
        return 2 * self._low

    def halve(self, doubled: int) -> None:
        self._low = doubled // 2


def filled() -> Rich:
    one = Rich()
    one._pair = (4, 5)
    one._fired = {"b": (0.5, 2), "a": (1.5, 1)}
    one._smalls[1].count = 9
    one._words.extend(("x", "y", "z"))
    one._last = Row(2.0, "r")
    one._low, one._high = 7, (8, 9)
    one._seen = {"z": None, "a": None}
    one._flags.extend((False, False, True))
    return one


@pytest.mark.parametrize("one", [Rich(), filled()], ids=["empty", "filled"])
def test_every_kind_comes_back_from_storage_as_it_was(one: Rich) -> None:
    other = filled()
    other.load(cbor2.loads(cbor2.dumps(one.dump())))
    assert other.same(one)
    assert (other._pair, other._fired, other._last) == (one._pair, one._fired, one._last)
    assert (list(other._fired), list(other._seen)) == (list(one._fired), list(one._seen))
    assert list(map(repr, other._flags)) == list(map(repr, one._flags))
    assert (other._words, other._words.maxlen) == (one._words, 2)
    assert (other._low, other._high, b"".join(other._short)) == (one._low, one._high, b"{a}{b}")
    assert [small.count for small in other._smalls] == [small.count for small in one._smalls]


def test_a_dump_says_its_version_first_and_another_is_refused() -> None:
    state = filled().dump()
    assert next(iter(state.items())) == ("version", 3)
    for other in (2, 4):
        with pytest.raises(StateError, match=f"version {other} does not fit Rich of version 3"):
            Rich().load({**state, "version": other})
    del state["version"]
    with pytest.raises(StateError, match="does not fit Rich: 'version'"):
        Rich().load(state)


def test_mechanisms_inside_must_be_as_many_as_were_dumped() -> None:
    state = filled().dump()
    with pytest.raises(StateError, match="does not fit Rich"):
        Rich().load({**state, "smalls": state["smalls"][:1]})


def test_what_the_mechanism_itself_refuses_is_refused_by_name() -> None:
    class Bounded(Small):
        __slots__ = ()
        STATE = Small.STATE

        def restored(self) -> None:
            if self.count > 3:
                raise ValueError("at most 3")

    Bounded().load((3,))
    with pytest.raises(StateError, match="does not fit Bounded: at most 3"):
        Bounded().load((4,))
