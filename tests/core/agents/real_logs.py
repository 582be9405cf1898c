"""The real logs that lie beside the project, where they do."""

from __future__ import annotations

from pathlib import Path

from core.agents.registry import AGENTS

REAL = Path(__file__).resolve().parents[4] / "shared" / "data" / "real_sessions"
_FORMS = {"cline-sdk": "cline", "openhands-v1": "openhands"}
"""Folders that are named after a form of an agent's logs."""
_NAMES = {agent.name for agent in AGENTS}
FOLDERS = sorted(path for path in REAL.glob("*") if path.is_dir() and _FORMS.get(path.name, path.name) in _NAMES)
"""One for each agent that has a reader, named like it or like one of its forms."""
FILES = sorted(
    path
    for folder in FOLDERS
    for path in folder.rglob("*")
    if path.is_file() and not path.name.endswith(("-wal", "-shm"))
)


def agent_of(path: Path) -> str:
    """The agent whose log a file is, by the folder it lies in."""
    folder = path.relative_to(REAL).parts[0]
    return _FORMS.get(folder, folder)
