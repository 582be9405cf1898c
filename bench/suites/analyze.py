"""Whole trees of logs: the first pass, the same again, a log that grew, and ccusage beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

from bench.compare_tools import Spent, ccusage, timed
from bench.measure import Figure, best_of
from bench.trees import REAL, write_sessions
from core.agents.registry import make_kit
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.checkup import engine_compiled

TREE = 209_000_000
LARGE = 1_000_000_000
_YARDSTICK = "a bare orjson pass"


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as name:
        folder = Path(name)
        found = [*_tree(folder / "distinct", "distinct sessions", 4.0 if engine_compiled() else 9.0)]
        found += _tree(folder / "copies", "families of copies", 5.5, copies=True)
        return found + _beside_ccusage(folder / "large")


def _tree(folder: Path, what: str, aim: float, *, copies: bool = False) -> list[Figure]:
    logs, home = folder / "logs", folder / "home"
    size = write_sessions(logs, TREE, copies=copies)
    bare = best_of(lambda: _bare(logs), 2, time.perf_counter)
    first = _nooscope(home, "analyze", "--json", str(logs))
    again = min(_nooscope(home, "analyze", "--json", str(logs)) for _ in range(3))
    _grow(logs)
    grown = _nooscope(home, "analyze", "--json", str(logs))
    parsed = [] if copies else [_parsed(logs)]
    if not copies:
        shutil.rmtree(home)
        parsed += _twice(logs, home)
    bare = min(bare, best_of(lambda: _bare(logs), 2, time.perf_counter))
    kind = "real logs" if REAL.is_dir() else "made-up logs"
    shutil.rmtree(folder)
    return [
        _against(f"analyze, {what}", first, bare, aim, f"{size / 1e6:.0f} MB of {kind}, two cores"),
        _against(f"analyze again, {what}", again, bare, 0.3, "nothing changed"),
        Figure(f"analyze again beside the first time, {what}", first.seconds / again.seconds, "x faster", 20, "higher"),
        _against(f"analyze after one log grew, {what}", grown, bare, None, "one line more"),
        *parsed,
    ]


def _against(name: str, run: Spent, bare: float, aim: float | None, note: str) -> Figure:
    ratio = run.seconds / bare
    note = f"{run.seconds:.2f} s, {run.processor:.2f} s of processor time; {note}"
    return Figure(name, ratio, "x", aim, "lower", _YARDSTICK, ratio, note)


def _parsed(logs: Path) -> Figure:
    """From bytes to events in one process, without the engine."""
    found = sessions([logs], make_kit())
    count = 0

    def read() -> None:
        nonlocal count
        count = sum(1 for session in found for _ in read_session(session, make_kit()))

    read()
    ratios = []
    for _ in range(3):
        bare = best_of(lambda: _bare(logs), 1)
        ratios.append(best_of(read, 1) / bare)
    ratio = min(ratios)
    note = f"{count:,} events; lines, records, events, redaction; one process"
    return Figure("parse alone", ratio, "x", 1.5, "lower", _YARDSTICK, ratio, note)


def _twice(logs: Path, home: Path) -> list[Figure]:
    """Commands that keep what they read of logs at rest, the first time and again."""
    rested = time.time() - 3600.0
    for path in logs.rglob("*.jsonl"):
        os.utime(path, (rested, rested))
    found = []
    for name, *more in (("cost",), ("fleet", "--json")):
        first = _nooscope(home, name, *more, str(logs))
        again = min(_nooscope(home, name, *more, str(logs)) for _ in range(3))
        note = f"{first.seconds:.2f} s, then {again.seconds:.2f} s"
        aim = 20 if name == "cost" else None
        faster = first.seconds / again.seconds
        found.append(Figure(f"{name} again beside the first time", faster, "x faster", aim, "higher", note=note))
    return found


def _beside_ccusage(folder: Path) -> list[Figure]:
    """The same gigabyte through both; ccusage only adds up tokens."""
    logs, home = folder / "claude" / "projects", folder / "home"
    size = write_sessions(logs, LARGE)
    bare = best_of(lambda: _bare(logs), 2, time.perf_counter)
    ours = _nooscope(home, "analyze", "--json", str(logs))
    sums = _nooscope(folder / "other", "cost", "--json", str(logs))
    words = ccusage(folder)
    config = {"CLAUDE_CONFIG_DIR": str(folder / "claude")}
    try:
        beside = timed(words, config) if words else None
    except subprocess.CalledProcessError:
        beside = None
    found = [_against("analyze of 1 GB", ours, bare, None, f"{size / 1e6:,.0f} MB")]
    for name, run in (("analyze", ours), ("cost", sums)):
        if beside is not None:
            ratio = run.seconds / beside.seconds
            note = f"{run.seconds:.1f} s; ccusage {beside.seconds:.1f} s, tokens only"
            found.append(Figure(f"{name} of 1 GB beside ccusage", ratio, "x", 1.0, "lower", "ccusage", ratio, note))
    return found


def _bare(logs: Path) -> None:
    for path in sorted(logs.rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                try:
                    orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue


def _grow(logs: Path) -> None:
    """A line more at the end of the largest log."""
    path = max(logs.rglob("*.jsonl"), key=lambda one: one.stat().st_size)
    with path.open("ab") as file:
        file.write(b'{"type":"system","subtype":"informational","uuid":"ffffffff-0000-4000-8000-000000000000"}\n')


def _nooscope(home: Path, *words: str) -> Spent:
    code = "import sys; from tui.cli import main; sys.exit(main())"
    home.mkdir(parents=True, exist_ok=True)
    names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    places = {name: str(home / name.lower()) for name in names}
    return timed([sys.executable, "-c", code, *words], places)
