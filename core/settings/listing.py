"""The list of settings in groups, and its search."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import NamedTuple

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


ListRow = SettingGroup | SettingRow


def row_key(row: ListRow) -> str:
    """Return the name of a setting or group."""
    return row.group if isinstance(row, SettingGroup) else row.tunable.name


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
    opened: Collection[str], words: str = "", matches: Callable[[str], bool] | None = None
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
        if is_open:
            rows += [SettingRow(tunables()[name], name.removeprefix(group + ".")) for name in listed_names]
    return tuple(rows)


def _fits(name: str, words: list[str]) -> bool:
    if not words:
        return True
    text = f"{name} {tunables()[name].sentence}".lower()
    return all(word in text for word in words)
