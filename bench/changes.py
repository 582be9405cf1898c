"""`python -m bench.changes FOLDER...`: how much of each agent's edits its logs let us rebuild."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from core.agents.registry import make_kit
from core.errors import NooscopeError
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.outcome import read_outcome
from core.settings.program import LineSettings


def measure(folder: Path) -> Counter[str]:
    """Count the edits of all sessions below a folder by how much of their files the log carries."""
    kit, lines = make_kit(), LineSettings()
    counts: Counter[str] = Counter()
    for session in sessions([str(folder)], kit, lines):
        events = list(read_session(session, kit, lines))
        for change in read_outcome(session, events, kit, lines).changes.files(len(events)):
            if change.state != "possible":
                counts[change.state] += len(change.places)
    return counts


def main() -> int:
    """Print the table of docs/formats.md, one row per folder that has edits."""
    print("| agent | edits | whole file | edited lines | no text |")
    print("| --- | --- | --- | --- | --- |")
    folders = (one for root in sys.argv[1:] for one in Path(root).iterdir() if one.is_dir())
    for folder in sorted(folders, key=lambda one: one.name):
        try:
            counts = measure(folder)
        except NooscopeError:
            continue
        if counts:
            cells = (counts.total(), *(counts[state] for state in ("complete", "pieces", "command")))
            print(f"| {folder.name} | {' | '.join(map(str, cells))} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
