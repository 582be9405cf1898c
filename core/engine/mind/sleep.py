"""The need to consolidate, and how full the agent's context is on its way to compaction."""

from __future__ import annotations

from collections import deque
from math import ceil
from typing import Literal, NamedTuple

from core.engine.mind.episodes import Episodes
from core.engine.mind.salience import Habituation, Salience
from core.engine.state import Stateful, through, tuple_queue
from core.events import Compaction
from core.settings.mind import ContextSettings, DreamSettings, SleepSettings

Reason = Literal["pressure", "compaction"]  # Sleep pressure called for it, or the agent's own context was compacted.


class Dream(NamedTuple):
    """One dream cycle and what each of its four parts did."""

    number: int
    at: float
    tick: int
    reason: Reason
    pressure: float  # Sleep pressure before it.
    compressed: int  # Episodes turned into summaries.
    expired: int  # Salience items thrown away.
    forgotten: int  # Habituated patterns that had faded.
    rebalanced: int  # Kinds of stimulus whose usual urgency was updated.
    iframe: bool  # A full frame was asked for.

    def words(self) -> str:
        """Describe the dream in one line."""
        return (
            f"{self.compressed} episodes compressed, {self.expired} items and {self.forgotten} patterns "
            f"dropped, {self.rebalanced} baselines reset, full frame requested"
        )


class Dreams(Stateful):
    """Run the four parts of a dream and remember the last few."""

    STATE = ("count", tuple_queue("_past", Dream))

    def __init__(self, settings: DreamSettings) -> None:
        self.count = 0
        self._past: deque[Dream] = deque(maxlen=settings.kept)

    def run(
        self,
        moment: tuple[float, float, int],
        reason: Reason,
        pressure: float,
        episodes: Episodes,
        salience: Salience,
        habituation: Habituation,
    ) -> Dream:
        """Compress episodes, collect garbage, rebalance salience, and request a full frame.

        The moment is the time of the last event, in the log and in subjective seconds, and the gamma tick.
        """
        at, now, tick = moment
        compressed = episodes.compress(tick + 1)
        expired = salience.drop_expired(now)
        forgotten = habituation.collect(tick)
        rebalanced = salience.rebalance()
        dream = Dream(self.count, at, tick, reason, pressure, compressed, expired, forgotten, rebalanced, iframe=True)
        self.count += 1
        self._past.append(dream)
        return dream

    def past(self) -> tuple[Dream, ...]:
        """The last dreams, oldest first."""
        return tuple(self._past)


FARTHEST = 10_000  # Turns; a compaction farther off is not foreseen.


class SleepPressure(Stateful):
    """Accumulate the need to consolidate; a fuller context tires faster."""

    STATE = ("accumulator", "_ticks", through("intensive", "set_mode"))

    def __init__(self, settings: SleepSettings) -> None:
        self._settings = settings
        self._flat = 1.0 - settings.complexity
        self._ticks = 0
        self.accumulator = 0.0  # The load gathered so far.
        self.threshold = settings.threshold  # The load at which consolidation is needed, as things are now.
        self.pressure = 0.0  # 0..1.

    def update(self, context: float) -> None:
        """Take in one theta tick at this share of the way to compaction."""
        self._ticks += 1
        self.restore(self.accumulator + self._flat + self._settings.complexity * min(1.0, max(0.0, context)))

    def reset(self) -> None:
        """Start again after a consolidation."""
        self._ticks = 0
        self.restore(0.0)

    def restore(self, accumulator: float) -> None:
        """Take up an accumulator kept from before."""
        self.accumulator = max(0.0, accumulator)
        self.pressure = min(1.0, self.accumulator / self.threshold)

    def set_mode(self, intensive: bool) -> None:
        """Lower the threshold while dreams are intensive."""
        self.threshold = self._settings.threshold * self._settings.intensive if intensive else self._settings.threshold
        self.pressure = min(1.0, self.accumulator / self.threshold)

    @property
    def needed(self) -> bool:
        """Whether consolidation should come with the next delta tick."""
        return self.accumulator >= self.threshold and self._ticks >= self._settings.least_ticks

    def forecast(self, context: float) -> int | None:
        """Theta ticks until consolidation is needed at this load; None if never."""
        rate = self._flat + self._settings.complexity * min(1.0, max(0.0, context))
        missing = self.threshold - self.accumulator
        guard = max(0, self._settings.least_ticks - self._ticks)
        if missing <= 0.0:
            return guard
        return max(guard, ceil(missing / rate - 1e-9)) if rate > 0.0 else None

    @property
    def intensive(self) -> bool:
        """Whether the threshold is lowered."""
        return self.threshold != self._settings.threshold


_LEAST_SEEN = 1000  # Tokens below which no program compacts by itself.


class ContextGauge(Stateful):
    """How close the agent's context is to the point where it is compacted.

    The point is the smaller of a share of the window and the window less what an answer needs, until the
    agent's program compacts by itself: from then on it is where that happened, if that is sooner.
    """

    STATE = ("_window", "tokens", "_growth", "compactions", "compacted_at", "_seen", "most")

    def __init__(self, settings: ContextSettings) -> None:
        self._settings = settings
        self._window = 0
        self._seen = 0  # Tokens at which the agent's program last compacted by itself; 0 where it never did.
        self._growth = 0.0
        self.tokens = 0
        self.most = 0  # Most tokens that this window was seen to hold.
        self.point = self._point(0)
        self.fill = 0.0  # Share of the way to compaction, 0..1.
        self.compactions = 0
        self.compacted_at: float | None = None

    def _point(self, window: int) -> int:
        window = window or self._settings.window
        usual = max(window // 2, min(int(window * self._settings.share), window - self._settings.reserve))
        return min(usual, self._seen) if self._seen else usual

    def turn(self, tokens: int, window: int) -> None:
        """Take in a turn's context; a turn without a figure changes nothing."""
        if window and window != self._window:
            if self._window:
                self._seen = self.most = 0
            self._window = window
            self.point = self._point(window)
            self.fill = min(1.0, self.tokens / self.point)
        if tokens:
            grown = tokens - self.tokens
            if self.tokens and grown > 0:
                self._growth += self._settings.smoothing * (grown - self._growth) if self._growth else grown
            self.tokens = tokens
            self.most = max(self.most, tokens)
            self.fill = min(1.0, tokens / self.point)

    def record(self, event: Compaction) -> None:
        """Take in that the agent's context was really compacted, and where if nobody asked for it."""
        full = event.tokens_before or self.tokens
        self.most = max(self.most, full)
        self.compacted(event.at, event.tokens_after, full if event.trigger == "auto" else 0)

    def compacted(self, at: float, tokens_after: int, by_itself_at: int = 0) -> None:
        """Measure from here on, and against the tokens at which it was compacted by itself, if it was."""
        if by_itself_at >= _LEAST_SEEN:
            self._seen = by_itself_at
            self.point = self._point(self._window)
        self.compactions += 1
        self.compacted_at = at
        self.tokens = tokens_after
        self.fill = min(1.0, tokens_after / self.point)

    def turns_left(self) -> int | None:
        """Turns until the compaction point at the usual growth; None while unknown, or too far off."""
        if self._growth <= 0.0:
            return None
        left = max(0, ceil((self.point - self.tokens) / self._growth))
        return left if left <= FARTHEST else None

    def restored(self) -> None:
        """Measure the fill against this gauge's own point."""
        self.point = self._point(self._window)
        self.fill = min(1.0, self.tokens / self.point)
