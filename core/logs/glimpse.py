"""The two ends of a log: project, session, title, last time, and about how many events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from core.logs.format import Location
from core.logs.lines import OBJECT, decoded, head, is_packed, open_unpacked, read_bytes, seconds
from core.logs.records import Log, document, members, stem
from core.logs.redact.values import one_line, redact_name
from core.logs.session import LogSession
from core.safe_text import strip_colours

EXACT = 4 * 1024 * 1024  # Logs of at most so many bytes may be looked through whole.
_COLON = re.compile(rb'"\s*:\s*')
_COMMA = re.compile(rb'",\s+"')
_SAMPLE = 4_096


def estimate_events(location: Location, parts: list[bytes], share: float) -> int:
    """The events in some parts of a log that make up a share of it; the beginning is one more."""
    if not any(parts):
        return 0
    count = sum(_count(location, part) for part in parts)
    return 1 + round(count / max(share, 1e-9))


def _count(location: Location, data: bytes) -> int:
    beginning = data[:_SAMPLE]
    if beginning.count(b'": ') > beginning.count(b'":') // 2:  # It writes blanks after its colons.
        data = _COMMA.sub(b'","', _COLON.sub(b'":', data))
    if location.aside and location.aside in data:
        data = b"\n".join(line for line in data.split(b"\n") if location.aside not in line[:_SAMPLE])
    count = sum(map(data.count, location.marks))
    return count + sum(len(set(pattern.findall(data))) for pattern in location.once)


LONGEST = 120  # Characters of a title at most.
HEAD = 262_144
TAIL = 65_536  # Bytes of a log's two ends in which its title is looked for.
_DOCUMENT = 16 * 1024 * 1024
_FILES = 8  # Files of a folder in which a title is looked for.
_COMMAND = re.compile(r"<command-name>([^<]{1,200})</command-name>")
# A command of the agent's own, as Claude Code writes it down.
_GIVEN = re.compile(r"<command-args>([^<]{0,2000})</command-args>")
# A command of the agent's own and nothing else, which does not say what a session is about.
BARE_COMMAND = re.compile(r"/[\w:-]{1,60}")
_HEADING = re.compile(r"\A#{1,6} +(?=\S)")
_TAGS = re.compile(
    r"<(task|user_message|user_input|feedback|user_query|USER_REQUEST|pr_description)(?: [^<>]{0,200})?>"
    r"\s*(.*?)\s*(?:</\1>|\Z)",
    re.DOTALL,
)
_INSIDE = ("message", "payload", "data", "item", "args", "llm_message", "params", "update")
_PEOPLE = frozenset(
    (
        *("user", "user_message", "user.message", "USER_INPUT", "UserMessage", "TurnBegin", "Prompt"),
        *("session/prompt", "user_message_chunk"),
    )
)
# The values of these say who speaks, and these hold the words.
_SPEAKERS = ("type", "source", "kind", "method", "sessionUpdate")
_WORDS = ("content", "message", "text", "parts", "displayText", "prompt", "user_input", "payload")
_NOT_ASKED = (
    "Caveat:",
    "[SYSTEM]",
    "# AGENTS.md",
    "[Request interrupted",
    "This session is being continued",
    "System:",
)
# Codex in an editor: the text before it describes the editor.
_REQUEST = "## My request for Codex:"
_DEEPEST = 4
_SIGNED = 200  # Bytes at the beginning of a line in which the sign of a title is looked for.


class Title(NamedTuple):
    """A name that a record gives its session."""

    rank: int  # The person's own is 3, the agent's 2, a summary's 1; the highest wins, and the last of equals.
    text: str


Titles = Callable[[dict[str, Any]], Title | None]


def title_of(session: LogSession) -> str:
    """Return the title of a session, safe to show; blank if its log has none.

    Never raises on what is on disk.
    """
    log = session.logs[0]
    try:
        if log.format.style == "database":
            listing = getattr(log.format.reader, "listing", None)
            rows = listing(log.path) if listing is not None else []
            return next((display_title(one.title) for one in rows if one.session == log.session), "")
        if log.run:
            return ""
        if log.format.style == "folder":
            return _in_folder(log)
        beginning, end = _ends(log)
        if log.format.outline is not None:
            return display_title(log.format.outline(beginning).request)
        return read_title(beginning, end, log.format.titles, log.format.title_signs)
    except OSError:
        return ""


def read_title(beginning: bytes, end: bytes, titles: Titles | None, signs: tuple[bytes, ...] = ()) -> str:
    """The title in a log's two ends; with signs, only lines that begin with one of them are taken to have one."""
    named = chain(title_records(beginning, signs), title_records(end, signs))
    return _best_title(named, titles) or _first_request(title_records(beginning))


