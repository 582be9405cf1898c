"""Data that sessions leave for later ones: their start, baselines, sensitivities, affect, personas, episodes."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import msgspec
from blake3 import blake3

from core.engine.affect.fields import Vector
from core.engine.affect.reading import KeptAffect, Neighbour
from core.engine.mind.episode import Episode
from core.engine.percept import Axis
from core.engine.receptor.persona import Encounter, Persona, Prior, blend_prior, genuine
from core.engine.response.rules import NOTHING_LEARNED, Learned, learn
from core.errors import StoreError
from core.folders import carry_over_folder, own_folder, private_file, small_file
from core.logs.log_files import size_and_change
from core.settings.response import LearningSettings, PriorSettings
from core.store import atomic
from core.store.base import CheckedFile, JsonFile, key_of_session, locked, newer
from core.zstd import zstd

LIMIT = 100_000_000  # Bytes stored at most; the sessions that were not used for longest are deleted first.
LARGEST = 64_000_000  # Bytes one blob may have once it is unpacked.

_BLOB = ".blob"
_SESSION = ".json"


class Later(NamedTuple):
    """Something given after the start, at its place."""

    after: int  # Events before it.
    content: bytes


class KeptStart(NamedTuple):
    """The stored start of a session, and its later changes."""

    start: bytes
    later: tuple[Later, ...] = ()


class _Row(msgspec.Struct):
    start: str
    later: list[tuple[int, str]] = []


_UNWRITTEN = "the session's start cannot be written ({}); a replay will start without it"
_UNFORGOTTEN = "the starts of sessions cannot be deleted ({})"


class CarryOverStore:
    """A folder that several nooscopes may use at once; the first one to start a session decides its start."""

    def __init__(self, folder: Path | None = None, *, limit: int = LIMIT) -> None:
        self.folder = folder or carry_over_folder()
        self.limit = limit

    def read(self, session: str) -> KeptStart | None:
        """Return the start of a session; None if it was never watched, `StoreError` if it cannot be used."""
        path = self._path(session)
        row = self._row(path)
        if row is None:
            return None
        stored = self._stored(row)
        with contextlib.suppress(OSError):
            os.utime(path)
        return stored

    def begin(self, session: str, start: bytes) -> KeptStart:
        """Store the start of a session unless there is one, and return the stored one."""
        path = self._path(session)
        with self._locked(_UNWRITTEN):
            row = self._row(path)
            if row is not None:
                return self._stored(row)
            self._tidy(path)
            self._write(path, _Row(self._keep(start)))
        return KeptStart(start)

    def change(self, session: str, after: int, content: bytes) -> None:
        """Store a later change of a session, in place of those from there on."""
        path = self._path(session)
        with self._locked(_UNWRITTEN):
            row = self._row(path)
            if row is not None:
                row.later = [each for each in row.later if each[0] <= after]
                row.later.append((after, self._keep(content)))
                self._write(path, row)

    def set_aside(self, session: str) -> str:
        """Rename the file of a session whose start cannot be used, and return its new name; blank if there is none."""
        path = self._path(session)
        with self._locked(_UNWRITTEN):
            return path.rename(atomic.free_name(path)).name if path.exists() else ""

    def remove(self, session: str) -> bool:
        """Forget the start of one session; return whether there was one."""
        with self._locked(_UNFORGOTTEN):
            path = self._path(session)
            there = path.exists()
            path.unlink(missing_ok=True)
            self._sweep()
        return there

    def clear(self) -> int:
        """Forget it all; how many sessions there were."""
        paths = self._sessions()
        if not self.folder.exists():
            return 0
        with self._locked(_UNFORGOTTEN):
            for path in paths:
                path.unlink(missing_ok=True)
            self._sweep()
        return len(paths)

    def count(self) -> int:
        """Return how many sessions are stored."""
        return len(self._sessions())

    def _sessions(self) -> list[Path]:
        try:
            return list(self.folder.glob(f"*{_SESSION}"))
        except OSError:
            return []

    def _path(self, session: str) -> Path:
        return self.folder / f"{key_of_session(session)}{_SESSION}"

    def _row(self, path: Path) -> _Row | None:
        try:
            content = self._file(path).load()
            return None if content is None else msgspec.convert(content, _Row)
        except ValueError as error:
            raise StoreError(f"{path} is damaged ({error})") from error

    def _write(self, path: Path, row: _Row) -> None:
        self._file(path).write(msgspec.to_builtins(row))

    def _file(self, path: Path) -> CheckedFile:
        return CheckedFile(path, "what the session received", 1)

    def _keep(self, content: bytes) -> str:
        """Write a blob, unless a sound one of the same content is there; its name."""
        name = blob_name(content)
        path = self.folder / f"{name}{_BLOB}"
        try:
            if self._blob(name) == content:
                return name
        except StoreError:
            pass
        atomic.replace(path, zstd.compress(content, 3))
        return name

    def _blob(self, name: str) -> bytes:
        path = self.folder / f"{Path(name).name}{_BLOB}"
        try:
            content = zstd.ZstdDecompressor().decompress(path.read_bytes(), LARGEST)
        except FileNotFoundError:
            raise StoreError(f"{path} is gone") from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read ({error.strerror})") from error
        except zstd.ZstdError as error:
            raise StoreError(f"{path} is damaged ({error})") from error
        if blob_name(content) != name:
            raise StoreError(f"{path} is damaged (its content has another hash)")
        return content

    def _tidy(self, spare: Path) -> None:
        """Forget the sessions that were not used for longest until the rest fits."""
        oldest = sorted((size_and_change(path)[1], path) for path in self._sessions() if path != spare)
        while oldest and sum(size_and_change(path)[0] for path in self.folder.iterdir()) > self.limit:
            oldest.pop(0)[1].unlink(missing_ok=True)
            self._sweep()

    def _sweep(self) -> None:
        """Delete blobs that no session names, and what a crash left half written; call it under the lock."""
        for path in self.folder.glob(".*.new"):
            path.unlink(missing_ok=True)
        used_blobs: set[str] = set()
        for path in self._sessions():
            with contextlib.suppress(StoreError):
                row = self._row(path)
                if row is not None:
                    used_blobs |= {row.start, *(name for _, name in row.later)}
        for path in self.folder.glob(f"*{_BLOB}"):
            if path.stem not in used_blobs:
                path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self, fault: str) -> Iterator[None]:
        """Keep other nooscopes out, and say what could not be done, whatever failed."""
        try:
            with locked(self.folder / "lock.lock"):
                yield
        except OSError as error:
            raise StoreError(f"{self.folder}: {fault.format(error.strerror)}") from error

    def _stored(self, row: _Row) -> KeptStart:
        return KeptStart(self._blob(row.start), tuple(Later(after, self._blob(name)) for after, name in row.later))


def blob_name(content: bytes) -> str:
    """A blob's name, made of its content."""
    return blake3(content).hexdigest(length=16)


