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
from core.settings.logs import LineSettings


def measure(folder: Path) -> Counter[str]:
    """Count the edits and changed files of all sessions below a folder."""
    kit, lines = make_kit(), LineSettings()
    counts: Counter[str] = Counter()
    for session in sessions([str(folder)], kit, lines):
        events = list(read_session(session, kit, lines))
        changes = read_outcome(session, events, kit, lines).changes
        edits, carried = changes.edit_counts()
        files = changes.files(len(events))
        counts.update(sessions=1, edits=edits, carried=carried)
        counts["files"] += sum(one.state != "command" for one in files)
        counts["whole"] += sum(one.state == "complete" for one in files)
        counts["by commands"] += sum(one.state == "command" for one in files)
    return counts


def main() -> int:
    """Print the table, one row per folder that has edits."""
    print("| agent | sessions | edits | text in the log | files | whole file known | by commands only |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for folder in sorted(one for root in sys.argv[1:] for one in Path(root).iterdir() if one.is_dir()):
        try:
            counts = measure(folder)
        except NooscopeError:
            continue
        if counts["edits"] or counts["by commands"]:
            names = ("sessions", "edits", "carried", "files", "whole", "by commands")
            print(f"| {folder.name} | {' | '.join(str(counts[name]) for name in names)} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
