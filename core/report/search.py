"""Search in all sessions: updates the index from the logs, and shows each match with its context."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.agents.record_texts import RecordText, Speaker, bounded, raw_texts, record_time, value_texts
from core.agents.registry import known_agents, make_kit
from core.agents.values import decode
from core.errors import UsageError
from core.events import Where
from core.logs.discovery import Found, describe_sessions
from core.logs.finder import Finder
from core.logs.format import Diagnostics
from core.logs.lines import glued_objects, open_unpacked
from core.logs.records import Documents, Log, Record, records
from core.logs.redact.text import places_of, redact, redact_torn
from core.logs.session import LogSession, read_session
from core.report.log_tree import LogTree, SessionName
from core.report.rollbacks import Rollbacks
from core.safe_text import safe
from core.settings.program import LineSettings
from core.store.kept_answers import FileStamp, has_grown
from core.store.reading_cache import IndexedLog, Match, Narrowed, WordIndex, WordPlace

_WORDLESS = "nooscope"  # A format whose lines contain only names and sizes.
_NEAR = 8  # Previous records that are checked for the same text, because some logs repeat everything.
_AROUND = 70  # Characters shown on both sides of a match.
_MARGIN = 2_048  # Extra characters that are read, so that a secret across the cut is still recognized.
_KEY_BLOCKS = ("-----BEGIN ", "Private-Lines: ")  # Beginnings of secrets that may be longer than that.
_TRIED = 20  # Occurrences of a word that are tried for the best place.
_LISTS = ("messages", "history", "trajectory", "requests", "events", "turns")  # Where a document keeps its records.
_TITLES = ("ai-title", "custom-title", "summary")  # Records that contain a session's title.
_GO_BACK = ("codex",)  # Agents whose logs tell of rollbacks.
_ROLLED_BACK = b'"thread_rolled_back"'
_SEPARATORS = re.compile(r"[./-]+")
_WORD = re.compile(r"[\w./-]+")


class Hit(NamedTuple):
    """One match as a person sees it."""

    session: str
    agent: str
    project: str
    title: str
    path: str  # The main log of its session.
    file: str  # The log of the match, which may be a sub-agent's.
    at: float | None
    place: str  # What `--at` of other commands takes.
    shared: bool  # Whether the log contains other sessions too.
    speaker: Speaker
    snippet: str
    rolled_back: bool = False  # Whether the person took it back, so that the agent forgot it.

    @property
    def fate(self) -> str:
        """What to add to the speaker."""
        return " (rolled back)" if self.rolled_back else ""


def fill_index(
    index: WordIndex, tree: LogTree, names: Sequence[SessionName], progress: Callable[[int, int], None]
) -> int:
    """Update the index with some sessions, and return how many logs were read."""
    indexed = index.logs()
    stale = [name for name in names if any(_is_stale(tree, indexed, log) for log in _logs(name))]
    current = {_log_name(log) for name in names for log in _logs(name)}
    folders = {log.path for name in names for log in _logs(name)}
    old = {name: log.path for name, log in indexed.items() if name not in current}
    obsolete = [name for name, path in old.items() if path in folders or not Path(path).exists()]
    if obsolete:
        index.remove(obsolete)
        indexed = index.logs()
    done = 0
    sessions = [name.session for name in stale]
    about = (
        {(one.path, one.session): one for one in describe_sessions(known_agents(), sessions, 0.0)} if sessions else {}
    )
    for number, (name, session) in enumerate(zip(stale, sessions, strict=True), 1):
        progress(number, len(stale))
        description = about.get((session.path, session.id))
        for short, log in zip(name.logs, session.logs, strict=True):
            if log.format.name != _WORDLESS and _is_stale(tree, indexed, short):
                _read(index, tree, indexed.get(_log_name(short)), short, log, session, description)
                done += 1
    return done


def search(index: WordIndex, words: Sequence[str], narrowed: Narrowed, most: int) -> list[Hit]:
    """Return the places where all words occur, newest first, with the text around them."""
    query = fts_query(words)
    matches = index.find(query, narrowed, most)
    documents = Documents()
    looked = [(" ".join(_WORD.findall(word)) or word).lower() for word in words]
    order = sorted(range(len(matches)), key=lambda number: (matches[number].log.path, matches[number].place.offset))
    hits = {number: _hit(matches[number], documents, looked) for number in order}
    forgotten = _Forgotten()
    return [hits[number]._replace(rolled_back=forgotten.contains(matches[number])) for number in range(len(matches))]


class _Forgotten:
    """What agents forgot in rollbacks, read once per session; only logs that mention one are read."""

    def __init__(self) -> None:
        self._kit = make_kit()
        self._finder = Finder(self._kit)
        self._stretches: dict[str, list[tuple[str, int, float]]] = {}

    def contains(self, match: Match) -> bool:
        """Whether a match is in a stretch that its agent forgot."""
        log, place = match
        if log.agent not in _GO_BACK:
            return False
        if log.main not in self._stretches:
            self._stretches[log.main] = list(self._of(Path(log.main)))
        file = place.file or log.path
        return any(file == name and begin <= place.offset < end for name, begin, end in self._stretches[log.main])

    def _of(self, path: Path) -> Iterator[tuple[str, int, float]]:
        log = self._finder.log(path)
        session = self._finder.session(log) if log is not None else None
        if session is not None and (len(session.logs) > 1 or _mentions(path, _ROLLED_BACK)):
            yield from Rollbacks().forgotten(list(read_session(session, self._kit)))


def _mentions(path: Path, words: bytes) -> bool:
    try:
        with open_unpacked(path) as stream:
            return any(words in line for line in stream)
    except OSError:
        return False


def fts_query(words: Sequence[str]) -> str:
    """Make a query that needs all words, each as a prefix; raise `UsageError` if there are none.

    A word with blanks in it is a phrase.
    """
    phrases = [" ".join(tokens) for word in words if (tokens := _WORD.findall(word))]
    if not phrases:
        raise UsageError("name at least one word to look for, of letters or digits")
    return " ".join(f'"{phrase}"*' for phrase in phrases)


def _logs(name: SessionName) -> list[Any]:
    return [log for log in name.logs if not log.format.startswith(f"{_WORDLESS} ")]


def _log_name(log: Any) -> str:
    is_part = log.start or log.end is not None or log.run is not None or log.session
    return f"{log.path}\n{log.start} {log.end} {log.run} {log.session}" if is_part else str(log.path)


def _is_stale(tree: LogTree, indexed: dict[str, IndexedLog], log: Any) -> bool:
    before = indexed.get(_log_name(log))
    return before is None or before.stamp != _stamp_text(tree.stamps(log.path))


def _stamp_text(stamps: tuple[FileStamp, ...]) -> str:
    return msgspec.json.encode(stamps).decode("utf-8", "replace")


def _read(
    index: WordIndex,
    tree: LogTree,
    before: IndexedLog | None,
    short: Any,
    log: Log,
    session: LogSession,
    description: Found | None,
) -> None:
    stamps = tree.stamps(short.path)
    goes_on = before is not None and log.format.style == "lines" and log.whole and _grew(before)
    start = before if before is not None and goes_on else None
    row = IndexedLog(
        name=_log_name(short),
        path=short.path,
        session=session.id,
        agent=session.tool,
        project=description.project if description is not None else "",
        title=description.title if description is not None else "",
        main=str(session.path),
        stamp=_stamp_text(stamps),
        offset=start.offset if start else log.start,
        line=start.line if start else log.line,
        at=start.at if start else None,
        changed=max((one.modified / 1e9 for one in stamps), default=0.0),
    )
    reading = _Reading(row, log, tree.settings.ingest.lines)
    index.add(row, reading.words(), reading.settled, replace=start is None)


def _grew(before: IndexedLog) -> bool:
    try:
        stamps = msgspec.json.decode(before.stamp, type=list[FileStamp])
    except msgspec.DecodeError:
        return False
    return len(stamps) == 1 and has_grown(stamps[0])


class _Reading:
    """One pass over the new part of a log, yielding its text with places."""

    def __init__(self, row: IndexedLog, log: Log, lines: LineSettings) -> None:
        self._row = row
        self._log = log._replace(start=row.offset, line=row.line)
        self._lines = lines
        self._near: deque[int] = deque(maxlen=_NEAR)
        self._titles: set[str] = set()

    def settled(self) -> IndexedLog:
        """Return the log's row after the pass."""
        return self._row

    def words(self) -> Iterator[tuple[WordPlace, str]]:
        """Yield each place with its redacted text; an unfinished line is left for the next pass."""
        for record, value in self._decoded():
            if value is None and not self._log.format.opening:
                continue
            at = record_time(value)
            if at is not None:
                self._row = self._row._replace(at=at)
            if self._log.format.style == "lines":
                end = record.where.offset + record.where.length
                self._row = self._row._replace(offset=end, line=record.line)
            for place, pieces in self._entries(record, value):
                joined = "\n".join(text for _, text in pieces)
                if joined and self._is_new(joined) and not self._is_known_title(value, joined):
                    yield place, joined + _parts(joined)

    def _decoded(self) -> Iterator[tuple[Record, Any]]:
        """Yield the log's records with their content; several objects on one line one by one."""
        for record in records(self._log, Diagnostics(), self._lines):
            value = decode(record.data)
            parts = glued_objects(record.data, record.where) if value is None else []
            if not parts:
                yield record, value
            for data, place in parts:
                yield Record(data, place, record.line), decode(data)

    def _entries(self, record: Record, value: Any) -> Iterator[tuple[WordPlace, list[RecordText]]]:
        where = record.where
        file = "" if where.file == str(self._log.path) else where.file
        listed = self._log.format.style in ("document", "folder") and _listed(value)
        if listed:
            name, items = listed
            at = self._row.at
            for number, item in enumerate(items):
                at = record_time(item) or at
                yield WordPlace(at, where.offset, where.length, f"{name}/{number}", file), value_texts(item)
            return
        pieces = value_texts(record.data if value is None else value)
        yield WordPlace(self._row.at, where.offset, where.length, where.entry, file), pieces

    def _is_known_title(self, value: Any, title: str) -> bool:
        """Whether it is the session's title again, which some logs repeat every turn."""
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in _TITLES:
            return False
        repeated = title in self._titles
        self._titles.add(title)
        return repeated

    def _is_new(self, text: str) -> bool:
        mark = hash(text)
        if mark in self._near:
            return False
        self._near.append(mark)
        return True


