"""Bounded agency, observed: how far an agent may run on its own, prompt by prompt."""

from __future__ import annotations

from collections import deque
from typing import Literal, NamedTuple

from core.engine.governor.episode import GovernorEpisode, GovernorEpisodes
from core.engine.governor.machine import Budgets, HaltReason, Machine, Pressures, State, Transition
from core.engine.governor.profile import PUBLISHED, Profile, chosen
from core.engine.percept import Pattern
from core.engine.state import Stateful, each, inner, tupled
from core.engine.values import StepValue, Value, reading_of
from core.events import Action, Event, Prompt, SessionStart, ToolUse
from core.settings.governor import GovernorSettings, InputSettings

RewardCause = Literal[
    "no step yet", "tests passed", "build passed", "committed", "edit succeeded", "command ran",
    "sub-agent returned", "found something", "took a note", "waited", "failed", "found nothing", "was refused",
    "same call, same result",
]  # fmt: skip

_GAINS: dict[Action, tuple[str, RewardCause]] = {
    "file_edit": ("edited", "edit succeeded"),
    "memory_write": ("edited", "edit succeeded"),
    "shell_exec": ("ran", "command ran"),
    "delegation": ("delegated", "sub-agent returned"),
    "file_read": ("looked", "found something"),
    "search": ("looked", "found something"),
    "memory_read": ("looked", "found something"),
    "plan": ("noted", "took a note"),
    "other": ("noted", "took a note"),
}
_CONFIRMATIONS: dict[str, RewardCause] = {"test": "tests passed", "build": "build passed", "commit": "committed"}
# Actions whose near-duplicates count as repeats; the others repeat only with equal arguments.
_BY_SHAPE: frozenset[Action] = frozenset({"shell_exec", "search", "file_read", "memory_read"})
# Actions for which an empty result means that nothing was found; a command may well be silent.
_LOOKS: frozenset[Action] = frozenset({"search", "file_read", "memory_read"})
# Programs that run with more rights, or touch what is not the project's.
_PRIVILEGED = frozenset(
    ("sudo", "doas", "su", "systemctl", "mount", "umount", "dd", "mkfs", "chown", "kill", "pkill", "killall")
)
_OUTSIDE = ("/", "~", "..")  # How a path outside the project begins.
_RESULT = (1 << 64) - 1


class Input(NamedTuple):
    """One signal as a person meets it."""

    name: str
    value: float
    cause: str


