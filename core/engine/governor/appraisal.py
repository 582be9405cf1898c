"""From signals to changes of pressure."""

from __future__ import annotations

from typing import NamedTuple

from core.settings.governor import AppraisalSettings


class Pressures(NamedTuple):
    """What weighs on the agent: unbounded, and only ever added to."""

    confidence: float
    frustration: float
    curiosity: float
    arousal: float
    risk: float


class Appraisal:
    """Read one step's signals as a change of each pressure."""

    __slots__ = ("_weights",)

    def __init__(self, settings: AppraisalSettings) -> None:
        self._weights = (
            settings.reward_confidence,
            settings.difficulty_confidence,
            settings.difficulty_frustration,
            settings.urgency_frustration,
            settings.novelty_curiosity,
            settings.sameness_curiosity,
            settings.urgency_arousal,
            settings.outcome_risk,
        )

    def change(self, reward: float, novelty: float, urgency: float, difficulty: float) -> Pressures:
        """What one step adds to each pressure."""
        return Pressures(*self.add((0.0, 0.0, 0.0, 0.0, 0.0), reward, novelty, urgency, difficulty))

    def add(
        self,
        pressures: tuple[float, float, float, float, float],
        reward: float,
        novelty: float,
        urgency: float,
        difficulty: float,
    ) -> tuple[float, float, float, float, float]:
        """The pressures after one more step."""
        confidence, frustration, curiosity, arousal, risk = pressures
        gain, doubt, obstacle, hurry, new, known, stir, settle = self._weights
        return (
            confidence + (gain * reward - doubt * difficulty),
            frustration + ((0.0 if reward > 0.0 else obstacle * difficulty) + hurry * urgency),
            curiosity + (new * novelty - known * (1.0 - novelty)),
            arousal + stir * urgency,
            risk - settle * (reward if reward > 0.0 else -reward),
        )
