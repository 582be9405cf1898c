"""What a table setting may hold, and the same table with one row of it changed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

from core.settings.governor import ProfileSettings
from core.settings.group import Tunable, describe_type, fields_of
from core.settings.layers import field_of

TablePath: TypeAlias = tuple[str | int, ...]
"""From a table to one of its rows: the keys on the way, or the place in a list."""
OVERRIDE = "governor.override"
TOOL_LIMITS = "response.loops.tools"
FIGURES = "governor.observing."
"""Settings that say what the figures of an override may be."""
MISSING: Any = object()


class TableShape(NamedTuple):
    """How a table is built."""

    form: Literal["map", "list", "set"]
    """Values by key, words one after another, or some of a few words."""
    levels: tuple[tuple[str, ...], ...]
    """For each key on the way to a value the only ones there are; empty where any will do."""
    leaf: Tunable
    """What stands at the end of the way."""


@cache
def shape_of(name: str) -> TableShape:
    """The shape of a table, read off its type."""
    annotation = field_of(name).kind
    levels: list[tuple[str, ...]] = []
    while get_origin(annotation) is dict:
        key, annotation = get_args(annotation)
        levels.append(_words(key))
    if levels:
        known = (tuple(fields_of(ProfileSettings)),) if name == OVERRIDE else tuple(levels)
        return TableShape("map", known, _leaf(annotation))
    words = _words(get_args(annotation)[0])
    return TableShape("set", (words,), _leaf(bool)) if words else TableShape("list", ((),), _leaf(str))


def _words(annotation: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def _leaf(annotation: Any) -> Tunable:
    return describe_type(annotation)._replace(step=1.0 if annotation is not str else None)


def item_at(table: Any, path: TablePath) -> Any:
    """What stands at a path; MISSING where nothing does."""
    for step in path:
        if isinstance(table, Mapping):
            table = table.get(step, MISSING)
        elif isinstance(table, tuple | list) and isinstance(step, int) and step < len(table):
            table = table[step]
        else:
            return MISSING
    return table


def with_item(table: Any, path: TablePath, item: Any) -> Any:
    """The table with something at a path, and what is needed on the way there."""
    first, *rest = path
    if isinstance(first, int):
        return (*table[:first], item, *table[first + 1 :])
    if rest:
        item = with_item(table.get(first, {}), tuple(rest), item)
    return {**table, first: item}


def with_word(table: Any, place: int, word: str) -> tuple[str, ...]:
    """A list with one word more."""
    return (*table[:place], word, *table[place:])


def without_item(table: Any, path: TablePath) -> Any:
    """The table less one row, and less what would hold nothing then."""
    first, *rest = path
    if isinstance(first, int):
        return (*table[:first], *table[first + 1 :])
    if rest:
        inner = without_item(table[first], tuple(rest))
        if inner:
            return {**table, first: inner}
    return {key: item for key, item in table.items() if key != first}


def with_toggled(words: tuple[str, ...], table: tuple[str, ...], word: str, *usual: Any) -> tuple[str, ...]:
    """Some of a few words with one more or less, in the order in which they usually stand."""
    wanted = set(table) ^ {word}
    for known in usual:
        if set(known) == wanted:
            return tuple(known)
    return tuple(each for each in words if each in wanted)


def with_changes(held: Any, before: Any, after: Any) -> Any:
    """A table with the rows changed in which two others differ; any other value as it is after."""
    if not (isinstance(held, Mapping) and isinstance(before, Mapping) and isinstance(after, Mapping)):
        return after
    kept = {key: item for key, item in held.items() if key in after or key not in before}
    changed = {
        key: with_changes(held.get(key), before.get(key), item)
        for key, item in after.items()
        if key not in before or before[key] != item
    }
    return {**kept, **changed}


def with_restored(shape: TableShape, table: Any, path: TablePath, *usual: Any) -> Any:
    """The table with a row as it is in the first of the usual tables in which it is another; MISSING in none.

    A row that the usual table lacks goes.
    """
    for known in usual:
        if shape.form == "map":
            before, now = item_at(known, path), item_at(table, path)
            if before is not MISSING and before != now:
                return with_item(table, path, before)
            if before is MISSING and now is not MISSING:
                return without_item(table, path)
            continue
        word = str(path[0] if isinstance(path[0], str) else table[path[0]])
        if (word in known) == (word in table):
            continue
        if shape.form == "set":
            return with_toggled(shape.levels[0], table, word, *usual)
        if word in known:
            return with_word(table, min(len(table), known.index(word)), word)
        return without_item(table, path)
    return MISSING


def value_fault(leaf: Tunable, value: Any) -> str:
    """Why a value cannot stand in a row; blank where it can."""
    if leaf.kind in ("number", "integer"):
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        whole = leaf.kind == "number" or (sound and float(value).is_integer())
        low, high = leaf.low, leaf.high
        if sound and whole and (low is None or value >= low) and (high is None or value <= high):
            return ""
        return f"{value!r} is not allowed, it may be {leaf.allowed()}"
    return "" if str(value).strip() else "it cannot be empty"


def key_fault(words: tuple[str, ...], key: str) -> str:
    """Why a key cannot be; blank where it can."""
    if not key:
        return "it cannot be empty"
    if not words or key in words:
        return ""
    close = difflib.get_close_matches(key, words, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"it may be one of {', '.join(words)}"
    return f"{key!r} is not allowed; {hint}"
