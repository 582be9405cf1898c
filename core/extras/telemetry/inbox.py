"""Received events as logs of our own, one file a session, so that all else reads them like any other log."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from blake3 import blake3

from core.agents.open_events import write
from core.events import MAIN, SessionStart
from core.extras.telemetry.intake import TelemetryEvent
from core.store.atomic import append

_FIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def session_file(folder: Path, session: str) -> Path:
    """Return the file of a session in a folder; an id that is no safe file name is hashed."""
    safe = _FIT.fullmatch(session) is not None
    name = session if safe else blake3(session.encode("utf-8", "surrogatepass")).hexdigest(length=16)
    return folder / f"{name}.jsonl"


class Inbox:
    """A folder of received sessions; a session heard of again goes on in its file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written = 0

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return session_file(self.folder, session)

    def add(self, told: Iterable[TelemetryEvent]) -> int:
        """Append events to their sessions' files, and say how many; raises only `OSError`, and then added
        none."""
        lines: dict[str, list[bytes]] = {}
        for session, _, event in told:
            begins = isinstance(event, SessionStart) and event.agent == MAIN
            if begins and (session in lines or self.path(session).exists()):
                continue
            lines.setdefault(session, []).append(write(event, session) + b"\n")
        if lines:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        sizes: dict[Path, int] = {}
        try:
            for session, held in lines.items():
                path = self.path(session)
                sizes[path] = path.stat().st_size if path.exists() else 0
                append(path, b"".join(held))
        except OSError:
            for path, size in sizes.items():
                with contextlib.suppress(OSError):
                    os.truncate(path, size) if size else path.unlink()
            raise
        count = sum(map(len, lines.values()))
        self.written += count
        return count
