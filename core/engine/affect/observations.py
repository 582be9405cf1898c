"""From events to structured observations, each with an intensity."""

from __future__ import annotations

from core.engine.percept import Percept
from core.engine.state import Stateful, plain_list
from core.events import AgentEnd, Event, Prompt, ToolUse, Turn
from core.settings.affect import ObservationSettings

# Positions of the observations among the triggers.
FAILURE, COMPETING, PRESSURE, NOVELTY, UNCERTAINTY, SUCCESS = range(6)

NEGATIVE = 1 << FAILURE | 1 << PRESSURE | 1 << UNCERTAINTY
POSITIVE = 1 << SUCCESS


class Observer(Stateful):
    """Say what one event is to affect: bits for what was observed, and how strongly."""

    STATE = ("_streak", plain_list("_files"), "_prompted", "_worth")

    def __init__(self, settings: ObservationSettings) -> None:
        self._least_failures = settings.least_failures
        self._full_failures = max(settings.full_failures, settings.least_failures)
        self._forgiveness = settings.forgiveness
        self._edits = settings.edits
        self._least_files = settings.least_files
        self._cadence = settings.cadence
        self._context_share = settings.context_share
        self._novelty = settings.novelty
        self._novelty_memory = settings.novelty_memory
        self._empty = settings.empty
        self._shift = settings.shift
        self._spike = settings.spike
        self._milestone = settings.milestone
        self._command = settings.command
        self._edit = settings.edit
        self._report = settings.report
        self._worth = settings.novelty_prior
        self._streak = 0.0
        self._files: list[str] = []
        self._prompted: float | None = None
        self.intensities = [0.0] * 6

    @property
    def worth(self) -> float:
        """How novelty has turned out so far, from -1 (failed) to 1 (paid off)."""
        return self._worth

    @property
    def streak(self) -> float:
        """Failures in a row, less what successes have cleared."""
        return self._streak

    def observe(self, event: Event, percept: Percept, novelty: float) -> int:
        """Fill `intensities` and return the bits of what was observed."""
        self.intensities = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        kind = type(event)
        observations = 0
        if kind is ToolUse:
            observations = self._tool_use(event, percept, novelty)  # type: ignore[arg-type]
        elif kind is Turn:
            observations = self._turn(event)  # type: ignore[arg-type]
        elif kind is Prompt:
            observations = self._prompt(event)  # type: ignore[arg-type]
        elif kind is AgentEnd:
            observations = self._agent_end(event)  # type: ignore[arg-type]
        if percept.shifted:
            observations |= self._uncertain(self._shift)
        for signal in percept.signals:
            if signal.fresh and signal.name == "uncertainty_spike":
                observations |= self._uncertain(self._spike)
        return observations

    def _tool_use(self, event: ToolUse, percept: Percept, novelty: float) -> int:
        outcome = event.outcome
        observations = 0
        if outcome == "failure":
            observations = self._failed(percept.failure_rate)
        elif outcome == "success" or (outcome == "empty" and event.action == "shell_exec"):
            observations = self._succeeded(event)
        elif outcome == "empty":
            observations = self._uncertain(self._empty)
        if novelty > self._novelty:
            self.intensities[NOVELTY] = min(1.0, (novelty - self._novelty) / (1.0 - self._novelty)) * self._worth
            observations |= 1 << NOVELTY
            if outcome == "success":
                self._worth += self._novelty_memory * (1.0 - self._worth)
            elif outcome == "failure":
                self._worth -= self._novelty_memory * (1.0 + self._worth)
        return observations

    def _failed(self, failure_rate: float) -> int:
        self._streak += 1.0
        if self._streak < self._least_failures:
            return 0
        self.intensities[FAILURE] = min(1.0, max(self._streak / self._full_failures, failure_rate))
        return 1 << FAILURE

    def _succeeded(self, event: ToolUse) -> int:
        action = event.action
        if action == "shell_exec":
            if event.purpose in ("test", "build", "commit"):
                self._streak = 0.0
                return self._good(self._milestone)
            self._streak -= self._streak * self._forgiveness
            return self._good(self._command)
        if action == "file_edit":
            return self._good(self._edit) | self._scattered(event.targets)
        return 0

    def _scattered(self, targets: tuple[str, ...]) -> int:
        files = self._files
        files.extend(targets[: self._edits])
        if len(files) > self._edits:
            del files[: len(files) - self._edits]
        different = len(set(files))
        if different < self._least_files:
            return 0
        self.intensities[COMPETING] = (different - self._least_files + 1) / (
            max(self._edits, self._least_files) - self._least_files + 1
        )
        return 1 << COMPETING

    def _prompt(self, event: Prompt) -> int:
        last, self._prompted = self._prompted, event.at
        if event.interrupt:
            return self._pressed(1.0)
        if last is None:
            return 0
        gap = max(0.0, event.at - last)
        return self._pressed(1.0 - gap / self._cadence) if gap < self._cadence else 0

    def _turn(self, event: Turn) -> int:
        if event.context_window <= 0:
            return 0
        share = event.context_tokens / event.context_window
        if share <= self._context_share:
            return 0
        return self._pressed(min(1.0, (share - self._context_share) / (1.0 - self._context_share)))

    def _agent_end(self, event: AgentEnd) -> int:
        if event.outcome == "success":
            return self._good(self._report)
        return self._failed(0.0) if event.outcome == "failure" else 0

    def _good(self, intensity: float) -> int:
        self.intensities[SUCCESS] = intensity
        return 1 << SUCCESS if intensity > 0.0 else 0

    def _pressed(self, intensity: float) -> int:
        self.intensities[PRESSURE] = intensity
        return 1 << PRESSURE

    def _uncertain(self, intensity: float) -> int:
        if intensity <= self.intensities[UNCERTAINTY]:
            return 0
        self.intensities[UNCERTAINTY] = intensity
        return 1 << UNCERTAINTY
