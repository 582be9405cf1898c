"""Bounded noise from a seed and a counter, the same on every machine."""

from __future__ import annotations

from struct import Struct as Layout

from blake3 import blake3

from core.affect.lineage import NO_NOISE
from core.settings.affect import NoiseSettings

_KEY = Layout("<qQ")
_WORDS = Layout("<7I4x")
_HALF = 2.0**31


class Noise:
    """A vector of noise for each update, within plus and minus the amplitude."""

    __slots__ = ("_amplitude", "_counter", "_seed")

    def __init__(self, settings: NoiseSettings, seed: int = 0) -> None:
        self._amplitude = settings.amplitude
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start over with another seed."""
        self._seed = (seed + 2**63) % 2**64 - 2**63
        self._counter = 0

    @property
    def on(self) -> bool:
        """Whether there is any."""
        return self._amplitude > 0.0

    def draw(self) -> tuple[float, ...]:
        """The next vector."""
        if not self.on:
            return NO_NOISE
        words = _WORDS.unpack(blake3(_KEY.pack(self._seed, self._counter)).digest())
        self._counter += 1
        return tuple((word / _HALF - 1.0) * self._amplitude for word in words)

    def dump(self) -> int:
        """How many vectors were drawn."""
        return self._counter

    def load(self, state: int) -> None:
        """Go on from a dump."""
        self._counter = state
