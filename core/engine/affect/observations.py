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

    STATE = ("streak", plain_list("_files"), "_prompted", "worth")

    def __init__(self, settings: ObservationSettings) -> None:
        self._settings = settings
        self._full_failures = max(settings.full_failures, settings.least_failures)
        self.worth = settings.novelty_prior
        self.streak = 0.0
        self._files: list[str] = []
        self._prompted: float | None = None
        self.intensities = [0.0] * 6

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
            observations |= self._uncertain(self._settings.shift)
        for signal in percept.signals:
            if signal.fresh and signal.name == "uncertainty_spike":
                observations |= self._uncertain(self._settings.spike)
        return observations

    def _tool_use(self, event: ToolUse, percept: Percept, novelty: float) -> int:
        outcome = event.outcome
        observations = 0
        if outcome == "failure":
            observations = self._failed(percept.failure_rate)
        elif outcome == "success" or (outcome == "empty" and event.action == "shell_exec"):
            observations = self._succeeded(event)
        elif outcome == "empty":
            observations = self._uncertain(self._settings.empty)
        least = self._settings.novelty
        if novelty > least:
            self.intensities[NOVELTY] = min(1.0, (novelty - least) / (1.0 - least)) * self.worth
            observations |= 1 << NOVELTY
            if outcome == "success":
                self.worth += self._settings.novelty_memory * (1.0 - self.worth)
            elif outcome == "failure":
                self.worth -= self._settings.novelty_memory * (1.0 + self.worth)
        return observations

    def _failed(self, failure_rate: float) -> int:
        self.streak += 1.0
        if self.streak < self._settings.least_failures:
            return 0
        self.intensities[FAILURE] = min(1.0, max(self.streak / self._full_failures, failure_rate))
        return 1 << FAILURE

    def _succeeded(self, event: ToolUse) -> int:
        action = event.action
        if action == "shell_exec":
            if event.purpose in ("test", "build", "commit"):
                self.streak = 0.0
                return self._good(self._settings.milestone)
            self.streak -= self.streak * self._settings.forgiveness
            return self._good(self._settings.command)
        if action == "file_edit":
            return self._good(self._settings.edit) | self._scattered(event.targets)
        return 0

    def _scattered(self, targets: tuple[str, ...]) -> int:
        files, edits, least = self._files, self._settings.edits, self._settings.least_files
        files.extend(targets[:edits])
        if len(files) > edits:
            del files[: len(files) - edits]
        different = len(set(files))
        if different < least:
            return 0
        self.intensities[COMPETING] = (different - least + 1) / (max(edits, least) - least + 1)
        return 1 << COMPETING

    def _prompt(self, event: Prompt) -> int:
        last, self._prompted = self._prompted, event.at
        if event.interrupt:
            return self._pressed(1.0)
        if last is None:
            return 0
        gap = max(0.0, event.at - last)
        return self._pressed(1.0 - gap / self._settings.cadence) if gap < self._settings.cadence else 0

    def _turn(self, event: Turn) -> int:
        if event.context_window <= 0:
            return 0
        share = event.context_tokens / event.context_window
        least = self._settings.context_share
        return self._pressed(min(1.0, (share - least) / (1.0 - least))) if share > least else 0

    def _agent_end(self, event: AgentEnd) -> int:
        if event.outcome == "success":
            return self._good(self._settings.report)
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
