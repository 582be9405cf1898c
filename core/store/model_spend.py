"""Cost of generated text on this machine today, and models that are paused."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.errors import StoreError
from core.folders import own_folder
from core.store.base import JsonFile

_DAY = 86_400


class Rest(msgspec.Struct):
    """A model that failed."""

    failures: int = 0  # In a row.
    until: float = 0.0  # It is not used before this moment.
    times: int = 0  # How often it was paused since it last answered.


class Spend(msgspec.Struct):
    """One UTC day."""

    day: int = 0
    money: float = 0.0
    tokens: int = 0
    requests: int = 0
    unpriced: int = 0  # Answers of models whose price is unknown.
    rests: dict[str, Rest] = {}


class SpendStore:
    """One small file for all nooscopes of this machine; changed under a lock, replaced whole."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or own_folder("data") / "narrator.json"
        self._file = JsonFile(self.path, Spend, "today's spending")

    def read(self, now: float) -> Spend:
        """Today so far; a file that cannot be read counts as a budget that is spent."""
        today = int(now // _DAY)
        try:
            spend = self._file.load()
        except (StoreError, ValueError) as error:
            raise StoreError(f"{self.path}: cannot be read ({error}); no model is asked") from error
        if spend is None:
            return Spend(today)
        return spend if spend.day >= today else Spend(today, rests=spend.rests)

    def reserve(self, now: float, money: float, tokens: int, most_money: float, most_tokens: int) -> bool:
        """Reserve the most a request may cost; return False if the day's budget does not allow it."""
        with self._file.locked():
            spend = self.read(now)
            if spend.money + money > most_money or spend.tokens + tokens > most_tokens:
                return False
            spend.money += money
            spend.tokens += tokens
            spend.requests += 1
            self._file.write(spend)
            return True

    def settle(self, now: float, money: float, tokens: int, *, unpriced: bool = False) -> None:
        """Replace a reserved amount by the actual one."""
        with self._file.locked():
            spend = self.read(now)
            spend.money = max(0.0, spend.money + money)
            spend.tokens = max(0, spend.tokens + tokens)
            spend.unpriced += unpriced
            self._file.write(spend)

    def answered(self, now: float, name: str) -> None:
        """Record that a model answered, which ends its pause."""
        if name in self.read(now).rests:
            with self._file.locked():
                spend = self.read(now)
                spend.rests.pop(name, None)
                self._file.write(spend)

    def failed(self, now: float, name: str, limit: int, rest: float, *, wait: float = 0.0) -> None:
        """Record that a model failed; after several failures in a row it is paused, longer each time."""
        with self._file.locked():
            spend = self.read(now)
            one = spend.rests.setdefault(name, Rest())
            one.failures += 1
            if wait:
                one.until = max(one.until, now + wait)
            if one.failures >= limit:
                one.until = max(one.until, now + rest * 2 ** min(one.times, 8))
                one.times += 1
                one.failures = 0
            self._file.write(spend)
