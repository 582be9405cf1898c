"""Answers of commands, and the stamps of the logs and of the program they were made from."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

import core
from core.extension.offers import Switches, extension_folder, find_offers
from core.folders import make_private, own_folder
from core.logs.log_files import PASSED_OVER, is_file, read_bytes_at

if TYPE_CHECKING:
    from core.settings import Settings


_END = 4096  # Bytes at the end of a file that are looked at.
_DIGITS = 16
_SOURCES = (".py", ".toml", ".json")


class FileStamp(NamedTuple):
    """One file at one time; equal stamps mean equal content."""

    path: str
    size: int
    modified: int  # Nanoseconds.
    end: str  # Fingerprint of its last bytes.


def stamp(path: Path | str) -> FileStamp | None:
    """Return the stamp of a file as it is now; None if it cannot be read."""
    try:
        status = os.stat(path)  # noqa: PTH116 thousands of them: a path object each costs more than the look
        return FileStamp(str(path), status.st_size, status.st_mtime_ns, _end_hash(path, status.st_size))
    except OSError:
        return None


def stamps(path: Path | str) -> tuple[FileStamp, ...]:
    """All files of a log: the file with what a database writes beside it, or those of a folder."""
    name = str(path)
    one = stamp(name)
    if one is None and os.path.isdir(name):  # noqa: PTH112 it never raises
        files = sorted(Path(top, each) for top, _, names in os.walk(name) for each in names)
        return tuple(file_stamp for each in files if (file_stamp := stamp(each)) is not None)
    beside = stamp(f"{name}-wal") if name.endswith(".db") else None
    return tuple(file_stamp for file_stamp in (one, beside) if file_stamp is not None)


def has_grown(before: FileStamp) -> bool:
    """Whether a changed file still begins with its former content."""
    path = Path(before.path)
    try:
        return path.stat().st_size > before.size and _end_hash(before.path, before.size) == before.end
    except OSError:
        return False


def reading_stamp(settings: Settings, version: int) -> bytes:
    """Return everything beside a log that decides what is read from it: program, limits, tables."""
    import msgspec

    from core.settings.group import canonical

    tables = settings.ingest.tables
    own = [Path(name).expanduser() for name in (tables.tools, tables.models) if name]
    table_stamps = [one and (one.size, one.modified, one.end) for one in map(stamp, own)]
    return msgspec.msgpack.encode((version, code_stamp(), canonical(settings.ingest, set()), table_stamps))


@cache
def code_stamp() -> str:
    """Return a stamp of this program's files and of extensions: results of other code are not reused."""
    offers = find_offers().offers
    places = [Path(core.__file__).parent, extension_folder()]
    for root in sorted({offer.target.partition(".")[0].partition(":")[0] for offer in offers} - {""}):
        spec = importlib.util.find_spec(root)
        if spec is not None and spec.origin:
            places.append(Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin))
    name = blake3(f"{core.__version__} {[offer[:5] for offer in offers]} {sorted(Switches().off())}".encode())
    for place in places:
        files = [(str(place), place.stat().st_mtime_ns)] if is_file(place) else _source_files(str(place))
        name.update(repr(files).encode("utf-8", "surrogatepass"))
    return name.hexdigest(length=16)


def _source_files(folder: str) -> list[tuple[str, int]]:
    """Every file of a program below a folder, with its time, by name."""
    files = []
    folders = [folder]
    while folders:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.name.endswith(_SOURCES):
                    files.append((entry.path, entry.stat().st_mtime_ns))
                elif entry.name not in PASSED_OVER and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
            except OSError:
                continue
    return sorted(files)


def _end_hash(path: Path | str, size: int) -> str:
    begin = max(0, size - _END)
    return blake3(read_bytes_at(path, begin, size - begin)).hexdigest(length=_DIGITS // 2)


MOST = 64  # Answers stored at most; the one unused for longest is deleted first.
LARGEST = 16_000_000  # Bytes one of them may have.
_MARK = 16  # Bytes of the checksum before an answer.
_DAY = 86_400
_OWNER_ONLY = 0o600


class KeptAnswers:
    """Answers by key in one folder; whatever is wrong with a file of it costs only time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, key: str) -> bytes | None:
        """Return the answer stored under a key."""
        path = self.folder / key
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST)
                last_used = os.fstat(file.fileno()).st_mtime
        except OSError:
            return None
        answer = content[_MARK:]
        if _checksum(answer) != content[:_MARK]:
            return None
        if time.time() - last_used > _DAY:
            with contextlib.suppress(OSError):
                os.utime(path)
        return answer

    def save(self, key: str, answer: bytes, limit: int) -> bool:
        """Store an answer within a limit of bytes for all; return False if it cannot be written."""
        if _MARK + len(answer) > min(LARGEST, limit):
            return False
        draft = self.folder / f"{key}.{os.getpid()}.new"
        try:
            make_private(self.folder)
            # Not waited for on the disk: what a power cut takes away is told by its mark, and made again.
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY), "wb") as file:
                file.write(_checksum(answer) + answer)
            draft.replace(self.folder / key)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            return False
        self._tidy(limit)
        return True

    def clear(self) -> bool:
        """Forget them all; whether there were any."""
        files = self._files()
        for path, _ in files:
            path.unlink(missing_ok=True)
        return bool(files)

    def _files(self) -> list[tuple[Path, int]]:
        """Return the stored files with their sizes, the last used first."""
        files = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        files.append((entry.stat(), entry.path))
        files.sort(key=lambda one: (-one[0].st_mtime_ns, one[1]))
        return [(Path(path), status.st_size) for status, path in files]

    def _tidy(self, limit: int) -> None:
        total = 0
        for place, (path, size) in enumerate(self._files()):
            total += size
            if place >= MOST or total > limit:
                with contextlib.suppress(OSError):
                    path.unlink()


def kept_answers() -> KeptAnswers:
    """Return the answers on this machine."""
    return KeptAnswers(own_folder("cache") / "answers")


def _checksum(answer: bytes) -> bytes:
    return blake3(answer).digest(length=_MARK)
