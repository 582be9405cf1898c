"""Bookmarks, notes and labels of each session, their transfer to another machine, and the moves through it."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from blake3 import blake3

from core.errors import StoreError
from core.folders import own_folder
from core.store import atomic
from core.store.base import CheckedFile, JsonFile, T, key_of_session, locked, pack_checked, unpack_checked
from core.store.compensation import Chain, Undo, recover

SCHEMA = 1  # Written into each file; one with a higher one was made by a newer nooscope and is left alone.

_NUMBER = re.compile(r" \(\d{1,9}\)\Z")


class Bookmark(msgspec.Struct, frozen=True):
    """A named place in a recording, with a note."""

    name: str
    place: int  # Events before it.
    at: float  # Epoch seconds of the moment it marks.
    created: float  # Epoch seconds at which it was made.
    note: str = ""
    checkpoint: str = ""  # Hash of the state there, so that a return can be checked; blank if there is none.


class Merged(NamedTuple):
    """The result of merging bookmarks from elsewhere."""

    added: tuple[str, ...]  # Their names now; one that was in use got a number.
    known: int  # How many were present before.


Rows = list[dict[str, Any]]


def bookmarks_folder() -> Path:
    """Return the folder of bookmarks."""
    return own_folder("data") / "bookmarks"


def bookmarks_fingerprint(row: dict[str, Any]) -> str:
    """Return what identifies a bookmark, without the number that its name may have got."""
    plain = {**row, "name": _NUMBER.sub("", str(row.get("name")))}
    return blake3(msgspec.json.encode(plain, order="deterministic")).hexdigest(length=16)


class Bookmarks:
    """One session's bookmarks; fields and tables that this nooscope does not know stay as they are."""

    def __init__(self, session: str = "", folder: Path | None = None, *, key: str = "", patience: float = 5.0) -> None:
        self.folder = folder or bookmarks_folder()
        self.key = key or key_of_session(session)
        self.path = self.folder / f"{self.key}.json"
        # What a person should know: files that were set aside, rows that could not be read.
        self.notices: list[str] = []
        self._file = CheckedFile(self.path, "the bookmarks", SCHEMA)
        self._patience = patience

    def read(self) -> tuple[Bookmark, ...]:
        """All of them, by place and name."""
        bookmarks = self._readable(bookmark_rows(self.content()), Bookmark, "a bookmark")
        return tuple(sorted(bookmarks, key=lambda mark: (mark.place, mark.name)))

    def put(self, bookmark: Bookmark) -> None:
        """Store a bookmark; another of the same name is replaced."""
        row = _row(bookmark)
        with self._changing() as rows:
            same = [each for each in rows if each.get("name") == row["name"]]
            rows[:] = [*(each for each in rows if each not in same), {**(same[0] if same else {}), **row}]

    def remove(self, name: str) -> bool:
        """Delete a bookmark; return False if there is none of that name."""
        with self._changing() as rows:
            before = len(rows)
            rows[:] = [each for each in rows if each.get("name") != name]
            return len(rows) < before

    def merge(self, rows: Iterable[dict[str, Any]]) -> Merged:
        """Add bookmarks from elsewhere; equal ones are not added twice."""
        added: list[str] = []
        known = 0
        with self._changing() as own:
            names = {str(each.get("name")) for each in own}
            same = {bookmarks_fingerprint(each) for each in own}
            for row in rows:
                if bookmarks_fingerprint(row) in same:
                    known += 1
                    continue
                name = free_bookmark_name(str(row.get("name") or "bookmark"), names)
                names.add(name)
                same.add(bookmarks_fingerprint(row))
                added.append(name)
                own.append({**row, "name": name})
        return Merged(tuple(added), known)

    def forget(self, fingerprints: Iterable[str]) -> None:
        """Take back bookmarks that came from elsewhere, unless someone changed them since."""
        unwanted = set(fingerprints)
        with self._changing() as rows:
            rows[:] = [row for row in rows if bookmarks_fingerprint(row) not in unwanted]

    def content(self) -> dict[str, Any]:
        """Return the whole file; a damaged one is set aside."""
        try:
            return self._load()
        except ValueError:
            with self._locked():
                return self._sound_content()

    def _readable(self, rows: Rows, kind: type[T], what: str) -> list[T]:
        """Return rows as values of a type, with a notice for each that is none."""
        values: list[T] = []
        for row in rows:
            try:
                values.append(msgspec.convert(row, kind))
            except msgspec.ValidationError as error:
                self.notices.append(f"{what} in {self.path} could not be read and was left out: {error}")
        return values

    @contextlib.contextmanager
    def _changing(self, table: str = "bookmarks") -> Iterator[Rows]:
        """Read again what others may have written, let a table's rows be changed, and replace the file."""
        with self._locked():
            content = self._sound_content()
            before = bookmark_rows(content, table)
            rows = list(before)
            yield rows
            if rows != before:
                self._file.write({**content, table: rows})

    def _load(self) -> dict[str, Any]:
        return self._file.load() or {"version": SCHEMA, "bookmarks": []}

    def _sound_content(self) -> dict[str, Any]:
        """Return the content, read under the lock."""
        try:
            return self._load()
        except ValueError as fault:
            notice = atomic.set_aside(self.path, fault)
            if self.path.exists():
                raise StoreError(notice) from fault
            self.notices.append(notice)
            return self._load()

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return locked(self.folder / "lock", self._patience, fault=self._unlocked)

    def _unlocked(self, error: OSError) -> str:
        if isinstance(error, BlockingIOError):
            return f"another nooscope process is using {self.folder}"
        return f"the bookmarks in {self.folder} cannot be read: {error}"


