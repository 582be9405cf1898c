"""The mind's own events: typed and numbered, so that a late reader can still follow them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, get_args

from core.engine.mind.cortical import Emotion, Phase, Regime, Tier
from core.engine.mind.stimulus import StimulusKind
from core.engine.state import Stateful, through
from core.events import Action, Outcome
from core.settings.mind_state import FabricSettings


class ModeChanged(NamedTuple):
    """The agent stopped executing for lack of confidence, or executes again."""

    at: float
    executing: bool


class TicksDropped(NamedTuple):
    """More ticks were due at once than may wait."""

    at: float
    ticks: int


class WakeupDropped(NamedTuple):
    """A wakeup was dropped because a tick was due anyway."""

    at: float
    trigger: str


class ItemPromoted(NamedTuple):
    """An item was promoted to attention."""

    at: float
    what: str
    score: float


class AccuracyTurned(NamedTuple):
    """The forecast began to improve or to get worse."""

    at: float
    trend: int
    accuracy: float


class BudgetBandChanged(NamedTuple):
    """Spending reached another band of the day's budget."""

    at: float
    band: str
    used: float


class OwnerSpoke(NamedTuple):
    """The person sent a prompt or stopped the agent."""

    at: float
    cause: str
    what: str
    measure: float


class PolicyTripped(NamedTuple):
    """A call was rejected, destroys something, or the governor halted."""

    at: float
    cause: str
    what: str
    measure: float


class WorkConfirmed(NamedTuple):
    """Tests passed, a build worked, something was committed."""

    at: float
    cause: str
    what: str
    measure: float


class AnomalySeen(NamedTuple):
    """A failure, a streak, a repetition, or a spike in token use."""

    at: float
    cause: str
    what: str
    measure: float


class TraceSeen(NamedTuple):
    """Another agent reported, or the work moved to other paths."""

    at: float
    cause: str
    what: str
    measure: float


class DreamRequested(NamedTuple):
    """The context was compacted or is nearly full."""

    at: float
    cause: str
    what: str
    measure: float


# All of these.
MomentEvent: TypeAlias = (
    ModeChanged
    | TicksDropped
    | WakeupDropped
    | ItemPromoted
    | AccuracyTurned
    | BudgetBandChanged
    | OwnerSpoke
    | PolicyTripped
    | WorkConfirmed
    | AnomalySeen
    | TraceSeen
    | DreamRequested
)

# What each kind of stimulus is on the fabric.
SEEN: dict[StimulusKind, type[MomentEvent]] = {
    "owner_message": OwnerSpoke,
    "policy_violation": PolicyTripped,
    "confirmation": WorkConfirmed,
    "anomaly": AnomalySeen,
    "trace": TraceSeen,
    "dream_request": DreamRequested,
}


class SessionBegan(NamedTuple):
    """An agent's log starts."""

    at: float
    session: str
    tool: str
    model: str


class SessionOver(NamedTuple):
    """The session ended."""

    at: float
    reason: str


class ToolCalled(NamedTuple):
    """A call began; `at` is the time of its result minus its duration."""

    at: float
    tool: str
    call: int  # Fingerprint of tool and arguments.


class FileOpened(NamedTuple):
    """A file was used for the first time."""

    at: float
    path: str


class PatternChanged(NamedTuple):
    """The pattern of the last minutes changed."""

    at: float
    before: str
    after: str


class StateChanged(NamedTuple):
    """The agent's state changed."""

    at: float
    before: str
    after: str


class ContextShifted(NamedTuple):
    """The work moved to other paths."""

    at: float
    shifts: int


class SignalFired(NamedTuple):
    """An axis crossed its threshold."""

    at: float
    signal: str
    intensity: float


class SignalReleased(NamedTuple):
    """A signal is no longer active."""

    at: float
    signal: str


class FlowBegan(NamedTuple):
    """The flow gate began to mute advice."""

    at: float
    intensity: float


class FlowEnded(NamedTuple):
    """The flow gate stopped muting."""

    at: float


class GovernorChanged(NamedTuple):
    """The governor changed its state."""

    at: float
    before: str
    after: str


class GovernorHalted(NamedTuple):
    """The governor would stop the agent here."""

    at: float
    reason: str
    step: int


class GovernorEpisodeBegan(NamedTuple):
    """A prompt began a new governed episode."""

    at: float


class FieldMoved(NamedTuple):
    """A control field of affect changed more than the others."""

    at: float
    field: str
    change: float


class QuarantineBegan(NamedTuple):
    """Affect became too volatile to be trusted."""

    at: float


class QuarantineEnded(NamedTuple):
    """Affect is calm enough again."""

    at: float


