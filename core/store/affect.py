"""The affect that sessions leave, by project: for the agent's next session, and for those beside it."""

from __future__ import annotations

from pathlib import Path

import msgspec
from platformdirs import user_data_path

from core.engine.affect import KeptAffect, Neighbour
from core.engine.affect.fields import Vector
from core.errors import StoreError
from core.settings.file import small_file
from core.store import atomic
from core.store.bookmarks import bookmark_key
from core.store.prior import locked

_LARGEST = 65_536
_KEPT = 32
"""Sessions of one project that are remembered."""


class AffectLeft(msgspec.Struct, frozen=True):
    """Where one session's main agent stood when it last came to rest."""

    session: str
    tool: str
    at: float
    """Event time."""
    deviations: Vector
    outcome: str = ""


class AffectStore:
    """A folder with one small file a project; several nooscopes may use it at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or user_data_path("nooscope", appauthor=False) / "affect"
        self.notices: list[str] = []
        """What a person should know: files set aside."""

    def leave(self, project: str, left: AffectLeft) -> None:
        """Keep where a session stands, in place of what it left before."""
        path = self._path(project)
        try:
            with locked(path):
                rows = [one for one in self._rows(project) if one.session != left.session]
                rows = sorted([*rows, left], key=lambda one: one.at)[-_KEPT:]
                atomic.replace(path, msgspec.json.encode(rows))
        except OSError as error:
            raise StoreError(f"{path}: affect cannot be kept ({error.strerror})") from error

    def last(self, project: str, tool: str, session: str, at: float, age: float) -> KeptAffect | None:
        """The newest affect of the same agent in a project, no older than so many seconds at `at`."""
        for one in reversed(self._rows(project)):
            if one.tool == tool and one.session != session and 0.0 <= at - one.at <= age:
                return KeptAffect(one.session, one.deviations, at - one.at)
        return None

    def neighbours(self, project: str, session: str, at: float, recent: float) -> tuple[Neighbour, ...]:
        """Other sessions of a project that reported not long before `at`."""
        return tuple(
            Neighbour(one.session, one.at, one.deviations, one.outcome)
            for one in self._rows(project)
            if one.session != session and 0.0 <= at - one.at <= recent
        )

    def damaged(self) -> list[str]:
        """Every file that cannot be used, and why; nothing is changed."""
        found = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                msgspec.json.decode(small_file(path, _LARGEST), type=list[AffectLeft])
            except (OSError, msgspec.DecodeError, UnicodeDecodeError) as fault:
                found.append(f"{path}: {fault}")
        return found

    def _path(self, project: str) -> Path:
        return self.folder / f"{bookmark_key(project)}.json"

    def _rows(self, project: str) -> list[AffectLeft]:
        if not project:
            return []
        try:
            return msgspec.json.decode(small_file(self._path(project), _LARGEST), type=list[AffectLeft])
        except OSError:
            return []
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            self.notices.append(atomic.set_aside(self._path(project), fault))
            return []
