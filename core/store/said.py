"""Every sentence that was handed to an agent, in order, so that a person can read them all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.errors import StoreError
from core.folders import make_private
from core.store import atomic


class Said(msgspec.Struct, frozen=True):
    """One sentence, to whom, and which rule asked for it."""

    at: float
    agent: str
    session: str
    rule: str
    sentence: str
    call: int
    """Its fingerprint, by which the agent's log names it."""
    withheld: bool = False
    """It was due, and kept back at random to measure whether advice helps."""


class SaidStore:
    """A file of lines that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, said: Said) -> None:
        """Write one down; raises `StoreError` where it cannot be kept."""
        try:
            make_private(self.path.parent)
            atomic.append(self.path, msgspec.json.encode(said) + b"\n")
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror or error}") from error

    def read(self) -> Iterator[Said]:
        """All that can be read, oldest first."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror or error}") from error
        for line in data.split(b"\n"):
            try:
                if line:
                    yield msgspec.json.decode(line, type=Said)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