class AffectReceived(NamedTuple):
    """Affect came from an earlier session, a parent, a sub-agent, a peer or a neighbour."""

    at: float
    changes: int


class SubAgentStarted(NamedTuple):
    """A sub-agent started."""

    at: float
    child: str
    role: str


class SubAgentEnded(NamedTuple):
    """A sub-agent ended."""

    at: float
    child: str
    outcome: str


class MethodFired(NamedTuple):
    """A method fired."""

    at: float
    method: str
    cue: str
    score: float


class LoopFound(NamedTuple):
    """A loop was detected."""

    at: float
    detector: str
    rounds: int


class PersonAsked(NamedTuple):
    """The person was asked to look."""

    at: float
    rule: str


class CheckpointAsked(NamedTuple):
    """A method requested a checkpoint."""

    at: float
    name: str


class InterventionEnded(NamedTuple):
    """A message for the agent was delivered, reached it, or expired."""

    at: float
    rule: str
    fate: str


class AdviceGiven(NamedTuple):
    """Advice from nooscope reached the agent."""

    at: float
    characters: int


# All of these.
SessionEvent: TypeAlias = (
    SessionBegan
    | SessionOver
    | ToolCalled
    | FileOpened
    | PatternChanged
    | StateChanged
    | ContextShifted
    | SignalFired
    | SignalReleased
    | FlowBegan
    | FlowEnded
    | GovernorChanged
    | GovernorHalted
    | GovernorEpisodeBegan
    | FieldMoved
    | QuarantineBegan
    | QuarantineEnded
    | AffectReceived
    | SubAgentStarted
    | SubAgentEnded
    | MethodFired
    | LoopFound
    | PersonAsked
    | CheckpointAsked
    | InterventionEnded
    | AdviceGiven
)


class Ticked(NamedTuple):
    """A tick of the clock ran."""

    at: float
    tick: int
    kind: str
    tier: Tier
    cost: float


class Woken(NamedTuple):
    """A trigger caused a tick between the scheduled ones."""

    at: float
    trigger: str
    resolution: str


class ThinkingStarted(NamedTuple):
    """The person sent a prompt."""

    at: float
    trigger: str
    model: str
    invocation: int  # Number of the prompt that the agent works on.


class ThinkingEnded(NamedTuple):
    """The work on a prompt ended: the agent ended its turn, or another prompt came."""

    at: float
    invocation: int
    duration: float  # From the prompt to the agent's last turn or call.
    turns: int
    cost: float


class TurnStarted(NamedTuple):
    """A request to the model began; `at` is the time of the event before its answer."""

    at: float
    turn: int
    model: str


class TurnEnded(NamedTuple):
    """The model answered."""

    at: float
    turn: int
    model: str
    tokens: int
    cost: float | None
    cached: float  # Share of the context that was read from cache.


class ModelSelected(NamedTuple):
    """Another tier or model answers from here on."""

    at: float
    tier: Tier
    model: str
    reason: str


class ToolReturned(NamedTuple):
    """A call returned."""

    at: float
    tool: str
    action: Action
    outcome: Outcome
    duration: float | None


class AffectUpdated(NamedTuple):
    """The mood changed."""

    at: float
    pleasure: float
    arousal: float
    dominance: float
    emotion: Emotion


class VitalityUpdated(NamedTuple):
    """The vitality changed."""

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
    """The regime changed."""

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
    """Homeostasis corrected a parameter."""

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
    """The agent's context was compacted."""

    at: float
    tokens_before: int
    tokens_after: int
    trigger: str


class SnapshotAsked(NamedTuple):
    """A full frame of the state was requested."""

    at: float
    tick: int
    reason: str


class StateSnapshotCreated(NamedTuple):
    """A recording stored a whole state; reported outside the ring, because the mind does not store states."""

    at: float
    tick: int
    kind: str  # I: whole; P: changes since the one before.
    blake3: str
    size: int  # Bytes it takes.


class CompensationRollback(NamedTuple):
    """An unfinished write of nooscope was undone; reported outside the ring."""

    at: float
    chain: str
    steps: int  # Steps that were rolled back.


class EpisodeEnded(NamedTuple):
    """An episode of work ended."""

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
    | TurnStarted
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
    | StateSnapshotCreated
    | CompensationRollback
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
        return tuple([(type(event).__name__, *event) for event in self.recent()])

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
        """Return the events since the last call; the fabric may be one that was loaded from a dump of the last one."""
        if fabric is not None:
            self._fabric = fabric
        fabric = self._fabric
        self.missed += max(0, fabric.first - self.next)
        news = fabric.replay(self.next)
        self.next = max(self.next, fabric.emitted)
        return news
