"""Tables that say what tools, commands, texts and models mean, as data a user can extend."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.errors import SettingsError
from core.events import ACTIONS, PURPOSES
from core.folders import read_failure, small_file

OURS = Path(__file__).parent
_HEADING = re.compile(r"\[([\w-]+)\]")
_KEY = re.compile(r"(\w+) =")
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

    names: dict[str, str]  # Actions by name; a later table's word replaces an earlier one's.
    patterns: list[tuple[str, str]]  # Actions by names with `*`, the first that fits.
    otherwise: str


class Tables(NamedTuple):
    """All tables, ours with the person's own on top."""

    tools: dict[str, Tools]
    lists: dict[str, Lists]  # The lists of each other section, the user's words first.


def read_tables(*extra: Path) -> Tables:
    """Read our tables and the user's; an error names file and field.

    Ours are read once a process, the user's whenever they say something else. What is given is shared.
    """
    ours = _our_tables()
    if not extra:
        return ours
    tools = {name: Tools(dict(own.names), own.patterns, own.otherwise) for name, own in ours.tools.items()}
    tables = Tables(tools, {section: dict(lists) for section, lists in ours.lists.items()})
    _lay_tables_over(tables, extra)
    return tables


@cache
def _our_tables() -> Tables:
    tables = Tables({}, {section: dict.fromkeys(names, ()) for section, names in _SECTIONS.items()})
    _lay_tables_over(tables, (OURS / name for name in ("tools.toml", "shell.toml", "outcomes.toml")))
    return tables


def _lay_tables_over(tables: Tables, paths: Iterable[Path]) -> None:
    for path in paths:
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


def read_table(path: Path) -> dict[str, Any]:
    """A table file's content, to be read and not changed; an error names the file and the place."""
    try:
        return _parsed(small_file(path))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {read_failure(error)}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not TOML: {error}") from error


def plain_table(text: str) -> dict[str, Any]:
    """A table with one value per line, as `make models` writes it, read many times faster than any other."""
    sections: dict[str, Any] = {}
    section = sections
    for line in text.splitlines():
        name, equals, value = line.partition(" = ")
        if line.startswith("["):
            section = sections[line.strip("[]")] = {}
        elif equals and not line.startswith("#"):
            section[name] = msgspec.json.decode(_KEY.sub(r'"\1":', value) if " =" in value else value)
    return sections


def sections(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the lines of a text file by the heading in brackets above them, without comments."""
    lines: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        if heading := _HEADING.fullmatch(line):
            section = lines.setdefault(heading[1], [])
        elif line and not line.startswith("#"):
            section.append(line)
    return {name: tuple(section) for name, section in lines.items()}


@cache
def _our_words() -> dict[str, tuple[str, ...]]:
    return sections(OURS / "words.txt")


def known_phrases(section: str) -> tuple[str, ...]:
    """Return the phrases of a section of `words.txt`, one per line."""
    return _our_words()[section]


def word_list(section: str) -> tuple[str, ...]:
    """Return the words of a section of `words.txt` in their order."""
    return tuple(" ".join(_our_words()[section]).split())


def known_words(section: str) -> frozenset[str]:
    """Return the words of a section of `words.txt`."""
    return frozenset(word_list(section))


def known_pairs(section: str) -> dict[str, Any]:
    """Return the words of a section of `words.txt`, each by the name before its `=`."""
    return dict(pair.split("=") for pair in word_list(section))


def known_pattern(section: str, flags: int = 0) -> re.Pattern[str]:
    """Return an expression for any of those in a section of `words.txt`, one per line."""
    return re.compile("|".join(known_phrases(section)), flags)


@lru_cache(maxsize=8)
def _parsed(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.decode())


def _add_list(lists: Lists, path: Path, section: str, name: str, value: Any) -> None:
    if name not in lists:
        expected = ", ".join(_SECTIONS[section])
        raise SettingsError(f"{path}: {section}.{name}: unknown; expected one of {expected}")
    words = _texts(path, f"{section}.{name}", value)
    for other, others in lists.items():
        if section in ("purposes", "verbs"):
            lists[other] = tuple(word for word in others if word not in words)
    lists[name] = (*words, *(word for word in lists[name] if word not in words))


def _add_tools(frameworks: dict[str, Tools], path: Path, framework: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise SettingsError(f"{path}: tools.{framework}: must be a table")
    tools = frameworks.get(framework, Tools({}, [], ""))
    patterns: list[tuple[str, str]] = []
    otherwise = tools.otherwise
    for action, listed in value.items():
        if action == "otherwise":
            if listed not in ACTIONS:
                raise SettingsError(f"{path}: tools.{framework}.otherwise: must be one of {', '.join(ACTIONS)}")
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
    frameworks[framework] = Tools(tools.names, patterns + tools.patterns, otherwise)


def _texts(path: Path, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise SettingsError(f"{path}: {name}: must be a list of names")
    return tuple(value)
