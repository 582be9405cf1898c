"""Settings written as TOML: as a file one can save, or into a file that keeps its comments."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Item, KeyType, SingleKey

from core.safe_text import safe, toml_escape
from core.settings.group import Group, Tunable


def toml_value(value: Any) -> str:
    """Return a value as TOML, with every harmful character escaped."""
    return safe(_item(value).as_string(), toml_escape, lines=True)


def _item(value: Any) -> Item:
    if isinstance(value, Group):
        value = msgspec.to_builtins(value)
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, item in value.items():
            table.append(SingleKey(str(key), t=KeyType.Basic), _item(item))
        return table
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        array.extend(map(_item, value))
        return array
    new_item: Item = tomlkit.item(value)
    return new_item


def settings_toml(tunables: Iterable[Tunable], values: Mapping[str, Any]) -> str:
    """Return settings as TOML, each with its sentence and allowed values."""
    tables: dict[str, list[str]] = {}
    for each in tunables:
        group, _, key = each.name.rpartition(".")
        unit = f" {each.unit}" if each.unit else ""
        lines = tables.setdefault(group, [f"[{group}]"])
        lines.append(f"# {each.sentence} ({each.allowed()}{unit})")
        lines.append(f"{key} = {toml_value(values[each.name])}")
    return "\n\n".join("\n".join(lines) for lines in tables.values()) + "\n"


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a settings file with some values set and all else unchanged; ValueError if that fails."""
    try:
        document = tomlkit.parse(text)
        before = tomllib.loads(text)
    except (TOMLKitError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"the settings file is not TOML; fix it first: {error}") from error
    try:
        for name, value in values.items():
            _put(document, name.split("."), _item(value))
        new_text = tomlkit.dumps(document)
        right = tomllib.loads(new_text) == _merged_tree(before, values)
    except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, ValueError):
        right = False
    if not right:
        own = ", ".join(f"{name} = {toml_value(value)}" for name, value in values.items())
        raise ValueError(f"the settings file has a layout that cannot be edited; add this yourself: {own}")
    return new_text


def _put(node: Any, steps: list[str], item: Item) -> None:
    """Set a value below a table, and create the tables on the way."""
    group, *rest = steps
    if not rest:
        _set(node, group, item)
        return
    if group not in node:
        inline = isinstance(node, InlineTable)
        node[group] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=len(rest) > 1)
    _put(node[group], rest, item)


def _set(node: Any, key: str, item: Item) -> None:
    """Set a value; of a table only the rows that change, so that comments stay."""
    table = node.get(key) if isinstance(node, MutableMapping) else None
    if not isinstance(item, InlineTable) or not isinstance(table, MutableMapping):
        node[key] = item
        return
    for stale_key in [each for each in table if each not in item]:
        del table[stale_key]
    for inner, value in item.items():
        if inner not in table or table[inner] != value:
            _set(table, inner, value)


def _merged_tree(tree: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the expected content of the file with the values."""
    for name, value in values.items():
        *groups, last = name.split(".")
        node = tree
        for group in groups:
            node = node.setdefault(group, {})
        node[last] = tomllib.loads(f"v = {toml_value(value)}")["v"]
    return tree
