"""How sensitive to be, learned from sessions; the sensor itself is never changed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from core.engine.percept import AXES, NEUTRAL, Axis
from core.engine.response.rules import CUE_AXES, CUES, Cue
from core.engine.values import Derived
from core.settings.response import LearningSettings

LEARNING_AXES: tuple[Axis, ...] = tuple(axis for axis in AXES if axis != "flow")


class Learned(Struct, frozen=True):
    """Per axis, how far sensitivity has moved and how many fires an hour are expected."""

    deltas: dict[Axis, float] = field(default_factory=dict)
    expected: dict[Axis, float] = field(default_factory=dict)
    stretches: int = 0
    until: float = 0.0  # Event time of the newest stretch.


NOTHING_LEARNED = Learned()
_MOST = 1.5  # Of a proposal that is welcome, so much of it.


def share_accepted(acceptance: float) -> float:
    """How much of what is proposed from outside is taken over: all at rest, nothing at full strictness."""
    return min(_MOST, max(0.0, (1.0 - acceptance) / (1.0 - NEUTRAL.mutation_acceptance)))


def learn(
    learned: Learned,
    fires: Mapping[Axis, int],
    seconds: float,
    until: float,
    settings: LearningSettings,
    share: float = 1.0,
    proposals: Mapping[Axis, float] | None = None,
) -> Learned:
    """Take in one stretch of work: an axis that fires more than expected is heard less, and the reverse.

    `share` is how much of the change is accepted; `proposals` are changes that others ask for, as much as one
    stretch may teach at most.
    """
    if not settings.enabled or seconds < settings.least or seconds <= 0.0:
        return learned
    deltas = dict(learned.deltas)
    expected = dict(learned.expected)
    for axis in LEARNING_AXES:
        actual = fires.get(axis, 0) * 3600.0 / seconds
        usual = expected.get(axis)
        if usual is None:
            expected[axis] = actual
            continue
        asked_for = min(max((proposals or {}).get(axis, 0.0), -settings.rate), settings.rate)
        delta = deltas.get(axis, 0.0) - share * (settings.rate * (actual - usual) / max(usual, 1.0) - asked_for)
        deltas[axis] = min(max(delta, -settings.bound), settings.bound)
        expected[axis] = usual + settings.memory * (actual - usual)
    return Learned(deltas, expected, learned.stretches + 1, max(until, learned.until))


@Derived
def cue_deltas(learned: Learned, settings: LearningSettings) -> dict[Cue, float]:
    """For each cue the delta of largest magnitude among its axes; none for what is not an axis."""
    if not settings.enabled:
        return {}
    deltas: dict[Cue, float] = {}
    for cue in CUES:
        own = [learned.deltas.get(axis, 0.0) for axis in CUE_AXES.get(cue, ())]
        if own:
            largest = max(own, key=abs)
            deltas[cue] = min(max(largest, -settings.bound), settings.bound)
    return deltas
