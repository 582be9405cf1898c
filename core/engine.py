"""One step of one agent through every mechanism, in one readable order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from core.affect import Affect, AffectReading, Mood, Policy
from core.errors import StateError
from core.events import MAIN, Event
from core.governor import Governor, GovernorReading, Verdict
from core.mind import Mind, MindReading, Thought
from core.percept import Percept
from core.receptor import Receptor, ReceptorReading
from core.response import Learned, Reaction, Response, ResponseReading, RuleSet
from core.settings import Settings
from core.story import Facts as StoryFacts
from core.story import Story, tell

VERSION = 3
"""Of what `dump` gives."""


class Step(NamedTuple):
    """What one event did."""

    percept: Percept
    thought: Thought
    verdict: Verdict
    mood: Mood
    reaction: Reaction


class Frame(Struct, frozen=True):
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


class Engine:
    """The model of one agent's mind.

    It has no clock, no chance and no files: the same events and settings give the same bytes. Rules and what
    was learned in earlier sessions are handed in like settings.
    """

    __slots__ = ("_at", "_events", "affect", "agent", "governor", "mind", "receptor", "response", "settings")

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
        self.mind = Mind(settings.mind, seed.to_bytes(8, "big"), agent)
        self.governor = Governor(settings.governor)
        self.affect = Affect(settings.affect, policy, seed)
        self.response = Response(
            settings.response, self.receptor, self.mind, rules=rules, learned=learned, agent=agent
        )
        self._at = 0.0
        self._events = 0

    def step(self, event: Event) -> Step:
        """Let time pass up to the event, then take it in."""
        self._events += 1
        if event.at > self._at:
            self._at = event.at
        percept = self.receptor.step(event)
        thought = self.mind.step(event, percept, self.affect.modulation)
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
        return Step(percept, thought, verdict, mood, reaction)

    def frame(self, at: float | None = None) -> Frame:
        """All readings, decayed to `at` where that is later than the last event; nothing changes."""
        moment = self._at if at is None or at < self._at else at
        receptor = self.receptor.read(moment)
        mind = self.mind.read(moment, receptor.now)
        governor = self.governor.read()
        return Frame(
            at=moment,
            agent=self.agent,
            events=self._events,
            receptor=receptor,
            mind=mind,
            governor=governor,
            affect=self.affect.read(moment, receptor.now),
            response=self.response.read(self.affect.modulation.escalation_threshold),
            story=tell(
                StoryFacts(
                    receptor.meta.state,
                    receptor.gate.firing,
                    mind.regime.regime,
                    mind.cortical.phase,
                    governor.state,
                    receptor.behaviour.short.failure_rate,
                    self.response.loops.current is not None,
                    self.response.ended,
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
            self.mind.heart.vitality.phase,
            step.verdict.state,
            percept.failure_rate,
            self.response.loops.current is not None,
            self.response.ended,
        )

    def dump(self) -> dict[str, Any]:
        """Everything that `load` needs to go on exactly from here."""
        return {
            "version": VERSION,
            "agent": self.agent,
            "at": self._at,
            "events": self._events,
            "receptor": self.receptor.dump(),
            "mind": self.mind.dump(),
            "governor": self.governor.dump(),
            "affect": self.affect.dump(),
            "response": self.response.dump(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a dump of an engine with the same settings."""
        if state.get("version") != VERSION:
            raise StateError(
                f"a dump of version {state.get('version')} does not fit an engine of version {VERSION}"
            )
        self.agent = state["agent"]
        self._at = state["at"]
        self._events = state["events"]
        self.receptor.load(state["receptor"])
        self.mind.load(state["mind"])
        self.governor.load(state["governor"])
        self.affect.load(state["affect"])
        self.response.load(state["response"])
