"""What the mind does beside its ticks and thoughts, as typed events on the fabric."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from core.engine.mind.stimulus import StimulusKind


class TicksDropped(NamedTuple):
    """More ticks came due at once than may wait."""

    at: float
    ticks: int


class WakeupDropped(NamedTuple):
    """A wakeup was left to a tick that is due anyway."""

    at: float
    trigger: str


class ItemPromoted(NamedTuple):
    """Something won attention at once."""

    at: float
    what: str
    score: float


class AccuracyTurned(NamedTuple):
    """The forecast began to get better or worse."""

    at: float
    trend: int
    accuracy: float


class BudgetBandChanged(NamedTuple):
    """The day's budget reached another band."""

    at: float
    band: str
    used: float


class OwnerSpoke(NamedTuple):
    """The person asked for something, or stopped the agent."""

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
    """The context was cut or is nearly full."""

    at: float
    cause: str
    what: str
    measure: float


MomentEvent: TypeAlias = (
    TicksDropped
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
"""All of these."""

SEEN: dict[StimulusKind, type[MomentEvent]] = {
    "owner_message": OwnerSpoke,
    "policy_violation": PolicyTripped,
    "confirmation": WorkConfirmed,
    "anomaly": AnomalySeen,
    "trace": TraceSeen,
    "dream_request": DreamRequested,
}
"""What each kind of stimulus is on the fabric."""
