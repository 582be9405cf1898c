"""What all agents of this machine cost today, for a screen that shows one session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from core.agents.registry import known_agents, make_kit
from core.errors import UnreadableLog
from core.logs.discovery import find
from core.logs.finder import Finder
from core.logs.format import Diagnostics
from core.logs.session import LogSession
from core.report.cost import DaySpent, SessionCost, day_spent, session_cost
from core.report.log_tree import LogTree, session_name
from core.report.sums import Budget, dated_charges, forecast
from core.settings import Settings
from core.store.reading_cache import reading_cache

_MB = 1_000_000


def day_cost(settings: Settings, now: float) -> DaySpent:
    """What today costs, of how much, and what it comes to; only logs that changed today are read."""
    here = datetime.fromtimestamp(now).astimezone()
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    tree = LogTree(settings, reading_cache(settings))
    most = settings.screen.fleet.whole * _MB
    active = settings.ingest.follow.active_within
    found = find(known_agents(), os.environ, Path.home(), now=now, active_within=active)
    today = [one for one in found if one.modified >= midnight]
    read = {(one.path, one.session) for one in today if one.size <= most}
    costs = [
        _cost(tree, session, settings)
        for session in _sessions(settings, sorted({path for path, _ in read}))
        if (session.path, session.id) in read
    ]
    told = forecast(dated_charges(costs), Budget.of(settings.screen.cost), now, None)
    return day_spent(told, open_end=len(read) < len(today))


def _sessions(settings: Settings, paths: list[Path]) -> Iterator[LogSession]:
    if not paths:
        return
    try:
        yield from Finder(make_kit(settings.ingest).counting(Diagnostics()), settings.ingest.lines).sessions(
            paths
        )
    except UnreadableLog:
        return


def _cost(tree: LogTree, session: LogSession, settings: Settings) -> SessionCost:
    name = session_name(session)
    known = tree.kept("cost", name, SessionCost)
    if known is None:
        known = session_cost(session, settings)
        tree.keep("cost", name, known)
    return known