_LARGEST = 65_536  # Bytes of a file of affect or of a persona.
_MOST_SESSIONS = 32  # Sessions of one project whose affect is stored.
_MOST_PERSONAS = 1_000  # Personas read from one folder.
_PERSONA_NAME = re.compile(r"persona-[0-9a-f]{32}\.json")


class PriorStore:
    """Reads the prior, and blends a session into it.

    A session may settle at every rest: it then replaces its earlier contribution, unless another nooscope
    wrote in between. A session older than the prior adds nothing, so an old log teaches nothing twice.
    """

    def __init__(self, path: Path | None = None) -> None:
        path = path or own_folder("data") / "receptor-prior.json"
        self.path = path
        self.file = JsonFile(path, Prior, "the prior")
        self._below: Prior | None = None
        self._written: bytes | None = None

    def read(self) -> Prior | None:
        """Return the prior, or None if there is none that can be used."""
        return self.file.read()

    def settle(self, session: Prior, settings: PriorSettings) -> Prior | None:
        """Blend one session in and return the new prior, or None if the session adds nothing."""
        with self.file.locked():
            prior = self.file.read()
            unchanged = prior is not None and self.file.encode(prior) == self._written
            below = self._below if unchanged else prior
            if below is not None and session.ts <= below.ts:
                return None
            prior = blend_prior(below, session, settings)
            self.file.write(prior)
            self._below, self._written = below, self.file.encode(prior)
            return prior


