"""Where a TOML file names each key, and settings written as a file one can save."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.safe_text import safe, toml_escape
from core.settings.tunable import Tunable

_HEADER = re.compile(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


def key_lines(text: str) -> dict[str, int]:
    """The line, counted from 1, on which each dotted key is set."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            table = _plain(header[1]) + "."
            continue
        key = _KEY.match(line)
        if key:
            lines.setdefault(table + _plain(key[1]), number)
    return lines


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


def write(tunables: Iterable[Tunable], values: Mapping[str, Any]) -> str:
    """Settings as TOML, each with its sentence and what it may be."""
    tables: dict[str, list[str]] = {}
    for each in tunables:
        group, _, key = each.name.rpartition(".")
        unit = f" {each.unit}" if each.unit else ""
        lines = tables.setdefault(group, [f"[{group}]"])
        lines.append(f"# {each.sentence} ({each.allowed()}{unit})")
        lines.append(f"{key} = {literal(values[each.name])}")
    return "\n\n".join("\n".join(lines) for lines in tables.values()) + "\n"


def literal(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return '"' + safe(_quotable(value), toml_escape) + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(str(key))} = {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    if hasattr(value, "model_dump"):
        return literal(value.model_dump())
    raise TypeError(f"{type(value).__name__} has no TOML form")


def _quotable(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
