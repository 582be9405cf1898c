"""The mind's own events: typed and numbered, so that a late reader can still follow them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any

from msgspec.structs import astuple

from core.engine.mind.cortical import Emotion, Phase, Regime, Tier
from core.engine.mind.stimulus import StimulusKind
from core.engine.state import Stateful, through
from core.engine.values import StepValue
from core.events import Action, Outcome
from core.settings.mind import FabricSettings


class MindEvent(StepValue, frozen=True):
    """Something that happened in a mind or around it."""

    at: float


class ModeChanged(MindEvent, frozen=True):
    """The agent stopped executing for lack of confidence, or executes again."""

    executing: bool


class TicksDropped(MindEvent, frozen=True):
    """More ticks were due at once than may wait."""

    ticks: int


class WakeupDropped(MindEvent, frozen=True):
    """A wakeup was dropped because a tick was due anyway."""

    trigger: str


class ItemPromoted(MindEvent, frozen=True):
    """An item was promoted to attention."""

    what: str
    score: float


class AccuracyTurned(MindEvent, frozen=True):
    """The forecast began to improve or to get worse."""

    trend: int
    accuracy: float


class BudgetBandChanged(MindEvent, frozen=True):
    """Spending reached another band of the day's budget."""

    band: str
    used: float


class StimulusSeen(MindEvent, frozen=True):
    """A stimulus, whether or not it got attention."""

    cause: str
    what: str
    measure: float


class OwnerSpoke(StimulusSeen, frozen=True):
    """The person sent a prompt or stopped the agent."""


class PolicyTripped(StimulusSeen, frozen=True):
    """A call was rejected, destroys something, or the governor halted."""


class WorkConfirmed(StimulusSeen, frozen=True):
    """Tests passed, a build worked, something was committed."""


class AnomalySeen(StimulusSeen, frozen=True):
    """A failure, a streak, a repetition, or a spike in token use."""


class TraceSeen(StimulusSeen, frozen=True):
    """Another agent reported, or the work moved to other paths."""


class DreamRequested(StimulusSeen, frozen=True):
    """The context was compacted or is nearly full."""


# What each kind of stimulus is on the fabric.
SEEN: dict[StimulusKind, type[StimulusSeen]] = {
    "owner_message": OwnerSpoke,
    "policy_violation": PolicyTripped,
    "confirmation": WorkConfirmed,
    "anomaly": AnomalySeen,
    "trace": TraceSeen,
    "dream_request": DreamRequested,
}


class SessionBegan(MindEvent, frozen=True):
    """An agent's log starts."""

    session: str
    tool: str
    model: str


class SessionOver(MindEvent, frozen=True):
    """The session ended."""

    reason: str


class ToolCalled(MindEvent, frozen=True):
    """A call began; `at` is the time of its result minus its duration."""

    tool: str
    call: int  # Fingerprint of tool and arguments.


class FileOpened(MindEvent, frozen=True):
    """A file was used for the first time."""

    path: str


class PatternChanged(MindEvent, frozen=True):
    """The pattern of the last minutes changed."""

    before: str
    after: str


class StateChanged(MindEvent, frozen=True):
    """The agent's state changed."""

    before: str
    after: str


class ContextShifted(MindEvent, frozen=True):
    """The work moved to other paths."""

    shifts: int


class SignalFired(MindEvent, frozen=True):
    """An axis crossed its threshold."""

    signal: str
    intensity: float


class SignalReleased(MindEvent, frozen=True):
    """A signal stopped being active."""

    signal: str


class FlowBegan(MindEvent, frozen=True):
    """The flow gate began to mute advice."""

    intensity: float


class FlowEnded(MindEvent, frozen=True):
    """The flow gate stopped muting."""


class GovernorChanged(MindEvent, frozen=True):
    """The governor changed its state."""

    before: str
    after: str


class GovernorHalted(MindEvent, frozen=True):
    """The governor would stop the agent here."""

    reason: str
    step: int


class GovernorEpisodeBegan(MindEvent, frozen=True):
    """A prompt began a new governed episode."""


class FieldMoved(MindEvent, frozen=True):
    """A control field of affect changed more than the others."""

    field: str
    change: float


class QuarantineBegan(MindEvent, frozen=True):
    """Affect became too volatile to be trusted."""


class QuarantineEnded(MindEvent, frozen=True):
    """Affect is calm enough again."""


class AffectReceived(MindEvent, frozen=True):
    """Affect came from an earlier session, a parent, a sub-agent, a peer or a neighbour."""

    changes: int


class SubAgentStarted(MindEvent, frozen=True):
    """A sub-agent started."""

    child: str
    role: str


class SubAgentEnded(MindEvent, frozen=True):
    """A sub-agent ended."""

    child: str
    outcome: str


class MethodFired(MindEvent, frozen=True):
    """A method fired."""

    method: str
    cue: str
    score: float


class LoopFound(MindEvent, frozen=True):
    """A loop was detected."""

    detector: str
    rounds: int


class PersonAsked(MindEvent, frozen=True):
    """The person was asked to look."""

    rule: str


class CheckpointAsked(MindEvent, frozen=True):
    """A method requested a checkpoint."""

    name: str