def bookmark_rows(content: dict[str, Any], table: str = "bookmarks") -> Rows:
    """Return the bookmarks, or another table, of a file as rows."""
    rows = content.get(table)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _row(bookmark: Bookmark) -> dict[str, Any]:
    row = msgspec.structs.asdict(bookmark)
    row |= {key: text.encode("utf-8", "replace").decode() for key, text in row.items() if isinstance(text, str)}
    if not row["name"].strip():
        raise StoreError("a bookmark needs a name")
    if not (isfinite(bookmark.at) and isfinite(bookmark.created)):
        raise StoreError(f"bookmark {row['name']!r} has no valid time")
    return row


def free_bookmark_name(name: str, used_names: set[str]) -> str:
    """Return the name, with a number if it is in use."""
    free, number = name, 2
    while free in used_names:
        free, number = f"{name} ({number})", number + 1
    return free


_CHAINS = "chains"
_TRAILS = "trails"


class Imported(NamedTuple):
    """The result of an import."""

    sessions: int
    added: int
    known: int  # Bookmarks that were there already.
    renamed: tuple[str, ...]  # New names of bookmarks whose own was in use.


def export_bookmarks(folder: Path | None = None) -> tuple[bytes, list[str]]:
    """The bookmarks of every session as one file, and what a person should know of those left out."""
    place = folder or bookmarks_folder()
    sessions: dict[str, list[dict[str, Any]]] = {}
    notices: list[str] = []
    for path in sorted(place.glob("*.json")):
        store = Bookmarks(folder=place, key=path.stem)
        try:
            rows = bookmark_rows(store.content())
        except StoreError as error:
            notices.append(str(error))
            continue
        notices += store.notices
        if rows:
            sessions[path.stem] = rows
    return pack_checked({"version": SCHEMA, "sessions": sessions}), notices


def import_bookmarks(data: bytes, folder: Path | None = None) -> Imported:
    """Import an exported file; if one session's bookmarks cannot be written, none are."""
    place = folder or bookmarks_folder()
    recover_imports(place)
    sessions = _sessions(data)
    results: list[tuple[list[dict[str, Any]], Merged]] = []
    touched = [place / f"{key}.json" for key in sessions]
    with Chain(f"import-{time.time_ns():x}", place / _CHAINS, _undoes(place), files=touched) as chain:
        for key, rows in sessions.items():
            store = Bookmarks(folder=place, key=key)
            own = {bookmarks_fingerprint(row) for row in bookmark_rows(store.content())}
            fresh = [bookmarks_fingerprint(row) for row in rows if bookmarks_fingerprint(row) not in own]

            def take(store: Bookmarks = store, rows: list[dict[str, Any]] = rows) -> None:
                results.append((rows, store.merge(rows)))

            chain.step(f"merge {key}", take, "forget_bookmarks", {"key": key, "gone": " ".join(fresh)})
    added = sum(len(merged.added) for _, merged in results)
    names = [({str(row.get("name")) for row in rows}, merged.added) for rows, merged in results]
    renamed = [name for own, new in names for name in new if name not in own]
    return Imported(len(results), added, sum(merged.known for _, merged in results), tuple(renamed))


