"""Costs of sessions: whole logs read in the background of the fleet, and all agents of this machine today."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from core.agents.registry import known_agents, make_kit
from core.errors import UnreadableLog
from core.live.fleet.row import FleetRow
from core.logs.discovery import Found, find
from core.logs.finder import Finder
from core.logs.format import Diagnostics
from core.logs.session import LogSession
from core.report.cost import CostReader, SessionCost, session_cost
from core.report.log_tree import LogTree, SessionName, session_name
from core.report.sums import Budget, DaySpent, added, dated_charges, day_spent, forecast
from core.settings import Settings
from core.store.reading_cache import reading_cache

_DAY = 1600  # Minutes of charges a row carries.


class WholeCost:
    """Reads a whole log for its cost alone, in pieces."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._made: SessionCost | None = None
        self._made_of = (0, 0.0)  # Size and change of the logs that this is the cost of.
        self._of = (0, 0.0)  # Size and change of the logs when they were last looked at.
        self._name: SessionName | None = None
        self._tree: LogTree | None = None
        self._reader: CostReader | None = None

    def due(self, listing: Found) -> bool:
        """Whether there is something to look through."""
        if self._reader is not None:
            return True
        most = self._settings.screen.fleet.whole * _MB
        return self._of != (listing.size, listing.modified) and listing.size <= most

    def leave(self, listing: Found) -> None:
        """Keep the known cost until the log changes."""
        self._of, self._reader = (listing.size, listing.modified), None

    def work(self, session: LogSession, listing: Found, most: int) -> None:
        """Read at most `most` events; a cached cost is used at once."""
        if self._reader is None:
            self.leave(listing)
            self._tree = LogTree(self._settings, reading_cache(self._settings))
            self._name = session_name(session)
            cached = self._tree.cached("cost", self._name, SessionCost)
            if cached is not None:
                self._made, self._made_of = cached, self._of
                return
            self._reader = CostReader(session, self._settings)
        if self._reader.advance(most):
            if self._tree is not None and self._name is not None:
                self._tree.keep("cost", self._name, self._reader.made)
            self._made, self._made_of, self._reader = self._reader.made, self._of, None

    def with_whole_log(self, row: FleetRow, listing: Found) -> FleetRow:
        """Return the row with the figures of the whole log, as far as they are known."""
        cost = self._made
        if cost is None or not row.partial:
            return row
        whole = added(cost.charges)
        return replace(
            self._measured(row, cost, listing),
            dollars=whole.dollars,
            priced=whole.priced,
            unpriced=whole.unpriced,
            charges=tuple(cost.charges[-_DAY:]) if cost.dated else (),
            calls=cost.calls,
            failures=cost.failures,
            uncounted=self._made_of != (listing.size, listing.modified),
        )

    def _measured(self, row: FleetRow, cost: SessionCost, listing: Found) -> FleetRow:
        """The row's context against where its agent was seen to compact before the end that was read."""
        point = cost.compaction_point
        if not 0 < point < row.compaction_point:
            return row
        current = self._made_of == (listing.size, listing.modified)
        context = min(1.0, row.context_tokens / point)
        facts = replace(row.facts, context=context, turns_left=cost.turns_left if current else None)
        return replace(row, facts=facts, compaction_point=point)


_MB = 1_000_000


def day_cost(settings: Settings, now: float) -> DaySpent:
    """Return today's cost, and how complete it is; only logs that changed today are read."""
    here = datetime.fromtimestamp(now).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    tree = LogTree(settings, reading_cache(settings))
    most = settings.screen.fleet.whole * _MB
    active = settings.ingest.follow.active_within
    listings = find(known_agents(), os.environ, Path.home(), now=now, active_within=active)
    today = [one for one in listings if one.modified >= midnight]
    read = {(one.path, one.session) for one in today if one.size <= most}
    sessions = _sessions(settings, sorted({path for path, _ in read}))
    costs = [_cost(tree, one, settings) for one in sessions if (one.path, one.id) in read]
    outlook = forecast(dated_charges(costs), Budget.of(settings.screen.cost), now, None)
    return day_spent(outlook, open_end=len(read) < len(today))


def _sessions(settings: Settings, paths: list[Path]) -> Iterator[LogSession]:
    kit = make_kit(settings.ingest).counting(Diagnostics())
    with suppress(UnreadableLog):
        yield from Finder(kit, settings.ingest.lines).sessions(paths) if paths else ()


def _cost(tree: LogTree, session: LogSession, settings: Settings) -> SessionCost:
    name = session_name(session)
    cost = tree.cached("spent", name, SessionCost)
    if cost is None:
        cost = session_cost(session, settings)
        tree.keep("spent", name, cost)
    return cost
