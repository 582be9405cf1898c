"""From paths to sessions: what is a log, which logs belong together, which repeat another."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from core.errors import UnreadableLog
from core.logs.agent import recognise
from core.logs.beginnings import Beginnings
from core.logs.format import Format, Sample
from core.logs.lines import LONG_HEAD, head
from core.logs.log_files import NOT_REGULAR, expanded, from_root, is_folder, is_there
from core.logs.multi_session import Runs
from core.logs.reader import Kit
from core.logs.records import NO_PERMISSION, Log, reason, stem
from core.logs.session import LogSession
from core.logs.walking import walk
from core.settings.logs import LineSettings

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Marks that a text begins with which an older Windows shell wrote to a file."""
_SQLITE = b"SQLite format 3\0"


def sessions(paths: Iterable[Path | str], kit: Kit, lines: LineSettings | None = None) -> list[LogSession]:
    """The sessions in files, folders and patterns, in order of path.

    A path without a readable log is counted; `UnreadableLog` says why when none has any.
    """
    return Finder(kit, lines).sessions(paths)


class _Known(NamedTuple):
    inode: int
    size: int
    format: Format | None
    trouble: str


class Companions(NamedTuple):
    """The logs of a session's sub-agents."""

    logs: list[Log]
    complete: bool
    """Whether all that are there hold something yet."""
    helpers: tuple[Log, ...] = ()
    """Those of forks that the agent's program makes for itself."""


