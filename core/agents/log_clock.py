"""What time it is in a log, where some records tell none, or one that cannot be."""

from __future__ import annotations

from typing import NamedTuple

STEP = 10.0
"""Seconds between two steps of a log that holds no times."""
FAR = 10 * 365 * 86_400.0
"""Seconds by which no two records of one log are apart: ten years."""
NO_TIME = "no time"
FAR_OFF = "a time years off"
_EARLIEST = 631_152_000.0
"""The year 1990: clocks that were never set are before it."""
_LATEST = 32_503_680_000.0
"""The year 3000."""


class ClockState(NamedTuple):
    """All that a clock knows beside the last time."""

    made_up: bool = False
    shift: float = 0.0
    doubted: tuple[float, float] = (0.0, 0.0)


class LogClock:
    """Settles the times that are not simply those of the record after.

    A log that does not begin with a time is taken to hold none: steps are made up, and what times it tells
    later say only how much has passed. In any other a time that is years away from the last one is taken as
    unknown, unless the next one told is near it: then the log has gone there.
    """

    __slots__ = ("_doubted", "_shift", "made_up")

    def __init__(self) -> None:
        self.made_up = False
        """Whether the log is taken to hold no times."""
        self._shift = 0.0
        self._doubted = (0.0, 0.0)
        """The time that was not believed last, and the time that was taken for it."""

    def settle(self, told: float | None, last: float) -> tuple[float, str]:
        """The time of a record after the `last`, which is 0 for none, and what is wrong with it.

        A time that is near the last one needs no settling.
        """
        if last == 0.0 and not self.made_up:
            self.made_up = told is None or not _EARLIEST <= told <= _LATEST
        if self.made_up:
            return self._made_up(told, last), ""
        if told is None:
            return last, NO_TIME
        if last == 0.0 or _near(told, last):
            return told, ""
        if self._doubted[1] == last and _near(told, self._doubted[0]):
            return told, ""
        self._doubted = (told, last)
        return last, FAR_OFF

    def _made_up(self, told: float | None, last: float) -> float:
        if told is None:
            return last + STEP
        if last != 0.0 and not _near(told + self._shift, last):
            self._shift = last - told
        return told + self._shift or STEP

    def pause(self) -> ClockState:
        """What it knows."""
        return ClockState(self.made_up, self._shift, self._doubted)

    def resume(self, state: ClockState) -> None:
        """Go on from there."""
        self.made_up, self._shift, self._doubted = state


def _near(told: float, last: float) -> bool:
    return -FAR < told - last < FAR