class LearnedStore:
    """Reads learned sensitivities, learns from a stretch of work, or starts over."""

    def __init__(self, path: Path | None = None) -> None:
        path = path or own_folder("data") / "learned.json"
        self.path = path
        self.file = JsonFile(path, Learned, "learned sensitivity")

    def read(self) -> Learned:
        """Return the learned sensitivities; empty without a usable file."""
        return self.file.read() or NOTHING_LEARNED

    def add(
        self,
        fires: Mapping[Axis, int],
        seconds: float,
        until: float,
        settings: LearningSettings,
        share: float = 1.0,
        proposals: Mapping[Axis, float] | None = None,
    ) -> Learned:
        """Learn from one stretch of work, unless it is too short or older than what was learned."""
        with self.file.locked():
            before = self.read()
            if until <= before.until:
                return before
            learned = learn(before, fires, seconds, until, settings, share, proposals)
            if learned != before:
                self.file.write(learned)
            return learned

    def reset(self) -> bool:
        """Forget everything learned; return whether there was anything."""
        return self.file.remove()


class AffectLeft(msgspec.Struct, frozen=True):
    """The affect of one session's main agent at its last rest."""

    session: str
    tool: str
    at: float  # Event time.
    deviations: Vector
    outcome: str = ""


class AffectStore:
    """A folder with one small file per project; several nooscopes may use it at once."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or own_folder("data") / "affect"
        self.notices: list[str] = []  # What a person should know: files that were set aside.

    def leave(self, project: str, left: AffectLeft) -> None:
        """Store a session's affect in place of what it left before."""
        file = self._file(project)
        with file.locked():
            rows = [row for row in self._read(file) if row.session != left.session]
            file.write(sorted([*rows, left], key=lambda row: row.at)[-_MOST_SESSIONS:])

    def last(self, project: str, tool: str, session: str, at: float, age: float) -> KeptAffect | None:
        """Return the newest affect of the same agent in a project, at most `age` seconds old at `at`."""
        for row in reversed(self._rows(project)):
            if row.tool == tool and row.session != session and 0.0 <= at - row.at <= age:
                return KeptAffect(row.session, row.deviations, at - row.at)
        return None

    def neighbours(self, project: str, session: str, at: float, recent: float) -> tuple[Neighbour, ...]:
        """Return other sessions of a project that reported not long before `at`."""
        return tuple(
            Neighbour(row.session, row.at, row.deviations, row.outcome)
            for row in self._rows(project)
            if row.session != session and 0.0 <= at - row.at <= recent
        )

    def faults(self) -> list[str]:
        """Return why files cannot be used; nothing is changed."""
        files = [self._at(path) for path in sorted(self.folder.glob("*.json"))]
        return [fault for file in files if (fault := file.fault())]

    def _file(self, project: str) -> JsonFile[list[AffectLeft]]:
        return self._at(self.folder / f"{key_of_session(project)}.json")

    def _at(self, path: Path) -> JsonFile[list[AffectLeft]]:
        return JsonFile(path, list[AffectLeft], "affect", largest=_LARGEST)

    def _rows(self, project: str) -> list[AffectLeft]:
        return self._read(self._file(project)) if project else []

    def _read(self, file: JsonFile[list[AffectLeft]]) -> list[AffectLeft]:
        rows = file.read()
        self.notices += file.notices
        return rows or []


class PersonaRecord(msgspec.Struct, frozen=True):
    """Known to this machine only: its own persona, and the last meeting."""

    own: str = ""
    former: str = ""  # The own one before, until its file is deleted.
    encounter: Encounter | None = None


def persona_folder() -> Path:
    """Return the folder of personas that are not shared."""
    return own_folder("data") / "personas"


