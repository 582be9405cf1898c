"""Which record of a log follows which: ids, parents and digests, without the content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from core.agents.lenient import FAULTS
from core.events import MAIN, Where
from core.logs.envelope import (
    NOTHING,
    Envelope,
    Message,
    Role,
    as_text,
    as_time,
    is_true,
    opened_as,
    read_envelope,
)
from core.logs.finder import Finder
from core.logs.reader import Kit
from core.logs.records import Log, Record, reason, records
from core.logs.redaction import redact
from core.logs.session import LogSession
from core.settings.logs import LineSettings

KinKind = Literal[
    "start",
    "prompt",
    "answer",
    "result",
    "system",
    "compaction",
    "summary",
    "rewind",
    "setting",
    "label",
    "progress",
    "update",
    "entry",
    "unreadable",
]
Rank = Literal["main", "beside", "aside"]
"""What carries the conversation on, what belongs to its parent's turn, what is only kept with it."""

_LABEL = 120
_STRETCH = 64
"""Records in which a parent that comes after its child is looked for."""
_REMEMBERED = 65_536
"""Messages a rewind can lead back to."""
_LISTS = ("messages", "trajectory", "history", "events")


class Kin(NamedTuple):
    """One record's place in the conversation."""

    id: str
    parent: str | None
    kind: KinKind
    at: float
    """Epoch seconds; of a record without a time, those of the one before."""
    where: Where
    digest: bytes
    """SHA-256 of the record's bytes."""
    rank: Rank = "main"
    side: bool = False
    """It belongs to a sub-agent."""
    model: str = ""
    tokens: int = 0
    """Tokens the model wrote, where the record tells."""
    label: str = ""
    labels: str = ""
    """The record that `label` names."""


def kin(place: Path | Log, kit: Kit, lines: LineSettings | None = None) -> Iterator[Kin]:
    """Every record of one log in its order, but parents before their children; never raises.

    Holds no more than a short stretch of records at a time.
    """
    return parents_first(_in_order(place, kit, lines))


def parents_first(found: Iterable[Kin]) -> Iterator[Kin]:
    """A record whose parent stands a little later in the log comes right after it."""
    ahead: dict[int, Kin] = {}
    places: dict[str, int] = {}
    for number, each in enumerate(found):
        ahead[number] = each
        places.setdefault(each.id, number)
        if len(ahead) > _STRETCH:
            yield from _next(ahead, places)
    while ahead:
        yield from _next(ahead, places)


def _next(ahead: dict[int, Kin], places: dict[str, int]) -> Iterator[Kin]:
    """The first record that waits, after those of its ancestors that wait behind it."""
    line: list[Kin] = []
    number: int | None = next(iter(ahead))
    while number is not None:
        each = ahead.pop(number)
        if places.get(each.id) == number:
            del places[each.id]
        line.append(each)
        number = places.get(each.parent) if each.parent is not None else None
    return reversed(line)


def _in_order(place: Path | Log, kit: Kit, lines: LineSettings | None) -> Iterator[Kin]:
    limits = lines or LineSettings()
    log = place if isinstance(place, Log) else _found(place, kit, limits)
    if log is None:
        return
    line = _LINES.get(log.format.name, Linear)(log)
    whole = log.format.style == "document"
    for record in records(log, kit.diagnostics, limits):
        if whole:
            for entry in _entries(record):
                yield line.read(entry)
        else:
            yield line.read(record)


def _found(path: Path, kit: Kit, lines: LineSettings) -> Log | None:
    try:
        log = Finder(kit, lines).log(path)
    except (OSError, ValueError) as fault:
        kit.diagnostics.note(str(path), 0, reason(fault) if isinstance(fault, OSError) else str(fault))
        return None
    if log is None:
        kit.diagnostics.note(str(path), 0, "no log of a known format")
    return log


def session_kin(session: LogSession, kit: Kit, lines: LineSettings | None = None) -> Iterator[Kin]:
    """Every record of a session, log after log, the main agent's first."""
    for log in session.logs:
        yield from kin(log, kit, lines)


class Linear:
    """A log without parents: each record follows the one before it."""

    def __init__(self, log: Log) -> None:
        self._side = log.agent != MAIN
        self._prefix = f"{log.agent}#" if self._side else "#"
        self._last: str | None = None
        self._at = 0.0

    def read(self, record: Record) -> Kin:
        """The record's kin; what is no JSON object is kept by its place."""
        try:
            told = read_envelope(record.data)
        except FAULTS:
            found = self._aside(record, "unreadable")
        else:
            self._at = as_time(told, self._at)
            found = self.follow(told, record)
        self._last = found.id
        return found

    def follow(self, told: Envelope, record: Record) -> Kin:
        """The kin of a record that could be read."""
        kind, message = _turn(told)
        return self._kin(record, self._name(record), self._last, kind, "main", message)

    def _name(self, record: Record) -> str:
        return f"{self._prefix}{record.where.entry or record.line}"

    def _aside(self, record: Record, kind: KinKind) -> Kin:
        return self._kin(record, self._name(record), self._last, kind, "aside")

    def _kin(
        self,
        record: Record,
        name: str,
        parent: str | None,
        kind: KinKind,
        rank: Rank,
        message: Message | None = None,
        side: bool = False,
    ) -> Kin:
        return Kin(
            name,
            parent,
            kind,
            self._at,
            record.where,
            sha256(record.data).digest(),
            rank,
            self._side or side,
            message.model_name if message else "",
            message.written if message else 0,
        )


