"""One step of one agent through every mechanism, in one readable order, and the one story of all models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from mypy_extensions import mypyc_attr

from core.engine.affect.affect import Affect
from core.engine.affect.policy import Policy
from core.engine.affect.reading import AffectReading, AffectStep
from core.engine.governor.governor import Governor, GovernorReading, Verdict
from core.engine.governor.machine import State as GovernorState
from core.engine.mind import fabric
from core.engine.mind.cortical import Phase, Regime
from core.engine.mind.heart import ROUGH
from core.engine.mind.mind import Mind
from core.engine.mind.readings import MindReading, Thought
from core.engine.percept import AgentState, Percept
from core.engine.receptor import Receptor, ReceptorReading
from core.engine.response.reaction import Reaction, ResponseReading
from core.engine.response.response import Response
from core.engine.response.rules import Learned, RuleSet
from core.engine.state import KeptField, Stateful, inner, tupled
from core.engine.values import StepValue, Value
from core.events import MAIN, Advice, AgentEnd, AgentStart, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.settings import Settings

FAILING = 0.4  # Share of failing commands at which nothing is reported as going well.


class Facts(NamedTuple):
    """The facts each model contributes to the story."""

    state: AgentState
    flowing: bool  # The flow gate fires.
    regime: Regime
    phase: Phase
    governor: GovernorState
    failure_rate: float
    loop: bool  # A loop is running.
    ended: bool  # The agent has ended its turn.
    failures: int = 0  # Failed calls of any kind among the last ones.
    resolved: bool = False  # A test passed or a commit succeeded, and nothing has failed since.


class Story(Value, frozen=True):
    """The words for one moment."""

    state: AgentState
    flowing: bool
    regime: Regime
    phase: str
    governor: str


class StoryRule(NamedTuple):
    """Two things that never appear together, and the words used instead."""

    where: str
    never: str
    instead: str


# Combinations that may not appear together; the first column wins.
RULES = (
    StoryRule("crisis, turbulence, a loop or 40% failing commands", "deep work, flow", "exploring"),
    StoryRule("stuck or a loop", "flow", "no flow"),
    StoryRule("a test passed or a commit succeeded, and nothing failed since", "stuck", "exploring"),
    StoryRule("a test passed or a commit succeeded, and nothing failed since", "crisis", "turbulence"),
    StoryRule("stuck or a loop, with failures", "calm, progress", "turbulence"),
    StoryRule("stuck or a loop, without failures", "progress", "calm"),
    StoryRule("the turn has ended", "crisis", "turbulence"),
    StoryRule("stuck, a loop, crisis, turbulence or 40% failing commands", "phase thriving or stable", "strained"),
    StoryRule("stuck, a loop, crisis, turbulence or 40% failing commands", "governor idle", "watching"),
    StoryRule("the turn has ended", "stuck, deep work, exploring, flow", "idle"),
    StoryRule("the governor would halt", "deep work, flow", "exploring"),
)

_AT_WORK = ("stuck", "deep_work", "exploring")
_GOOD_PHASES = ("thriving", "stable")


def make_story(facts: Facts) -> Story:
    """The words for one moment."""
    state, regime = facts.state, facts.regime
    failing = facts.failure_rate >= FAILING
    if facts.ended and state in _AT_WORK:
        state = "idle"
    if facts.resolved and state == "stuck":
        state = "exploring"
    trouble = state == "stuck" or (facts.loop and not facts.ended)
    if trouble and regime not in ROUGH:
        regime = "turbulence" if facts.failures else "calm"
    if (facts.resolved or facts.ended) and regime == "crisis":
        regime = "turbulence"
    bad = regime in ROUGH or facts.loop or failing or facts.governor == "HALTED"
    if bad and state == "deep_work":
        state = "exploring"
    flowing = facts.flowing and not (bad or trouble or facts.ended)
    strained = trouble or failing or regime in ROUGH
    phase = "strained" if strained and facts.phase in _GOOD_PHASES else facts.phase
    governor = "watching" if strained and facts.governor == "IDLE" else facts.governor.lower()
    return Story(state, flowing, regime, phase, governor)


_NOTABLE = 0.02  # A field that moves less is not reported.


class Changes(Stateful):
    """Compare each step with the one before; it writes to the fabric and to nothing else."""

    STATE = ("_governor", "_leaves", "_lineage", "_pattern", "_shifts", tupled("_standing"), "_state")

    def __init__(self) -> None:
        self._pattern = ""
        self._state = ""
        self._governor = "IDLE"
        self._standing: tuple[str, ...] = ()
        self._lineage = 0
        self._shifts = 0
        self._leaves = 0

    def step(
        self,
        ring: fabric.Fabric,
        event: Event,
        percept: Percept,
        verdict: Verdict,
        mood: AffectStep,
        reaction: Reaction,
        affect: Affect,
        leaves: int,
    ) -> None:
        """Emit what this step changed to the fabric; `leaves` is the number of known files."""
        emit, at = ring.emit, event.at
        if type(event) is ToolUse:
            self._emit_opened_file(ring, event, leaves)
        else:
            self._emit_rare_event(ring, event)
        if percept.pattern != self._pattern:
            if self._pattern:
                emit(fabric.PatternChanged(at, self._pattern, percept.pattern))
            self._pattern = percept.pattern
        if percept.state != self._state:
            if self._state:
                emit(fabric.StateChanged(at, self._state, percept.state))
            self._state = percept.state
        if percept.shifted:
            self._shifts += 1
            emit(fabric.ContextShifted(at, self._shifts))
        if percept.signals or self._standing:
            self._emit_signals(ring, percept)
        if verdict.opened:
            emit(fabric.GovernorEpisodeBegan(at))
        if verdict.state != self._governor:
            emit(fabric.GovernorChanged(at, self._governor, verdict.state))
            self._governor = verdict.state
            if verdict.halted_now:
                emit(fabric.GovernorHalted(at, verdict.halted_now, verdict.step))
        self._emit_affect(ring, at, mood, affect)
        if reaction[0] or reaction[1] or reaction[2] or reaction[3] is not None:
            self._emit_reaction(ring, at, reaction)

    def _emit_opened_file(self, ring: fabric.Fabric, event: ToolUse, leaves: int) -> None:
        if leaves > self._leaves and event.targets:
            ring.emit(fabric.FileOpened(event.at, event.targets[0]))
        self._leaves = leaves

    def _emit_rare_event(self, ring: fabric.Fabric, event: Event) -> None:
        match event:
            case Turn() | Prompt():
                return
            case SessionStart():
                ring.emit(fabric.SessionBegan(event.at, event.session, event.tool, event.model))
            case SessionEnd():
                ring.emit(fabric.SessionOver(event.at, event.reason))
            case AgentStart():
                ring.emit(fabric.SubAgentStarted(event.at, event.child, event.role))
            case AgentEnd():
                ring.emit(fabric.SubAgentEnded(event.at, event.child, event.outcome))
            case Advice():
                ring.emit(fabric.AdviceGiven(event.at, event.characters))

    def _emit_signals(self, ring: fabric.Fabric, percept: Percept) -> None:
        at = percept.at
        standing = tuple([signal.name for signal in percept.signals])
        if standing == self._standing:
            return
        for name in self._standing:
            if name not in standing:
                ring.emit(fabric.FlowEnded(at) if name == "flow_active" else fabric.SignalReleased(at, name))
        for signal in percept.signals:
            if signal.name not in self._standing:
                flow = signal.name == "flow_active"
                fired = fabric.FlowBegan(at, signal.intensity) if flow else None
                ring.emit(fired or fabric.SignalFired(at, signal.name, signal.intensity))
        self._standing = standing

    def _emit_affect(self, ring: fabric.Fabric, at: float, mood: AffectStep, affect: Affect) -> None:
        if mood.strongest is not None and not -_NOTABLE < mood.change < _NOTABLE:
            ring.emit(fabric.FieldMoved(at, mood.strongest, mood.change))
        received = affect.lineage.count - self._lineage - (mood.entry is not None)
        if received > 0:
            ring.emit(fabric.AffectReceived(at, received))
        self._lineage = affect.lineage.count
        if mood.entered:
            ring.emit(fabric.QuarantineBegan(at))
        elif mood.released:
            ring.emit(fabric.QuarantineEnded(at))

    def _emit_reaction(self, ring: fabric.Fabric, at: float, reaction: Reaction) -> None:
        emit = ring.emit
        if reaction.loop is not None:
            emit(fabric.LoopFound(at, reaction.loop.detector, reaction.loop.count))
        for firing in reaction.fired:
            emit(fabric.MethodFired(at, firing.method, firing.cue, firing.score))
        for notice in reaction.notices:
            if notice.kind == "needs_you":
                emit(fabric.PersonAsked(at, notice.rule))
        for checkpoint in reaction.checkpoints:
            emit(fabric.CheckpointAsked(at, checkpoint.name))
        for episode in reaction.interventions:
            emit(fabric.InterventionEnded(at, episode.intervention.sender, episode.fate))


class Step(StepValue, frozen=True, gc=False):
    """The result of one event in every model."""

    percept: Percept
    thought: Thought
    verdict: Verdict
    mood: AffectStep
    reaction: Reaction


class Frame(Value, frozen=True):
    """One agent's whole mind at one moment, immutable."""

    at: float
    agent: str
    events: int
    receptor: ReceptorReading
    mind: MindReading
    governor: GovernorReading
    affect: AffectReading
    response: ResponseReading
    story: Story  # State, flow, regime, phase and governor without contradictions.


