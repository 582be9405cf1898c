"""What sensitivity has learned, on disk."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path

import msgspec
from platformdirs import user_data_path

from core.engine.percept import Axis
from core.engine.response.learned import NOTHING_LEARNED, Learned, learn
from core.errors import StoreError
from core.settings.response import LearningSettings
from core.store import atomic
from core.store.prior import locked


def learned_path() -> Path:
    """Where the platform keeps an application's data."""
    return user_data_path("nooscope", appauthor=False) / "learned.json"


class LearnedStore:
    """Read what was learned, add a stretch of work to it, or start over."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or learned_path()
        self.problem = ""
        """Why the file could not be used, where it could not."""

    def read(self) -> Learned:
        """What was learned; nothing where there is no file that can be used."""
        try:
            learned = msgspec.json.decode(self.path.read_bytes(), type=Learned)
        except FileNotFoundError:
            return NOTHING_LEARNED
        except OSError as error:
            self.problem = f"{self.path}: cannot be read ({error.strerror}); nothing learned is used"
            return NOTHING_LEARNED
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.problem = f"{self.path}: is not what was learned ({error}); nothing learned is used"
            return NOTHING_LEARNED
        numbers = [*learned.deltas.values(), *learned.expected.values(), learned.until]
        return learned if all(map(isfinite, numbers)) else NOTHING_LEARNED

    def add(
        self,
        fires: Mapping[Axis, int],
        seconds: float,
        until: float,
        settings: LearningSettings,
        share: float = 1.0,
    ) -> Learned:
        """Learn from one stretch of work, unless it is too short or older than what is known."""
        try:
            with locked(self.path):
                known = self.read()
                if until <= known.until:
                    return known
                learned = learn(known, fires, seconds, until, settings, share)
                if learned != known:
                    self._write(learned)
                return learned
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written ({error.strerror})") from error

    def reset(self) -> bool:
        """Forget everything learned; whether there was anything."""
        try:
            self.path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be removed ({error.strerror})") from error
        return True

    def _write(self, learned: Learned) -> None:
        atomic.replace(self.path, msgspec.json.format(msgspec.json.encode(learned), indent=2) + b"\n")
