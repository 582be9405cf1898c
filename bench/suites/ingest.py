"""Reading: logs to events to the receptor, live latency, discovery."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from itertools import islice
from pathlib import Path

import orjson

from bench.claude import lines, write_log, write_tree
from bench.measure import Figure, best_of, quantile
from core.agents.registry import AGENTS, make_kit
from core.engine.receptor import Receptor
from core.events import ToolUse
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.follow import Follower, watch
from core.logs.session import read_session
from core.settings import Settings

TREE = 200_000_000
LARGE = 1_000_000_000
LIVE = 400


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as name:
        folder = Path(name)
        return [*_tree(folder / "tree"), *_large(folder), _live(folder / "live"), _discovery(folder / "home")]


def _tree(folder: Path) -> list[Figure]:
    size = write_tree(folder, TREE)
    bare = best_of(lambda: _bare(folder), 2)
    count = 0

    def run() -> None:
        nonlocal count
        kit = make_kit()
        count = 0
        for session in sessions([folder], kit):
            step = Receptor(Settings().receptor).step
            for event in read_session(session, kit):
                step(event)
                count += 1

    seconds = best_of(run, 2)
    megabytes = size / 1e6
    ratio = seconds / bare
    note = f"{megabytes / seconds:,.0f} MB/s, {count:,} events"
    return [Figure("parse and receptor, 200 MB", ratio, "x", 2.5, "lower", "a bare orjson pass", ratio, note)]


def _bare(folder: Path) -> None:
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)


_PEAK = """
import sys
from bench.measure import peak
from core.logs.session import read_session
from core.agents.registry import make_kit
from core.logs.finder import sessions
kit = make_kit()
(session,) = sessions([sys.argv[1]], kit)
count = sum(1 for _ in read_session(session, kit))
print(count, peak())
"""


def _large(folder: Path) -> list[Figure]:
    path = folder / "large.jsonl"
    write_log(path, LARGE)
    said = subprocess.run([sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=True)
    count, most = said.stdout.split()
    path.unlink()
    return [Figure("memory while reading 1 GB", float(most), "MB", 300, note=f"{int(count):,} events")]


def _live(folder: Path) -> Figure:
    """A writer cuts lines anywhere; each event's way from its newline to us."""
    folder.mkdir(parents=True)
    path = folder / "live.jsonl"
    head = list(islice(lines(7), 3))
    path.write_bytes(b"".join(head))
    kit = make_kit()
    (session,) = sessions([path], kit)
    follower = Follower(session, kit)
    stop = threading.Event()
    written: dict[str, float] = {}
    seen: dict[str, float] = {}

    def listen() -> None:
        for batch in watch(follower, stop):
            now = time.perf_counter()
            for event in batch:
                if isinstance(event, ToolUse):
                    seen[event.id] = now

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    time.sleep(0.5)
    with path.open("ab") as file:
        for number, line in enumerate(islice(lines(7), 3, 3 + LIVE * 4)):
            cut = number * 37 % len(line)
            file.write(line[:cut])
            file.flush()
            time.sleep(0.002)
            file.write(line[cut:])
            file.flush()
            done = time.perf_counter()
            for part in (orjson.loads(line).get("message") or {}).get("content") or ():
                if isinstance(part, dict) and part.get("type") == "tool_result":
                    written[part["tool_use_id"]] = done
    deadline = time.perf_counter() + 5
    while len(seen) < len(written) and time.perf_counter() < deadline:
        time.sleep(0.01)
    stop.set()
    listener.join(5)
    waits = [1000 * (seen[call] - written[call]) for call in written if call in seen]
    missing = len(written) - len(waits)
    note = f"median {quantile(waits, 0.5):.0f} ms, {len(waits)} calls, {missing} missing"
    return Figure("newline to event, p99", quantile(waits, 0.99), "ms", 100, note=note)


def _discovery(home: Path) -> Figure:
    for project in range(20):
        folder = home / ".claude" / "projects" / f"-home-dev-project{project}"
        folder.mkdir(parents=True)
        for number in range(50):
            write_log(folder / f"{project:04d}-{number:04d}.jsonl", 100_000, seed=project * 50 + number + 1)
    found = find(AGENTS, {}, home)
    seconds = best_of(lambda: find(AGENTS, {}, home), 3)
    return Figure("finding 1,000 sessions", seconds, "s", 1.0, note=f"{len(found)} found")
