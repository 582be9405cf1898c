"""What changed with one event, told on the fabric for whoever listens."""

from __future__ import annotations

from core.affect import Affect, AffectStep
from core.events import Advice, AgentEnd, AgentStart, Event, SessionEnd, SessionStart, ToolUse
from core.governor import Verdict
from core.mind.fabric import Fabric
from core.mind.session_events import (
    AdviceGiven,
    AffectReceived,
    CheckpointAsked,
    ContextShifted,
    FieldMoved,
    FileOpened,
    FlowBegan,
    FlowEnded,
    GovernorChanged,
    GovernorEpisodeBegan,
    GovernorHalted,
    InterventionTold,
    LoopFound,
    MethodFired,
    PatternChanged,
    PersonAsked,
    QuarantineBegan,
    QuarantineEnded,
    SessionBegan,
    SessionOver,
    SignalFired,
    SignalReleased,
    StateChanged,
    SubAgentEnded,
    SubAgentStarted,
)
from core.percept import Percept
from core.response import Reaction
from core.state import Stateful, tupled

_NOTABLE = 0.02
"""A field that moves less is not told of."""


class Changes(Stateful):
    """Compare each step with the one before; it writes to the fabric and to nothing else."""

    __slots__ = ("_governor", "_leaves", "_lineage", "_pattern", "_shifts", "_standing", "_state")
    STATE = ("_governor", "_leaves", "_lineage", "_pattern", "_shifts", tupled("_standing"), "_state")

    def __init__(self) -> None:
        self._pattern = ""
        self._state = ""
        self._governor = "IDLE"
        self._standing: tuple[str, ...] = ()
        self._lineage = 0
        self._shifts = 0
        self._leaves = 0

    def tell(
        self,
        fabric: Fabric,
        event: Event,
        percept: Percept,
        verdict: Verdict,
        mood: AffectStep,
        reaction: Reaction,
        affect: Affect,
        leaves: int,
    ) -> None:
        """Put on the fabric what this step changed; `leaves` is how many files the work has seen."""
        emit, at = fabric.emit, event.at
        if isinstance(event, ToolUse):
            self._opened(fabric, event, leaves)
        else:
            self._rarer(fabric, event)
        if percept.pattern != self._pattern:
            if self._pattern:
                emit(PatternChanged(at, self._pattern, percept.pattern))
            self._pattern = percept.pattern
        if percept.state != self._state:
            if self._state:
                emit(StateChanged(at, self._state, percept.state))
            self._state = percept.state
        if percept.shifted:
            self._shifts += 1
            emit(ContextShifted(at, self._shifts))
        if percept.signals or self._standing:
            self._signals(fabric, percept)
        if verdict.opened:
            emit(GovernorEpisodeBegan(at))
        if verdict.state != self._governor:
            emit(GovernorChanged(at, self._governor, verdict.state))
            self._governor = verdict.state
            if verdict.halted_now:
                emit(GovernorHalted(at, verdict.halted_now, verdict.step))
        self._felt(fabric, at, mood, affect)
        if reaction[0] or reaction[1] or reaction[2] or reaction[3] is not None:
            self._said(fabric, at, reaction)

    def _opened(self, fabric: Fabric, event: ToolUse, leaves: int) -> None:
        if leaves > self._leaves and event.targets:
            fabric.emit(FileOpened(event.at, event.targets[0]))
        self._leaves = leaves

    def _rarer(self, fabric: Fabric, event: Event) -> None:
        match event:
            case SessionStart():
                fabric.emit(SessionBegan(event.at, event.session, event.tool, event.model))
            case SessionEnd():
                fabric.emit(SessionOver(event.at, event.reason))
            case AgentStart():
                fabric.emit(SubAgentStarted(event.at, event.child, event.role))
            case AgentEnd():
                fabric.emit(SubAgentEnded(event.at, event.child, event.outcome))
            case Advice():
                fabric.emit(AdviceGiven(event.at, event.characters))

    def _signals(self, fabric: Fabric, percept: Percept) -> None:
        at = percept.at
        standing = tuple([signal.name for signal in percept.signals])
        if standing == self._standing:
            return
        for name in self._standing:
            if name not in standing:
                fabric.emit(FlowEnded(at) if name == "flow_active" else SignalReleased(at, name))
        for signal in percept.signals:
            if signal.name not in self._standing:
                flow = signal.name == "flow_active"
                fired = FlowBegan(at, signal.intensity) if flow else None
                fabric.emit(fired or SignalFired(at, signal.name, signal.intensity))
        self._standing = standing

    def _felt(self, fabric: Fabric, at: float, mood: AffectStep, affect: Affect) -> None:
        if mood.strongest is not None and not -_NOTABLE < mood.change < _NOTABLE:
            fabric.emit(FieldMoved(at, mood.strongest, mood.change))
        received = affect.lineage.count - self._lineage - (mood.entry is not None)
        if received > 0:
            fabric.emit(AffectReceived(at, received))
        self._lineage = affect.lineage.count
        if mood.entered:
            fabric.emit(QuarantineBegan(at))
        elif mood.released:
            fabric.emit(QuarantineEnded(at))

    def _said(self, fabric: Fabric, at: float, reaction: Reaction) -> None:
        emit = fabric.emit
        if reaction.loop is not None:
            emit(LoopFound(at, reaction.loop.detector, reaction.loop.count))
        for firing in reaction.fired:
            emit(MethodFired(at, firing.method, firing.cue, firing.score))
        for notice in reaction.notices:
            if notice.kind == "needs_you":
                emit(PersonAsked(at, notice.rule))
        for asked in reaction.checkpoints:
            emit(CheckpointAsked(at, asked.name))
        for told in reaction.told:
            emit(InterventionTold(at, told.intervention.sender, told.fate))
