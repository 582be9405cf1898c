"""What the program does to the machine while a test looks: processes, addresses, files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STARTS = frozenset(
    ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty", "pty.spawn")
)
_ASKS = frozenset(("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"))
_CHANGES = frozenset(("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate"))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Seen:
    """What happened."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.asked: list[str] = []
        self.written: set[Path] = set()
        self.read: set[Path] = set()

    def note(self, event: str, given: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self.started.append(f"{event} {given[:2]}")
        elif event in _ASKS:
            if not (event == "socket.connect" and isinstance(given[1], str | bytes)):
                self.asked.append(f"{event} {given[:2]}")
        elif event in _CHANGES:
            paths = given[:2] if event in ("os.rename", "os.link", "os.symlink") else given[:1]
            self.written |= {_path(path) for path in paths if isinstance(path, str | bytes | os.PathLike)}
        elif event == "open" and isinstance(given[0], str | bytes | os.PathLike):
            path = _path(given[0])
            if given[2] & _WRITING:
                if path.suffix != ".pyc" and "__pycache__" not in path.parts:
                    self.written.add(path)
            else:
                self.read.add(path)

    def outside(self, *folders: Path) -> list[Path]:
        """What was written anywhere but in these folders."""
        return sorted(
            path
            for path in self.written
            if path.parent != Path("/dev") and not any(path.is_relative_to(folder) for folder in folders)
        )


def _path(path: Any) -> Path:
    return Path(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 links stay as they are named


_looking: list[Seen] = []


def _hook(event: str, given: tuple[Any, ...]) -> None:
    for seen in _looking:
        seen.note(event, given)


sys.addaudithook(_hook)


@contextmanager
def looking() -> Iterator[Seen]:
    """All that this process does meanwhile, in whichever thread."""
    seen = Seen()
    _looking.append(seen)
    try:
        yield seen
    finally:
        _looking.remove(seen)
