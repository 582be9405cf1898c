"""Moves through a recording, each with its direction, a summary of the events between, and a record."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from blake3 import blake3

from core.errors import StateError, StoreError
from core.events import Event, Where
from core.logs.redact.values import one_line
from core.report.formatting import plain
from core.report.recap import narrative, short_clock, structural
from core.timeline.keyframes import encode
from core.timeline.timeline import Timeline

Direction = Literal["backward", "forward"]
SummaryKind = Literal["none", "structural", "narrative", "custom"]

_ENTRY = re.compile(r"(?:/[^/\d][^/]*)?/(\d{1,9})(?:/|\Z)")
_LINES = 40
_LETTERS = 400


class SummaryPolicy(NamedTuple):
    """How to summarize the events that a move passes over."""

    kind: SummaryKind = "none"
    max_tokens: int = 200  # Of a narrative.
    text: str = ""  # Of a custom one.


NO_SUMMARY = SummaryPolicy()


class Visit(NamedTuple):
    """One move as it is recorded."""

    number: int  # 1 is the first.
    at: float  # The time of the request, as passed in.
    origin: int
    place: int
    node: str  # The requested record; empty if a place was requested.
    direction: Direction
    policy: SummaryKind
    summary: str  # Hash of the summary's lines; empty if there are none.
    previous: str
    hash: str


class ChronoNav:
    """A position in a recording, with every move made."""

    def __init__(self, timeline: Timeline, *, limit: int = 256) -> None:
        self.timeline = timeline
        self.place = len(timeline)
        self.trail = Trail(limit)

    def move(self, place: int, at: float, policy: SummaryPolicy = NO_SUMMARY, node: str = "") -> tuple[str, ...]:
        """Record a move, perhaps to a record of the conversation, and return a summary of the events between."""
        if not 0 <= place <= len(self.timeline):
            raise StateError(f"the recording has {len(self.timeline)} events: there is no event {place}")
        origin, self.place = self.place, place
        summary = tuple(self._summary_lines(min(origin, place), max(origin, place), policy))
        self.trail.add(at, origin, place, node, policy.kind, summary)
        return summary

    def _summary_lines(self, start: int, stop: int, policy: SummaryPolicy) -> Iterable[str]:
        match policy.kind:
            case "structural":
                return structural(self.timeline, start, stop)
            case "narrative":
                return narrative(self.timeline, start, stop, policy.max_tokens)
            case "custom":
                return [one_line(line, _LETTERS) for line in policy.text.splitlines()[:_LINES]]
        return ()


class Trail:
    """The moves of a session, each chained to the previous one; the oldest are dropped."""

    __slots__ = ("_visits", "head")

    def __init__(self, limit: int = 256) -> None:
        self._visits: deque[Visit] = deque(maxlen=max(1, limit))
        self.head = ""  # Hash of the newest move.

    def __len__(self) -> int:
        return len(self._visits)

    @property
    def visits(self) -> tuple[Visit, ...]:
        """Return the recorded moves, oldest first."""
        return tuple(self._visits)

    def add(self, at: float, origin: int, place: int, node: str, policy: SummaryKind, summary: Sequence[str]) -> None:
        """Record one move."""
        direction: Direction = "backward" if place < origin else "forward"
        number = self._visits[-1].number + 1 if self._visits else 1
        summary_hash = blake3("\n".join(summary).encode("utf-8", "replace")).hexdigest(length=16) if summary else ""
        visit = Visit(number, at, origin, place, node, direction, policy, summary_hash, self.head, "")
        visit = visit._replace(hash=_visit_link(visit))
        self._visits.append(visit)
        self.head = visit.hash

    def verify(self) -> Visit | None:
        """Return the first move that was altered, or None."""
        before: Visit | None = None
        for visit in self._visits:
            follows = before is None or (visit.previous, visit.number) == (before.hash, before.number + 1)
            if not follows or _visit_link(visit) != visit.hash:
                return visit
            before = visit
        return before if before is not None and before.hash != self.head else None

    def dump(self) -> tuple[tuple[Any, ...], ...]:
        """Return all moves as plain values."""
        return tuple(tuple(visit) for visit in self._visits)

    def load(self, state: Iterable[Sequence[Any]]) -> None:
        """Load a dumped trail; raises if it was tampered with."""
        try:
            visits = [Visit(*row) for row in state]
        except TypeError as error:
            raise StoreError(f"this is not a record of moves: {error}") from error
        trail = Trail(max(1, len(visits)))
        trail._visits.extend(visits)
        trail.head = visits[-1].hash if visits else ""
        broken = trail.verify()
        if broken is not None:
            raise StoreError(f"the record of moves is damaged at move {broken.number}")
        self._visits.clear()
        self._visits.extend(visits)
        self.head = trail.head


def trail_lines(trail: Trail, start: float) -> list[str]:
    """Return every move in words, oldest first; times count from `start`."""
    return [
        f"{visit.number:>5}  {short_clock(visit.at - start)}  {visit.direction:<8}  "
        f"{visit.origin} -> {visit.place}  {visit.policy:<10}  {visit.hash[:12]}  {plain(visit.node, 40)}".rstrip()
        for visit in trail.visits
    ]


def _visit_link(visit: Visit) -> str:
    return blake3(encode(list(visit[:-1]))).hexdigest()


def record_name(where: Where | None) -> str:
    """Return the name of a line or entry of a log in the trail of moves."""
    return "" if where is None else f"{where.file.rpartition('/')[2]}:{where.entry or where.offset}"


def place_after(events: Sequence[Event], where: Where) -> int:
    """Return the number of events up to a line of a log, an entry of a document or a row of a database."""
    sought = _position(where)
    for place, event in enumerate(events):
        if event.where is None or event.where.file != where.file:
            continue
        position = _position(event.where)
        if sought is None and event.where.entry == where.entry:
            return place + 1
        if sought is not None and position is not None and position > sought:
            return place
    return len(events)


def _position(where: Where) -> tuple[int, int] | None:
    """Return the position of a line in its file or of an entry in its document; None for a database row."""
    if not where.entry:
        return where.offset, 0
    match = _ENTRY.match(where.entry)
    return (where.offset, int(match.group(1))) if match else None
