"""Bounded agency, watched: how far an agent would be let go on, one prompt at a time."""

from __future__ import annotations

from typing import Literal

from core.engine.governor.episode import GovernorEpisode, GovernorEpisodes
from core.engine.governor.inputs import Input, Inputs
from core.engine.governor.machine import Budgets, HaltReason, Machine, Pressures, State, Transition
from core.engine.governor.profile import PUBLISHED, Profile, chosen
from core.engine.percept import Pattern
from core.engine.state import Stateful, inner
from core.engine.values import StepValue, Value
from core.events import Event, Prompt, ToolUse
from core.settings.governor import GovernorSettings


class Verdict(StepValue, frozen=True, gc=False):
    """The governor's verdict on one event."""

    state: State
    changed: bool  # The state is another than before the event.
    halted_now: HaltReason | Literal[""]  # Set on the one event at which it would halt.
    transition: Transition  # Why the state changed within the episode.
    step: int  # Steps of the episode.
    opened: bool  # The event opened an episode.
    after_halt: int  # Tool uses since the halt.


class GovernorReading(Value, frozen=True):
    """The governor as a person meets it."""

    profile_name: str
    profile: Profile
    state: State
    may_act: bool
    step: int
    stagnant: int  # Steps in a row without reward.
    budgets: Budgets
    pressures: Pressures
    inputs: tuple[Input, ...]  # Reward, novelty, urgency, difficulty, danger.
    halt: HaltReason | Literal[""]
    would_halt: str  # Where and why it would halt, in words; empty where it would not.
    after_halt: int
    episode: GovernorEpisode  # The open one.
    past: tuple[GovernorEpisode, ...]  # Ended ones, oldest first.
    episodes: int  # Opened so far, kept or not.
    halts: int  # So far, in episodes kept or not.


# Names of what `Governor.levels` gives.
LEVELS = (*(f"budget.{name}" for name in Budgets._fields), *(f"pressure.{name}" for name in Pressures._fields))


class Governor(Stateful):
    """Watch one agent's episodes, from the person's prompt to the next, and say where it would halt.

    No argument of `step` can carry an affect value, so none can move the gate.
    """

    STATE = (inner("_machine"), inner("_inputs"), inner("_episodes"), "_pause", "_since", "_prompted")

    def __init__(self, settings: GovernorSettings) -> None:
        self._name = settings.profile
        self._profile = chosen(settings)
        self._machine = Machine(self._profile, settings.appraisal, settings.weights)
        self._inputs = Inputs(settings.inputs)
        self._episodes = GovernorEpisodes(settings.episodes)
        self._tempo = settings.tempo if settings.profile in PUBLISHED else 1.0
        self._pause = 0.0
        self._since = 0.0
        self._prompted = False

    def step(self, event: Event, *, novelty: float, elapsed: float, pattern: Pattern, failure_rate: float) -> Verdict:
        """Process one event, `elapsed` seconds of wall-clock time after the previous one."""
        self._pause += elapsed
        self._since += elapsed
        machine = self._machine
        if type(event) is ToolUse:
            outcome = event.outcome
            if outcome != "pending" and outcome != "collateral":
                return self._act(event, novelty, pattern, failure_rate)
        elif type(event) is Prompt:
            if not event.interrupt:
                return self._prompt(event)
            self._inputs.interrupt()
            self._episodes.interrupt()
        return Verdict(machine.state, False, "", "", machine.steps, False, self._episodes.after_halt)

    def _act(self, event: ToolUse, novelty: float, pattern: Pattern, failure_rate: float) -> Verdict:
        machine = self._machine
        episodes = self._episodes
        opened = episodes.number == 0
        if opened:
            episodes.open(event.at)
        if machine.state == "HALTED":
            episodes.overrun(event.at)
            return Verdict("HALTED", False, "", "", machine.steps, opened, episodes.after_halt)
        reward, new, urgency, difficulty, danger = self._inputs.derive(event, novelty, pattern, failure_rate)
        rest = max(0.0, self._pause - (event.duration or 0.0)) / self._tempo
        transition = machine.step(reward, new, urgency, difficulty, rest, danger)
        self._pause = 0.0
        episodes.record(event.at, machine.steps, machine.brink, reward)
        if not transition:
            return Verdict(machine.state, False, "", "", machine.steps, opened, 0)
        if transition == "dip":
            episodes.dip()
        halt = machine.halt
        if halt:
            value, limit = self._measure(halt)
            episodes.halted(event.at, halt, value, limit, self._inputs.trouble())
        return Verdict(machine.state, True, halt, transition, machine.steps, opened, 0)

    def _prompt(self, event: Prompt) -> Verdict:
        changed = self._machine.state != "IDLE"
        self._machine.reset()
        self._inputs.open(self._since if self._prompted else -1.0)
        self._episodes.open(event.at)
        self._prompted = True
        self._pause = 0.0
        self._since = 0.0
        return Verdict("IDLE", changed, "", "", 0, True, 0)

    def _measure(self, halt: HaltReason) -> tuple[float, float]:
        effort, risk, exploration, _ = self._machine.brink
        profile = self._profile
        if halt == "SAFETY":
            return exploration, profile.max_exploration
        if halt == "OVERRISK":
            return risk, profile.max_risk
        if halt == "EXHAUSTION":
            return effort, profile.exhaustion_threshold
        if halt == "STAGNATION":
            return effort, profile.stagnation_floor
        return float(self._machine.steps), float(profile.max_steps)

    def read(self) -> GovernorReading:
        """Return the reading for the screen."""
        machine = self._machine
        episode = self._episodes.current()
        return GovernorReading(
            profile_name=self._name,
            profile=self._profile,
            state=machine.state,
            may_act=machine.may_act,
            step=machine.steps,
            stagnant=machine.stagnant,
            budgets=machine.budgets,
            pressures=machine.pressures,
            inputs=self._inputs.read(),
            halt=machine.halt,
            would_halt=episode.sentence,
            after_halt=episode.after_halt,
            episode=episode,
            past=self._episodes.past(),
            episodes=self._episodes.number,
            halts=self._episodes.halts,
        )

    def levels(self) -> tuple[float, ...]:
        """Budgets, then pressures: what a curve is drawn from."""
        return self._machine.levels