class ClaudeCode(Linear):
    """Lines name their parents; a compaction its logical one; bookkeeping has no id."""

    def follow(self, told: Envelope, record: Record) -> Kin:
        """The kin of one line."""
        name = as_text(told.uuid)
        if not name:
            found = self._aside(record, "label" if as_text(told.leaf_uuid) else "entry")
            words = as_text(told.summary, _LABEL * 8)
            return found._replace(label=_shown(words), labels=as_text(told.leaf_uuid)) if words else found
        parent = as_text(told.parent_uuid) or as_text(told.logical_parent_uuid) or None
        message = Message.read(told.message)
        kind, rank = self._kind(told, message)
        return self._kin(record, name, parent, kind, rank, message, is_true(told.is_sidechain))

    def _kind(self, told: Envelope, message: Message) -> tuple[KinKind, Rank]:
        match as_text(told.type):
            case "assistant":
                return "answer", "main"
            case "user":
                if message.has_results:
                    return "result", "beside"
                if is_true(told.is_compact_summary):
                    return "summary", "main"
                return ("system", "beside") if is_true(told.is_meta) else ("prompt", "main")
            case "system":
                compacted = as_text(told.subtype) == "compact_boundary"
                return ("compaction", "main") if compacted else ("system", "beside")
            case "progress":
                return "progress", "aside"
            case "attachment":
                return "system", "beside"
        return "entry", "aside"


class Pi(Linear):
    """Entries form a tree under the header; those of the first version have no ids."""

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._header: str | None = None

    def follow(self, told: Envelope, record: Record) -> Kin:
        """The kin of one entry."""
        kind, message = _turn(told)
        name = as_text(told.id)
        if kind == "start":
            found = self._kin(record, name or self._name(record), None, kind, "main", message)
            self._header = found.id
            return found
        if not name or told.parent_id is NOTHING:
            return self._kin(record, name or self._name(record), self._last, kind, "main", message)
        parent = as_text(told.parent_id) or self._header
        found = self._kin(record, name, parent, kind, "main", message)
        target = as_text(told.target_id) if kind == "label" else ""
        return found._replace(label=_shown(as_text(told.label, _LABEL * 8)), labels=target)


class Copilot(Linear):
    """Events name their parents; only what is said carries the conversation on."""

    def follow(self, told: Envelope, record: Record) -> Kin:
        """The kin of one event."""
        name = as_text(told.id)
        kind, message = _turn(told)
        if not name:
            return self._aside(record, kind)
        said = kind in ("start", "prompt", "answer", "compaction")
        return self._kin(
            record, name, as_text(told.parent_id) or None, kind, "main" if said else "beside", message
        )


class Gemini(Linear):
    """Messages in a row, some written again, and rewinds that lead back before a message."""

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._before: dict[str, str | None] = {}
        self._head: str | None = None

    def follow(self, told: Envelope, record: Record) -> Kin:
        """The kin of one update."""
        name = as_text(told.id)
        kind, message = _turn(told)
        if name and name in self._before:
            return self._kin(record, self._name(record), name, "update", "aside", message)
        parent = self._head
        if told.rewind_to is not NOTHING:
            parent = self._before.get(as_text(told.rewind_to), self._head)
            kind, name = "rewind", ""
        elif told.set is not NOTHING:
            return self._kin(record, self._name(record), parent, "update", "aside")
        elif kind == "entry" and as_text(told.session_id):
            kind = "start"
        found = self._kin(record, name or self._name(record), parent, kind, "main", message)
        if name:
            if len(self._before) >= _REMEMBERED:
                del self._before[next(iter(self._before))]
            self._before[name] = parent
        self._head = found.id
        return found


_LINES: dict[str, type[Linear]] = {
    "claude-code": ClaudeCode,
    "pi": Pi,
    "copilot-cli": Copilot,
    "gemini": Gemini,
}

_Entries: TypeAlias = list[msgspec.Raw]
_KINDS: dict[Role, KinKind] = {
    "session": "start",
    "user": "prompt",
    "assistant": "answer",
    "tool": "result",
    "system": "system",
    "compaction": "compaction",
    "summary": "summary",
    "setting": "setting",
    "label": "label",
    "": "entry",
}


def _turn(told: Envelope) -> tuple[KinKind, Message | None]:
    role, message = opened_as(told)
    return _KINDS[role], message


def _entries(record: Record) -> Iterator[Record]:
    """The items of a document's list of messages as records of their own; else the document as one."""
    pointer, found = _listed(record.data)
    if not found:
        yield record
    where = record.where
    for place, raw in enumerate(found):
        entry = Where(where.file, where.offset, where.length, f"{pointer}/{place}")
        yield Record(bytes(raw), entry, place + 1)


def _listed(data: bytes) -> tuple[str, _Entries]:
    try:
        if data.lstrip(b"\xef\xbb\xbf\0 \t\r\n")[:1] == b"[":
            return "", msgspec.json.decode(data, type=list[msgspec.Raw])
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        for name in _LISTS:
            if bytes(memoryview(fields.get(name, NOTHING))[:1]) == b"[":
                return f"/{name}", msgspec.json.decode(fields[name], type=list[msgspec.Raw])
    except FAULTS:
        pass
    return "", []


def _shown(words: str) -> str:
    """A label a person may see: one line, without secrets."""
    line = "".join(letter if letter.isprintable() else " " for letter in words)
    return redact(line)[:_LABEL].strip()
