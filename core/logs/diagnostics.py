"""What could not be read, counted with file and line."""

from __future__ import annotations

from msgspec import Struct


class Diagnostic(Struct, frozen=True):
    """One thing in a log that was passed over."""

    file: str
    line: int
    """1 is the first; 0 where the whole file is meant."""
    reason: str


class Diagnostics:
    """Counts every fault by reason and keeps the first few of them whole."""

    __slots__ = ("_kept", "counts", "first")

    def __init__(self, keep: int = 100) -> None:
        self._kept = keep
        self.counts: dict[str, int] = {}
        self.first: list[Diagnostic] = []

    def note(self, file: str, line: int, reason: str) -> None:
        """Count one fault."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        if len(self.first) < self._kept:
            self.first.append(Diagnostic(file, line, reason))

    @property
    def total(self) -> int:
        """How many faults there were."""
        return sum(self.counts.values())
