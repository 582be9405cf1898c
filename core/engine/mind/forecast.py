"""A forecast of the next call's outcome, scored as soon as the outcome is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.engine.state import Stateful, custom
from core.engine.values import Value
from core.events import ToolUse
from core.settings.mind import ForecastSettings

# Places in the table of one kind of call; eight context counts follow, failed and all for each.
_LAST, _FAILED, _CALLS = 0, 1, 2
# Where the counts of each context stand: what the last two calls came to, as two bits.
_CONTEXT = {0.0: 3, 1.0: 5, 2.0: 7, 3.0: 9}


class ForecastReading(Value, frozen=True):
    """How well the forecast does, and what it expects."""

    accuracy: float  # 1 is perfect, 0 no better than a coin.
    trend: int
    brier: float
    skill: float  # Share of the base rate's error that knowing the kind of call saves; negative when it misleads.
    next_failure: float  # Chance that the next call fails, whatever it is.
    last_expected: float  # The chance given to the last call scored.
    last_failed: bool
    scored: int


def _rows(table: dict[tuple[str, str], list[float]]) -> tuple[tuple[Any, ...], ...]:
    return tuple([(*key, *counts) for key, counts in table.items()])


def _table(rows: Sequence[Sequence[Any]]) -> dict[tuple[str, str], list[float]]:
    return {(row[0], row[1]): list(row[2:]) for row in rows}


class Forecast(Stateful):
    """Failure rates by kind of call and its last two outcomes, each leaning on the wider one.

    A kind of call that has hardly failed is not as safe as it looks: it leans on the rate of all calls.
    """

    STATE = (
        custom("_table", _rows, _table), "all_calls", "all_failed", "brier", "slow_brier", "base_brier", "expected",
        "failed", "scored",
    )  # fmt: skip

    def __init__(self, settings: ForecastSettings) -> None:
        self._prior_weight = settings.prior_weight
        self._prior_failed = settings.prior_weight * settings.prior_failure
        self._class_weight = settings.class_weight
        self._context_weight = settings.context_weight
        self._lean = settings.lean
        self._least = settings.least
        self._memory = float(settings.memory)
        self._classes = settings.classes
        self._smoothing = settings.smoothing
        self._slow = settings.slow_smoothing
        self._ignorance = settings.ignorance
        self._trend_band = settings.trend_band * settings.ignorance
        self._table: dict[tuple[str, str], list[float]] = {}
        self.all_calls = 0.0
        self.all_failed = 0.0
        self.brier = self.slow_brier = self.base_brier = (1.0 - settings.initial_accuracy) * settings.ignorance
        self.expected = settings.prior_failure
        self.failed = False
        self.scored = 0

    @property
    def accuracy(self) -> float:
        """1 for a perfect forecast, 0 for one as bad as a coin or worse."""
        accuracy = 1.0 - self.brier / self._ignorance
        return accuracy if accuracy > 0.0 else 0.0

    @property
    def trend(self) -> int:
        """1 while the forecast gets better, -1 while it gets worse."""
        gain = self.slow_brier - self.brier
        return 1 if gain > self._trend_band else -1 if gain < -self._trend_band else 0

    @property
    def surprise(self) -> float:
        """How far the last outcome was from what was expected, 0 to 1."""
        return 1.0 - self.expected if self.failed else self.expected

    def update(self, event: ToolUse) -> bool:
        """Score the forecast of this call and learn from it; False where the outcome says nothing."""
        outcome = event.outcome
        if outcome == "failure":
            failed = 1.0
        elif outcome == "success" or outcome == "empty":
            failed = 0.0
        else:
            return False
        key = (event.action, event.program or event.tool)
        table = self._table
        counts = table.pop(key, None)
        if counts is None:
            if len(table) >= self._classes:
                del table[next(iter(table))]
            counts = [0.0] * 11
        table[key] = counts
        base = (self.all_failed + self._prior_failed) / (self.all_calls + self._prior_weight)
        expected = self.expected = self._chance(counts, base)
        error = expected - failed
        score = error * error
        smoothing, brier, slow = self._smoothing, self.brier, self.slow_brier
        self.brier = brier + smoothing * (score - brier)
        self.slow_brier = slow + self._slow * (score - slow)
        base -= failed
        self.base_brier += smoothing * (base * base - self.base_brier)
        self.failed = failed > 0.0
        self.scored += 1
        self._learn_outcome(counts, failed)
        return True

    def expect(self, action: str, name: str) -> float:
        """Chance that a call fails, given its action and its program or tool."""
        counts = self._table.get((action, name))
        return self._base() if counts is None else self._chance(counts, self._base())

    def _base(self) -> float:
        return (self.all_failed + self._prior_failed) / (self.all_calls + self._prior_weight)

    def _chance(self, counts: list[float], base: float) -> float:
        weight = self._class_weight
        rate = (counts[_FAILED] + weight * base) / (counts[_CALLS] + weight)
        place = _CONTEXT[counts[_LAST]]
        weight = self._context_weight
        chance = (counts[place] + weight * rate) / (counts[place + 1] + weight)
        if chance < base:
            chance += self._lean * (base - chance)
        return self._least if chance < self._least else chance

    def _learn_outcome(self, counts: list[float], failed: float) -> None:
        last = counts[_LAST]
        place = _CONTEXT[last]
        counts[place + 1] += 1.0
        if failed:
            counts[place] += 1.0
            counts[_FAILED] += 1.0
            self.all_failed += 1.0
        calls = counts[_CALLS] = counts[_CALLS] + 1.0
        if calls >= self._memory:
            for each in range(_FAILED, len(counts)):
                counts[each] *= 0.5
        counts[_LAST] = (2.0 * last + failed) % 4.0
        calls = self.all_calls = self.all_calls + 1.0
        if calls >= 4.0 * self._memory:
            self.all_failed *= 0.5
            self.all_calls *= 0.5

    def read(self) -> ForecastReading:
        """How well it does and what it expects."""
        skill = 1.0 - self.brier / self.base_brier if self.base_brier > 0.0 else 0.0
        return ForecastReading(
            self.accuracy, self.trend, self.brier, skill, self._base(), self.expected, self.failed, self.scored
        )
