"""How long it takes until a session that comes to need the person says so, in every agent's format.

python -m bench.needs_you [--only NAME] [--keep]; the real programs run in terminals of their own, each on a
log that is written as its agent writes it: the screen (strip and bell), the fleet, and the headless watch.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import records

if TYPE_CHECKING:
    from tests.core.live.need_stories import Story

ROOT = Path(__file__).resolve().parents[1]
KEPT = Path(__file__).with_name("needs_you.json")
PLACES = ("strip", "bell", "fleet", "headless")
_READY = 90.0
_PATIENCE = 20.0
_CALM = 4.0  # Seconds between the first picture and the question, so that starting up is not measured.
_STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class Delay(NamedTuple):
    """One format and need: milliseconds until each place says so; None where it never did."""

    need: str
    agent: str
    told: dict[str, float | None]


class Delays(NamedTuple):
    """One run over all formats."""

    at: int
    machine: str
    python: str
    delays: tuple[Delay, ...]


def load(path: Path = KEPT) -> Delays:
    """The run that is kept."""
    told = json.loads(path.read_text())
    return Delays(told["at"], told["machine"], told["python"], tuple(Delay(**one) for one in told["delays"]))


class Program:
    """One nooscope in a terminal of its own; remembers when each needle was first seen after a moment."""

    def __init__(self, words: Sequence[str], home: Path, ready: bytes, needles: dict[str, bytes]) -> None:
        self.needles = needles
        self._ready = ready
        self.began = threading.Event()
        self.seen: dict[str, float] = {}
        self._asked = float("inf")
        self._tail = b""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "TEXTUAL"))},
            "HOME": str(home),
            "TERM": "xterm-256color",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tui.cli", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def ask(self, now: float) -> None:
        """Count from here on."""
        self._tail = b""
        self._asked = now

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            now = time.monotonic()
            self._tail = self._tail[-200:] + data
            if self._ready in self._tail:
                self.began.set()
            for place, needle in self.needles.items():
                if place not in self.seen and now >= self._asked and needle in self._tail:
                    self.seen[place] = now

    def stop(self) -> None:
        """End it, and wait for its end."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with contextlib.suppress(OSError):
            os.close(self._master)


def shifted(value: Any, by: float) -> Any:
    """A record whose times lie so much later."""
    if isinstance(value, dict):
        return {name: shifted(one, by) for name, one in value.items()}
    if isinstance(value, list):
        return [shifted(one, by) for one in value]
    if isinstance(value, str) and _STAMP.match(value):
        from datetime import UTC, datetime

        told = datetime.fromisoformat(value.replace("Z", "+00:00"))
        moved = datetime.fromtimestamp(told.replace(tzinfo=told.tzinfo or UTC).timestamp() + by, UTC)
        return moved.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if 1.6e9 < value < 2.0e9:
            return value + by
        if 1.6e12 < value < 2.0e12:
            return value + round(by * 1000)
    return value


def first_time(value: Any) -> float | None:
    """The earliest time a record tells, in seconds."""
    found: list[float] = []

    def look(one: Any) -> None:
        if isinstance(one, dict):
            for inner in one.values():
                look(inner)
        elif isinstance(one, list):
            for inner in one:
                look(inner)
        elif isinstance(one, str) and _STAMP.match(one):
            from datetime import UTC, datetime

            told = datetime.fromisoformat(one.replace("Z", "+00:00"))
            found.append(told.replace(tzinfo=told.tzinfo or UTC).timestamp())
        elif isinstance(one, (int, float)) and 1.6e9 < one < 2.0e12:
            found.append(one if one < 2.0e9 else one / 1000)

    look(value)
    return min(found, default=None)


class Now:
    """Moves a story so that it begins a moment ago; the first record that tells a time decides."""

    def __init__(self) -> None:
        self._by: float | None = None

    def __call__(self, value: Any) -> Any:
        told = first_time(value)
        if self._by is None and told is not None:
            self._by = time.time() - 30.0 - told
        return shifted(value, self._by or 0.0)


def measure(make: Callable[..., Story]) -> dict[str, float | None]:
    """Milliseconds until each place says that the person is needed."""
    with tempfile.TemporaryDirectory(prefix="nooscope-bench-") as name:
        home = Path(name)
        folder = home / "logs"
        folder.mkdir()
        story = make(folder, shift=Now())
        story.before()
        path = str(story.path)
        programs = [
            Program(["watch", path], home, b"LIVE", {"strip": b"NEEDS YOU", "bell": b"\a\a"}),
            Program(["fleet", path], home, b"context", {"fleet": b"needs you"}),
            Program(["watch", "--headless", path], home, b"ctrl+c ends", {"headless": b"needs you"}),
        ]
        try:
            for program in programs:
                program.began.wait(_READY)
            time.sleep(_CALM)
            start = time.monotonic()
            for program in programs:
                program.ask(start)
            story.ask()
            while time.monotonic() - start < _PATIENCE and not all(
                len(program.seen) == len(program.needles) for program in programs
            ):
                time.sleep(0.05)
            seen = {place: when for program in programs for place, when in program.seen.items()}
            return {place: round(1000 * (seen[place] - start)) if place in seen else None for place in PLACES}
        finally:
            for program in programs:
                program.stop()


def stories(only: str) -> Iterator[tuple[str, str, Callable[..., Story]]]:
    """Every need of every format, or those of one."""
    from tests.core.live.need_stories import OTHERS, STORIES

    for name, make in STORIES.items():
        if only in ("", name):
            yield "question", name, make
    for (need, name), make in OTHERS.items():
        if only in ("", name):
            yield need, name, make


def main() -> int:
    """Print the table; keep it for the docs where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME", help="one format")
    parser.add_argument("--keep", action="store_true", help="write bench/needs_you.json for docs/figures.md")
    args = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'need':<10} {'agent':<12}" + "".join(f"{place:>10}" for place in PLACES) + "   (ms)")
    found = []
    for need, agent, make in stories(args.only):
        told = measure(make)
        found.append(Delay(need, agent, told))
        cells = ("never" if told[place] is None else f"{told[place]:.0f}" for place in PLACES)
        print(f"{need:<10} {agent:<12}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
    print(f"load after: {os.getloadavg()[0]:.1f}")
    if args.keep:
        record = records.taken([])
        kept = {"machine": record.machine, "python": record.python, "at": record.at}
        KEPT.write_text(json.dumps({**kept, "delays": [one._asdict() for one in found]}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
