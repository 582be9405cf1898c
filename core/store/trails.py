"""The moves a person made through a session, in a file of its own beside the bookmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.store import atomic
from core.store.bookmarks import SCHEMA, bookmark_key, bookmarks_folder, packed_bookmarks, unpacked

_FOLDER = "trails"


class TrailStore:
    """One session's moves as plain rows; who wrote last wins."""

    def __init__(self, session: str = "", folder: Path | None = None, *, key: str = "") -> None:
        place = folder or bookmarks_folder()
        self.path = place / _FOLDER / f"{key or bookmark_key(session)}.json"

    def read(self) -> list[Sequence[Any]]:
        """The rows kept; `StoreError` where the file is not as it was written."""
        try:
            data = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error}") from error
        try:
            rows = unpacked(data, str(self.path)).get("moves")
        except ValueError as error:
            raise StoreError(f"the record of moves in {self.path} was changed or damaged: {error}") from error
        return [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Put the rows in place of those kept."""
        content = packed_bookmarks({"version": SCHEMA, "moves": [list(row) for row in rows]})
        try:
            atomic.replace(self.path, content)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written ({error.strerror})") from error

    def set_aside(self) -> str:
        """Move a damaged file out of the way; its new name."""
        aside, number = self.path.with_suffix(".damaged"), 2
        while aside.exists():
            aside, number = self.path.with_suffix(f".damaged-{number}"), number + 1
        try:
            self.path.rename(aside)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be set aside: {error}") from error
        return aside.name
