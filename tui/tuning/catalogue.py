"""The settings in the order and the groups a person meets them, and those that a search leaves."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import NamedTuple

from core.settings import Settings
from core.settings.layers import tunables
from core.settings.tunable import Group, Tunable


class Heading(NamedTuple):
    """A group of settings."""

    group: str
    names: tuple[str, ...]
    sentence: str
    open: bool
    """Its settings are listed below it."""


class Entry(NamedTuple):
    """One setting below a heading."""

    tunable: Tunable
    label: str
    """Its name without that of the group."""


Row = Heading | Entry


def group_of(name: str) -> str:
    """The group under which a setting is listed: the first two parts of its name at most."""
    return ".".join(name.split(".")[:-1][:2])


@cache
def groups() -> dict[str, tuple[str, ...]]:
    """The settings of every group, in the order they were declared."""
    found: dict[str, list[str]] = {}
    for name in tunables():
        found.setdefault(group_of(name), []).append(name)
    return {group: tuple(names) for group, names in found.items()}


@cache
def sentence_of(group: str) -> str:
    """What a group is about."""
    model: type[Group] = Settings
    words = ""
    for step in group.split("."):
        field = model.model_fields[step]
        words = field.description or ""
        if isinstance(field.annotation, type) and issubclass(field.annotation, Group):
            model = field.annotation
    return words


def rows(
    opened: Collection[str], words: str = "", wanted: Callable[[str], bool] | None = None
) -> tuple[Row, ...]:
    """Headings and, below those that are open, settings; a search opens every group it finds something in."""
    looked_for = words.lower().split()
    narrowed = bool(looked_for) or wanted is not None
    made: list[Row] = []
    for group, names in groups().items():
        kept = [name for name in names if _fits(name, looked_for) and (wanted is None or wanted(name))]
        if narrowed and not kept:
            continue
        is_open = group in opened or narrowed
        made.append(Heading(group, tuple(kept), sentence_of(group), is_open))
        if is_open:
            made += [Entry(tunables()[name], name.removeprefix(group + ".")) for name in kept]
    return tuple(made)


def _fits(name: str, words: list[str]) -> bool:
    if not words:
        return True
    text = f"{name} {tunables()[name].sentence}".lower()
    return all(word in text for word in words)