class Inputs(Stateful):
    """Derive one step's signals from events, and remember why each is what it is."""

    STATE = (
        each("_seen", lambda key: (key >> 64, key & _RESULT), lambda pair: (pair[0] << 64) | pair[1]), "_gap",
        "_interrupts", "_streak", "_repeats", "_rate", "_cause", "_located", tupled("_values"),
    )  # fmt: skip

    def __init__(self, settings: InputSettings) -> None:
        self._gains: dict[str, tuple[float, RewardCause]] = {
            action: (getattr(settings, name), cause) for action, (name, cause) in _GAINS.items()
        }
        self._losses: dict[str, tuple[float, RewardCause]] = {
            "failure": (settings.failed, "failed"),
            "empty": (settings.empty, "found nothing"),
            "rejected": (settings.rejected, "was refused"),
        }
        self._settings = settings
        self._share = (1.0 / settings.streak_limit, 1.0 / settings.loop_limit, settings.failure_rate)
        self._cadence = (settings.cadence, settings.cadence_time, settings.interrupted)
        self._dangers = (settings.destructive, settings.privileged, settings.outside)
        self._seen: deque[int] = deque(maxlen=settings.loop_window)
        self._gap = -1.0
        self._located = True
        self.open(-1.0)

    def begin(self, project: str) -> None:
        """A session begins; where no project is known, no path can be outside of it."""
        self._located = project != ""

    def open(self, gap: float) -> None:
        """Begin an episode with the person's prompt, `gap` seconds after the one before (negative: none)."""
        self._gap = gap
        self._interrupts = 0
        self._seen.clear()
        self._streak = 0
        self._repeats = 0
        self._rate = 0.0
        self._cause: RewardCause = "no step yet"
        self._values: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
        self._press()

    def interrupt(self) -> None:
        """The person stopped the agent."""
        self._interrupts += 1
        self._press()

    def _press(self) -> None:
        most, halving, interrupted = self._cadence
        hurry = most * halving / (halving + self._gap) if self._gap >= 0.0 else 0.0
        self._pressing = hurry + interrupted * self._interrupts

    def derive(
        self, event: ToolUse, novelty: float, pattern: Pattern, failure_rate: float
    ) -> tuple[float, float, float, float, float]:
        """Reward, novelty, urgency, difficulty and danger of one tool use that has an outcome."""
        outcome = event.outcome
        waiting = event.purpose == "wait" and outcome != "failure"
        repeats = 0
        if event.result and not waiting:
            same = event.shape or event.call if event.action in _BY_SHAPE else event.call
            key = (same << 64) | event.result
            repeats = self._seen.count(key)
            self._seen.append(key)
        if waiting:
            reward = self._settings.waited
            self._cause = "waited"
        elif outcome == "success" or (outcome == "empty" and event.action not in _LOOKS):
            reward = self._gain(event, pattern, repeats)
        else:
            reward, self._cause = self._losses[outcome]
            if outcome == "failure":
                self._streak += 1
        self._repeats = repeats
        self._rate = failure_rate
        for_streak, for_repeat, for_rate = self._share
        difficulty = for_streak * self._streak
        if difficulty < for_rate * failure_rate:
            difficulty = for_rate * failure_rate
        urgency = self._pressing + for_repeat * repeats
        self._values = (
            reward,
            novelty,
            urgency if urgency < 1.0 else 1.0,
            difficulty if difficulty < 1.0 else 1.0,
            self._danger(event),
        )
        return self._values

    def _danger(self, event: ToolUse) -> float:
        destructive, privileged, outside = self._dangers
        if event.outcome == "rejected":
            return 0.0
        if event.purpose == "destructive":
            return destructive
        if event.program in _PRIVILEGED:
            return privileged
        if event.action == "file_edit" and self._located:
            for target in event.targets:
                if target.startswith(_OUTSIDE):
                    return outside
        return 0.0

    def _gain(self, event: ToolUse, pattern: Pattern, repeats: int) -> float:
        if repeats:
            self._streak += 1
            self._cause = "same call, same result"
            return self._settings.repeated
        self._streak = 0
        confirmation = _CONFIRMATIONS.get(event.purpose)
        if confirmation is not None:
            self._cause = confirmation
            return self._settings.confirmed
        reward, self._cause = self._gains[event.action]
        return reward + self._settings.building if pattern == "implementation" else reward

    def read(self) -> tuple[Input, ...]:
        """The last step's signals, each with its cause."""
        reward, novelty, urgency, difficulty, danger = self._values
        return (
            Input("reward", reward, self._cause),
            Input("novelty", novelty, self._novelty_cause()),
            Input("urgency", urgency, self._urgency_cause()),
            Input("difficulty", difficulty, ", ".join(self._obstacles()) or "no difficulty"),
            Input("danger", danger, self._danger_cause(danger)),
        )

    def trouble(self) -> str:
        """Name the obstacles in a few words; empty if there are none."""
        repeats = (f"same call and result x{self._repeats + 1}",) if self._repeats else ()
        return ", ".join((*self._obstacles(), *repeats))

    def _novelty_cause(self) -> str:
        novelty = self._values[1]
        if self._cause == "no step yet":
            return "no step yet"
        return "new of its kind" if novelty >= 0.9 else "seen before" if novelty >= 0.3 else "well known"

    def _urgency_cause(self) -> str:
        causes = []
        if self._repeats:
            causes.append(f"same call and result x{self._repeats + 1}")
        if self._interrupts:
            causes.append(f"interrupted x{self._interrupts}")
        if self._gap >= 0.0:
            causes.append(f"prompts {self._gap:.0f} s apart")
        return ", ".join(causes) or "no hurry"

    def _danger_cause(self, danger: float) -> str:
        destructive, privileged, _ = self._dangers
        if not danger:
            return "nothing dangerous"
        if danger == destructive:
            return "destroys something"
        return "runs with elevated privileges" if danger == privileged else "edits outside the project"

    def _obstacles(self) -> tuple[str, ...]:
        streak = (f"{self._streak} in a row without progress",) if self._streak else ()
        rate = (f"{self._rate:.0%} of commands failed",) if self._rate > 0.0 else ()
        return (*streak, *rate)

    def restored(self) -> None:
        """Weigh what was remembered under these settings."""
        self._press()


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
    """Watches one agent prompt by prompt, and says where it would be halted.

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
            self._episodes.interrupts += 1
        elif type(event) is SessionStart:
            self._inputs.begin(event.project)
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
            episodes.dips += 1
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
        return reading_of(
            GovernorReading,
            machine,
            profile_name=self._name,
            profile=self._profile,
            may_act=machine.may_act,
            step=machine.steps,
            inputs=self._inputs.read(),
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
