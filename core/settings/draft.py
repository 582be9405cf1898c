"""Settings as a person turns them: every change checked, undone and redone."""

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

_COARSE = 20
"""Steps of the arrow keys over a setting's whole range, at least."""


class Drafted(NamedTuple):
    """Settings as they stand on the bench."""

    base: Settings
    edits: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """What a setting would be."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def changed(self, name: str) -> bool:
        """Whether it is edited, or other than built-in."""
        return name in self.edits or value_of(self.base, name) != tunables()[name].default


class Draft:
    """Edits laid over the settings in force; an edit that says what already holds is none."""

    def __init__(
        self,
        base: Settings,
        begun: Settings | None = None,
    ) -> None:
        self.begun = base if begun is None else begun
        """The settings before any of them was changed."""
        self.base = base
        """The settings in force."""
        self.settings = base
        """Those with the edits."""
        self.edits: dict[str, Any] = {}
        self._past: list[dict[str, Any]] = []
        self._future: list[dict[str, Any]] = []
        self._standing = _standing(base)

    def rebase(self, base: Settings) -> None:
        """Other settings are in force now; edits that say the same are dropped."""
        if base == self.base:
            return
        self.base = base
        self._standing = _standing(base)
        self._past.clear()
        self._future.clear()
        self._enter(self.edits)

    @property
    def drafted(self) -> Drafted:
        """As it stands now, to be shown."""
        return Drafted(self.base, dict(self.edits))

    @property
    def changes(self) -> dict[str, Any]:
        """All that differs from how it began, in force already or not."""
        return {
            name: value
            for name in tunables()
            if (value := value_of(self.settings, name)) != value_of(self.begun, name)
        }

    def value(self, name: str) -> Any:
        """What a setting would be."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)

    def set(self, name: str, value: Any, *, joined: bool = False) -> str:
        """Change one setting; what is wrong with the value, in words, where it is refused.

        A `joined` change is undone together with the one before, as while a slider moves.
        """
        return self.lay({name: value}, joined=joined)

    def lay(self, values: Mapping[str, Any], *, joined: bool = False) -> str:
        """Change several settings in one step; the first fault, where there is any."""
        edits = {**self.edits, **values}
        found = resolve([self._standing, _layer(edits)])
        if found.complaints:
            fault = found.complaints[0]
            own = fault.name in values and len(values) == 1
            return fault.problem if own else f"{fault.name}: {fault.problem}"
        self._note(joined=joined)
        self._enter({name: value_of(found.settings, name) for name in edits})
        return ""

    def reset(self, names: Iterable[str]) -> bool:
        """Back to what is in force; where that is so already, to the built-in value. Whether any moved."""
        wanted = list(names)
        edited = [name for name in wanted if name in self.edits]
        if edited:
            self._note()
            self._enter({name: value for name, value in self.edits.items() if name not in edited})
            return True
        known = tunables()
        values = {
            name: known[name].default for name in wanted if value_of(self.base, name) != known[name].default
        }
        return bool(values) and not self.lay(values)

    def undo(self) -> bool:
        """Take the last change back."""
        if not self._past:
            return False
        self._future.append(self.edits)
        self._enter(self._past.pop())
        return True

    def redo(self) -> bool:
        """Make it again."""
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
            Given(name, value)
            for name, each in tunables().items()
            if (value := value_of(base, name)) != each.default
        ),
    )


def _layer(edits: Mapping[str, Any]) -> Layer:
    return Layer("edit", tuple(Given(name, value) for name, value in edits.items()))


def nudged_value(tunable: Tunable, value: Any, direction: int, *, fine: bool) -> Any:
    """The value one key press further: a step, a fine step, the other state, the next choice."""
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
    """A typed value: a number as such, text as it stands, a table as TOML."""
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
    """A value as one would type it."""
    return value if isinstance(value, str) else toml_value(plain_value(value))


def plain_value(value: Any) -> Any:
    """A value without models in it."""
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return msgspec.to_builtins(value) if isinstance(value, Group) else value


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


_REACH = 100.0
"""Where the slider of a limit ends, unless it is higher already; more can be typed."""

RowState = Literal["value", "branch", "gone", "hint"]
Usual = Callable[[str, TablePath, Drafted], Any]
"""What would hold without a row; None where nothing is known."""


class TableRow(NamedTuple):
    """One row of a table."""

    table: Tunable
    path: TablePath
    state: RowState
    """A value, a row with rows of its own, a row that was taken out, or a word where there is none."""
    label: str
    item: Any
    knob: Tunable
    """The row as a setting of its own; its default is what would hold without it."""
    leaf: Tunable
    """What may be typed there."""
    edited: bool
    """Other than in force."""
    other: bool
    """Other than built-in."""

    @property
    def depth(self) -> int:
        return max(0, len(self.path) - 1)


