"""Where profiles and settings are kept; saving writes all of its files, or none."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.errors import StoreError
from core.settings import Settings
from core.settings.file import small_file
from core.settings.layers import tunables, value_of
from core.settings.toml_text import with_values
from core.store.compensation import Chain, recover
from core.store.config_path import PROJECT_SETTINGS, user_settings_file
from core.store.profiles import (
    Scope,
    SettingsProfile,
    file_name,
    is_modelled,
    profile_text,
    read_profiles,
    refuse_foreign,
)

PRESETS = Path(__file__).parent / "presets"

Kind = Literal["profile", "settings"]


class ProfileFiles(NamedTuple):
    """The folders and files of one person and one project."""

    settings: Path
    """The person's settings file."""
    project: Path
    """The project's folder."""
    chains: Path
    """Where a save that is under way is noted, so that it can be undone."""

    @classmethod
    def usual(cls) -> ProfileFiles:
        """This person's, and the folder nooscope was started in."""
        mine = user_settings_file()
        return cls(mine, Path.cwd(), mine.parent / "chains")

    def folder(self, scope: Scope) -> Path:
        """Where profiles of a scope are."""
        if scope == "built-in":
            return PRESETS
        return (self.settings.parent if scope == "user" else self.project / ".nooscope") / "profiles"

    def file(self, scope: Scope) -> Path:
        """The settings file of a scope."""
        return self.settings if scope == "user" else self.project / PROJECT_SETTINGS

    def profiles(self) -> list[SettingsProfile]:
        """Ours, the person's, the project's."""
        scopes: tuple[Scope, ...] = ("built-in", "user", "project")
        return read_profiles((scope, self.folder(scope)) for scope in scopes)

    def save_profile(self, name: str, sentence: str, settings: Settings, scope: Scope) -> Path:
        """Keep all that differs from the built-in model under a name."""
        path = self.folder(scope) / file_name(name.strip())
        values = {
            known: value
            for known, each in tunables().items()
            if is_modelled(known) and (value := value_of(settings, known)) != each.default
        }
        if scope == "project":
            refuse_foreign(values)
            self._refuse_outside(path)
        self._write({path: profile_text(sentence, values)})
        return path

    def save_settings(self, edits: Mapping[str, Any], scope: Scope) -> Path:
        """Put changed values into a settings file, so that they hold the next time."""
        path = self.file(scope)
        if scope == "project":
            refuse_foreign(edits)
            self._refuse_outside(path)
        try:
            text = small_file(path).decode() if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        try:
            made = with_values(text, edits)
        except ValueError as error:
            raise StoreError(f"{path}: {error}") from error
        self._write({path: made})
        return path

    def _refuse_outside(self, path: Path) -> None:
        """Stop where a link in the project would have us write somewhere else."""
        if not path.resolve().is_relative_to(self.project.resolve()):
            raise StoreError(f"{path} leads out of the project; nothing was written")

    def _write(self, files: Mapping[Path, str]) -> None:
        try:
            self.chains.mkdir(parents=True, exist_ok=True)
            recover(self.chains)
            with Chain(f"save-{time.time_ns():x}", self.chains, files=files) as chain:
                for path, text in files.items():
                    chain.write(path, text.encode())
        except OSError as error:
            raise StoreError(f"cannot be saved: {error}") from error
