"""Settings while a person edits them: their list, drafts with undo, and how they are written as TOML."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from functools import cache
from typing import Any, NamedTuple

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Item, KeyType, SingleKey

from core.safe_text import safe, toml_escape
from core.settings import Settings
from core.settings.group import Group, Tunable
from core.settings.layers import Given, Layer, field_of, own_values, parse_text, resolve, tunables, value_of


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
    """Edits over the settings in force; an edit to the value in force is dropped.

    Moves of one slider that follow each other are undone together. What changes a value returns why it was
    refused, or a blank text.
    """

    def __init__(self, base: Settings, original: Settings | None = None) -> None:
        self.begun = base if original is None else original  # The settings before any of them was changed.
        self.base = base  # The settings in force.
        self.settings = base  # The settings with the edits.
        self.edits: dict[str, Any] = {}
        self._past: list[dict[str, Any]] = []
        self._future: list[dict[str, Any]] = []
        self._last_nudge = ""
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
        return value_of(self.settings, name)

    def end_nudges(self) -> None:
        """Let the next move of a slider be a change of its own."""
        self._last_nudge = ""

    def nudge(self, name: str, direction: int, *, fine: bool) -> str:
        """Move the slider of a setting."""
        value = nudged_value(tunables()[name], self.value(name), direction, fine=fine)
        problem = self.set(name, value, joined=self._last_nudge == name)
        self._last_nudge = "" if problem else name
        return problem

    def type(self, name: str, text: str) -> str:
        """Give a setting the value that a person typed."""
        return self.set(name, parse_value(tunables()[name], text))

    def set(self, name: str, value: Any, *, joined: bool = False) -> str:
        """Change one setting; return why the value was refused, or a blank text.

        A `joined` change is undone together with the one before, as while a slider moves.
        """
        return self.lay({name: value}, joined=joined)

    def lay(self, values: Mapping[str, Any], *, joined: bool = False) -> str:
        """Change several settings in one step; return the first fault, or a blank text."""
        self.end_nudges()
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
        self.end_nudges()
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
        self.end_nudges()
        if not self._past:
            return False
        self._future.append(self.edits)
        self._enter(self._past.pop())
        return True

    def redo(self) -> bool:
        """Redo the last undone change."""
        self.end_nudges()
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
    return Layer("in force", own_values(base))


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
    value = parse_text(text.strip(), tunable)
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
