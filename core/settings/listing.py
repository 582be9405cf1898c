"""The list of settings in groups, and its search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from typing import NamedTuple

from core.settings.draft import TablePath, TableRow, TableShape, shape_of
from core.settings.group import Tunable
from core.settings.layers import field_of, tunables


class SettingGroup(NamedTuple):
    """A group of settings."""

    group: str
    names: tuple[str, ...]
    sentence: str
    open: bool  # Its settings are listed below it.


class SettingRow(NamedTuple):
    """One setting below a heading."""

    tunable: Tunable
    label: str  # Its name without that of the group.
    open: bool = False  # Of a table, its rows are listed below it.


ListRow = SettingGroup | SettingRow | TableRow
Inside = Callable[[Tunable], Iterable[TableRow] | None]  # The rows of a table that is open, none of any other.


def row_key(row: ListRow) -> tuple[str, TablePath]:
    """Return the identity of a row."""
    if isinstance(row, SettingGroup):
        return row.group, ("",)
    return (row.tunable.name, ()) if isinstance(row, SettingRow) else (row.table.name, row.path or ("",))


def shape_here(row: ListRow | None) -> TableShape | None:
    """Return the shape of the table that a row is or belongs to."""
    if row is None or isinstance(row, SettingGroup):
        return None
    table = row.table if isinstance(row, TableRow) else row.tunable
    return shape_of(table.name) if table.kind == "table" else None


def group_of(name: str) -> str:
    """The group under which a setting is listed: the first two parts of its name at most."""
    return ".".join(name.split(".")[:-1][:2])


@cache
def setting_groups() -> dict[str, tuple[str, ...]]:
    """The settings of every group, in the order they were declared."""
    groups: dict[str, list[str]] = {}
    for name in tunables():
        groups.setdefault(group_of(name), []).append(name)
    return {group: tuple(names) for group, names in groups.items()}


@cache
def group_sentence(group: str) -> str:
    """Return the sentence of a group."""
    return field_of(group).sentence


def list_rows(
    opened: Collection[str], words: str = "", matches: Callable[[str], bool] | None = None, inside: Inside | None = None
) -> tuple[ListRow, ...]:
    """Return the headings and the settings of open groups; a search opens every group with a match."""
    looked_for = words.lower().split()
    narrowed = bool(looked_for) or matches is not None
    rows: list[ListRow] = []
    for group, names in setting_groups().items():
        listed_names = [name for name in names if _fits(name, looked_for) and (matches is None or matches(name))]
        if narrowed and not listed_names:
            continue
        is_open = group in opened or narrowed
        rows.append(SettingGroup(group, tuple(listed_names), group_sentence(group), is_open))
        for name in listed_names if is_open else ():
            tunable = tunables()[name]
            listed = inside(tunable) if inside is not None and tunable.kind == "table" else None
            rows.append(SettingRow(tunable, name.removeprefix(group + "."), listed is not None))
            rows += listed or ()
    return tuple(rows)


def _fits(name: str, words: list[str]) -> bool:
    if not words:
        return True
    text = f"{name} {tunables()[name].sentence}".lower()
    return all(word in text for word in words)
