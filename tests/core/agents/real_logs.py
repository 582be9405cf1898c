"""The real logs that lie beside the project, where they do."""

from __future__ import annotations

from pathlib import Path

from core.agents.registry import AGENTS

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "real_sessions"
_NAMES = {agent.name for agent in AGENTS}
FOLDERS = sorted(path for path in REAL.glob("*") if path.is_dir() and path.name in _NAMES)
"""One for each agent that has a reader, named like it."""
FILES = sorted(
    path
    for folder in FOLDERS
    for path in folder.rglob("*")
    if path.is_file() and not path.name.endswith(("-wal", "-shm"))
)
