"""Tables that say what tools, commands, texts and models mean, as data a user can extend."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import SettingsError
from core.events import ACTIONS, PURPOSES
from core.settings.file import read_failure, small_file

OURS = Path(__file__).parent
Lists = dict[str, tuple[str, ...]]

_SECTIONS: dict[str, tuple[str, ...]] = {
    "memory": ("files", "folders", "servers", "read", "write"),
    "verbs": ACTIONS,
    "arguments": ("path", "paths", "command", "before", "after", "edits", "patch"),
    "shell": ("read", "search", "edit", "exec", "neutral", "filters", "wrappers", "runners"),
    "purposes": PURPOSES[1:],
    "outcomes": ("rejected", "collateral", "empty"),
}


class Tools(NamedTuple):
    """The tools of one framework."""

    names: dict[str, str]
    """Actions by name; a later table's word replaces an earlier one's."""
    patterns: list[tuple[str, str]]
    """Actions by names with `*`, the first that fits."""
    otherwise: str


class Tables(NamedTuple):
    """All tables, ours with the user's laid over them."""

    tools: dict[str, Tools]
    lists: dict[str, Lists]
    """The lists of each other section, the user's words first."""


def read_tables(*extra: Path) -> Tables:
    """Read our tables and the user's; an error names file and field."""
    tables = Tables({}, {section: dict.fromkeys(names, ()) for section, names in _SECTIONS.items()})
    ours = (*sorted(OURS.parent.glob("*/tools.toml")), OURS / "shell.toml", OURS / "outcomes.toml")
    for path in (*ours, *extra):
        content = read_table(path)
        for section, value in content.items():
            if section != "tools" and section not in _SECTIONS:
                expected = ", ".join(("tools", *_SECTIONS))
                raise SettingsError(f"{path}: {section}: unknown; expected one of {expected}")
            if not isinstance(value, dict):
                raise SettingsError(f"{path}: {section}: must be a table")
            for name, item in value.items():
                if section == "tools":
                    _add_tools(tables.tools, path, name, item)
                else:
                    _add_list(tables.lists[section], path, section, name, item)
    return tables


def read_table(path: Path) -> dict[str, Any]:
    """A table file's content; an error names the file and the place."""
    try:
        return tomllib.loads(small_file(path).decode())
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {read_failure(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not TOML: {error}") from error


def _add_list(lists: Lists, path: Path, section: str, name: str, value: Any) -> None:
    if name not in lists:
        expected = ", ".join(_SECTIONS[section])
        raise SettingsError(f"{path}: {section}.{name}: unknown; expected one of {expected}")
    words = _texts(path, f"{section}.{name}", value)
    for other, others in lists.items():
        if section in ("purposes", "verbs"):
            lists[other] = tuple(word for word in others if word not in words)
    lists[name] = (*words, *(word for word in lists[name] if word not in words))


def _add_tools(known: dict[str, Tools], path: Path, framework: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise SettingsError(f"{path}: tools.{framework}: must be a table")
    tools = known.get(framework, Tools({}, [], ""))
    patterns: list[tuple[str, str]] = []
    otherwise = tools.otherwise
    for action, listed in value.items():
        if action == "otherwise":
            if listed not in ACTIONS:
                raise SettingsError(
                    f"{path}: tools.{framework}.otherwise: must be one of {', '.join(ACTIONS)}"
                )
            otherwise = listed
            continue
        if action not in ACTIONS:
            expected = ", ".join((*ACTIONS, "otherwise"))
            raise SettingsError(f"{path}: tools.{framework}.{action}: unknown; expected one of {expected}")
        for name in _texts(path, f"tools.{framework}.{action}", listed):
            if "*" in name:
                patterns.append((name, action))
            else:
                tools.names[name] = action
    known[framework] = Tools(tools.names, patterns + tools.patterns, otherwise)


def _texts(path: Path, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise SettingsError(f"{path}: {name}: must be a list of names")
    return tuple(value)
