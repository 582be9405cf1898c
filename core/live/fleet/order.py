"""Which rows are listed, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from core.live.fleet.row import FleetRow

Sorting = Literal[
    "need", "recent", "cost", "failures", "context", "frustration", "tokens", "project", "agent"
]

_KEYS: dict[Sorting, Callable[[FleetRow], Any]] = {
    "need": lambda row: row.status.urgency,
    "recent": lambda row: -row.facts.heard,
    "cost": lambda row: -row.dollars,
    "failures": lambda row: -row.failures,
    "context": lambda row: -row.facts.context,
    "frustration": lambda row: -row.frustration,
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
    folded: bool = True
    """Sessions at rest take one line together."""
    axes: bool = False
    """Show what their minds read instead of what they are about."""


class Heading(NamedTuple):
    """The line above the sessions of a project."""

    name: str
    rows: tuple[FleetRow, ...]


class Fold(NamedTuple):
    """The line that stands for sessions at rest."""

    rows: tuple[FleetRow, ...]

    @property
    def name(self) -> str:
        """What the line stands for."""
        return "at rest"


Item: TypeAlias = FleetRow | Heading | Fold

_FEW = 3
"""Sessions at rest that are listed before they are folded."""


def listed(rows: Sequence[FleetRow], order: Order) -> list[Item]:
    """The rows that are wanted, in order, under headings where they are grouped."""
    matches = [row for row in rows if _fits(row, order)]
    key = _KEYS[order.sorting]
    matches.sort(key=lambda row: (key(row), row.status.urgency, row.key))
    if not order.grouped:
        return _folded(matches, order)
    groups: dict[str, list[FleetRow]] = {}
    for row in matches:
        groups.setdefault(row.project or row.name, []).append(row)
    items: list[Item] = []
    for members in groups.values():
        items.append(Heading(members[0].name, tuple(members)))
        items += members
    return items


def _folded(matches: list[FleetRow], order: Order) -> list[Item]:
    """The rows with those at rest behind one line, where they are more than a few."""
    resting = [row for row in matches if not row.status.level]
    if not order.folded or order.text or len(resting) <= _FEW:
        return list(matches)
    items: list[Item] = [row for row in matches if row.status.level]
    return [*items, *resting[:_FEW], Fold(tuple(resting[_FEW:]))]


def _fits(row: FleetRow, order: Order) -> bool:
    if order.urgent and row.status.level < 2:
        return False
    if not order.text:
        return True
    status = row.status
    words = (
        *(row.agent, row.project, row.session, row.model, row.title, row.host),
        *(status.word, row.state, row.pattern, row.last),
    )
    text = " ".join(words).replace("_", " ").casefold()
    return all(part in text for part in order.text.casefold().split())


class Census(NamedTuple):
    """How many sessions are at each level."""

    need: int
    look: int
    work: int
    rest: int
    new: int = 0
    """Without any event so far."""


def census(rows: Sequence[FleetRow]) -> Census:
    """Count them."""
    levels = [row.status.level for row in rows if row.facts.events or row.status.level != 1]
    new = len(rows) - len(levels)
    return Census(levels.count(3), levels.count(2), levels.count(1), levels.count(0), new)
