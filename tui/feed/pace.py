"""When the next picture is due: at once for a person, soon for an event, seldom while nothing happens."""

from __future__ import annotations

from core.settings.screen import ScreenSettings

_STILL = 10
"""Pictures in a row that only time asked for, after which they come half as often."""
_LOADING_RATE = 8
"""Pictures a second while a log is being read, so that most of the time goes into reading."""


class Pace:
    """Told what happens and what time it is; it has no clock."""

    def __init__(self, settings: ScreenSettings) -> None:
        self.settings = settings
        self.due = self.urgent = True
        """Something is to be shown; a person waits for it."""
        self.busy = True
        """Reading comes before drawing."""
        self.still = 0
        """Pictures in a row that only time asked for."""
        self._drawn = 0.0

    def ask(self) -> None:
        """A person waits for the next picture."""
        self.due = self.urgent = True

    def rest(self) -> float:
        """Time between two pictures while nothing happens; twice as long once that has lasted a while."""
        return self.settings.idle * (1 if self.still < _STILL else 2)

    def spacing(self) -> float:
        """Least time between two pictures."""
        rate = self.settings.rate
        return 1.0 / (min(rate, _LOADING_RATE) if self.busy else rate)

    def passed(self, now: float) -> bool:
        """Whether the least time since the last picture has gone by."""
        return now - self._drawn >= self.spacing()

    def wait(self, now: float, *, playing: bool, live: bool) -> float | None:
        """How long no picture will be to make; None for ever."""
        if self.due or playing:
            return max(0.0, self._drawn + self.spacing() - now)
        return max(0.0, self._drawn + self.rest() - now) if live else None

    def take(self, now: float, *, growing: bool) -> bool:
        """Whether to make a picture now; if so it counts as made."""
        waited = now - self._drawn
        due = self.due or (growing and waited >= self.rest())
        if not due or not (self.urgent or waited >= self.spacing()):
            return False
        self.still = 0 if self.due else self.still + 1
        self.due = self.urgent = False
        self._drawn = now
        return True