class InterventionEnded(MindEvent, frozen=True):
    """A message for the agent was delivered, reached it, or expired."""

    rule: str
    fate: str


class AdviceGiven(MindEvent, frozen=True):
    """Advice from nooscope reached the agent."""

    characters: int


class Ticked(MindEvent, frozen=True):
    """A tick of the clock ran."""

    tick: int
    kind: str
    tier: Tier
    cost: float


class Woken(MindEvent, frozen=True):
    """A trigger caused a tick between the scheduled ones."""

    trigger: str
    resolution: str


class ThinkingStarted(MindEvent, frozen=True):
    """The person sent a prompt."""

    trigger: str
    model: str
    invocation: int  # Number of the prompt that the agent works on.


class ThinkingEnded(MindEvent, frozen=True):
    """The work on a prompt ended: the agent ended its turn, or another prompt came."""

    invocation: int
    duration: float  # From the prompt to the agent's last turn or call.
    turns: int
    cost: float


class TurnStarted(MindEvent, frozen=True):
    """A request to the model began; `at` is the time of the event before its answer."""

    turn: int
    model: str


class TurnEnded(MindEvent, frozen=True):
    """The model answered."""

    turn: int
    model: str
    tokens: int
    cost: float | None
    cached: float  # Share of the context that was read from cache.


class ModelSelected(MindEvent, frozen=True):
    """Another tier or model answers from here on."""

    tier: Tier
    model: str
    reason: str


class ToolReturned(MindEvent, frozen=True):
    """A call returned."""

    tool: str
    action: Action
    outcome: Outcome
    duration: float | None


class AffectUpdated(MindEvent, frozen=True):
    """The mood changed."""

    pleasure: float
    arousal: float
    dominance: float
    emotion: Emotion


class VitalityUpdated(MindEvent, frozen=True):
    """The vitality changed."""

    economic: float
    epistemic: float
    composite: float


class PhaseChanged(MindEvent, frozen=True):
    """The behavioural phase changed."""

    before: Phase
    after: Phase


class RegimeChanged(MindEvent, frozen=True):
    """The regime changed."""

    before: Regime
    after: Regime


class SleepDue(MindEvent, frozen=True):
    """Sleep pressure reached its threshold."""

    pressure: float
    threshold: float
    load: float


class Habituated(MindEvent, frozen=True):
    """A repeated pattern was attenuated."""

    pattern: str
    attenuation: float


class Regulated(MindEvent, frozen=True):
    """Homeostasis corrected a parameter."""

    signal: str
    deviation: float
    knob: str
    correction: float


class Dreamt(MindEvent, frozen=True):
    """A dream cycle ran."""

    compressed: int
    collected: int
    rebalanced: int
    reason: str


class Compacted(MindEvent, frozen=True):
    """The agent's context was compacted."""

    tokens_before: int
    tokens_after: int
    trigger: str


class SnapshotAsked(MindEvent, frozen=True):
    """A full frame of the state was requested."""

    tick: int
    reason: str


class StateSnapshotCreated(MindEvent, frozen=True):
    """A recording stored a whole state; reported outside the ring, because the mind does not store states."""

    tick: int
    kind: str  # I: whole; P: changes since the one before.
    blake3: str
    size: int  # Bytes it takes.


class CompensationRollback(MindEvent, frozen=True):
    """An unfinished write of nooscope was undone; reported outside the ring."""

    chain: str
    steps: int  # Steps that were rolled back.


class EpisodeEnded(MindEvent, frozen=True):
    """An episode of work ended."""

    number: int
    regime: Regime
    outcome: str
    ended_by: str


MIND_EVENTS: tuple[type[MindEvent], ...] = tuple(
    [kind for kind in (*MindEvent.__subclasses__(), *StimulusSeen.__subclasses__()) if kind is not StimulusSeen]
)
_BY_NAME: dict[str, type[MindEvent]] = {kind.__name__: kind for kind in MIND_EVENTS}


class Fabric(Stateful):
    """A ring of the last events; the number of an event is its place since the first.

    A dump carries the count and a short tail: older history is derived, and comes back by replaying the log.
    """

    STATE = ("emitted", through("tail", "_take_tail"))

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
        """Return the events for a dump, each with the name of its kind."""
        return tuple([(type(event).__name__, *astuple(event)) for event in self.recent()])

    def _take_tail(self, tail: Sequence[Sequence[Any]]) -> None:
        events = [_BY_NAME[name](*fields) for name, *fields in tail]
        self._ring.clear()
        self._ring.extend(events)


class Subscription:
    """One reader's place in a fabric; reading moves the reader, never the fabric."""

    def __init__(self, fabric: Fabric, since: int) -> None:
        self._fabric = fabric
        self.next = max(0, since)
        self.missed = 0  # Events that left the ring before this reader came for them.

    def poll(self, fabric: Fabric | None = None) -> list[tuple[int, MindEvent]]:
        """Return the events since the last call; another fabric must be loaded from a dump of the last one."""
        if fabric is not None:
            self._fabric = fabric
        fabric = self._fabric
        self.missed += max(0, fabric.first - self.next)
        news = fabric.replay(self.next)
        self.next = max(self.next, fabric.emitted)
        return news
