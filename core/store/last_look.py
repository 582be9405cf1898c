"""How far a person had seen each session when they last left it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from core.store import atomic


class Look(msgspec.Struct, frozen=True):
    """The end of a session as a person last saw it."""

    events: int
    """Recorded by then."""
    when: float
    """Epoch seconds at which they left."""


class LastLook:
    """One session's look; a file that cannot be read or written counts as none, since nothing hangs on it."""

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / "looks" / f"{key}.json"

    def read(self) -> Look | None:
        """The last one, where there is one."""
        try:
            look = msgspec.json.decode(self.path.read_bytes(), type=Look)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return look if look.events >= 0 else None

    def keep(self, look: Look) -> None:
        """Remember this one instead."""
        with contextlib.suppress(OSError):
            atomic.replace(self.path, msgspec.json.encode(look))