def _listed(value: Any) -> tuple[str, list[Any]] | None:
    """Return the records of a document and their key."""
    if isinstance(value, list):
        return "", value
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                return f"/{name}", value[name]
    return None


def _parts(text: str) -> str:
    """Return the parts of dotted, dashed and slashed names, so that each can be found."""
    joined = " ".join(word for word in set(text.split()) if not word.isalnum())
    names: set[str] = set()
    for name in set(_WORD.findall(joined)):
        parts = _SEPARATORS.split(name)
        if len(parts) > 1:
            names.update(part for part in parts if len(part) > 2)
            names.add(name.rpartition("/")[2])
    return "\n" + " ".join(sorted(names)) if names else ""


def _hit(match: Match, documents: Documents, looked: Sequence[str]) -> Hit:
    log, place = match
    speaker, excerpt = _piece_around(match, documents, looked)
    session = log.session, log.agent, log.project, log.title, log.main
    file = place.file or log.path
    return Hit(*session, file, place.at, _spoken_place(place), "\n" in log.name, speaker, excerpt)


def _piece_around(match: Match, documents: Documents, looked: Sequence[str]) -> RecordText:
    """Return the text around a match; only that part is redacted."""
    log, place = match
    try:
        data = documents.raw(Where(place.file or log.path, place.offset, place.length, place.entry))
    except OSError:
        data = b""

    def words_in(text: str) -> int:
        low = text.lower()
        return sum(word in low for word in looked)

    best = max(raw_texts(data), key=lambda piece: words_in(piece.text), default=RecordText("said", ""))
    near = _redacted_near(best.text, _first_place(best.text.lower(), looked, _AROUND))
    return RecordText(best.speaker, snippet(near if words_in(near) else bounded(best.text), looked))


