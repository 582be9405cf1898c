"""Playback of a recording: speeds, and a film in which idle stretches are short."""

from __future__ import annotations

from array import array
from bisect import bisect_right

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class Reel:
    """Event times on a film in which no pause is longer than `idle` seconds."""

    __slots__ = ("_ends", "_idle", "_last")

    def __init__(self, idle: float) -> None:
        self._idle = idle
        self._ends = array("d")
        self._last: float | None = None

    def __len__(self) -> int:
        return len(self._ends)

    def clear(self) -> None:
        """Take out all events."""
        self._ends, self._last = array("d"), None

    @property
    def length(self) -> float:
        """Seconds of film."""
        return self._ends[-1] if self._ends else 0.0

    def add(self, at: float) -> None:
        """Append one event to the film."""
        pause = 0.0 if self._last is None else min(max(0.0, at - self._last), self._idle)
        self._ends.append(self.length + pause)
        if self._last is None or at > self._last:
            self._last = at

    def place(self, index: int) -> float:
        """Return where on the film the first `index` events end."""
        return self._ends[min(index, len(self._ends)) - 1] if index > 0 and self._ends else 0.0

    def index(self, place: float) -> int:
        """Return how many events are at or before a place on the film."""
        return bisect_right(self._ends, place)


class Player:
    """A playhead that advances with elapsed time."""

    __slots__ = ("_place", "playing", "reel", "speed")

    def __init__(self, reel: Reel, speed: float = 1.0) -> None:
        self.reel = reel
        self.speed = speed
        self.playing = False
        self._place = 0.0

    def seek(self, index: int) -> None:
        """Move the playhead behind the first `index` events."""
        self._place = self.reel.place(index)

    def advance(self, seconds: float) -> int:
        """Let real time go by; the events that have then been shown."""
        if self.playing:
            self._place = min(self._place + seconds * self.speed, self.reel.length)
            if self._place >= self.reel.length:
                self.playing = False
        return self.reel.index(self._place)

    def faster(self, steps: int) -> float:
        """The next speed up (1) or down (-1)."""
        nearest = min(range(len(SPEEDS)), key=lambda number: abs(SPEEDS[number] - self.speed))
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, nearest + steps))]
        return self.speed
