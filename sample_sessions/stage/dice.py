"""Chance that comes out the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Dice:
    """A small linear congruential generator."""

    __slots__ = ("_state",)

    def __init__(self, seed: str) -> None:
        self._state = crc32(seed.encode()) * 2654435761 + 1
        for _ in range(4):
            self.below(2)

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self._state >> 33) % limit

    def between(self, low: float, high: float) -> float:
        """A number in between, in thousandths; low ones come more often than high ones."""
        share = min(self.below(1001), self.below(1001)) / 1000
        return round(low + (high - low) * share, 3)

    def pick(self, choices: Sequence[T]) -> T:
        """One of several."""
        return choices[self.below(len(choices))]

    def word(self, length: int, letters: str = _LETTERS) -> str:
        """Letters without a meaning."""
        return "".join(letters[self.below(len(letters))] for _ in range(length))

    def uuid(self) -> str:
        """A random UUID."""
        hexes = self.word(32, "0123456789abcdef")
        return f"{hexes[:8]}-{hexes[8:12]}-4{hexes[13:16]}-a{hexes[17:20]}-{hexes[20:]}"

    def timed_uuid(self, at: float) -> str:
        """A UUID that tells its time."""
        stamp = f"{round(at * 1000):012x}"
        hexes = self.word(18, "0123456789abcdef")
        return f"{stamp[:8]}-{stamp[8:]}-7{hexes[:3]}-a{hexes[3:6]}-{hexes[6:]}"
