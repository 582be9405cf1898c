"""The prior on disk: one small file, replaced whole."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import msgspec
from platformdirs import user_data_path

from core.engine.receptor.prior import Prior, blended
from core.errors import StoreError
from core.folders import make_private, private_file
from core.settings.response import PriorSettings
from core.store import atomic


def prior_path() -> Path:
    """Where the platform keeps an application's data."""
    return user_data_path("nooscope", appauthor=False) / "receptor-prior.json"


class PriorStore:
    """Read the prior, and blend a session into it.

    A session may settle more than once, at every rest: it then replaces what it said before, unless another
    nooscope wrote in between. A session older than the prior adds nothing, so reading an old log teaches
    nothing twice.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or prior_path()
        self.problem = ""
        """Why the file could not be used, where it could not."""
        self._below: Prior | None = None
        self._said: bytes | None = None

    def read(self) -> Prior | None:
        """The prior, or None where there is none that can be used."""
        content = self._content()
        return None if content is None else self._decode(content)

    def settle(self, session: Prior, settings: PriorSettings) -> Prior | None:
        """Blend one session in; the new prior, or None where the session adds nothing."""
        try:
            with locked(self.path):
                content = self._content()
                again = content is not None and content == self._said
                below = self._below if again else None if content is None else self._decode(content)
                if below is not None and session.ts <= below.ts:
                    return None
                prior = blended(below, session, settings)
                written = msgspec.json.format(msgspec.json.encode(prior), indent=2) + b"\n"
                atomic.replace(self.path, written)
                self._below, self._said = below, written
                return prior
        except OSError as error:
            raise StoreError(f"{self.path}: the prior cannot be written ({error.strerror})") from error

    def _content(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.problem = f"{self.path}: cannot be read ({error.strerror}); begun without a prior"
            return None

    def _decode(self, content: bytes) -> Prior | None:
        try:
            prior = msgspec.json.decode(content, type=Prior)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.problem = f"{self.path}: is not a prior ({error}); started without one"
            return None
        numbers = [
            prior.ts,
            *prior.ambient.baseline_emotion.values(),
            *prior.ambient.adapted_thresholds.values(),
            *prior.pattern_distribution.values(),
            *prior.action_signature.values(),
        ]
        if not all(isfinite(number) for number in numbers):
            self.problem = f"{self.path}: holds numbers without end; begun without a prior"
            return None
        return prior


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other nooscopes out while a file is read and replaced."""
    make_private(path.parent)
    with private_file(path.with_name(path.name + ".lock")).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
