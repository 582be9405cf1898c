"""Which tier a turn's model belongs to, what the day has cost, and which tier a moment deserves."""

from __future__ import annotations

from typing import Literal, get_args

from core.engine.mind.cortical import TIERS, Tier
from core.engine.state import Stateful, plain_list
from core.engine.values import Value, reading_of
from core.events import Turn
from core.settings.mind import TierSettings

Band = Literal["normal", "no_large", "no_model", "over"]
BANDS: tuple[Band, ...] = get_args(Band)  # From a fresh budget to one that is spent until midnight UTC.

_HIGHEST: dict[Band, Tier] = {"normal": "T2", "no_large": "T1", "no_model": "T0", "over": "T0"}
_DAY = 86_400.0
_NAMES_KEPT = 64


class TierSpend(Value, frozen=True):
    """One tier's spending today."""

    tier: Tier
    turns: int
    tokens: int
    money: float
    unpriced: int  # Turns whose price is unknown; their tokens count, their money is missing above.


class TierReading(Value, frozen=True):
    """The day's spending and what it still allows."""

    model: str
    tier: Tier  # Of the last turn.
    spends: tuple[TierSpend, ...]
    used: float  # Share of the day's budget used; the tighter of money and tokens.
    remaining: float
    band: Band
    highest: Tier  # The highest tier the band still allows.
    resets_at: float  # Epoch seconds of the next midnight UTC; 0 before the first turn.
    unpriced: int
    total_money: float  # Of the whole session.
    total_tokens: int
    total_priced: int  # Turns of the whole session whose price is known.
    total_unpriced: int


class Opinion(Value, frozen=True):
    """Which tier this moment deserves, and why."""

    threshold: float
    error: float
    wanted: Tier  # By the gate alone.
    tier: Tier  # After the budget had its say.
    band: Band


class Tiers(Stateful):
    """Place models by the words of their names and count what each tier spends in a UTC day."""

    STATE = (
        "day", "model", "tier", plain_list("money"), plain_list("tokens"), plain_list("turns"), plain_list("unpriced"),
        "spent_money", "spent_tokens", "total_money", "total_tokens", "total_priced", "total_unpriced",
    )  # fmt: skip

    def __init__(self, settings: TierSettings) -> None:
        self._settings = settings
        self._none_words = frozenset(settings.none_words)
        self._small_words = frozenset(settings.small_words)
        self._otherwise: Tier = settings.otherwise
        self._token_budget = float(settings.daily_tokens)
        self._places: dict[str, int] = {}
        self.day = -1
        self.model = ""
        self.tier: Tier = "T0"
        self.money = [0.0, 0.0, 0.0]
        self.tokens = [0, 0, 0]
        self.turns = [0, 0, 0]
        self.unpriced = [0, 0, 0]
        self.total_money = 0.0
        self.total_tokens = 0
        self.total_priced = self.total_unpriced = 0
        self.spent_money = 0.0
        self.spent_tokens = 0
        self.used = 0.0  # Share of the day's budget used, the tighter of money and tokens; 0 where no limit is set.

    def place(self, model: str) -> Tier:
        """The tier of a model; no model at all is T0 only where a word says so."""
        words = "".join(letter if letter.isalnum() else " " for letter in model.lower()).split()
        if not self._none_words.isdisjoint(words):
            return "T0"
        return self._otherwise if self._small_words.isdisjoint(words) else "T1"

    def update(self, turn: Turn, tokens: int | None = None) -> bool:
        """Count one turn and the new tokens it took; True when its tier is not that of the turn before."""
        if tokens is None:
            tokens = turn.input_tokens + turn.output_tokens + turn.cache_write
        day = int(turn.at // _DAY)
        if day > self.day:
            self.day = day
            self.money = [0.0, 0.0, 0.0]
            self.tokens = [0, 0, 0]
            self.turns = [0, 0, 0]
            self.unpriced = [0, 0, 0]
            self.spent_money = 0.0
            self.spent_tokens = 0
        model = turn.model
        index = self._places.get(model)
        if index is None:
            if len(self._places) >= _NAMES_KEPT:
                self._places.clear()
            index = self._places[model] = TIERS.index(self.place(model))
        self.turns[index] += 1
        self.tokens[index] += tokens
        self.spent_tokens += tokens
        self.total_tokens += tokens
        cost = turn.cost
        if cost is None:
            self.unpriced[index] += 1
            self.total_unpriced += 1
        else:
            self.money[index] += cost
            self.spent_money += cost
            self.total_money += cost
            self.total_priced += 1
        self.used = self._share_used()
        self.model = model
        tier = TIERS[index]
        changed = tier != self.tier
        self.tier = tier
        return changed

    def _share_used(self) -> float:
        money = self.spent_money / self._settings.daily_money if self._settings.daily_money else 0.0
        tokens = self.spent_tokens / self._token_budget if self._token_budget else 0.0
        return money if money > tokens else tokens

    @property
    def remaining(self) -> float:
        """Share of the day's budget left, 0 to 1."""
        left = 1.0 - self.used
        return left if left > 0.0 else 0.0

    @property
    def band(self) -> Band:
        """How far the budget throttles."""
        used = self.used
        if used > 1.0:
            return "over"
        if used >= self._settings.no_model_from:
            return "no_model"
        return "no_large" if used >= self._settings.no_large_from else "normal"

    def threshold(self, confidence: float, vitality: float, arousal: float, bias: float = 0.0) -> float:
        """The gate's threshold; `bias` above 0 lowers it, towards the more capable tiers."""
        s = self._settings
        theta = (
            s.gate_base
            * (1.0 + s.gate_confidence * confidence)
            * (1.0 - s.gate_vitality * (1.0 - vitality))
            * (1.0 - s.gate_arousal * abs(arousal))
            * (1.0 - bias)
        )
        return max(s.gate_low, min(s.gate_high, theta))

    def opinion(self, error: float, confidence: float, vitality: float, arousal: float, bias: float = 0.0) -> Opinion:
        """Compare what was not expected with the threshold, then let the budget cap the answer."""
        theta = self.threshold(confidence, vitality, arousal, bias)
        tier: Tier = "T0" if error < theta else "T1" if error < theta * self._settings.gate_large else "T2"
        band = self.band
        highest = _HIGHEST[band]
        return Opinion(theta, error, tier, min(tier, highest), band)

    def read(self) -> TierReading:
        """The day so far."""
        rows = zip(TIERS, self.turns, self.tokens, self.money, self.unpriced, strict=True)
        return reading_of(
            TierReading,
            self,
            spends=tuple([TierSpend(*row) for row in rows]),
            remaining=self.remaining,
            highest=_HIGHEST[self.band],
            resets_at=(self.day + 1) * _DAY if self.day >= 0 else 0.0,
            unpriced=sum(self.unpriced),
        )

    def restored(self) -> None:
        """Weigh what was spent against this budget."""
        self.used = self._share_used()
