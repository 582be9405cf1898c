"""What earlier sessions left behind: baselines, learned sensitivities, affect, personas."""

from __future__ import annotations

import contextlib
import fcntl
import re
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path

import msgspec
from platformdirs import user_data_path

from core.engine.affect import KeptAffect, Neighbour
from core.engine.affect.fields import Vector
from core.engine.percept import Axis
from core.engine.receptor.persona import Encounter, Persona, Prior, blended, genuine
from core.engine.response.learned import NOTHING_LEARNED, Learned, learn
from core.errors import StoreError
from core.folders import make_private, private_file
from core.settings.file import small_file
from core.settings.response import LearningSettings, PriorSettings
from core.store import atomic
from core.store.bookmarks import bookmark_key


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


_NAME = re.compile(r"persona-[0-9a-f]{32}\.json")
_LARGEST_PERSONA = 65_536
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
            persona = msgspec.json.decode(small_file(path, _LARGEST_PERSONA), type=Persona)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        named = path.name == f"persona-{persona.origin.profile}.json"
        return persona if named and genuine(persona) else None