def _best_title(records: Iterable[dict[str, Any]], titles: Titles | None) -> str:
    """Return the title of the highest rank, the last of equals; blank if no record has one."""
    best = Title(0, "")
    for title in map(titles, records) if titles else ():
        if title is not None and title.text.strip() and title.rank >= best.rank:
            best = title
    return display_title(best.text)


def _first_request(records: Iterable[dict[str, Any]]) -> str:
    """Return the first request; the agent's own commands count only if there is no other request."""
    bare = ""
    for prompt in map(display_title, filter(None, map(request_text, records))):
        if not BARE_COMMAND.fullmatch(prompt):
            return prompt
        bare = bare or prompt
    return bare


def person_words(text: str) -> str:
    """Return the text a person wrote, without tags and notes that programs add."""
    text = codex_request(text)
    if not text.lstrip().startswith("<"):
        return text
    command = _COMMAND.search(text)
    if command is not None:
        arguments = _GIVEN.search(text)
        return f"{command[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    tagged = [tag[2] for tag in _TAGS.finditer(text) if tag[2]]
    return "\n".join(tagged) if tagged else text


def codex_request(text: str) -> str:
    """Return a person's request to Codex in an editor, without the editor's own text before it."""
    editor, marker, request = text.rpartition(_REQUEST)
    return request.strip() if marker and (not editor or editor.endswith("\n")) else text


def display_title(text: str) -> str:
    """Return a title for display: the first line with content."""
    lines = (strip_colours(line).strip() for line in text.lstrip().split("\n", 20))
    return one_line(_HEADING.sub("", next((line for line in lines if line), "")), LONGEST)


