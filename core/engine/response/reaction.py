"""The reaction to one event, and its reading for the screen."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from core.engine.percept import AgentState, Axis
from core.engine.response.actions import CheckpointRequest, Delegate
from core.engine.response.interventions import MemoLine, PastIntervention, QueueReading
from core.engine.response.loops import Loop, LoopReading
from core.engine.response.outlook import OutlookReading
from core.engine.response.rules import Cue, MethodType, Mode, NoticeKind
from core.engine.response.scoring import Candidate


class Firing(NamedTuple):
    """One method that fired, why, and what it said."""

    at: float
    agent: str
    method: str
    type: MethodType
    mode: Mode
    cue: Cue
    state: AgentState
    intensity: float
    score: float
    reason: str
    text: str


class Notice(NamedTuple):
    """A notice for the person."""

    at: float
    agent: str
    kind: NoticeKind
    rule: str  # The method that speaks, or `done`.
    text: str
    cooldown: float  # Seconds within which the same rule need not be heard twice.


class Reaction(NamedTuple):
    """The reaction to one event."""

    fired: tuple[Firing, ...]
    notices: tuple[Notice, ...]
    interventions: tuple[
        PastIntervention, ...
    ]  # Those that were delivered, expired or reached the agent with this event.
    loop: Loop | None  # A loop recognised, or notably grown, with this event.
    checkpoints: tuple[CheckpointRequest, ...]


QUIET = Reaction((), (), (), None, ())


class ResponseReading(Struct, frozen=True):
    """The response as a screen shows it."""

    candidates: tuple[Candidate, ...]  # Every method at the last act, with all terms of its score.
    memo: tuple[MemoLine, ...]
    memo_text: str
    queue: QueueReading
    log: tuple[MemoLine, ...]  # What was only logged, oldest first.
    fired: tuple[tuple[str, int], ...]  # How often each method fired so far.
    last: Firing | None
    loops: LoopReading
    pressure: float
    asks_at: float  # Pressure at which the person is asked, as affect bends it.
    learned: tuple[tuple[Axis, float], ...]
    checkpoints: tuple[CheckpointRequest, ...]
    outlook: OutlookReading
    delegates: tuple[Delegate, ...] = ()  # Ways to go on, the one affect prefers first.
