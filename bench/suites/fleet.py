"""What it costs to watch many sessions that all write."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from textual.events import Key

from bench.claude import lines
from bench.measure import Figure
from core.live.fleet.roster import Roster
from core.live.fleet.row import FleetRow, Order
from core.settings import Settings
from tui.app import NooscopeApp
from tui.screens.fleet import FleetScreen
from tui.widgets.fleet.fleet_table import FleetTable

WATCHED = ((20, 20), (200, 1))  # Sessions, and events a second in each.
SECONDS = 15.0
_STEP = 0.25
_A_EVENT = 3.5  # Lines of a made-up log that make an event, as counted.


def figures() -> list[Figure]:
    return [figure for sessions, rate in WATCHED for figure in _figures(sessions, rate)]


def _figures(sessions: int, rate: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as name:
        home = Path(name)
        writer = subprocess.Popen([sys.executable, "-m", "bench.suites.fleet", str(home), str(sessions), str(rate)])
        try:
            share, rows, pictures, late = asyncio.run(_watch(home, sessions))
        finally:
            writer.terminate()
            writer.wait()
    note = f"{rows} sessions, {rate} events a second each, {pictures / SECONDS:.1f} pictures a second"
    return [
        Figure(f"fleet of {sessions} live sessions", 100 * share, "% of a core", 25, note=note),
        Figure(f"fleet of {sessions}, slowest answer to a key", 1000 * late, "ms", 100, note="while all of them write"),
    ]


async def _watch(home: Path, sessions: int) -> tuple[float, int, int, float]:
    """Share of a core, sessions seen, pictures made, and the longest wait for a key."""
    settings = Settings()
    app = NooscopeApp(None, settings, fleet=Roster(settings, {}, home), theme_folder=home / "themes")
    pictures, late = 0, 0.0
    async with app.run_test(size=(160, 50)):
        screen = app.screen
        assert isinstance(screen, FleetScreen)
        while len(screen.rows) < sessions or any(row.status.reading for row in screen.rows):
            await asyncio.sleep(0.1)
        screen.order = Order(sorting="project")
        screen.query_one(FleetTable).go(0)
        await asyncio.sleep(2.0)
        before, start = time.process_time(), time.monotonic()
        seen = screen.now
        next_key = start + 1.0
        while time.monotonic() - start < SECONDS:
            await asyncio.sleep(0.02)
            if screen.now != seen:
                pictures, seen = pictures + 1, screen.now
            if time.monotonic() >= next_key:
                next_key += 1.0
                late = max(late, await _answer(screen))
        share = (time.process_time() - before) / (time.monotonic() - start)
    return share, len(screen.rows), pictures, late


async def _answer(screen: FleetScreen) -> float:
    """Seconds from a key to the cursor's move: down from the first session, up from any other."""
    table = screen.query_one(FleetTable)
    chosen = table.chosen
    first = next((row for row in table.items if isinstance(row, FleetRow)), None)
    key = "down" if first is None or chosen is None or chosen.key == first.key else "up"
    pressed = time.monotonic()
    screen.app.post_message(Key(key, None))
    while table.chosen is chosen or (table.chosen and chosen and table.chosen.key == chosen.key):
        await asyncio.sleep(0.001)
        if time.monotonic() - pressed > 2.0:
            break
    return time.monotonic() - pressed


def write(home: Path, sessions: int, rate: int) -> None:
    """Let so many logs grow until told to stop."""
    logs: list[tuple[Path, Iterator[bytes]]] = []
    for number in range(sessions):
        folder = home / ".claude" / "projects" / f"project-{number % 6}"
        folder.mkdir(parents=True, exist_ok=True)
        logs.append((folder / f"00000000-0000-4000-8000-{number + 1:012d}.jsonl", lines(number + 1)))
    written, start = 0.0, time.monotonic()
    while True:
        wanted = (time.monotonic() - start + 5.0) * rate * _A_EVENT
        count = int(wanted - written)
        written += count
        for path, source in logs:
            with path.open("ab") as file:
                file.write(b"".join(itertools.islice(source, count)))
        time.sleep(_STEP)
        if os.getppid() == 1:
            return


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
