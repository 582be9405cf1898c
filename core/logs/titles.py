"""What a session is about: the title its log keeps, else the first thing the person asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from core.logs.event_redaction import one_line
from core.logs.lines import head, is_packed, opened, take
from core.logs.records import Log, document, members
from core.logs.session import LogSession
from core.safe_text import uncoloured

LONGEST = 120
"""Characters of a title at most."""
HEAD = 262_144
TAIL = 65_536
"""Bytes of a log's two ends in which its title is looked for."""
_DOCUMENT = 16 * 1024 * 1024
_FILES = 8
"""Files of a folder in which a title is looked for."""
_COMMAND = re.compile(r"<command-name>([^<]{1,200})</command-name>")
_GIVEN = re.compile(r"<command-args>([^<]{0,2000})</command-args>")
"""A command of the agent's own, as Claude Code writes it down."""
BARE_COMMAND = re.compile(r"/[\w:-]{1,60}")
"""A command of the agent's own and nothing else, which does not say what a session is about."""
_HEADING = re.compile(r"\A#{1,6} +(?=\S)")
_TAGS = re.compile(
    r"<(task|user_message|user_input|feedback|user_query|USER_REQUEST|pr_description)(?: [^<>]{0,200})?>"
    r"\s*(.*?)\s*(?:</\1>|\Z)",
    re.DOTALL,
)
_INSIDE = ("message", "payload", "data", "item", "args", "llm_message")
_PEOPLE = frozenset(("user", "user_message", "user.message", "USER_INPUT", "UserMessage"))
_NOT_ASKED = (
    "Caveat:",
    "[SYSTEM]",
    "# AGENTS.md",
    "[Request interrupted",
    "This session is being continued",
    "System:",
)
_REQUEST = "## My request for Codex:"
"""What comes before it tells of the editor."""
_DEEPEST = 4


class Title(NamedTuple):
    """A name that a record gives its session."""

    rank: int
    """The person's own is 3, the agent's 2, a summary's 1; the highest wins, and the last of equals."""
    said: str


Titles = Callable[[dict[str, Any]], Title | None]


def title_of(session: LogSession) -> str:
    """The title of a session, safe to show; blank where its log has none. Never raises on what is on disk."""
    log = session.logs[0]
    try:
        if log.format.style == "database":
            listing = getattr(log.format.reader, "listing", None)
            found = listing(log.path) if listing is not None else []
            return next((shown(one.title) for one in found if one.session == log.session), "")
        if log.run:
            return ""
        if log.format.style == "folder":
            return _in_folder(log)
        beginning, end = _ends(log)
        if log.format.outline is not None:
            return shown(log.format.outline(beginning).asked)
        return read_title(beginning, end, log.format.titles)
    except OSError:
        return ""


def read_title(beginning: bytes, end: bytes, titles: Titles | None) -> str:
    """The title in a log's two ends."""
    first = title_records(beginning)
    if titles is not None:
        best: Title | None = None
        for record in (*first, *title_records(end)):
            found = titles(record)
            if found is not None and found.said.strip() and (best is None or found.rank >= best.rank):
                best = found
        if best is not None:
            return shown(best.said)
    prompts = [shown(said) for record in first if (said := asked(record))]
    return next((one for one in prompts if not BARE_COMMAND.fullmatch(one)), prompts[0] if prompts else "")


def person_words(said: str) -> str:
    """What a person wrote, without the tags and the notes that programs put around it."""
    said = asked_of_codex(said)
    if not said.lstrip().startswith("<"):
        return said
    command = _COMMAND.search(said)
    if command is not None:
        given = _GIVEN.search(said)
        return f"{command[1].strip()} {given[1].strip() if given else ''}".strip()
    tagged = [found[2] for found in _TAGS.finditer(said) if found[2]]
    return "\n".join(tagged) if tagged else said


