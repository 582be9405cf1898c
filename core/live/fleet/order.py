"""Which rows are listed, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from core.live.fleet.row import Row

Sorting = Literal["need", "recent", "frustration", "context", "tokens", "project", "agent"]

_KEYS: dict[Sorting, Callable[[Row], Any]] = {
    "need": lambda row: row.status.urgency,
    "recent": lambda row: -row.facts.heard,
    "frustration": lambda row: -row.frustration,
    "context": lambda row: -row.facts.context,
    "tokens": lambda row: -row.burn,
    "project": lambda row: row.name.casefold(),
    "agent": lambda row: row.agent,
}
SORTINGS: tuple[Sorting, ...] = tuple(_KEYS)


class Order(NamedTuple):
    """What the person chose."""

    sorting: Sorting = "need"
    grouped: bool = False
    urgent: bool = False
    """Only those that need a person or are worth a look."""
    text: str = ""


class Heading(NamedTuple):
    """The line above the sessions of a project."""

    name: str
    rows: tuple[Row, ...]


Item: TypeAlias = Row | Heading


def listed(rows: Sequence[Row], order: Order) -> list[Item]:
    """The rows that are wanted, in order, under headings where they are grouped."""
    wanted = [row for row in rows if _fits(row, order)]
    key = _KEYS[order.sorting]
    wanted.sort(key=lambda row: (key(row), row.status.urgency, row.key))
    if not order.grouped:
        return list(wanted)
    groups: dict[str, list[Row]] = {}
    for row in wanted:
        groups.setdefault(row.project or row.name, []).append(row)
    items: list[Item] = []
    for members in groups.values():
        items.append(Heading(members[0].name, tuple(members)))
        items += members
    return items


def _fits(row: Row, order: Order) -> bool:
    if order.urgent and row.status.level < 2:
        return False
    if not order.text:
        return True
    stands = row.status
    told = (row.agent, row.project, row.session, row.model, stands.word, row.state, row.pattern, row.last)
    text = " ".join((*told, row.host)).replace("_", " ").casefold()
    return all(part in text for part in order.text.casefold().split())


class Census(NamedTuple):
    """How many sessions are at each level."""

    need: int
    look: int
    work: int
    rest: int


def census(rows: Sequence[Row]) -> Census:
    """Count them."""
    levels = [row.status.level for row in rows]
    return Census(levels.count(3), levels.count(2), levels.count(1), levels.count(0))
