"""The settings in the order and the groups a person meets them, and those that a search leaves."""

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
    open: bool
    """Its settings are listed below it."""


class SettingRow(NamedTuple):
    """One setting below a heading."""

    tunable: Tunable
    label: str
    """Its name without that of the group."""
    open: bool = False
    """Of a table, its rows are listed below it."""


ListRow = SettingGroup | SettingRow | TableRow
Inside = Callable[[Tunable], Iterable[TableRow] | None]
"""The rows of a table that is open, none of any other."""


def row_key(row: ListRow) -> tuple[str, TablePath]:
    """What tells a row from all others."""
    if isinstance(row, SettingGroup):
        return row.group, ("",)
    return (row.tunable.name, ()) if isinstance(row, SettingRow) else (row.table.name, row.path or ("",))


def shape_here(row: ListRow | None) -> TableShape | None:
    """How the table is built that a row is, or is part of."""
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
    found: dict[str, list[str]] = {}
    for name in tunables():
        found.setdefault(group_of(name), []).append(name)
    return {group: tuple(names) for group, names in found.items()}


@cache
def group_sentence(group: str) -> str:
    """What a group is about."""
    return field_of(group).sentence


def list_rows(
    opened: Collection[str],
    words: str = "",
    wanted: Callable[[str], bool] | None = None,
    inside: Inside | None = None,
) -> tuple[ListRow, ...]:
    """Headings and, below those that are open, settings; a search opens every group it finds something in."""
    looked_for = words.lower().split()
    narrowed = bool(looked_for) or wanted is not None
    made: list[ListRow] = []
    for group, names in setting_groups().items():
        kept = [name for name in names if _fits(name, looked_for) and (wanted is None or wanted(name))]
        if narrowed and not kept:
            continue
        is_open = group in opened or narrowed
        made.append(SettingGroup(group, tuple(kept), group_sentence(group), is_open))
        for name in kept if is_open else ():
            tunable = tunables()[name]
            listed = inside(tunable) if inside is not None and tunable.kind == "table" else None
            made.append(SettingRow(tunable, name.removeprefix(group + "."), listed is not None))
            made += listed or ()
    return tuple(made)


def _fits(name: str, words: list[str]) -> bool:
    if not words:
        return True
    text = f"{name} {tunables()[name].sentence}".lower()
    return all(word in text for word in words)
