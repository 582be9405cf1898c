"""One step of one agent through every mechanism, in one readable order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from mypy_extensions import mypyc_attr

from core.affect import Affect, AffectReading, AffectStep, Policy
from core.changes import Changes
from core.events import MAIN, Event
from core.governor import Governor, GovernorReading, Verdict
from core.mind import Mind, MindReading, Thought
from core.percept import Percept
from core.receptor import Receptor, ReceptorReading
from core.reset import resetting
from core.response import Learned, Reaction, Response, ResponseReading, RuleSet
from core.settings import Settings
from core.state import KeptField, Stateful, inner
from core.story import Facts as StoryFacts
from core.story import Story, tell
from core.values import StepValue, Value


class Step(StepValue, frozen=True, gc=False):
    """What one event did."""

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
    story: Story
    """State, flow, regime, phase and governor as they are told together."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Engine(Stateful):
    """The model of one agent's mind.

    It has no clock, no chance and no files: the same events and settings give the same bytes. Rules and what
    was learned in earlier sessions are handed in like settings.
    """

    __slots__ = (
        "_at",
        "_changes",
        "_events",
        "affect",
        "agent",
        "governor",
        "mind",
        "receptor",
        "response",
        "settings",
    )
    VERSION = 6
    NAMED = True
    STATE: ClassVar[Sequence[str | KeptField]] = (
        "agent",
        "_at",
        "_events",
        inner("receptor"),
        inner("mind"),
        inner("governor"),
        inner("affect"),
        inner("response"),
        inner("_changes"),
    )

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
        self.response = Response(
            settings.response, self.receptor, self.mind, rules=rules, learned=learned, agent=agent
        )
        self._changes = Changes()
        self._at = 0.0
        self._events = 0

    def step(self, event: Event) -> Step:
        """Let time pass up to the event, then take it in."""
        self._events += 1
        if event.at > self._at:
            self._at = event.at
        percept = self.receptor.step(event)
        thought = self.mind.step(event, percept, self.affect.modulation, self.affect.composition)
        novelty = thought.novelty
        verdict = self.governor.step(
            event,
            novelty=novelty,
            elapsed=percept.elapsed,
            pattern=percept.pattern,
            failure_rate=percept.failure_rate,
        )
        if verdict.halted_now:
            self.mind.tell("halt")
        mood = self.affect.step(event, percept, novelty)
        reaction = self.response.step(event, percept, thought, verdict, mood)
        self._changes.tell(
            self.mind.heart.fabric,
            event,
            percept,
            verdict,
            mood,
            reaction,
            self.affect,
            self.receptor.heatmap.size,
        )
        return Step(percept, thought, verdict, mood, reaction)

    def frame(self, at: float | None = None) -> Frame:
        """All readings, decayed to `at` where that is later than the last event; nothing changes."""
        moment = self._at if at is None or at < self._at else at
        receptor = self.receptor.read(moment)
        mind = self.mind.read(moment, receptor.now)
        governor = self.governor.read()
        bent = self.affect.modulation
        return Frame(
            at=moment,
            agent=self.agent,
            events=self._events,
            receptor=receptor,
            mind=mind,
            governor=governor,
            affect=self.affect.read(moment, receptor.now),
            response=self.response.read(bent.escalation_threshold, bent.delegation_preference),
            story=tell(
                StoryFacts(
                    receptor.meta.state,
                    receptor.gate.firing,
                    mind.regime.regime,
                    mind.regime.candidate,
                    mind.cortical.phase,
                    governor.state,
                    receptor.behaviour.short.failure_rate,
                    self.response.loops.current is not None,
                    self.response.ended,
                    receptor.facts.failures_recent,
                )
            ),
        )

    def story(self, step: Step) -> Story:
        """The words for the moment after a step."""
        return tell(self.story_facts(step))

    def story_facts(self, step: Step) -> StoryFacts:
        """What the mechanisms say after a step, each for itself."""
        percept = step.percept
        signals = percept.signals
        return StoryFacts(
            percept.state,
            bool(signals) and signals[0].name == "flow_active",
            step.thought.regime,
            self.mind.heart.regime.candidate,
            self.mind.heart.vitality.phase,
            step.verdict.state,
            percept.failure_rate,
            self.response.loops.current is not None,
            self.response.ended,
            self.receptor.facts.failures_recent,
        )

    def resetter(self) -> Callable[[Engine], None]:
        """What sets engines like this one, which has seen nothing, back to its start."""
        return resetting(self)

    def serve(self, seed: int, agent: str) -> None:
        """Be the mind of another agent, from its start; set back, it costs a tenth of a new engine."""
        self.agent = agent
        self.mind.serve(seed.to_bytes(8, "big"), agent)
        self.affect.reseed(seed)
        self.response.serve(agent)
