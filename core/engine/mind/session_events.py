"""What happens to the session and in the rooms around the mind, as typed events on the fabric."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class SessionBegan(NamedTuple):
    """An agent's log began."""

    at: float
    session: str
    tool: str
    model: str


class SessionOver(NamedTuple):
    """The log says it is over."""

    at: float
    reason: str


class ToolCalled(NamedTuple):
    """A call was made; `at` is its result's time less how long it took."""

    at: float
    tool: str
    call: int
    """Fingerprint of tool and arguments."""


class FileOpened(NamedTuple):
    """A file came into the work for the first time."""

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
    """A signal no longer stands."""

    at: float
    signal: str


class FlowBegan(NamedTuple):
    """The flow gate opened: advice is silenced."""

    at: float
    intensity: float


class FlowEnded(NamedTuple):
    """The flow gate closed."""

    at: float


class GovernorChanged(NamedTuple):
    """The governor went into another state."""

    at: float
    before: str
    after: str


class GovernorHalted(NamedTuple):
    """The governor would stop the agent here."""

    at: float
    reason: str
    step: int


class GovernorEpisodeBegan(NamedTuple):
    """The person spoke, and a new governed episode began."""

    at: float


class FieldMoved(NamedTuple):
    """A control field of affect moved most."""

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
    """A sub-agent was sent off."""

    at: float
    child: str
    role: str


class SubAgentEnded(NamedTuple):
    """A sub-agent reported back."""

    at: float
    child: str
    outcome: str


class MethodFired(NamedTuple):
    """A method of the rules spoke."""

    at: float
    method: str
    cue: str
    score: float


class LoopFound(NamedTuple):
    """The agent goes in circles."""

    at: float
    detector: str
    rounds: int


class PersonAsked(NamedTuple):
    """The person was asked to look."""

    at: float
    rule: str


class CheckpointAsked(NamedTuple):
    """A method asked to keep a moment."""

    at: float
    name: str


class InterventionTold(NamedTuple):
    """A word's moment came."""

    at: float
    rule: str
    fate: str


class AdviceGiven(NamedTuple):
    """A sentence of ours reached the agent."""

    at: float
    characters: int


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
    | InterventionTold
    | AdviceGiven
)
"""All of these."""