@mypyc_attr(allow_interpreted_subclasses=True)
class Engine(Stateful):
    """The model of one agent's mind.

    It has no clock, randomness or files: the same events and settings give the same bytes. Rules and what was
    learned in earlier sessions are arguments, like settings.
    """

    VERSION = 15
    NAMED = True
    STATE: ClassVar[Sequence[str | KeptField]] = (
        "agent", "_at", "_events", inner("receptor"), inner("mind"), inner("governor"), inner("affect"),
        inner("response"), inner("_changes"),
    )  # fmt: skip

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy | None = None,
        seed: int = 0,
        agent: str = MAIN,
        rules: RuleSet | None = None,
        learned: Learned | None = None,
    ) -> None:
        self.settings = settings
        self.agent = agent
        self.receptor = Receptor(settings.receptor)
        wakeups = rules.triggers if rules is not None else ()
        self.mind = Mind(settings.mind, seed.to_bytes(8, "big"), agent, wakeups)
        self.governor = Governor(settings.governor)
        self.affect = Affect(settings.affect, policy, seed)
        self.response = Response(settings.response, self.receptor, self.mind, rules=rules, learned=learned, agent=agent)
        self._changes = Changes()
        self._at = 0.0
        self._events = 0

    def step(self, event: Event) -> Step:
        """Advance time to the event, then run every model on it."""
        self._events += 1
        elapsed = 0.0
        if event.at > self._at:
            elapsed = event.at - self._at if self._at else 0.0
            self._at = event.at
        percept = self.receptor.step(event)
        thought = self.mind.step(event, percept, self.affect.modulation, self.affect.composition)
        novelty = thought.novelty
        verdict = self.governor.step(
            event, novelty=novelty, elapsed=elapsed, pattern=percept.pattern, failure_rate=percept.failure_rate
        )
        if verdict.halted_now:
            self.mind.report("halt")
        mood = self.affect.step(event, percept, novelty)
        reaction = self.response.step(event, percept, thought, verdict, mood)
        if self.response.ended:
            self.mind.end_thinking()
        for episode in reaction.interventions:
            if episode.fate == "expired":
                self.mind.report("deadline")
            elif episode.fate == "reached":
                self.mind.heart.episodes.advise(episode.intervention.sender)
        self._changes.step(
            self.mind.heart.fabric, event, percept, verdict, mood, reaction, self.affect, self.receptor.heatmap.size
        )
        return Step(percept, thought, verdict, mood, reaction)

    def frame(self, at: float | None = None) -> Frame:
        """Return all readings, decayed to `at` if that is after the last event; nothing changes."""
        moment = self._at if at is None or at < self._at else at
        receptor = self.receptor.read(moment)
        mind = self.mind.read(moment, receptor.now)
        governor = self.governor.read()
        modulation = self.affect.modulation
        state, rate = receptor.meta.state, receptor.behaviour.short.failure_rate
        facts = self._story_facts(state, receptor.gate.firing, mind.regime.regime, governor.state, rate)
        return Frame(
            at=moment,
            agent=self.agent,
            events=self._events,
            receptor=receptor,
            mind=mind,
            governor=governor,
            affect=self.affect.read(moment, receptor.now),
            response=self.response.read(modulation.escalation_threshold, modulation.delegation_preference),
            story=make_story(facts),
        )

    def story(self, step: Step) -> Story:
        """Return the story after a step."""
        return make_story(self.story_facts(step))

    def story_facts(self, step: Step) -> Facts:
        """Return what each model says after a step."""
        percept = step.percept
        flowing = bool(percept.signals) and percept.signals[0].name == "flow_active"
        return self._story_facts(percept.state, flowing, step.thought.regime, step.verdict.state, percept.failure_rate)

    def _story_facts(
        self, state: AgentState, flowing: bool, regime: Regime, governor: GovernorState, failure_rate: float
    ) -> Facts:
        return Facts(
            state, flowing, regime, self.mind.heart.vitality.phase, governor, failure_rate,
            self.response.loops.current is not None, self.response.ended, self.receptor.facts.failures_recent,
            self.response.resolved,
        )  # fmt: skip
