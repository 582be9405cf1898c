"""Which rows are listed, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from core.live.fleet.row import FleetRow

Sorting = Literal["need", "recent", "cost", "failures", "context", "frustration", "tokens", "project", "agent"]

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
# The orders one key goes through; by project they are grouped, by frustration the readings are shown.
VIEWS: tuple[Sorting, ...] = ("project", "need", "recent", "cost", "failures", "context", "frustration")

# What the number keys list: the statuses of each.
STATUS_FILTERS: dict[str, frozenset[str]] = {
    "all": frozenset(),
    "needs you": frozenset(("needs you", "may need you")),
    "stuck": frozenset(("looping", "stuck", "unreadable")),
    "working": frozenset(("working", "idle")),
    "done": frozenset(("done", "gave up")),
    "ended": frozenset(("ended",)),
}


class Order(NamedTuple):
    """The person's choice of order and filters."""

    sorting: Sorting = "need"
    grouped: bool = False  # By project, the most urgent one first; a project with several sessions has a heading.
    status: int = 0  # Which of the status filters is on; 0 lists all.
    text: str = ""
    folded: bool = True  # Sessions at rest take one line together.
    axes: bool = False  # Show what their minds read instead of what they are about.
    marked: tuple[str, ...] = ()  # Keys of the sessions marked for a comparison.

    def next_view(self) -> Order:
        """Return the order after this one."""
        here = "project" if self.grouped else self.sorting
        place = VIEWS.index(here) + 1 if here in VIEWS else 0
        name = VIEWS[place % len(VIEWS)]
        grouped = name == "project"
        return self._replace(sorting="need" if grouped else name, grouped=grouped, axes=name == "frustration")


class Heading(NamedTuple):
    """The line above the sessions of a project."""

    name: str
    rows: tuple[FleetRow, ...]


class Fold(NamedTuple):
    """One line for all sessions at rest."""

    rows: tuple[FleetRow, ...]
    name: str = "at rest"


Item: TypeAlias = FleetRow | Heading | Fold

_FEW = 3  # Sessions at rest that are listed before they are folded.


def listed(rows: Sequence[FleetRow], order: Order) -> list[Item]:
    """The rows that are wanted, in order, under headings where they are grouped."""
    matches = [row for row in rows if _fits(row, order)]
    key = _KEYS[order.sorting]
    matches.sort(key=lambda row: (key(row), row.status.urgency, row.key))
    items = _folded(matches, order)
    if not order.grouped:
        return items
    groups: dict[str, list[FleetRow]] = {}
    for row in items:
        if isinstance(row, FleetRow):
            groups.setdefault(row.project or row.name, []).append(row)
    grouped: list[Item] = []
    below_project = False
    for members in groups.values():
        is_project = len(members) > 1
        if is_project:
            grouped.append(Heading(members[0].name, tuple(members)))
        elif below_project:
            grouped.append(Heading("other projects", ()))
        grouped += members
        below_project = is_project
    return [*grouped, *(item for item in items if isinstance(item, Fold))]


def _folded(matches: list[FleetRow], order: Order) -> list[Item]:
    """The rows with those at rest behind one line, where they are more than a few."""
    resting = [row for row in matches if not row.status.level]
    if not order.folded or order.text or order.status or len(resting) <= _FEW:
        return list(matches)
    active: list[Item] = [row for row in matches if row.status.level]
    return [*active, *resting[:_FEW], Fold(tuple(resting[_FEW:]))]


def _fits(row: FleetRow, order: Order) -> bool:
    filter_words = list(STATUS_FILTERS.values())[order.status]
    if filter_words and row.status.word not in filter_words:
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
    new: int = 0  # Without any event so far.


def census(rows: Sequence[FleetRow]) -> Census:
    """Count them."""
    levels = [row.status.level for row in rows if row.facts.events or row.status.level != 1]
    new = len(rows) - len(levels)
    return Census(levels.count(3), levels.count(2), levels.count(1), levels.count(0), new)
