"""Settings while a person edits them: drafts with undo, and the rows of tables."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

import msgspec

from core.settings import Settings
from core.settings.governor import ProfileSettings
from core.settings.group import Group, Tunable, describe_type, fields_of
from core.settings.layers import Given, Layer, field_of, resolve, tunables, value_of
from core.settings.toml_text import toml_value

_COARSE = 20  # Steps of the arrow keys over a setting's whole range, at least.


class Drafted(NamedTuple):
    """Settings with the edits of the tuning screen."""

    base: Settings
    edits: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """Return the value of a setting with the edits."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def changed(self, name: str) -> bool:
        """Return whether a setting is edited or differs from its built-in value."""
        return name in self.edits or value_of(self.base, name) != tunables()[name].default


class Draft:
    """Edits over the settings in force; an edit to the value in force is dropped."""

    def __init__(self, base: Settings, original: Settings | None = None) -> None:
        self.begun = base if original is None else original  # The settings before any of them was changed.
        self.base = base  # The settings in force.
        self.settings = base  # The settings with the edits.
        self.edits: dict[str, Any] = {}
        self._past: list[dict[str, Any]] = []
        self._future: list[dict[str, Any]] = []
        self._standing = _standing(base)

    def rebase(self, base: Settings) -> None:
        """Put other settings in force; edits with the same value are dropped."""
        if base == self.base:
            return
        self.base = base
        self._standing = _standing(base)
        self._past.clear()
        self._future.clear()
        self._enter(self.edits)

    @property
    def drafted(self) -> Drafted:
        """The current draft, for the screen."""
        return Drafted(self.base, dict(self.edits))

    @property
    def changes(self) -> dict[str, Any]:
        """Every setting that differs from the original, in force or not."""
        return {
            name: value for name in tunables() if (value := value_of(self.settings, name)) != value_of(self.begun, name)
        }

    def value(self, name: str) -> Any:
        """Return the value of a setting with the edits."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def set(self, name: str, value: Any, *, joined: bool = False) -> str:
        """Change one setting; return why the value was refused, or a blank text.

        A `joined` change is undone together with the one before, as while a slider moves.
        """
        return self.lay({name: value}, joined=joined)

    def lay(self, values: Mapping[str, Any], *, joined: bool = False) -> str:
        """Change several settings in one step; return the first fault, or a blank text."""
        edits = {**self.edits, **values}
        resolved = resolve([self._standing, _layer(edits)])
        if resolved.complaints:
            fault = resolved.complaints[0]
            own = fault.name in values and len(values) == 1
            return fault.problem if own else f"{fault.name}: {fault.problem}"
        self._note(joined=joined)
        self._enter({name: value_of(resolved.settings, name) for name in edits})
        return ""

    def reset(self, names: Iterable[str]) -> bool:
        """Reset to the values in force, or else to the built-in values; return whether any changed."""
        targets = list(names)
        edited = [name for name in targets if name in self.edits]
        if edited:
            self._note()
            self._enter({name: value for name, value in self.edits.items() if name not in edited})
            return True
        declared_settings = tunables()
        values = {
            name: declared_settings[name].default
            for name in targets
            if value_of(self.base, name) != declared_settings[name].default
        }
        return bool(values) and not self.lay(values)

    def undo(self) -> bool:
        """Undo the last change."""
        if not self._past:
            return False
        self._future.append(self.edits)
        self._enter(self._past.pop())
        return True

    def redo(self) -> bool:
        """Redo the change."""
        if not self._future:
            return False
        self._past.append(self.edits)
        self._enter(self._future.pop())
        return True

    def _note(self, *, joined: bool = False) -> None:
        if not (joined and self._past):
            self._past.append(self.edits)
        self._future.clear()

    def _enter(self, edits: Mapping[str, Any]) -> None:
        self.edits = {name: value for name, value in edits.items() if value != value_of(self.base, name)}
        self.settings = resolve([self._standing, _layer(self.edits)]).settings if self.edits else self.base


def _standing(base: Settings) -> Layer:
    return Layer(
        "in force",
        tuple(
            Given(name, value) for name, each in tunables().items() if (value := value_of(base, name)) != each.default
        ),
    )


def _layer(edits: Mapping[str, Any]) -> Layer:
    return Layer("edit", tuple(Given(name, value) for name, value in edits.items()))


def nudged_value(tunable: Tunable, value: Any, direction: int, *, fine: bool) -> Any:
    """Return the value after one key press: a step, a fine step, the other state or the next choice."""
    if tunable.kind == "switch":
        return not value
    if tunable.kind == "choice":
        place = tunable.choices.index(str(value)) + direction
        return tunable.choices[place % len(tunable.choices)]
    if tunable.kind not in ("number", "integer"):
        return value
    step = tunable.step or 1.0
    reach = (tunable.high or 0.0) - (tunable.low or 0.0)
    coarse = max(1, min(5, int(reach / step) // _COARSE)) if reach else 1
    size = step * coarse if not fine else step if coarse > 1 else step / 5
    if tunable.kind == "integer":
        size = max(1, round(size))
    steps = round(value / size, 6)
    moved = (math.floor(steps) + 1 if direction > 0 else math.ceil(steps) - 1) * size
    if tunable.low is not None:
        moved = max(tunable.low, moved)
    if tunable.high is not None:
        moved = min(tunable.high, moved)
    return int(moved) if tunable.kind == "integer" else float(f"{moved:.10g}")


def parse_value(tunable: Tunable, text: str) -> Any:
    """Parse a typed value: a number, text or a TOML table."""
    text = text.strip()
    if tunable.kind in ("text", "choice"):
        return text.strip("\"'")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    if tunable.kind == "number" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def value_text(value: Any) -> str:
    """Return a value as one would type it."""
    return value if isinstance(value, str) else toml_value(plain_value(value))


def plain_value(value: Any) -> Any:
    """Return a value with groups as plain tables."""
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return msgspec.to_builtins(value) if isinstance(value, Group) else value


# From a table to one of its rows: the keys on the way, or the place in a list.
TablePath: TypeAlias = tuple[str | int, ...]
OVERRIDE = "governor.override"
TOOL_LIMITS = "response.loops.tools"
FIGURES = "governor.observing."  # Settings that say what the figures of an override may be.
MISSING: Any = object()


class TableShape(NamedTuple):
    """How a table is built."""

    form: Literal["map", "list", "set"]  # Values by key, words one after another, or some of a few words.
    # For each key on the way to a value the only ones there are; empty where any will do.
    levels: tuple[tuple[str, ...], ...]
    leaf: Tunable  # The kind of value at the end.


@cache
def shape_of(name: str) -> TableShape:
    """Return the shape of a table, from its type."""
    annotation = field_of(name).kind
    levels: list[tuple[str, ...]] = []
    while get_origin(annotation) is dict:
        key, annotation = get_args(annotation)
        levels.append(_words(key))
    if levels:
        key_choices = (tuple(fields_of(ProfileSettings)),) if name == OVERRIDE else tuple(levels)
        return TableShape("map", key_choices, _leaf(annotation))
    words = _words(get_args(annotation)[0])
    return TableShape("set", (words,), _leaf(bool)) if words else TableShape("list", ((),), _leaf(str))


def _words(annotation: Any) -> tuple[str, ...]:
    return tuple(map(str, get_args(annotation))) if get_origin(annotation) is Literal else ()


def _leaf(annotation: Any) -> Tunable:
    return describe_type(annotation)._replace(step=1.0 if annotation is not str else None)


def item_at(table: Any, path: TablePath) -> Any:
    """Return the item at a path, or MISSING."""
    for step in path:
        if isinstance(table, Mapping):
            table = table.get(step, MISSING)
        elif isinstance(table, tuple | list) and isinstance(step, int) and step < len(table):
            table = table[step]
        else:
            return MISSING
    return table


def with_item(table: Any, path: TablePath, item: Any) -> Any:
    """Return the table with an item at a path; tables on the way are created."""
    first, *rest = path
    if isinstance(first, int):
        return (*table[:first], item, *table[first + 1 :])
    if rest:
        item = with_item(table.get(first, {}), tuple(rest), item)
    return {**table, first: item}


def with_word(table: Any, place: int, word: str) -> tuple[str, ...]:
    """Return the list with a word inserted."""
    return (*table[:place], word, *table[place:])


def without_item(table: Any, path: TablePath) -> Any:
    """Return the table without one row and without tables that are empty then."""
    first, *rest = path
    if isinstance(first, int):
        return (*table[:first], *table[first + 1 :])
    if rest:
        inner = without_item(table[first], tuple(rest))
        if inner:
            return {**table, first: inner}
    return {key: item for key, item in table.items() if key != first}


def with_toggled(words: tuple[str, ...], table: tuple[str, ...], word: str, *usual: Any) -> tuple[str, ...]:
    """Return the words with one added or removed, in their usual order."""
    chosen_words = set(table) ^ {word}
    for words_in_order in usual:
        if set(words_in_order) == chosen_words:
            return tuple(words_in_order)
    return tuple(each for each in words if each in chosen_words)


def with_changes(table: Any, before: Any, after: Any) -> Any:
    """Apply the difference of two tables to a third; any other value becomes the new one."""
    if not (isinstance(table, Mapping) and isinstance(before, Mapping) and isinstance(after, Mapping)):
        return after
    unchanged = {key: item for key, item in table.items() if key in after or key not in before}
    changed = {
        key: with_changes(table.get(key), before.get(key), item)
        for key, item in after.items()
        if key not in before or before[key] != item
    }
    return {**unchanged, **changed}


def with_restored(shape: TableShape, table: Any, path: TablePath, *usual: Any) -> Any:
    """Restore a row from the first reference table in which it differs; MISSING if it differs in none.

    A row that the reference table lacks is removed.
    """
    for reference in usual:
        if shape.form == "map":
            before, now = item_at(reference, path), item_at(table, path)
            if before is not MISSING and before != now:
                return with_item(table, path, before)
            if before is MISSING and now is not MISSING:
                return without_item(table, path)
            continue
        word = str(path[0] if isinstance(path[0], str) else table[path[0]])
        if (word in reference) == (word in table):
            continue
        if shape.form == "set":
            return with_toggled(shape.levels[0], table, word, *usual)
        if word in reference:
            return with_word(table, min(len(table), reference.index(word)), word)
        return without_item(table, path)
    return MISSING


def value_fault(leaf: Tunable, value: Any) -> str:
    """Return why a value is not allowed in a row, or a blank text."""
    if leaf.kind in ("number", "integer"):
        sound = isinstance(value, int | float) and not isinstance(value, bool)
        whole = leaf.kind == "number" or (sound and float(value).is_integer())
        low, high = leaf.low, leaf.high
        if sound and whole and (low is None or value >= low) and (high is None or value <= high):
            return ""
        return f"{value!r} is not allowed, it may be {leaf.allowed()}"
    return "" if str(value).strip() else "it cannot be empty"


def key_fault(words: tuple[str, ...], key: str) -> str:
    """Return why a key is not allowed, or a blank text."""
    if not key:
        return "it cannot be empty"
    if not words or key in words:
        return ""
    close = difflib.get_close_matches(key, words, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else f"it may be one of {', '.join(words)}"
    return f"{key!r} is not allowed; {hint}"


_REACH = 100.0  # Where the slider of a limit ends, unless it is higher already; more can be typed.

RowState = Literal["value", "branch", "gone", "hint"]
Usual = Callable[[str, TablePath, Drafted], Any]  # The value without a row; None if it is not known.


class TableRow(NamedTuple):
    """One row of a table."""

    table: Tunable
    path: TablePath
    state: RowState  # A value, a row with rows of its own, a removed row, or a hint if there are none.
    label: str
    item: Any
    knob: Tunable  # The row as a setting; its default is the value without the row.
    leaf: Tunable  # The allowed values.
    edited: bool  # Differs from the value in force.
    other: bool  # Differs from the built-in value.

    @property
    def depth(self) -> int:
        return max(0, len(self.path) - 1)


def leaf_at(name: str, path: TablePath) -> Tunable:
    """Return the kind of value at a path."""
    if name == OVERRIDE and path:
        return tunables()[FIGURES + str(path[0])]
    return shape_of(name).leaf


def table_rows(table: Tunable, drafted: Drafted, usual: Usual = lambda *_: None) -> tuple[TableRow, ...]:
    """Return all rows of a table, removed ones last; an empty table has one row with a hint."""
    shape = shape_of(table.name)
    now, force = drafted.value(table.name), value_of(drafted.base, table.name)
    if shape.form == "map":
        rows = list(_mapped(table, partial(_slider, drafted=drafted, usual=usual), (now, force, table.default), ()))
    elif shape.form == "set":
        rows = [_word(table, (word,), word, now, force) for word in shape.levels[0]]
    else:
        rows = [_word(table, (place,), word, now, force) for place, word in enumerate(now)]
        lost = dict.fromkeys(word for word in (*force, *table.default) if word not in now)
        rows += [_word(table, (word,), word, now, force) for word in lost]
    return tuple(rows) or (_cell(table, (), "hint", "", None),)


def _mapped(
    table: Tunable, knob: Callable[[TableRow], Tunable], versions: tuple[Any, Any, Any], above: TablePath
) -> Iterator[TableRow]:
    """Yield the rows of one level, each with its inner rows below it."""
    now, force, default = versions
    deep = len(above) + 1 < len(shape_of(table.name).levels)
    for key in dict.fromkeys((*now, *force, *default)):
        path = (*above, key)
        inner = tuple(each.get(key, MISSING) for each in versions)
        item, *others = inner
        row = _cell(table, path, "gone" if item is MISSING else "value", str(key), item)
        row = row._replace(edited=item != others[0], other=item != others[1])
        if item is MISSING:
            yield row._replace(item=others[0] if others[0] is not MISSING else others[1])
        elif deep:
            yield row._replace(state="branch")
            inner_tables = tuple(each if isinstance(each, Mapping) else {} for each in inner)
            yield from _mapped(table, knob, (inner_tables[0], inner_tables[1], inner_tables[2]), path)
        else:
            yield row._replace(knob=knob(row))


def _word(table: Tunable, path: TablePath, word: str, now: Any, force: Any) -> TableRow:
    here = word in now
    removed = not here and shape_of(table.name).form == "list"
    row = _cell(
        table, path, "gone" if removed else "value", word, word if shape_of(table.name).form == "list" else here
    )
    default = word in table.default
    return row._replace(knob=row.leaf._replace(default=default), edited=here != (word in force), other=here != default)


def _cell(table: Tunable, path: TablePath, state: RowState, label: str, item: Any) -> TableRow:
    leaf = leaf_at(table.name, path)
    return TableRow(table, path, state, label, item, leaf, leaf, edited=False, other=False)


def _slider(cell: TableRow, *, drafted: Drafted, usual: Usual) -> Tunable:
    """Return a slider for a value; its default is the value without the row."""
    name, leaf = cell.table.name, cell.leaf
    built_in = item_at(cell.table.default, cell.path)
    default = usual(name, cell.path, drafted) if built_in is MISSING else built_in
    default = cell.item if default is None else default
    if name == TOOL_LIMITS:
        return leaf._replace(default=default, high=max(_REACH, float(cell.item), float(default)))
    return leaf._replace(default=default)


class Editing:
    """Changes to one draft; moves of one slider that follow each other are undone together.

    Each method returns why a change was refused, or a blank text.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._last_nudge: tuple[str, TablePath] | None = None

    def end_nudges(self) -> None:
        """Let the next move of a slider be a change of its own."""
        self._last_nudge = None

    def nudge(self, name: str, row: TableRow | None, direction: int, *, fine: bool) -> str:
        """Move the slider of a setting, or of a row of it."""
        value = self.draft.value(name)
        if row is None:
            value = nudged_value(tunables()[name], value, direction, fine=fine)
        elif shape_of(name).form == "set":
            before = (value_of(self.draft.base, name), row.table.default)
            value = with_toggled(shape_of(name).levels[0], value, row.label, *before)
        else:
            value = with_item(value, row.path, nudged_value(row.knob, row.item, direction, fine=fine))
        here = (name, row.path if row is not None else ())
        problem = self.draft.set(name, value, joined=self._last_nudge == here)
        self._last_nudge = None if problem else here
        return problem

    def set(self, name: str, value: Any) -> str:
        """Give a setting a value."""
        self._last_nudge = None
        return self.draft.set(name, value)

    def set_row(self, name: str, path: TablePath, value: Any) -> str:
        """Give a row of a table a value."""
        fault = value_fault(leaf_at(name, path), value)
        return fault or self.set(name, with_item(self.draft.value(name), path, value))

    def insert_word(self, name: str, place: int, word: str) -> str:
        """Insert a word into a list."""
        return self.set(name, with_word(self.draft.value(name), place, word)) if word else "it cannot be empty"

    def remove(self, row: TableRow) -> str:
        """Remove a row from its table."""
        return self.set(row.table.name, without_item(self.draft.value(row.table.name), row.path))

    def restore(self, row: TableRow) -> str | None:
        """Reset a row to the value in force, or else to the built-in value; None if it already is."""
        name = row.table.name
        before = (value_of(self.draft.base, name), row.table.default)
        value = with_restored(shape_of(name), self.draft.value(name), row.path, *before)
        return None if value is MISSING else self.set(name, value)

    def reset(self, names: Iterable[str]) -> bool:
        """Reset settings to the values in force, or else to built-in ones; return whether any changed."""
        self._last_nudge = None
        return self.draft.reset(names)

    def undo(self) -> bool:
        """Undo the last change."""
        self._last_nudge = None
        return self.draft.undo()

    def redo(self) -> bool:
        """Redo the last undone change."""
        self._last_nudge = None
        return self.draft.redo()

    def set_all(self, values: Mapping[str, Any]) -> str:
        """Give several settings their values in one change."""
        self._last_nudge = None
        return self.draft.lay(values)
