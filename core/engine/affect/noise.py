"""Bounded noise from a seed and a counter, the same on every machine."""

from __future__ import annotations

from struct import Struct as Layout

from blake3 import blake3

from core.engine.affect.lineage import NO_NOISE
from core.settings.affect import NoiseSettings

_KEY = Layout("<qQ")
_WORDS = Layout("<7I4x")
_HALF = 2.0**31


class Noise:
    """A vector of noise for each update, within plus and minus the amplitude."""

    __slots__ = ("_amplitude", "_seed", "drawn")

    def __init__(self, settings: NoiseSettings, seed: int = 0) -> None:
        self._amplitude = settings.amplitude
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start over with another seed."""
        self._seed = (seed + 2**63) % 2**64 - 2**63
        self.drawn = 0
        """Vectors so far: all of its state."""

    @property
    def on(self) -> bool:
        """Whether there is any."""
        return self._amplitude > 0.0

    def draw(self) -> tuple[float, ...]:
        """The next vector."""
        if not self.on:
            return NO_NOISE
        words = _WORDS.unpack(blake3(_KEY.pack(self._seed, self.drawn)).digest())
        self.drawn += 1
        return tuple((word / _HALF - 1.0) * self._amplitude for word in words)