class PersonaStore:
    """Writes our own persona to a folder that may be shared or synced, and reads the others."""

    def __init__(self, folder: Path, record: Path | None = None) -> None:
        self.folder = folder
        path = record or own_folder("data") / "persona-record.json"
        self.file = JsonFile(path, PersonaRecord, "the record of personas")
        self.skipped = 0  # Files that contain no persona.

    @property
    def notices(self) -> list[str]:
        """Return notices for the person about a record that was set aside."""
        return self.file.notices

    def others(self) -> list[Persona]:
        """Return every persona in the folder but our own, in order of name."""
        record = self.record()
        personas: list[Persona] = []
        try:
            paths = self._paths()
        except OSError:
            return []
        for path in paths:
            persona = self._read(path)
            if persona is None:
                self.skipped += 1
            elif persona.origin.profile not in (record.own, record.former):
                personas.append(persona)
        return personas

    def leave(self, persona: Persona) -> Path:
        """Write our persona in place of the last one."""
        own = persona.origin.profile
        path = self._path(own)
        with self.file.locked():
            record = self.record()
            old = [each for each in (record.former, record.own) if each and each != own]
            self.file.write(msgspec.structs.replace(record, own=own, former=old[-1] if old else ""))
            try:
                atomic.replace(path, msgspec.json.encode(persona))
                for each in old:
                    self._path(each).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(f"{self.folder}: no persona can be saved there ({error.strerror})") from error
            self.file.write(msgspec.structs.replace(record, own=own, former=""))
        return path

    def record(self) -> PersonaRecord:
        """Return this machine's own persona and its last meeting."""
        return self.file.read() or PersonaRecord()

    def add_encounter(self, encounter: Encounter) -> None:
        """Store a meeting with its seed, so that it can be repeated."""
        with self.file.locked():
            self.file.write(msgspec.structs.replace(self.record(), encounter=encounter))

    def faults(self) -> list[str]:
        """Return why files of personas cannot be used; nothing is changed."""
        faults = [fault for fault in [self.file.fault()] if fault]
        try:
            paths = self._paths()
        except FileNotFoundError:
            return faults
        except OSError as error:
            return [*faults, f"{self.folder}: {error.strerror}"]
        return [*faults, *(f"{path}: not a persona, or changed" for path in paths if not self._read(path))]

    def _paths(self) -> list[Path]:
        paths = sorted(path for path in self.folder.iterdir() if _PERSONA_NAME.fullmatch(path.name))
        return paths[:_MOST_PERSONAS]

    def _path(self, profile: str) -> Path:
        return self.folder / f"persona-{profile}.json"

    def _read(self, path: Path) -> Persona | None:
        try:
            persona = msgspec.json.decode(small_file(path, _LARGEST), type=Persona)
        except (OSError, ValueError):
            return None
        own_name = path.name == f"persona-{persona.origin.profile}.json"
        return persona if own_name and genuine(persona) else None


T = TypeVar("T")

EPISODES_VERSION = 1  # Written into the file; a file with a higher one was made by a newer nooscope.

_TABLE = """
CREATE TABLE IF NOT EXISTS episodes (
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    until REAL NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID
"""
_INDEX = "CREATE INDEX IF NOT EXISTS episodes_until ON episodes (until)"
_SAVE = "INSERT OR REPLACE INTO episodes (session, number, until, body) VALUES (?, ?, ?, ?)"
_PRUNE = """
DELETE FROM episodes WHERE (session, number) IN (
    SELECT session, number FROM episodes ORDER BY until DESC, session, number LIMIT -1 OFFSET ?
)
"""
_RECENT = "SELECT body FROM episodes WHERE session <> ? ORDER BY until DESC, session, number LIMIT ?"

_PAUSE = 0.01

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Episode).decode


def episodes_path() -> Path:
    """Return the path of the episodes."""
    return own_folder("data") / "episodes.sqlite"


def session_key(session: str, agent: str) -> str:
    """Return a name for one agent of one session, from which nothing can be read."""
    return blake3(f"{session}\0{agent}".encode()).hexdigest(length=16)