def leaf_at(name: str, path: TablePath) -> Tunable:
    """What may stand at a path."""
    if name == OVERRIDE and path:
        return tunables()[FIGURES + str(path[0])]
    return shape_of(name).leaf


def table_rows(table: Tunable, drafted: Drafted, usual: Usual = lambda *_: None) -> tuple[TableRow, ...]:
    """All rows of a table, those that were taken out last; one that says what to do where there are none."""
    shape = shape_of(table.name)
    now, force = drafted.value(table.name), value_of(drafted.base, table.name)
    if shape.form == "map":
        made = list(
            _mapped(table, partial(_knob, drafted=drafted, usual=usual), (now, force, table.default), ())
        )
    elif shape.form == "set":
        made = [_word(table, (word,), word, now, force) for word in shape.levels[0]]
    else:
        made = [_word(table, (place,), word, now, force) for place, word in enumerate(now)]
        lost = dict.fromkeys(word for word in (*force, *table.default) if word not in now)
        made += [_word(table, (word,), word, now, force) for word in lost]
    return tuple(made) or (_cell(table, (), "hint", "", None),)


def _mapped(
    table: Tunable, knob: Callable[[TableRow], Tunable], versions: tuple[Any, Any, Any], above: TablePath
) -> Iterator[TableRow]:
    """Rows of one level, and below each what it holds."""
    now, force, default = versions
    deep = len(above) + 1 < len(shape_of(table.name).levels)
    for key in dict.fromkeys((*now, *force, *default)):
        path = (*above, key)
        inner = tuple(each.get(key, MISSING) for each in versions)
        item, *others = inner
        made = _cell(table, path, "gone" if item is MISSING else "value", str(key), item)
        made = made._replace(edited=item != others[0], other=item != others[1])
        if item is MISSING:
            yield made._replace(item=others[0] if others[0] is not MISSING else others[1])
        elif deep:
            yield made._replace(state="branch")
            known = tuple(each if isinstance(each, Mapping) else {} for each in inner)
            yield from _mapped(table, knob, (known[0], known[1], known[2]), path)
        else:
            yield made._replace(knob=knob(made))


def _word(table: Tunable, path: TablePath, word: str, now: Any, force: Any) -> TableRow:
    here = word in now
    gone = not here and shape_of(table.name).form == "list"
    made = _cell(
        table, path, "gone" if gone else "value", word, word if shape_of(table.name).form == "list" else here
    )
    default = word in table.default
    return made._replace(
        knob=made.leaf._replace(default=default), edited=here != (word in force), other=here != default
    )


def _cell(table: Tunable, path: TablePath, state: RowState, label: str, item: Any) -> TableRow:
    leaf = leaf_at(table.name, path)
    return TableRow(table, path, state, label, item, leaf, leaf, edited=False, other=False)


def _knob(cell: TableRow, *, drafted: Drafted, usual: Usual) -> Tunable:
    """A slider for a value, with what would hold without the row marked on it."""
    name, leaf = cell.table.name, cell.leaf
    built_in = item_at(cell.table.default, cell.path)
    default = usual(name, cell.path, drafted) if built_in is MISSING else built_in
    default = cell.item if default is None else default
    if name == TOOL_LIMITS:
        return leaf._replace(default=default, high=max(_REACH, float(cell.item), float(default)))
    return leaf._replace(default=default)


class Editing:
    """Changes to one draft; moves of one slider that follow each other are undone together.

    Where a change is refused its method says why; a blank answer means that it holds.
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
        """Put a word into a list."""
        return (
            self.set(name, with_word(self.draft.value(name), place, word)) if word else "it cannot be empty"
        )

    def remove(self, row: TableRow) -> str:
        """Take a row out of its table."""
        return self.set(row.table.name, without_item(self.draft.value(row.table.name), row.path))

    def restore(self, row: TableRow) -> str | None:
        """A row back to what is in force, or from there to built-in; None where it is that already."""
        name = row.table.name
        before = (value_of(self.draft.base, name), row.table.default)
        value = with_restored(shape_of(name), self.draft.value(name), row.path, *before)
        return None if value is MISSING else self.set(name, value)

    def reset(self, names: Iterable[str]) -> bool:
        """Settings back to what is in force, or from there to built-in; whether any moved."""
        self._last_nudge = None
        return self.draft.reset(names)

    def undo(self) -> bool:
        """Take the last change back."""
        self._last_nudge = None
        return self.draft.undo()

    def redo(self) -> bool:
        """Make the change again that was taken back last."""
        self._last_nudge = None
        return self.draft.redo()

    def set_all(self, values: Mapping[str, Any]) -> str:
        """Give several settings their values in one change."""
        self._last_nudge = None
        return self.draft.lay(values)