def asked_of_codex(said: str) -> str:
    """What a person asks Codex for in an editor, without what that tells of itself before it."""
    editor, found, request = said.rpartition(_REQUEST)
    return request.strip() if found and (not editor or editor.endswith("\n")) else said


def shown(said: str) -> str:
    """A title as a person may see it: its first line that says something."""
    lines = (uncoloured(line).strip() for line in said.lstrip().split("\n", 20))
    return one_line(_HEADING.sub("", next((line for line in lines if line), "")), LONGEST)


def title_records(data: bytes) -> list[dict[str, Any]]:
    """The objects in some bytes: whole lines, or the messages of a document."""
    value = _opened(data)
    if isinstance(value, dict):
        return [value, *_messages(value)]
    if isinstance(value, list):
        return [one for one in value if isinstance(one, dict)]
    found = (_opened(line) for line in data.split(b"\n") if line.lstrip().startswith(b"{"))
    return [one for one in found if isinstance(one, dict)]


def _messages(document: dict[str, Any]) -> list[dict[str, Any]]:
    for name in ("messages", "history", "trajectory"):
        if isinstance(listed := document.get(name), list):
            return [one for one in listed if isinstance(one, dict)]
    return []


def asked(record: dict[str, Any]) -> str:
    """What the person asks for in a record; blank where it is not the person's, or not asked for."""
    people = False
    if record.get("isMeta") is True or record.get("subtype") in ("notification", "cron"):
        return ""
    told = record.get("info")
    if isinstance(told, dict) and "role" in told:
        record = {**record, "role": told["role"]}
    holders = [record, *(inner for name in _INSIDE if isinstance(inner := record.get(name), dict))]
    holders += [inner for held in holders[1:] if isinstance(inner := held.get("item"), dict)]
    for holder in holders:
        if isinstance(holder.get("role"), str):
            people = holder["role"] in _PEOPLE
        else:
            people = people or any(_is_person(holder.get(name)) for name in ("type", "source"))
            people = people or holder.get("say") == "task"
            people = people or (holder.get("action") == "message" and "source" not in holder)
        if people:
            for name in ("content", "message", "text", "parts", "displayText"):
                said = _words(holder.get(name))
                if said:
                    return said
    return ""


def _is_person(value: Any) -> bool:
    return isinstance(value, str) and value in _PEOPLE


def _words(value: Any, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return ""
    if isinstance(value, str):
        tagged = _TAGS.search(value[:20_000])
        said = tagged[2] if tagged else asked_of_codex(value).strip()
        return "" if said.startswith(("<", *_NOT_ASKED)) else said
    if isinstance(value, list):
        return next((said for one in value if (said := _words(one, depth + 1))), "")
    if isinstance(value, dict) and value.get("type") in (None, "text", "input_text"):
        return _words(value.get("text"), depth + 1)
    return ""


def _in_folder(log: Log) -> str:
    """The title in the first files of a folder; the log's own before what was asked."""
    asked_first = ""
    for file in members(log)[:_FILES]:
        if file.stat().st_size > _DOCUMENT:
            continue
        found = title_records(document(file).data)
        titles = log.format.titles
        named = [title for record in found if titles and (title := titles(record)) and title.said.strip()]
        if named:
            return shown(max(named, key=lambda title: title.rank).said)
        asked_first = asked_first or next((said for record in found if (said := asked(record))), "")
    return shown(asked_first)


def _ends(log: Log) -> tuple[bytes, bytes]:
    if log.format.style == "document":
        with opened(log.path) as stream:
            return take(stream, _DOCUMENT), b""
    if is_packed(log.path):
        return head(log.path, HEAD), b""
    with opened(log.path) as stream:
        stream.seek(log.start)
        beginning = take(stream, HEAD if log.end is None else min(HEAD, log.end - log.start))
        if log.end is None:
            stream.seek(0, 2)
            stream.seek(max(log.start, stream.tell() - TAIL))
            return beginning, take(stream, TAIL)
    return beginning, b""


def _opened(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
