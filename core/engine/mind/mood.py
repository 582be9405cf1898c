"""Pleasure, arousal and dominance, and the emotion they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt

from core.engine.mind.cortical import Emotion
from core.engine.state import Stateful, tupled
from core.engine.values import Value
from core.events import Event, Prompt, ToolUse
from core.settings.mind_state import MoodSettings

OCTANTS: dict[tuple[bool, bool, bool], Emotion] = {
    (True, True, True): "joy",
    (True, True, False): "surprise",
    (True, False, True): "anticipation",
    (True, False, False): "trust",
    (False, True, True): "anger",
    (False, True, False): "fear",
    (False, False, True): "disgust",
    (False, False, False): "sadness",
}
"""The primary emotion by the signs of pleasure, arousal and dominance."""


class MoodReading(Value, frozen=True):
    """The mood, where it is drawn to, and what it was made from."""

    pleasure: float
    arousal: float
    dominance: float
    emotion: Emotion
    intensity: float
    """Distance from a neutral mood, 0 to 1."""
    pleasure_target: float
    arousal_target: float
    dominance_target: float
    rate: float
    """Events a minute."""
    chosen_share: float
    """Share of edits that were the agent's own choice and succeeded."""


class Mood(Stateful):
    """Follow the work in bounded steps: joy comes slowly, dismay faster."""

    __slots__ = (
        "_arousal_step",
        "_dead_zone",
        "_dominance_fall",
        "_dominance_rise",
        "_pleasure_fall",
        "_pleasure_rise",
        "_prompted_calls",
        "_rate_neutral",
        "_rate_window",
        "_smoothing",
        "_targets",
        "_urgency_weight",
        "arousal",
        "calls",
        "dominance",
        "events",
        "last",
        "octant",
        "pleasure",
        "rate",
        "share",
    )
    STATE = (
        "pleasure",
        "arousal",
        "dominance",
        tupled("octant"),
        "rate",
        "events",
        "last",
        "calls",
        "share",
        tupled("_targets"),
    )

    def __init__(self, settings: MoodSettings) -> None:
        self._pleasure_rise = settings.pleasure_rise
        self._pleasure_fall = settings.pleasure_fall
        self._arousal_step = settings.arousal_step
        self._dominance_rise = settings.dominance_rise
        self._dominance_fall = settings.dominance_fall
        self._rate_neutral = settings.rate_neutral / 60.0
        self._rate_window = settings.rate_window
        self._urgency_weight = settings.urgency_weight
        self._smoothing = settings.choice_smoothing
        self._prompted_calls = settings.prompted_calls
        self._dead_zone = settings.dead_zone
        self.pleasure = 0.0
        self.arousal = 0.0
        self.dominance = 0.0
        self.octant = (True, False, True)
        self.rate = self._rate_neutral
        self.events = 0
        self.last = 0.0
        self.calls = 0
        self.share = 0.5
        self._targets = (0.0, 0.0, 0.0)

    @property
    def emotion(self) -> Emotion:
        """The primary emotion."""
        return OCTANTS[self.octant]

    def update(self, event: Event) -> None:
        """Count one event; an edit, a refusal or an interruption tells who is in charge."""
        if type(event) is ToolUse:
            self.tool_use(event)
            return
        self.events += 1
        if type(event) is Prompt:
            self.calls = 0
            if event.interrupt:
                self.share -= self._smoothing * self.share

    def tool_use(self, event: ToolUse) -> None:
        """Count one call."""
        self.events += 1
        calls = self.calls
        self.calls = calls + 1
        outcome = event.outcome
        if outcome == "rejected":
            self.share -= self._smoothing * self.share
        elif event.action == "file_edit" and outcome != "pending" and outcome != "collateral":
            won = 1.0 if outcome == "success" and calls >= self._prompted_calls else 0.0
            self.share += self._smoothing * (won - self.share)

    def tick(self, now: float, axes: Sequence[float], urgency: float) -> None:
        """Step towards what the axes, the pace and the greatest urgency of this moment ask for."""
        elapsed = now - self.last
        if elapsed > 0.0:
            weight = 1.0 - exp(-elapsed / self._rate_window)
            self.rate += weight * (self.events / elapsed - self.rate)
            self.events = 0
            self.last = now
        frustration, seeking, confidence, _, flow, _ = axes
        rate = self.rate
        activity = rate / (rate + self._rate_neutral)
        targets = self._targets = (
            0.5 * (confidence + flow - frustration - seeking),
            2.0 * (activity + (1.0 - activity) * self._urgency_weight * urgency) - 1.0,
            2.0 * self.share - 1.0,
        )
        pleasure = self.pleasure = _step(self.pleasure, targets[0], self._pleasure_rise, self._pleasure_fall)
        arousal = self.arousal = _step(self.arousal, targets[1], self._arousal_step, self._arousal_step)
        dominance = self.dominance = _step(
            self.dominance, targets[2], self._dominance_rise, self._dominance_fall
        )
        zone = self._dead_zone
        pleased, aroused, dominant = self.octant
        self.octant = (
            pleasure > (-zone if pleased else zone),
            arousal > (-zone if aroused else zone),
            dominance > (-zone if dominant else zone),
        )

    def read(self) -> MoodReading:
        """The mood and its reasons."""
        return MoodReading(
            self.pleasure,
            self.arousal,
            self.dominance,
            self.emotion,
            sqrt((self.pleasure**2 + self.arousal**2 + self.dominance**2) / 3.0),
            *self._targets,
            self.rate * 60.0,
            self.share,
        )


def _step(value: float, target: float, rise: float, fall: float) -> float:
    move = target - value
    if move > rise:
        move = rise
    elif move < -fall:
        move = -fall
    moved = value + move
    return 1.0 if moved > 1.0 else -1.0 if moved < -1.0 else moved
