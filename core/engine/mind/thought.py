"""What one event did to the mind."""

from __future__ import annotations

from msgspec import Struct

from core.engine.mind.clock import Ticks
from core.engine.mind.cortical import Regime
from core.engine.mind.dreams import Dream
from core.engine.mind.episode import Episode
from core.engine.mind.fabric import MindEvent
from core.engine.mind.homeostasis import Correction
from core.engine.mind.metrics import TickRow
from core.engine.mind.stimulus import Stimulus
from core.engine.mind.wakeup import Wakeup


class Thought(Struct, frozen=True, gc=False):
    """Handed on to the rooms that come after."""

    ticks: Ticks
    """Ticks that came due before the event, and those it woke."""
    wakeup: Wakeup | None
    stimulus: Stimulus | None
    """The first that entered the salience queue."""
    novelty: float
    """What habituation leaves of this event's pattern; 1 where it has none."""
    regime: Regime
    regime_changed: bool
    dream: Dream | None
    iframe: bool
    """A full frame is asked for."""
    corrections: tuple[Correction, ...]
    episode: Episode | None
    """The stretch of work this event ended."""
    rows: tuple[TickRow, ...]
    """One for each tick that was run."""
    emitted: tuple[MindEvent, ...]
    """What the mind did of its own; calls and turns are mirrored on the fabric only."""
