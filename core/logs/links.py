"""The links between a log's records: ids, parents and digests, without the content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from core.events import MAIN, Where
from core.logs.finder import Finder
from core.logs.format import Kit
from core.logs.lines import FAULTS, decoded, glued_objects, seconds
from core.logs.records import Log, Record, reason, records
from core.logs.session import LogSession
from core.settings.program import LineSettings

NOTHING = Raw(b"null")  # A field that is not there.
_LONGEST = 256  # Characters beyond which a text is not an id.
_MOST = 1 << 53


class Envelope(Struct, rename="camel", gc=False):
    """Fields of any format's record, undecoded, so that no value can make the record unreadable."""

    type: Raw = NOTHING
    subtype: Raw = NOTHING
    role: Raw = NOTHING
    id: Raw = NOTHING
    parent_id: Raw = NOTHING
    target_id: Raw = NOTHING
    uuid: Raw = NOTHING
    parent_uuid: Raw = NOTHING
    logical_parent_uuid: Raw = NOTHING
    leaf_uuid: Raw = NOTHING
    session_id: Raw = NOTHING
    timestamp: Raw = NOTHING
    at: Raw = NOTHING
    start_time: Raw = NOTHING
    is_sidechain: Raw = NOTHING
    is_meta: Raw = NOTHING
    is_compact_summary: Raw = NOTHING
    summary: Raw = NOTHING
    label: Raw = NOTHING
    message: Raw = NOTHING
    payload: Raw = NOTHING
    model: Raw = NOTHING
    usage: Raw = NOTHING
    tokens: Raw = NOTHING
    rewind_to: Raw = msgspec.field(name="$rewindTo", default=NOTHING)
    set: Raw = msgspec.field(name="$set", default=NOTHING)


class _Usage(Struct, gc=False):
    output_tokens: Raw = NOTHING
    output: Raw = NOTHING
    completion_tokens: Raw = NOTHING


class _Part(Struct, gc=False):
    type: Raw = NOTHING


class RecordMessage(Struct, gc=False):
    """A record's message, as far as its place in the conversation depends on it."""

    type: Raw = NOTHING
    role: Raw = NOTHING
    model: Raw = NOTHING
    usage: Raw = NOTHING
    tokens: Raw = NOTHING
    content: Raw = NOTHING

    @classmethod
    def read(cls, raw: Raw) -> RecordMessage:
        """Return the message in a field; an empty one if there is none."""
        return (decoded(raw, RecordMessage) if raw is not NOTHING else None) or _SILENT

    @property
    def model_name(self) -> str:
        """The model that spoke."""
        return as_text(self.model)

    @property
    def written(self) -> int:
        """Tokens the model wrote; 0 if unknown."""
        usages = [decoded(raw, _Usage) for raw in (self.usage, self.tokens) if raw is not NOTHING]
        counts = (raw for one in usages if one for raw in (one.output_tokens, one.output, one.completion_tokens))
        return next(filter(None, map(as_count, counts)), 0)

    @property
    def has_results(self) -> bool:
        """Whether it brings results of tools."""
        if _first_byte(self.content) != b"[":
            return False
        parts = decoded(self.content, list[_Part]) or []
        return any(bytes(part.type) == b'"tool_result"' for part in parts)


_SILENT = RecordMessage()
_decode_text = msgspec.json.Decoder(str).decode
read_envelope = msgspec.json.Decoder(Envelope).decode  # The envelope of a record's bytes; raises what `FAULTS` names.


def as_text(raw: Raw, longest: int = _LONGEST) -> str:
    """A text that is not blank and not too long, else nothing."""
    if raw is NOTHING:
        return ""
    data = bytes(memoryview(raw)[: longest * 6 + 3])
    if data[:1] != b'"' or len(data) > longest * 6 + 2:
        return ""
    try:
        text = _decode_text(data) if b"\\" in data else str(data[1:-1], "utf-8")
    except FAULTS:
        return ""
    return text if len(text) <= longest else ""


def as_count(raw: Raw) -> int:
    """A whole number of things, or 0."""
    value: Any = None if raw is NOTHING else decoded(raw)
    return int(value) if type(value) in (int, float) and 0 < value < _MOST else 0


