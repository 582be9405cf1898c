"""The rows of a table as they stand in the list: value, bounds, and whether it is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from core.settings.draft import Drafted
from core.settings.group import Tunable
from core.settings.layers import tunables, value_of
from core.settings.table_values import FIGURES, MISSING, OVERRIDE, TOOL_LIMITS, TablePath, item_at, shape_of

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