class Finder:
    """Finds sessions, and remembers what each file was recognised as."""

    def __init__(self, kit: Kit, lines: LineSettings | None = None) -> None:
        self._kit = kit
        self._lines = lines or LineSettings()
        self._known: dict[Path, _Known] = {}
        self._beginnings = Beginnings(kit, self._lines)
        self._runs = Runs(kit, self._lines)

    def sessions(self, paths: Iterable[Path | str]) -> list[LogSession]:
        """The sessions in files, folders and patterns, in order of path."""
        found: dict[Path, Log] = {}
        troubles: list[tuple[str, str]] = []
        for path in paths:
            logs, trouble = self._logs(path)
            for log in logs:
                found.setdefault(_key(log), log)
            if not logs:
                troubles.append((str(path), trouble))
        if not found:
            raise UnreadableLog(
                "; ".join(f"{path}: {trouble}" for path, trouble in troubles) or "no path given"
            )
        for path, trouble in troubles:
            self._kit.diagnostics.note(path, 0, trouble)
        return self._gather(list(found.values()))

    def format(self, path: Path) -> tuple[Format | None, str]:
        """What a file's content shows it to be, or why it is not a log."""
        try:
            status = path.stat()
            known = self._known.get(path)
            if known and known.inode == status.st_ino and (known.format or known.size == status.st_size):
                return known.format, known.trouble
            kind, trouble = self._recognise(path, status)
        except OSError as fault:
            return None, reason(fault)
        self._known[path] = _Known(status.st_ino, status.st_size, kind, trouble)
        return kind, trouble

    def log(self, path: Path) -> Log | None:
        """The log that a file, or a folder of event files, is."""
        if is_folder(path):
            inner = next((file for file in walk(path) if self._log(file)[0]), None)
            return self._log(inner)[0] if inner else None
        return self._log(path)[0]

    def session(self, log: Log) -> LogSession:
        """One session with the logs of its sub-agents."""
        beginning = self._beginnings.of(log)
        more = self.companions(log)
        return LogSession(beginning.session, beginning.tool, (log, *more.logs), helpers=more.helpers)

    def companions(self, log: Log) -> Companions:
        """The logs of a session's sub-agents that hold something already."""
        if log.format.companions is None or log.run is not None:
            return Companions([], True)
        try:
            named = log.format.companions(log.path)
        except OSError as fault:
            self._kit.diagnostics.note(str(log.path), 0, reason(fault))
            return Companions([], False)
        found = [
            (one.helper, Log(one.path, kind, one.agent))
            for one in named
            if (kind := self.format(one.path)[0])
        ]
        helpers = tuple(log for helper, log in found if helper)
        return Companions([log for helper, log in found if not helper], len(found) == len(named), helpers)

    def _logs(self, path: Path | str) -> tuple[list[Log], str]:
        """The logs a path stands for, and why where there are none."""
        place = expanded(path)
        if not is_there(place) and glob.has_magic(str(path)):
            matches = sorted(glob.glob(str(place), recursive=True))  # noqa: PTH207 it may be absolute
            return [log for match in matches for log in self._logs(match)[0]], "no log matches"
        if is_folder(place):
            logs = [log for file in walk(place, self._closed(place)) if (log := self._inner(file))]
            return logs, _no_logs(place)
        log, trouble = self._log(place)
        return [log] if log else [], "no such file" if trouble == "vanished" else trouble

    def _inner(self, path: Path) -> Log | None:
        """The log that a file in a folder is; one that might be a log and cannot be opened is counted."""
        log, trouble = self._log(path)
        if trouble in (NO_PERMISSION, NOT_REGULAR):
            self._kit.diagnostics.note(str(path), 0, trouble)
        return log

    def _closed(self, place: Path) -> Callable[[OSError], None]:
        """Counts a folder below a place that cannot be listed."""

        def note(fault: OSError) -> None:
            if str(fault.filename) != str(place):
                self._kit.diagnostics.note(str(fault.filename), 0, reason(fault))

        return note

    def _log(self, path: Path) -> tuple[Log | None, str]:
        kind, trouble = self.format(path)
        if kind is None:
            return None, trouble
        return Log(path.parent if kind.style == "folder" else path, kind), ""

    def _recognise(self, path: Path, status: os.stat_result) -> tuple[Format | None, str]:
        if not stat.S_ISREG(status.st_mode):
            return None, NOT_REGULAR
        beginning = head(path, self._lines.head)
        text = _text(beginning)
        if beginning.startswith(_UTF_16):
            return None, "text in UTF-16; save it as UTF-8 to have it read"
        if not text:
            return None, "empty"
        if not (text.startswith((b"{", b"[", _SQLITE)) or b"\n{" in text or self._opens(text)):
            return None, "a binary file" if b"\0" in text else "no log of a known format"
        if text.startswith((b"{", b"[")) and _unfinished(text):
            text = _text(head(path, LONG_HEAD))
        kind = recognise(Sample(text, path), self._kit.agents)
        return kind, "" if kind else "no log of a known format"

    def _opens(self, text: bytes) -> bool:
        """Whether a text that is not JSON begins like a log."""
        formats = (known for agent in self._kit.agents for known in agent.formats)
        return any(known.opening and text.startswith(known.opening) for known in formats)

    def _gather(self, logs: list[Log]) -> list[LogSession]:
        claimed: set[Path] = set()
        below: list[str] = []
        companions: dict[Path, Companions] = {}
        for log in logs:
            own = companions[log.path] = self.companions(log)
            claimed.update(from_root(one.path) for one in (*own.logs, *own.helpers) if one.path != log.path)
            if log.format.companions is not None:
                below.append(f"{log.path.parent / stem(log.path)}{os.sep}")
        owned = tuple(below)
        gathered = []
        for log in logs:
            if (
                from_root(log.path) in claimed
                or str(log.path).startswith(owned)
                or _has_plain_twin(log, companions)
            ):
                continue
            own = companions[log.path]
            alone = LogSession(*self._beginnings.of(log)[:2], (log, *own.logs), helpers=own.helpers)
            gathered += self._runs.of(log) or [alone]
        return self._beginnings.mark_copies(_without_received(gathered))


def _without_received(sessions: list[LogSession]) -> list[LogSession]:
    """The sessions less those received from an agent whose own log of the same session is there too."""
    logged = {(one.tool, one.id) for one in sessions if one.logs[0].format.name == one.tool}
    return [
        one
        for one in sessions
        if one.logs[0].format.name == one.tool or one.id == "" or (one.tool, one.id) not in logged
    ]


def _no_logs(folder: Path) -> str:
    """Why a folder gave no logs."""
    try:
        os.scandir(folder).close()
    except OSError as fault:
        return reason(fault)
    return "a folder without logs"


def _unfinished(text: bytes) -> bool:
    """Whether a head is that of one object that goes on beyond it, and not of lines that are objects each."""
    try:
        msgspec.json.decode(text.partition(b"\n")[0], type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    return False


def _key(log: Log) -> Path:
    try:
        return log.path.resolve()
    except (OSError, RuntimeError):
        return log.path


def _has_plain_twin(log: Log, companions: dict[Path, Companions]) -> bool:
    """Whether a packed log lies beside the plain one it was made from."""
    return log.path.suffix == ".zst" and log.path.with_suffix("") in companions


def _text(beginning: bytes) -> bytes:
    """What a log begins with, without the marks and the blanks before it."""
    return beginning.removeprefix(b"\xef\xbb\xbf").lstrip(b"\0 \t\r\n")
