"""Hash what the product makes of logs, to compare two versions: `python -m bench.golden LOGS... --out FILE`.

Run it before and after a change that must not be seen; `--against FILE` lists what differs. For every session
it hashes the events, the society's state along the way, marks, key frames and what-if differences, then the
output of the main commands.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cbor2
from blake3 import blake3
from msgspec import to_builtins

EVERY = 256  # Events between two states that are hashed.
EDITS: tuple[dict[str, Any], ...] = (
    {"receptor.ambient.offset.frustration": 0.1},
    {"response.scoring.threshold": 0.2},
    {"governor.episodes.points": 3},
)
COMMANDS = (
    "analyze LOG",
    "events LOG",
    "recap LOG",
    "why LOG",
    "frame LOG",
    "export LOG --format markdown",
    "whatif LOG --set receptor.ambient.offset.frustration=0.1",
    "sweep LOG --set receptor.ambient.offset.frustration=0:0.8:5",
)
PLAIN = ("settings", "rules list", "completion bash", "completion zsh", "completion fish", "--help")
SAMPLES = Path(__file__).resolve().parent.parent / "sample_sessions" / "logs"


def digest(value: Any) -> str:
    """A short hash of plain values."""
    body = cbor2.dumps(to_builtins(value, enc_hook=str), canonical=True)
    return blake3(body).hexdigest(length=8)


def session_hashes(paths: list[Path], most: int) -> Iterator[tuple[str, str]]:
    """Name and hash of everything the core makes of each session."""
    from core.agents.registry import make_kit
    from core.logs.finder import sessions
    from core.logs.session import read_session
    from core.settings import Settings
    from core.timeline.timeline import Timeline
    from core.timeline.whatif import WhatIf

    kit, settings = make_kit(), Settings()
    for path in paths:
        for session in sessions([path], kit):
            name = f"{path.name}/{session.id}"
            events = list(read_session(session, kit, settings.ingest.lines))
            yield f"{name} events", digest(events)
            events = events[:most]
            timeline = Timeline(settings)
            states = []
            for number, event in enumerate(events, 1):
                timeline.add(event)
                if number % EVERY == 0:
                    states.append(digest(timeline.society.dump()))
            if not events:
                continue
            yield f"{name} states", digest([*states, digest(timeline.society.dump())])
            yield f"{name} marks", digest([tuple(mark) for mark in timeline.marks])
            yield f"{name} frames", digest([(frame.after, frame.kind, frame.id) for frame in timeline.frames])
            for edits in EDITS:
                whatif = WhatIf(timeline, edits)
                whatif.run(lambda _: None, lambda: False)
                result = whatif.result()
                difference = [list(part) for part in result.difference]
                silenced = [list(part) for part in result.silenced or ()]
                label = next(iter(edits))
                yield f"{name} whatif {label}", digest([difference, silenced, list(result.texts or ())])


def command_hashes(log: Path | None) -> Iterator[tuple[str, str]]:
    """Name and hash of what commands print of one log."""
    from tui.cli import main

    for line in COMMANDS if log is not None else PLAIN:
        words = [str(log) if word == "LOG" else word for word in line.split()]
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        code: Any = 0
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                code = main(words)
            except SystemExit as stop:
                code = stop.code
        label = log.parent.name + "/" + log.name if log is not None else "nooscope"
        printed.flush()
        yield f"{label} {line}", f"{code} {digest(printed.buffer.getvalue())}"


def main() -> None:
    """Write or compare the hashes."""
    parser = argparse.ArgumentParser(description="hash what the product makes of logs")
    parser.add_argument("logs", nargs="*", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--events", type=int, default=3000, help="events of a session that are run")
    parser.add_argument("--commands", type=int, default=6, help="logs whose commands are hashed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    paths = [*sorted(SAMPLES.iterdir()), *given.logs]
    files = [path for each in given.logs for path in (sorted(each.rglob("*.jsonl")) or [each])]
    with tempfile.TemporaryDirectory(prefix="nooscope-golden-") as home:
        os.environ |= {"HOME": home, "NO_COLOR": "1", "COLUMNS": "120"}
        os.environ |= {f"XDG_{kind}_HOME": f"{home}/{kind}" for kind in ("CONFIG", "CACHE", "DATA", "STATE")}
        hashes = dict(session_hashes(paths, given.events))
        for log in files[: given.commands]:
            hashes |= command_hashes(log)
        hashes |= command_hashes(None)
    if given.out:
        given.out.write_text(json.dumps(hashes, indent=1))
    if given.against:
        before = json.loads(given.against.read_text())
        names = [name for name in {**before, **hashes} if before.get(name) != hashes.get(name)]
        sys.stdout.write("".join(f"{name}: {before.get(name)} -> {hashes.get(name)}\n" for name in names))
        sys.stdout.write(f"{len(hashes)} hashes, {len(names)} differ\n")
        raise SystemExit(bool(names))
    sys.stdout.write(f"{len(hashes)} hashes {digest(hashes)}\n")


if __name__ == "__main__":
    main()
