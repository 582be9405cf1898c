"""The user's own themes, looked at again whenever a file of theirs changes."""

from __future__ import annotations

from pathlib import Path

import themes
from core.folders import user_settings_file
from themes import Loaded


def user_theme_folder() -> Path:
    """Where a person puts themes of their own."""
    return user_settings_file().parent / "themes"


class UserThemes:
    """Our themes and those in one folder; tells only what is new."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stood: list[tuple[str, int, int]] | None = None
        self._told: set[str] = set()

    def look(self) -> Loaded | None:
        """All themes if any file came, went or changed since last asked; each complaint only once."""
        stands = [_stand(path) for path in sorted(self.folder.glob("*.toml"))]
        if stands == self._stood:
            return None
        self._stood = stands
        loaded = themes.load(self.folder)
        fresh = tuple(said for said in loaded.complaints if said not in self._told)
        self._told = set(loaded.complaints)
        return loaded._replace(complaints=fresh)


def _stand(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return path.name, 0, 0
    return path.name, status.st_mtime_ns, status.st_size
