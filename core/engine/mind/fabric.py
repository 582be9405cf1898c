"""What the mind did, as typed and numbered events that a late reader can still follow."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, get_args

from core.engine.mind.cortical import Emotion, Phase, Regime, Tier
from core.engine.mind.moment_events import MomentEvent
from core.engine.mind.session_events import SessionEvent
from core.engine.state import Stateful, through
from core.events import Action, Outcome
from core.settings.mind_state import FabricSettings


class Ticked(NamedTuple):
    """The clock struck."""

    at: float
    tick: int
    kind: str
    tier: Tier
    cost: float


class Woken(NamedTuple):
    """A trigger asked for a tick out of turn."""

    at: float
    trigger: str
    resolution: str


class ThinkingStarted(NamedTuple):
    """The person asked for something."""

    at: float
    trigger: str
    model: str


class ThinkingEnded(NamedTuple):
    """What began with a prompt is over."""

    at: float
    duration: float
    turns: int
    cost: float


class TurnEnded(NamedTuple):
    """The model answered once."""

    at: float
    turn: int
    model: str
    tokens: int
    cost: float | None
    cached: float
    """Share of the context that was read from cache."""


class ModelSelected(NamedTuple):
    """The turns go on with another tier or model."""

    at: float
    tier: Tier
    model: str
    reason: str


class ToolReturned(NamedTuple):
    """A call came back."""

    at: float
    tool: str
    action: Action
    outcome: Outcome
    duration: float | None


class AffectUpdated(NamedTuple):
    """The mood moved."""

    at: float
    pleasure: float
    arousal: float
    dominance: float
    emotion: Emotion


class VitalityUpdated(NamedTuple):
    """The vitality moved."""

    at: float
    economic: float
    epistemic: float
    composite: float


class PhaseChanged(NamedTuple):
    """The behavioural phase changed."""

    at: float
    before: Phase
    after: Phase


class RegimeChanged(NamedTuple):
    """The weather of the work changed."""

    at: float
    before: Regime
    after: Regime


class SleepDue(NamedTuple):
    """Sleep pressure reached its threshold."""

    at: float
    pressure: float
    threshold: float
    load: float


class Habituated(NamedTuple):
    """A repeated pattern was attenuated."""

    at: float
    pattern: str
    attenuation: float


class Regulated(NamedTuple):
    """Homeostasis corrected a knob."""

    at: float
    signal: str
    deviation: float
    knob: str
    correction: float


class Dreamt(NamedTuple):
    """A dream cycle ran."""

    at: float
    compressed: int
    collected: int
    rebalanced: int
    reason: str


class Compacted(NamedTuple):
    """The agent's own context was cut."""

    at: float
    tokens_before: int
    tokens_after: int
    trigger: str


class SnapshotAsked(NamedTuple):
    """A full frame of the state is wanted."""

    at: float
    tick: int
    reason: str


class EpisodeEnded(NamedTuple):
    """A stretch of work is over."""

    at: float
    number: int
    regime: Regime
    outcome: str
    ended_by: str


MindEvent: TypeAlias = (
    Ticked
    | Woken
    | ThinkingStarted
    | ThinkingEnded
    | TurnEnded
    | ModelSelected
    | ToolReturned
    | AffectUpdated
    | VitalityUpdated
    | PhaseChanged
    | RegimeChanged
    | SleepDue
    | Habituated
    | Regulated
    | Dreamt
    | Compacted
    | SnapshotAsked
    | EpisodeEnded
    | MomentEvent
    | SessionEvent
)
MIND_EVENTS: tuple[type[MindEvent], ...] = get_args(MindEvent)
_BY_NAME: dict[str, type[MindEvent]] = {kind.__name__: kind for kind in MIND_EVENTS}


class Fabric(Stateful):
    """A ring of the last events; the number of an event is its place since the first.

    A dump carries the count and a short tail: older history is derived, and comes back by replaying the log.
    """

    __slots__ = ("_ring", "_tail", "emitted")
    STATE = (
        "emitted",
        through("tail", "_take_tail"),
    )

    def __init__(self, settings: FabricSettings) -> None:
        self._ring: deque[MindEvent] = deque(maxlen=settings.capacity)
        self._tail = min(settings.tail, settings.capacity)
        self.emitted = 0

    def __len__(self) -> int:
        return len(self._ring)

    @property
    def first(self) -> int:
        """The number of the oldest event still kept."""
        return self.emitted - len(self._ring)

    def emit(self, event: MindEvent) -> int:
        """Add an event and give its number."""
        self._ring.append(event)
        number = self.emitted
        self.emitted = number + 1
        return number

    def replay(self, since: int = 0) -> list[tuple[int, MindEvent]]:
        """Every kept event from number `since` on, with its number."""
        first = self.first
        start = max(since, first)
        return list(enumerate(islice(self._ring, start - first, None), start))

    def recent(self) -> tuple[MindEvent, ...]:
        """The last events, as many as a dump carries, so that a seek shows the same."""
        last = list(islice(reversed(self._ring), self._tail))
        last.reverse()
        return tuple(last)

    def subscribe(self, since: int | None = None) -> Subscription:
        """Follow from number `since`, or from now on."""
        return Subscription(self, self.emitted if since is None else since)

    @property
    def tail(self) -> tuple[tuple[Any, ...], ...]:
        """What a dump carries: each event after the name of its kind."""
        return tuple([(type(event).__name__, *event) for event in self.recent()])

    def _take_tail(self, tail: Sequence[Sequence[Any]]) -> None:
        events = [_BY_NAME[name](*fields) for name, *fields in tail]
        self._ring.clear()
        self._ring.extend(events)


class Subscription:
    """One reader's place in a fabric; reading moves the reader, never the fabric."""

    __slots__ = ("_fabric", "missed", "next")

    def __init__(self, fabric: Fabric, since: int) -> None:
        self._fabric = fabric
        self.next = max(0, since)
        self.missed = 0
        """Events that left the ring before this reader came for them."""

    def poll(self, fabric: Fabric | None = None) -> list[tuple[int, MindEvent]]:
        """What came since the last call; a fabric that goes on from a dump of the last may be handed in."""
        if fabric is not None:
            self._fabric = fabric
        fabric = self._fabric
        self.missed += max(0, fabric.first - self.next)
        news = fabric.replay(self.next)
        self.next = max(self.next, fabric.emitted)
        return news
