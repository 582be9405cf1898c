"""What the place of a Kimi log tells: its session, and the logs of its sub-agents."""

from __future__ import annotations

from pathlib import Path, PurePath

from core.logs.format import Companion
from core.logs.log_files import from_root, is_file, named_like

WIRE = "wire.jsonl"


def session_of(file: str, otherwise: str) -> str:
    """The id of the session whose log this is, where its folders say it."""
    path = PurePath(file.replace("\\", "/"))
    if path.name != WIRE:
        return otherwise
    folder = path.parent
    if folder.parent.name == "agents":
        folder = folder.parent.parent
    return folder.name.removeprefix("session_") or otherwise


def kimi_files(path: Path) -> list[Companion]:
    """The logs of the sub-agents beside the main agent's."""
    return [
        Companion(folder.name, folder / WIRE)
        for agents in agents_folder(path)
        for folder in sorted(agents.iterdir())
        if folder.name != "main" and is_file(folder / WIRE)
    ]


def agents_folder(path: Path) -> list[Path]:
    """The folder of all agents of a session, given the log of the main one."""
    main = from_root(path.parent)
    if main.name != "main" or main.parent.name != "agents":
        return []
    return [named_like(main.parent, path)]