def _redacted_near(text: str, place: int) -> str:
    """Return the redacted text around a place; a secret that begins before the cut is read whole."""
    begin = max(0, place - _AROUND - _MARGIN)
    if begin:
        begin = max(text.rfind(" ", 0, begin), text.rfind("\n", 0, begin)) + 1
        key = max(text.rfind(word, 0, begin) for word in _KEY_BLOCKS)
        begin = begin if key < 0 else key
    end = place + _AROUND + _MARGIN
    return redact(text[begin:end]) if end >= len(text) else redact_torn(text[begin:end])


def snippet(text: str, looked: Sequence[str], around: int = _AROUND) -> str:
    """Return one line around the place where most of the words occur together."""
    first = _first_place(text.lower(), looked, around)
    begin, end = max(0, first - around), first + around
    excerpt = " ".join(safe(text[begin:end], lines=True).split())
    return f"{'…' if begin else ''}{excerpt}{'…' if end < len(text) else ''}"


def _first_place(low: str, looked: Sequence[str], around: int) -> int:
    """Return the first place near which most of the words occur."""
    best, most = 0, 0
    places = sorted(
        (at, number)
        for number, word in enumerate(looked)
        for at in islice(places_of(low, word), _TRIED if len(looked) > 1 else 1)
    )
    counts = [0] * len(looked)
    begin = end = 0
    for at, _ in places:
        while end < len(places) and places[end][0] < at + around:
            counts[places[end][1]] += 1
            end += 1
        while places[begin][0] < at - around:
            counts[places[begin][1]] -= 1
            begin += 1
        together = len(counts) - counts.count(0)
        if together > most:
            best, most = at, together
            if together == len(looked):
                break
    return best


def _spoken_place(place: WordPlace) -> str:
    """Return a place as other commands take it: a time, or the position in the file."""
    if place.at is not None:
        moment = datetime.fromtimestamp(place.at, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return f"@{place.entry or place.offset}"