def as_time(envelope: Envelope, before: float) -> float:
    """Return a record's timestamp, else the given one."""
    times = [raw for raw in (envelope.timestamp, envelope.at, envelope.start_time) if raw is not NOTHING]
    return next((at for raw in times if (at := seconds(decoded(raw))) is not None), before)


def is_true(raw: Raw) -> bool:
    """Whether a field is true."""
    return raw is not NOTHING and bytes(memoryview(raw)[:5]) == b"true"


def turn(envelope: Envelope) -> tuple[LinkKind, RecordMessage]:
    """Return the kind and the message of a record, by its role or else by its type."""
    for inner in (envelope.message, envelope.payload):
        if _first_byte(inner) == b"{":
            message = RecordMessage.read(inner)
            break
    else:
        message = RecordMessage(envelope.type, envelope.role, envelope.model, envelope.usage, envelope.tokens)
    names = (message.role, message.type, envelope.type)
    return next((kind for name in names if (kind := _KINDS.get(as_text(name)))), "entry"), message


def _first_byte(raw: Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


LinkKind = Literal[
    "start", "prompt", "answer", "result", "system", "compaction", "summary", "rewind", "setting", "label",
    "progress", "update", "entry", "unreadable",
]  # fmt: skip
# The roles and types of records of any format, by kind.
_NAMES: dict[LinkKind, str] = {
    "start": "session session_meta session.start",
    "prompt": "user user.message",
    "answer": "assistant assistant.message gemini",
    "result": "tool toolResult function_call_output custom_tool_call_output tool.execution_complete",
    "system": "system developer info",
    "compaction": "compaction compacted session.compaction_complete",
    "summary": "branch_summary",
    "setting": "model_change thinking_level_change session_info session.model_change turn_context",
    "label": "label",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
# Whether a record continues the conversation, belongs to its parent's turn, or is only stored with it.
Rank = Literal["main", "beside", "aside"]

# What a second child begins with where the person went back.
SPOKEN: frozenset[LinkKind] = frozenset(("prompt", "rewind", "summary"))

LONGEST_LABEL = 120
_STRETCH = 64  # Records in which a parent that comes after its child is looked for.
_LISTS = ("messages", "trajectory", "history", "events")


class Link(NamedTuple):
    """One record's place in the conversation."""

    id: str
    parent: str | None
    kind: LinkKind
    at: float  # Epoch seconds; of a record without a time, those of the one before.
    where: Where
    digest: bytes  # SHA-256 of the record's bytes.
    rank: Rank = "main"
    side: bool = False  # It belongs to a sub-agent.
    model: str = ""
    tokens: int = 0  # Tokens the model wrote, if the record contains them.
    label: str = ""
    labels: str = ""  # The record that `label` names.


def links(place: Path | Log, kit: Kit, lines: LineSettings | None = None, *, contents: bool = True) -> Iterator[Link]:
    """Yield every record of one log in order, but parents before their children; never raises.

    Only a short stretch of records is in memory at a time. Without `contents`, times, digests, models and
    tokens are left out.
    """
    return parents_first(_in_order(place, kit, lines, contents))


def parents_first(ordered: Iterable[Link]) -> Iterator[Link]:
    """Yield each record right after its parent, if that is a little later in the log."""
    ahead: dict[int, Link] = {}
    places: dict[str, int] = {}
    for number, each in enumerate(ordered):
        ahead[number] = each
        places.setdefault(each.id, number)
        if len(ahead) > _STRETCH:
            yield from _next(ahead, places)
    while ahead:
        yield from _next(ahead, places)


def _next(ahead: dict[int, Link], places: dict[str, int]) -> Iterator[Link]:
    """The first record that waits, after those of its ancestors that wait behind it."""
    line: list[Link] = []
    number: int | None = next(iter(ahead))
    while number is not None:
        each = ahead.pop(number)
        if places.get(each.id) == number:
            del places[each.id]
        line.append(each)
        number = places.get(each.parent) if each.parent is not None else None
    return reversed(line)


def _in_order(place: Path | Log, kit: Kit, lines: LineSettings | None, contents: bool) -> Iterator[Link]:
    limits = lines or LineSettings()
    log = place if isinstance(place, Log) else _log_at(place, kit, limits)
    if log is None:
        return
    reader = (log.format.links or LinkReader)(log)
    reader.contents = contents
    whole = log.format.style == "document"
    for record in records(log, kit.diagnostics, limits):
        if whole:
            for entry in _message_records(record):
                yield reader.read(entry)
        else:
            yield from reader.read_all(record)


def _log_at(path: Path, kit: Kit, lines: LineSettings) -> Log | None:
    try:
        log = Finder(kit, lines).log(path)
    except (OSError, ValueError) as fault:
        kit.diagnostics.note(str(path), 0, reason(fault) if isinstance(fault, OSError) else str(fault))
        return None
    if log is None:
        kit.diagnostics.note(str(path), 0, "no log of a known format")
    return log


def session_links(session: LogSession, kit: Kit) -> Iterator[Link]:
    """Every record of a session, log after log, the main agent's first."""
    return chain.from_iterable(links(log, kit) for log in session.logs)


class LinkReader:
    """A log without parents: each record follows the one before it."""

    contents = True  # Whether times, digests, models and tokens are read.

    def __init__(self, log: Log) -> None:
        self._side = log.agent != MAIN
        self._prefix = f"{log.agent}#" if self._side else "#"
        self.last: str | None = None
        self._at = 0.0
        self._behind = ""

    def may_go_back(self, _pieces: Iterable[bytes]) -> bool:
        """Whether the person may have gone back in a log; the pieces of its text are read only if they can deny it."""
        return True

    def read_all(self, record: Record) -> Iterator[Link]:
        """Yield the links of a line, one per object."""
        last = self.last
        link = self.read(record)
        parts = glued_objects(record.data, record.where) if link.kind == "unreadable" else []
        if not parts:
            yield link
            return
        self.last = last
        for number, (data, place) in enumerate(parts):
            self._behind = f".{number}" if number else ""
            yield self.read(Record(data, place, record.line))
        self._behind = ""

    def read(self, record: Record) -> Link:
        """Return the record's link; what is not a JSON object is identified by its place."""
        try:
            envelope = read_envelope(record.data)
        except FAULTS:
            link = self.aside(record, "unreadable")
        else:
            self._at = as_time(envelope, self._at) if self.contents else 0.0
            link = self.follow(envelope, record)
        self.last = link.id
        return link

    def follow(self, envelope: Envelope, record: Record) -> Link:
        """The link of a record that could be read."""
        kind, message = turn(envelope)
        return self.link(record, self.name(record), self.last, kind, "main", message)

    def name(self, record: Record) -> str:
        return f"{self._prefix}{record.where.entry or record.line}{self._behind}"

    def aside(self, record: Record, kind: LinkKind) -> Link:
        return self.link(record, self.name(record), self.last, kind, "aside")

    def link(
        self,
        record: Record,
        name: str,
        parent: str | None,
        kind: LinkKind,
        rank: Rank,
        message: RecordMessage | None = None,
        side: bool = False,
    ) -> Link:
        link = Link(name, parent, kind, self._at, record.where, b"", rank, self._side or side)
        if not self.contents:
            return link
        model, tokens = (message.model_name, message.written) if message else ("", 0)
        return link._replace(digest=sha256(record.data).digest(), model=model, tokens=tokens)


def _message_records(record: Record) -> Iterator[Record]:
    """The items of a document's list of messages as records of their own; else the document as one."""
    pointer, items = _message_list(record.data)
    if not items:
        yield record
    where = record.where
    for place, raw in enumerate(items):
        entry = Where(where.file, where.offset, where.length, f"{pointer}/{place}")
        yield Record(bytes(raw), entry, place + 1)


def _message_list(data: bytes) -> tuple[str, list[Raw]]:
    try:
        if data.lstrip(b"\xef\xbb\xbf\0 \t\r\n")[:1] == b"[":
            return "", msgspec.json.decode(data, type=list[Raw])
        fields = msgspec.json.decode(data, type=dict[str, Raw])
        for name in _LISTS:
            if _first_byte(fields.get(name, NOTHING)) == b"[":
                return f"/{name}", msgspec.json.decode(fields[name], type=list[Raw])
    except FAULTS:
        pass
    return "", []