def recover_imports(folder: Path | None = None) -> list[Chain]:
    """Undo the imports that a crash left half done."""
    place = folder or bookmarks_folder()
    chains = place / _CHAINS
    return recover(chains, _undoes(place)) if os.path.isdir(chains) else []  # noqa: PTH112 the method raises


def _undoes(folder: Path) -> Mapping[str, Undo]:
    def forget(payload: Mapping[str, str]) -> None:
        Bookmarks(folder=folder, key=payload["key"]).forget(payload["gone"].split())

    return {"forget_bookmarks": forget}


def _sessions(data: bytes) -> dict[str, list[dict[str, Any]]]:
    try:
        content = unpack_checked(data, "the file of bookmarks", SCHEMA)
        sessions = msgspec.convert(content.get("sessions"), dict[str, list[dict[str, Any]]])
        for rows in sessions.values():
            msgspec.convert(rows, list[Bookmark])
    except ValueError as error:
        raise StoreError(f"this is not a bookmarks file, or it is damaged: {error}") from error
    strange = [key for key in sessions if not (key.isalnum() and key.isascii())]
    if strange:
        raise StoreError(f"the file of bookmarks contains an invalid session name: {strange[0]!r}")
    return sessions


class TrailStore:
    """One session's moves as plain rows, in a file beside the bookmarks; the last writer wins."""

    def __init__(self, session: str = "", folder: Path | None = None, *, key: str = "") -> None:
        place = folder or bookmarks_folder()
        self.path = place / _TRAILS / f"{key or key_of_session(session)}.json"
        self._file = CheckedFile(self.path, "the record of moves", SCHEMA)

    def read(self) -> list[Sequence[Any]]:
        """Return the stored rows; `StoreError` if the file is damaged."""
        try:
            rows = (self._file.load() or {}).get("moves")
        except ValueError as error:
            raise StoreError(f"the record of moves in {self.path} was changed or damaged: {error}") from error
        return [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []

    def write(self, rows: Iterable[Sequence[Any]]) -> None:
        """Replace the stored rows."""
        self._file.write({"moves": [list(row) for row in rows]})

    def set_aside(self) -> str:
        """Rename a damaged file; return its new name."""
        try:
            return self.path.rename(atomic.free_name(self.path)).name
        except OSError as error:
            raise StoreError(f"{self.path} cannot be set aside: {error}") from error


class Look(msgspec.Struct, frozen=True):
    """The end of a session as a person last saw it."""

    events: int  # Recorded by then.
    when: float  # Epoch seconds at which they left.


class LastLook:
    """One session's last look; a file that cannot be read or written counts as none."""

    def __init__(self, folder: Path, key: str) -> None:
        self.path = folder / "looks" / f"{key}.json"
        self._file = JsonFile(self.path, Look, "the last look")

    def read(self) -> Look | None:
        """Return the last look, if there is one."""
        with contextlib.suppress(StoreError, ValueError):
            look = self._file.load()
            return look if look is not None and look.events >= 0 else None
        return None

    def keep(self, look: Look) -> None:
        """Store this look instead."""
        with contextlib.suppress(StoreError):
            self._file.write(look)


Verdict = Literal["right", "wrong", "missed"]

_TABLE = "labels"
_SESSION = "session"


class Label(msgspec.Struct, frozen=True, order=True):
    """A judgement of one moment."""

    place: int  # The event's place in the recording, from 0.
    at: float
    verdict: Verdict
    name: str = ""  # The judged firing; blank if something unnamed was missed.
    agent: str = "main"
    created: float = 0.0

    @property
    def key(self) -> tuple[int, str, str, bool]:
        """Key under which a second label of the same thing replaces the first."""
        return self.place, self.agent, self.name, self.verdict == "missed"


class SessionLabel(msgspec.Struct, frozen=True):
    """Whether a session went well, with what the outlook and the loop detectors read in it."""

    good: bool
    created: float
    counts: dict[str, dict[str, int]]  # By stage of the outlook.
    reached: dict[str, int]  # By detector, the highest limit at which it fires.

    @property
    def word(self) -> str:
        """The judgement in one word."""
        return "good" if self.good else "bad"


class Labels(Bookmarks):
    """One session's labels; its bookmarks, and all else in the file, stay as they are."""

    def judged(self) -> tuple[Label, ...]:
        """All of them, by place."""
        return tuple(sorted(self._readable(bookmark_rows(self.content(), _TABLE), Label, "a label")))

    def judge(self, label: Label) -> None:
        """Store a label; an earlier one of the same firing is replaced."""
        self._replace(label, [label])

    def withdraw(self, label: Label) -> None:
        """Take a judgement back."""
        self._replace(label, [])

    def session(self) -> SessionLabel | None:
        """Return the label of the whole session."""
        row = self.content().get(_SESSION)
        labels = self._readable([] if row is None else [row], SessionLabel, "the session's label")
        return labels[0] if labels else None

    def judge_session(self, label: SessionLabel | None) -> None:
        """Replace the label of the whole session; None withdraws it."""
        with self._locked():
            self._file.write({**self._sound_content(), _SESSION: msgspec.to_builtins(label)})

    def _replace(self, old: Label, new: list[Label]) -> None:
        with self._changing(_TABLE) as rows:
            rows[:] = [row for row in rows if not _is_same_label(row, old)] + msgspec.to_builtins(new)


def all_labels(notices: list[str], folder: Path | None = None) -> Iterator[tuple[Labels, list[Label]]]:
    """Yield the labels of every session; what a person should know of those left out goes into `notices`."""
    place = folder or bookmarks_folder()
    for path in sorted(place.glob("*.json")):
        store = Labels(folder=place, key=path.stem)
        try:
            yield store, list(store.judged())
        except StoreError as error:
            notices.append(str(error))
        notices += store.notices


def export_labels(folder: Path | None = None) -> tuple[bytes, list[str]]:
    """The labels of every session as JSON, and what a person should know of those left out."""
    notices: list[str] = []
    firings: dict[str, list[Label]] = {}
    outcomes: dict[str, SessionLabel] = {}
    for store, labels in all_labels(notices, folder):
        if labels:
            firings[store.key] = labels
        if label := store.session():
            outcomes[store.key] = label
    body = msgspec.json.encode({"version": SCHEMA, "sessions": firings, "outcomes": outcomes})
    return msgspec.json.format(body, indent=2) + b"\n", notices


class Score(NamedTuple):
    """Firings held against labels."""

    hits: int  # Right firings found, and missed moments at which something fires.
    misses: int  # Right firings and missed moments at which nothing fires.
    false: int  # Firings a person called wrong.

    @property
    def precision(self) -> float | None:
        """Share of judged firings that are right; None if none was judged."""
        return self.hits / (self.hits + self.false) if self.hits + self.false else None

    @property
    def recall(self) -> float | None:
        """Share of what should fire that does; None if nothing should."""
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else None


def score(labels: Iterable[Label], fired: Iterable[tuple[float, str, str]], near: float) -> Score:
    """Compare firings, as (time, agent, name), with labels; up to `near` seconds apart is the same moment."""
    firings = list(fired)
    hits = misses = false = 0
    for label in labels:
        fires = any(
            abs(at - label.at) <= near and agent == label.agent and label.name in ("", name)
            for at, agent, name in firings
        )
        if label.verdict == "wrong":
            false += fires
        elif fires:
            hits += 1
        else:
            misses += 1
    return Score(hits, misses, false)


def _is_same_label(row: dict[str, Any], label: Label) -> bool:
    key = (row.get("place"), row.get("agent", "main"), row.get("name", ""), row.get("verdict") == "missed")
    return key == label.key
