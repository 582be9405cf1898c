"""Personas in a folder that may be shared or synced, and the record of whom we met."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from platformdirs import user_data_path

from core.engine.receptor.persona import Encounter, Persona, genuine
from core.errors import StoreError
from core.settings.file import small_file
from core.store import atomic
from core.store.prior import locked

_NAME = re.compile(r"persona-[0-9a-f]{32}\.json")
_LARGEST = 65_536
_MOST = 1_000
"""Personas looked at in one folder."""


class PersonaRecord(msgspec.Struct, frozen=True):
    """What only this machine knows: which persona is its own, and the last meeting."""

    own: str = ""
    former: str = ""
    """The own one before, until it is sure to be gone."""
    encounter: Encounter | None = None


def persona_path() -> Path:
    """Where the platform keeps an application's data."""
    return user_data_path("nooscope", appauthor=False) / "persona-record.json"


def persona_folder() -> Path:
    """Where personas are left that nobody shares."""
    return user_data_path("nooscope", appauthor=False) / "personas"


class PersonaStore:
    """Leave one's own persona in a folder, and read the others'."""

    def __init__(self, folder: Path, record: Path | None = None) -> None:
        self.folder = folder
        self.record_path = record or persona_path()
        self.skipped = 0
        """Files that hold no persona."""
        self.notices: list[str] = []
        """What a person should know: a record that was set aside."""

    def others(self) -> list[Persona]:
        """Every persona in the folder but our own, in order of name."""
        record = self.record()
        own = (record.own, record.former)
        found: list[Persona] = []
        try:
            names = sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))
        except OSError:
            return []
        for path in names[:_MOST]:
            persona = self._read(path)
            if persona is None:
                self.skipped += 1
            elif persona.origin.profile not in own:
                found.append(persona)
        return found

    def leave(self, persona: Persona) -> Path:
        """Put our persona there in place of the last one."""
        own = persona.origin.profile
        path = self._path(own)
        with self._alone():
            record = self.record()
            gone = [each for each in (record.former, record.own) if each and each != own]
            self._note(msgspec.structs.replace(record, own=own, former=gone[-1] if gone else ""))
            try:
                atomic.replace(path, msgspec.json.encode(persona))
                for each in gone:
                    self._path(each).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"{self.folder}: no persona can be left there ({error.strerror})") from error
            self._note(msgspec.structs.replace(record, own=own, former=""))
        return path

    def record(self) -> PersonaRecord:
        """What this machine knows of its own persona and its last meeting."""
        try:
            return msgspec.json.decode(self.record_path.read_bytes(), type=PersonaRecord)
        except OSError:
            return PersonaRecord()
        except (msgspec.DecodeError, UnicodeDecodeError) as fault:
            self.notices.append(atomic.set_aside(self.record_path, fault))
            return PersonaRecord()

    def note(self, encounter: Encounter) -> None:
        """Remember a meeting with its seed, so that it can be repeated."""
        with self._alone():
            self._note(msgspec.structs.replace(self.record(), encounter=encounter))

    def damaged(self) -> list[str]:
        """Every file of personas that cannot be used, and why; nothing is changed."""
        found = []
        try:
            msgspec.json.decode(self.record_path.read_bytes(), type=PersonaRecord)
        except FileNotFoundError:
            pass
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as fault:
            found.append(f"{self.record_path}: {fault}")
        try:
            paths = sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))
        except FileNotFoundError:
            return found
        except OSError as fault:
            return [*found, f"{self.folder}: {fault.strerror}"]
        found += [
            f"{path}: not a persona, or changed since" for path in paths[:_MOST] if not self._read(path)
        ]
        return found

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(locked(self.record_path))
            except OSError as error:
                raise StoreError(f"{self.record_path}: cannot be written ({error.strerror})") from error
            yield

    def _note(self, record: PersonaRecord) -> None:
        try:
            atomic.replace(self.record_path, msgspec.json.encode(record))
        except OSError as error:
            raise StoreError(f"{self.record_path}: cannot be written ({error.strerror})") from error

    def _path(self, profile: str) -> Path:
        return self.folder / f"persona-{profile}.json"

    def _read(self, path: Path) -> Persona | None:
        try:
            persona = msgspec.json.decode(small_file(path, _LARGEST), type=Persona)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        named = path.name == f"persona-{persona.origin.profile}.json"
        return persona if named and genuine(persona) else None