def title_records(data: bytes, signs: tuple[bytes, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield the objects in some bytes: whole lines, if they have one of some signs, or the messages of a document."""
    value = None if signs else decoded(data)
    if isinstance(value, dict):
        values: Iterable[Any] = (value, *_messages(value))
    elif isinstance(value, list):
        values = value
    else:
        lines = (line for line in data.split(b"\n") if line.lstrip().startswith(b"{"))
        values = chain.from_iterable(
            (record := decoded(line), *_messages(record))
            for line in lines
            if not signs or any(line.find(sign, 0, _SIGNED) > 0 for sign in signs)
        )
    return (one for one in values if isinstance(one, dict))


def _messages(document: Any) -> list[dict[str, Any]]:
    """Return the messages of a document, or of a record that holds a state of one, as VS Code's have it."""
    if not isinstance(document, dict):
        return []
    for name in ("messages", "history", "trajectory", "steps", "requests", "v"):
        if isinstance(listed := document.get(name), list):
            return [one for one in listed if isinstance(one, dict)]
    return _messages(document.get("v"))


def request_text(record: dict[str, Any]) -> str:
    """Return the person's request in a record; blank if it is not the person's, or not a request."""
    people = False
    if record.get("isMeta") is True or record.get("subtype") in ("notification", "cron"):
        return ""
    info = record.get("info")
    if isinstance(info, dict) and "role" in info:
        record = {**record, "role": info["role"]}
    holders = [record]
    for holder in holders:  # Grows by what is inside.
        holders += [inner for name in _INSIDE if isinstance(inner := holder.get(name), dict)]
        if isinstance(holder.get("role"), str):
            people = holder["role"] in _PEOPLE
        else:
            people = people or any(_is_person(holder.get(name)) for name in _SPEAKERS)
            people = people or holder.get("say") == "task" or "requestId" in holder
            people = people or (holder.get("action") == "message" and "source" not in holder)
        if people:
            text = next(filter(None, (_request_words(holder.get(name)) for name in _WORDS)), "")
            if text:
                return text
    return ""


def _is_person(value: Any) -> bool:
    return isinstance(value, str) and value in _PEOPLE


def _request_words(value: Any, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return ""
    if isinstance(value, str):
        tagged = _TAGS.search(value[:20_000])
        text = tagged[2] if tagged else codex_request(value).strip()
        return "" if text.startswith(("<", *_NOT_ASKED)) else text
    if isinstance(value, list):
        return next((text for one in value if (text := _request_words(one, depth + 1))), "")
    if isinstance(value, dict) and value.get("type") in (None, "text", "input_text"):
        return _request_words(value.get("text", value.get("data")), depth + 1)
    return ""


def _in_folder(log: Log) -> str:
    """Return the title in the first files of a folder; a stored title wins over a request."""
    files = [file for file in members(log)[:_FILES] if file.stat().st_size <= _DOCUMENT]
    records = [record for file in files for record in title_records(document(file).data)]
    return _best_title(records, log.format.titles) or _first_request(records)


def _ends(log: Log) -> tuple[bytes, bytes]:
    if log.format.style == "document":
        with open_unpacked(log.path) as stream:
            return read_bytes(stream, _DOCUMENT), b""
    if is_packed(log.path):
        return head(log.path, HEAD), b""
    with open_unpacked(log.path) as stream:
        stream.seek(log.start)
        beginning = read_bytes(stream, HEAD if log.end is None else min(HEAD, log.end - log.start))
        if log.end is None:
            stream.seek(0, 2)
            stream.seek(max(log.start, stream.tell() - TAIL))
            return beginning, read_bytes(stream, TAIL)
    return beginning, b""


_HEAD = 16_384
_TAIL = 4_096
# Bytes before the end that are searched for a timestamp if the last ones contain none, as in an image.
_LONG_TAILS = (65_536, 4_194_304)
_RECORDS = 32
_MORE = 262_144  # Bytes of the beginning that are read if a shorter one does not name the project.
# Bytes of a document that are searched for its session's id if its beginning does not contain it.
_WHOLE = 16 * 1024 * 1024
_PROJECT = ("cwd", "directory", "projectPath", "workspace")
_HASH = "projectHash"
_SESSION = ("sessionId", "session_id")
# Names of which a longer beginning must contain one to be useful.
_TELLING = tuple(f'"{name}"'.encode() for name in (*_PROJECT, _HASH, *_SESSION))
# Objects in a record that describe the session, not its conversation.
_HOLDERS = ("payload", "data", "context", "info", "$set")
_TIME = re.compile(
    rb'"(?:timestamp|lastUpdated|created_at|updated_at|created|completed|updated|time|ts)"\s*:\s*'
    rb'(?:"([^"\\]{10,40})"|(\d{10,13}(?:\.\d+)?))'
)
_FIRST = 1e9  # Times before it, which have less than ten digits, are those of a clock that was never set.
_TOKEN = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}\[\]]', re.DOTALL)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Glimpse(NamedTuple):
    """The result of a look at the two ends of a file."""

    project: str
    session: str
    events: int
    last: float | None
    ended: bool
    head: bytes = b""
    tail: bytes = b""


def glimpse(location: Location, stream: BinaryIO, path: Path, size: int) -> Glimpse:
    """Read a log's ends; a size of 0 means that its end cannot be reached."""
    head = read_bytes(stream, _HEAD)
    tail = b""
    if size > _HEAD:
        stream.seek(max(_HEAD, size - _TAIL))
        tail = read_bytes(stream, _TAIL)
    last = _latest(tail)
    if last is None:
        last = last_time(stream, size) if size > _HEAD else _latest(head)
    records = _records(head)
    project = _project(records)
    if not project and size > _HEAD:
        stream.seek(0)
        more = read_bytes(stream, _MORE)
        if any(name in more for name in _TELLING):
            records = _records(more)
            project = _project(records)
    session = _first_text(records, _SESSION)
    if not session and location.session is not None:
        session = location.session(path)
    sampled = len(head) + len(tail)
    return Glimpse(
        project=redact_name(project),
        session=session or _id_in_name(path),
        events=estimate_events(location, [head, tail], sampled / max(size, sampled, 1)),
        last=last,
        ended=bool(location.ended) and location.ended in (tail or head),
        head=head,
        tail=tail,
    )


def _project(records: list[dict[str, Any]]) -> str:
    return _first_text(records, _PROJECT) or _first_text(records, (_HASH,))[:12]


def last_time(stream: BinaryIO, size: int) -> float | None:
    """Return the latest timestamp near the end of a log; None if there is none."""
    for length in _LONG_TAILS:
        stream.seek(max(0, size - length))
        last = _latest(read_bytes(stream, length))
        if last is not None or size <= length:
            return last
    return None


def _latest(data: bytes) -> float | None:
    stamps = [text.decode("ascii", "replace") if text else float(number) for text, number in _TIME.findall(data)]
    return max((at for at in map(seconds, stamps) if at is not None and at >= _FIRST), default=None)


def _records(head: bytes) -> list[dict[str, Any]]:
    """Return the first objects of a log: its complete lines, or the readable part of a truncated document."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:_RECORDS]
    records = [value for line in lines if isinstance(value := decoded(line), dict)]
    return records or [_outline(head)]


def _outline(head: bytes) -> dict[str, Any]:
    """Return the texts on the first two levels of a truncated object."""
    if not head.lstrip().startswith(b"{"):
        return {}
    texts: dict[str, Any] = {}
    for path, text in _texts(head):
        if len(path) == 1 or (len(path) == 2 and path[0] in _HOLDERS):
            texts.setdefault(path[-1], text)
    return texts


def id_in_document(path: Path, key: tuple[str, ...]) -> str:
    """Return the text at a place in a document, searched in its beginning first; blank if there is none."""
    with open_unpacked(path) as stream:
        head = read_bytes(stream, _HEAD)
        early = next((text for place, text in _texts(head) if place == key), "")
        if early or len(head) < _HEAD:
            return early
        rest = read_bytes(stream, _WHOLE)
    value: Any = (head + rest).removeprefix(b"\xef\xbb\xbf").rstrip(b"\0 \t\r\n")
    for name in key:
        value = (decoded(value, OBJECT) or {}).get(name, b"")
    return decoded(value, str) or ""


def _texts(head: bytes) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every text under a key in the beginning of an object, with the keys that lead to it."""
    path: list[str] = []
    key = ""
    for token in _TOKEN.finditer(head):
        mark = token[0][:1]
        if mark in (b"{", b"["):
            path.append(key)
        elif mark in (b"}", b"]"):
            path = path[:-1]
        elif token[2]:
            key = _decode_string(token[1])
            continue
        elif key:
            yield (*path[1:], key), _decode_string(token[1])
        key = "" if mark in (b"}", b"]", b'"') else key


def _first_text(records: list[dict[str, Any]], names: tuple[str, ...]) -> str:
    """Return the first text of these names, in the record itself before inner objects."""
    values = (holder.get(name) for record in records for holder in _holders(record) for name in names)
    return next((value for value in values if isinstance(value, str) and value), "")


def _holders(record: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [value for name in _HOLDERS if isinstance(value := record.get(name), dict)]
    deeper = [value for one in inner for name in _HOLDERS if isinstance(value := one.get(name), dict)]
    return [record, *inner, *deeper]


def _id_in_name(path: Path) -> str:
    """The id in a file's name."""
    uuid = _UUID.search(path.name)
    return uuid[0] if uuid else stem(path).rpartition("_")[2]


def _decode_string(raw: bytes) -> str:
    text = decoded(b'"' + raw + b'"', str)
    return raw.decode("utf-8", "replace") if text is None else text
