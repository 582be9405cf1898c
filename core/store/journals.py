"""Journals of the hooks: every decision on a permit, and every sentence given to an agent."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.folders import make_private
from core.store import atomic
from core.store.atomic import append_whole

_BEGINNING = "0" * 64
_OWNER_ONLY = 0o600
_LONGEST = 65_536  # Bytes that always contain the last line.


class PermitEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing decided or done."""

    at: float
    # passed, permitted, used, asked, approved, denied, refused, unanswered, elsewhere (its own dialog), unguarded (no
    # nooscope ran, so it passed), late (no answer in time, so the agent asked or denied).
    what: str
    session: str
    tool: str
    arguments: str  # Hash of the call's arguments.
    policy: str  # Hash of the policy it was decided by.
    tier: str = ""
    reason: str = ""
    number: int = 0  # Number of the permit or question.
    by: str = ""  # Author of the answer, and the place it came from.


class Checked(NamedTuple):
    """The result of checking a journal."""

    entries: int
    fault: str  # What is wrong, and in which line; blank if nothing is.
    head: str  # The hash of the whole journal.


class _Line(msgspec.Struct, frozen=True):
    before: str
    entry: msgspec.Raw


class PermitJournal:
    """An append-only file; each line contains the hash of the line before it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, entry: PermitEntry) -> None:
        """Add one entry; `StoreError` if it cannot be stored."""
        try:
            make_private(self.path.parent)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
            with os.fdopen(handle, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(max(0, os.fstat(handle).st_size - _LONGEST))
                before = _last(file.read())
                body = msgspec.json.encode(_Line(before, msgspec.Raw(msgspec.json.encode(entry))))
                append_whole(handle, _hash(body).encode() + b" " + body + b"\n")
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror or error}") from error

    def read(self) -> Iterator[PermitEntry]:
        """Every entry that can be read, oldest first."""
        for _, body in self._lines():
            try:
                yield msgspec.json.decode(msgspec.json.decode(body, type=_Line).entry, type=PermitEntry)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue

    def last_question(self) -> int:
        """The highest number that a question had; 0 if nothing was asked."""
        return max((one.number for one in self.read() if one.what == "asked"), default=0)

    def check(self) -> Checked:
        """Check that every line is unchanged and none is missing between the first and the last."""
        before, count = _BEGINNING, 0
        for number, (check, body) in enumerate(self._lines(), 1):
            try:
                line = msgspec.json.decode(body, type=_Line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return Checked(count, f"line {number} cannot be read", before)
            if check != _hash(body).encode():
                return Checked(count, f"line {number} was changed", before)
            if line.before != before:
                return Checked(count, f"before line {number} a line was removed or inserted", before)
            before, count = check.decode(), count + 1
        return Checked(count, "", before)

    def _lines(self) -> Iterator[tuple[bytes, bytes]]:
        for line in _written_lines(self.path):
            check, _, body = line.partition(b" ")
            yield check, body


def _written_lines(path: Path) -> list[bytes]:
    """Return the lines of a journal that are not blank; none if the file does not exist."""
    try:
        return [line for line in path.read_bytes().split(b"\n") if line]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error


def _hash(body: bytes) -> str:
    return blake3(body).hexdigest()


def _last(data: bytes) -> str:
    end = data.rstrip(b"\n").rpartition(b"\n")[2]
    return end.partition(b" ")[0].decode("ascii", "replace") if end else _BEGINNING


class Said(msgspec.Struct, frozen=True):
    """One sentence, its recipient, and the rule behind it."""

    at: float
    agent: str
    session: str
    rule: str
    sentence: str
    call: int  # Its fingerprint, by which the agent's log names it.
    withheld: bool = False  # It was due, and withheld at random to measure whether advice helps.


class SaidStore:
    """A file of lines that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, sentence: Said) -> None:
        """Add one sentence; `StoreError` if it cannot be stored."""
        try:
            make_private(self.path.parent)
            atomic.append(self.path, msgspec.json.encode(sentence) + b"\n")
        except OSError as error:
            raise StoreError(f"{self.path}: {error.strerror or error}") from error

    def read(self) -> Iterator[Said]:
        """Yield all sentences that can be read, oldest first."""
        for line in _written_lines(self.path):
            try:
                yield msgspec.json.decode(line, type=Said)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
