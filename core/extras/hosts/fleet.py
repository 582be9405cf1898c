"""The fleet of many hosts: their sessions from the mirror of the stream, and who is not heard of any more."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from core.agents.table import agent_named
from core.extras.hosts.mirror import host_of
from core.extras.hosts.subjects import token
from core.live.fleet.roster import Roster
from core.live.fleet.row import FleetRow
from core.live.status import Limits
from core.logs.agent import Location
from core.report.formatting import span
from core.settings import Settings

_OVER = ("ended", "gave up")
"""What stands however long nothing is heard."""


class Heard(Protocol):
    """What is known of the hosts."""

    lost: str
    heard: dict[str, float]
    since: float


class HostRoster(Roster):
    """The sessions in a mirror; a session whose host is lost says so, for it may need a person unseen."""

    def __init__(
        self,
        settings: Settings,
        hosts: Heard,
        folder: Path,
        *,
        wall: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        known = agent_named("nooscope").location or Location(lambda _, __: [])
        location = known._replace(roots=lambda _, __: [folder], patterns=("*/*/*.jsonl",))
        agents = (agent_named("nooscope")._replace(location=location),)
        super().__init__(settings, os.environ, Path.home(), agents=agents, wall=wall)
        self._hosts = hosts
        self._folder = folder
        self._clock = clock
        self._patience = settings.ingest.hosts.sign * settings.ingest.hosts.missed
        self._limits = Limits.of(settings)

    def rows(self, now: float) -> tuple[FleetRow, ...]:
        """Everyone, with the host, and with what keeps us from knowing more."""
        return tuple(self._placed(row, now) for row in super().rows(now))

    def _placed(self, row: FleetRow, now: float) -> FleetRow:
        host = host_of(row.path, self._folder)
        lost = self._hosts.lost
        silent = self._clock() - self._hosts.heard.get(token(host), self._hosts.since)
        if lost:
            why = f"nothing comes from the NATS server: {lost}"
        elif silent > self._patience and row.status.level:
            why = f"no sign of life from {host} for {span(silent)}; is `nooscope ship` running there?"
        else:
            return replace(row, host=host)
        if row.status.word in _OVER:
            return replace(row, host=host)
        return replace(row, host=host, facts=replace(row.facts, lost=why)).at(now, self._limits)
