"""Frames in words: one as a page, two as what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from core.engine.engine import Frame

_SAME = 0.001
"""Figures that differ by no more than this count as equal."""
_MANY = 12


def all_readings(frame: Frame) -> list[str]:
    """Every reading of a frame, a line each, long lists cut."""
    return [f"{name} = {_said(value)}" for name, value in _leaves(msgspec.to_builtins(frame), "")]


def difference(before: Frame, after: Frame) -> list[str]:
    """What differs between two frames, a line each."""
    old = dict(_leaves(msgspec.to_builtins(before), "", cut=False))
    new = dict(_leaves(msgspec.to_builtins(after), "", cut=False))
    lines = []
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in new:
            lines.append(f"- {name} = {_said(old[name])}")
        elif name not in old:
            lines.append(f"+ {name} = {_said(new[name])}")
        elif not _equal(old[name], new[name]):
            lines.append(f"~ {name}: {_said(old[name])} -> {_said(new[name])}{_by(old[name], new[name])}")
    return lines


def _leaves(value: Any, name: str, *, cut: bool = True) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key), cut=cut)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        rows = value[:_MANY] if cut else value
        for number, item in enumerate(rows):
            yield from _leaves(item, f"{name}[{_label(item, number)}]", cut=cut)
        if len(rows) < len(value):
            yield f"{name}[...]", f"{len(value) - len(rows)} more"
    else:
        yield name, value


def _label(item: Any, number: int) -> str:
    """A row is known by its name where it has one, so that rows that move are still compared."""
    if isinstance(item, Mapping):
        for key in ("axis", "name", "field", "path", "id"):
            if isinstance(item.get(key), str | int):
                return str(item[key])
    return str(number)


def _said(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def _equal(old: Any, new: Any) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) <= _SAME
    return bool(old == new)


def _by(old: Any, new: Any) -> str:
    numbers = isinstance(old, int | float) and isinstance(new, int | float)
    return f" ({new - old:+.4g})" if numbers and not isinstance(old, bool) else ""