class EpisodeStore:
    """Saves and fetches episodes; a damaged file is set aside and a new one started."""

    def __init__(self, path: Path | None = None, *, keep: int = 10_000, patience: float = 5.0) -> None:
        self.path = path or episodes_path()
        # What a person should know: files that were set aside, episodes that could not be read.
        self.notices: list[str] = []
        self._keep = keep
        self._patience = patience
        self._link: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def save(self, session: str, agent: str, episodes: Iterable[Episode]) -> int:
        """Write episodes of one agent, all or none; one with the same number is replaced."""
        key = session_key(session, agent)
        rows = [
            (key, episode.number, episode.until, _encode(msgspec.structs.replace(episode, session=key)))
            for episode in episodes
        ]

        def write(link: sqlite3.Connection) -> int:
            with _transaction(link):
                link.executemany(_SAVE, rows)
                link.execute(_PRUNE, (self._keep,))
            return len(rows)

        return self._run(write) if rows else 0

    def recent(self, limit: int, *, session: str = "", agent: str = "") -> list[Episode]:
        """The newest episodes, newest first, without those of the session named."""
        key = session_key(session, agent) if session else ""
        rows = self._run(lambda link: link.execute(_RECENT, (key, limit)).fetchall())
        episodes: list[Episode] = []
        for (body,) in rows:
            with contextlib.suppress(msgspec.DecodeError):
                episodes.append(_decode(body))
        if unread := len(rows) - len(episodes):
            self.notices.append(f"{unread} saved episodes in {self.path} could not be read and were left out")
        return episodes

    def count(self) -> int:
        """Return how many episodes are stored."""
        return self._run(lambda link: int(link.execute("SELECT count(*) FROM episodes").fetchone()[0]))

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run the work; if the file turns out to be damaged, set it aside and run it again."""
        try:
            return self._attempt(work)
        except sqlite3.DatabaseError as error:
            self.close()
            if not _damaged(error):
                raise self._unreachable(error) from error
            try:
                self._set_aside(error)
            except OSError as refused:
                raise self._unreachable(refused) from error
        try:
            return self._attempt(work)
        except sqlite3.DatabaseError as error:
            self.close()
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> StoreError:
        return StoreError(f"the episodes in {self.path} cannot be read: {error}")

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work, again and again while another nooscope is busy with the file."""
        give_up = time.monotonic() + self._patience
        while True:
            try:
                if self._link is None:
                    self._link = self._open()
                return work(self._link)
            except sqlite3.OperationalError as error:
                if not _busy(error) or time.monotonic() >= give_up:
                    raise
            time.sleep(_PAUSE)

    def _open(self) -> sqlite3.Connection:
        try:
            private_file(self.path)
        except OSError as error:
            raise StoreError(f"the folder of {self.path} cannot be created: {error}") from error
        link = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None, check_same_thread=False)
        try:
            self._prepare_store(link)
        except BaseException:
            link.close()
            raise
        return link

    def _prepare_store(self, link: sqlite3.Connection) -> None:
        version = int(link.execute("PRAGMA user_version").fetchone()[0])
        if version > EPISODES_VERSION:
            raise newer(str(self.path), version, EPISODES_VERSION)
        link.execute("PRAGMA journal_mode=WAL")
        link.execute("PRAGMA synchronous=NORMAL")
        if version < EPISODES_VERSION:
            with _transaction(link):
                link.execute(_TABLE)
                link.execute(_INDEX)
                link.execute(f"PRAGMA user_version={EPISODES_VERSION}")

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Rename the damaged file, unless another nooscope has done so already."""
        with locked(self.path.with_name(self.path.name + ".lock")):
            if self._sound():
                return
            aside = atomic.free_name(self.path)
            for ending in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + ending).rename(aside.with_name(aside.name + ending))
        self.notices.append(f"{self.path} was damaged ({error}); it was set aside as {aside.name}")

    def _sound(self) -> bool:
        try:
            with contextlib.closing(sqlite3.connect(self.path, timeout=self._patience)) as link:
                link.execute("SELECT session, number, until, body FROM episodes LIMIT 1")
                return bool(link.execute("PRAGMA quick_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False


def _code(error: sqlite3.DatabaseError) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _busy(error: sqlite3.DatabaseError) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _damaged(error: sqlite3.DatabaseError) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        return "no such table" in str(error) or "no such column" in str(error)
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@contextlib.contextmanager
def _transaction(link: sqlite3.Connection) -> Iterator[None]:
    link.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            link.execute("ROLLBACK")
        raise
    link.execute("COMMIT")
