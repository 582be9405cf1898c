"""What prose has cost on this machine today, and which models are left alone for now."""

from __future__ import annotations

from pathlib import Path

import msgspec
from platformdirs import user_data_path

from core.errors import StoreError
from core.store import atomic
from core.store.project_history import locked

_DAY = 86_400


class Rest(msgspec.Struct):
    """A model that failed."""

    failures: int = 0
    """In a row."""
    until: float = 0.0
    """It is not asked before this moment."""
    times: int = 0
    """How often it was left alone since it last answered."""


class Spend(msgspec.Struct):
    """One UTC day."""

    day: int = 0
    money: float = 0.0
    tokens: int = 0
    requests: int = 0
    unpriced: int = 0
    """Answers of models whose price is not known."""
    rests: dict[str, Rest] = {}


class SpendStore:
    """One small file for all nooscopes of this machine; changed under a lock, replaced whole."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_data_path("nooscope", appauthor=False) / "narrator.json"

    def read(self, now: float) -> Spend:
        """Today so far; a file that cannot be read counts as a budget that is spent."""
        today = int(now // _DAY)
        try:
            kept = msgspec.json.decode(self.path.read_bytes(), type=Spend)
        except FileNotFoundError:
            return Spend(today)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            said = getattr(error, "strerror", None) or error
            raise StoreError(f"{self.path}: cannot be read ({said}); no model is asked") from error
        return kept if kept.day >= today else Spend(today, rests=kept.rests)

    def reserve(self, now: float, money: float, tokens: int, most_money: float, most_tokens: int) -> bool:
        """Set aside what a request may cost at most; False where the day's budget does not hold it."""
        with locked(self.path):
            spend = self.read(now)
            if spend.money + money > most_money or spend.tokens + tokens > most_tokens:
                return False
            spend.money += money
            spend.tokens += tokens
            spend.requests += 1
            self._write(spend)
            return True

    def settle(self, now: float, money: float, tokens: int, *, unpriced: bool = False) -> None:
        """Correct what was set aside by what it came to."""
        with locked(self.path):
            spend = self.read(now)
            spend.money = max(0.0, spend.money + money)
            spend.tokens = max(0, spend.tokens + tokens)
            spend.unpriced += unpriced
            self._write(spend)

    def answered(self, now: float, name: str) -> None:
        """A model answered: it is no longer left alone."""
        if name in self.read(now).rests:
            with locked(self.path):
                spend = self.read(now)
                spend.rests.pop(name, None)
                self._write(spend)

    def failed(self, now: float, name: str, limit: int, rest: float, *, wait: float = 0.0) -> None:
        """A model failed; after so many times in a row it is left alone, ever longer."""
        with locked(self.path):
            spend = self.read(now)
            one = spend.rests.setdefault(name, Rest())
            one.failures += 1
            if wait:
                one.until = max(one.until, now + wait)
            if one.failures >= limit:
                one.until = max(one.until, now + rest * 2 ** min(one.times, 8))
                one.times += 1
                one.failures = 0
            self._write(spend)

    def _write(self, spend: Spend) -> None:
        try:
            atomic.replace(self.path, msgspec.json.encode(spend) + b"\n")
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot be written ({error.strerror}); no model is asked"
            ) from error
