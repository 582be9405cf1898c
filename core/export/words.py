"""The words behind events, read again from the log where they stand, redacted and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.agents.loose import words
from core.events import Event, Prompt, ToolUse, Turn
from core.logs.diagnostics import Diagnostics
from core.logs.excerpt import read as read_passage
from core.logs.records import records
from core.logs.redaction import redact
from core.logs.session import LogSession
from core.settings.logs import LineSettings

_NAMES = ("tool_use_id", "call_id", "callID", "toolCallId", "tool_call_id", "id")
_ARGUMENTS = ("input", "arguments", "args", "parameters")
_RESULTS = ("output", "result", "content", "resultDisplay", "error")
_INSIDE = ("payload", "message", "args", "data", "parts", "msg", "state", "function")
_COMMANDS = ("command", "cmd", "script", "code")
_ABOUT = ("file_path", "path", "filePath", "pattern", "query", "url", "description", "prompt")
_ADDED = ("<system-reminder>", "<ide_opened_file>", "<ide_selection>", "<environment_context>")
_WORDLESS = frozenset(("nooscope",))
"""Formats that hold no words; what looks like some are names and fingerprints."""
_DEEPEST = 12
_MARGIN = 16_384
"""Characters looked at beyond what is kept, so that a secret across the cut is still seen as one."""
_TELLING = (
    re.compile(r"\bFAIL(?:ED)?\b|\w+(?:Error|Exception)\b|\berror(?:\[\w+\])?:|\bfatal\b|\bpanic", re.I),
    re.compile(r"error|fail|assert|not found|denied|cannot|undefined|no such", re.I),
)
"""Signs of the line that says what went wrong, the surest first."""


class Spoken(NamedTuple):
    """What an event says: of a prompt or a turn its text, of a tool use its call and its result."""

    text: str = ""
    result: str = ""


SILENT = Spoken()


class Words:
    """The words of a session's events, read in one pass over its logs."""

    def __init__(
        self, session: LogSession, events: Iterable[Event], lines: LineSettings, longest: int
    ) -> None:
        self._longest = longest
        self._calls: dict[str, str] = {}
        self._results: dict[str, str] = {}
        self._turns: dict[str, list[str]] = {}
        told = [event for event in events if isinstance(event, ToolUse | Turn)]
        self._tools = {event.id for event in told if isinstance(event, ToolUse) and event.id}
        self._answers = {event.id for event in told if isinstance(event, Turn) and event.id}
        self._places = tuple(log.path for log in session.logs if log.format.name not in _WORDLESS)
        for log in session.logs:
            if log.format.name in _WORDLESS:
                continue
            for record in records(log, Diagnostics(), lines):
                self._take(_decoded(record.data), 0)

    def of(self, event: Event) -> Spoken:
        """What one event says; blank where its kind says nothing or the log is gone."""
        if isinstance(event, Prompt):
            return Spoken(bounded(self._behind(event), self._longest))
        if isinstance(event, ToolUse):
            call, result = self._calls.get(event.id, ""), self._results.get(event.id, "")
            if not call and not result:
                result = bounded(self._behind(event), self._longest)
            return Spoken(call, result)
        if isinstance(event, Turn):
            said = self._turns.get(event.id) or _answered(_decoded(self._passage(event)), 0)
            return Spoken(bounded("\n".join(said), self._longest)) if said else SILENT
        return SILENT

    def _passage(self, event: Event) -> str:
        """What stands at an event's own place, where that lies in the session's own logs."""
        if event.where is None:
            return ""
        file = Path(event.where.file)
        if not any(file == place or place in file.parents for place in self._places):
            return ""
        return read_passage(event.where).text

    def _behind(self, event: Event) -> str:
        """The words at an event's own place."""
        text = self._passage(event)
        value = _decoded(text)
        return text if value is None else "\n".join(_spoken(value, 0))

    def _take(self, value: Any, depth: int) -> None:
        """Keep what any object inside a record says of a call or an answer that is looked for."""
        if depth > _DEEPEST:
            return
        if isinstance(value, list):
            for item in value:
                self._take(item, depth + 1)
            return
        if not isinstance(value, dict):
            return
        for name in _NAMES:
            found = value.get(name)
            if isinstance(found, str):
                if found in self._tools:
                    self._keep(found, value)
                    break
                if found in self._answers:
                    self._turns.setdefault(found, []).extend(_answer(value.get("content")))
        for item in value.values():
            if isinstance(item, dict | list):
                self._take(item, depth + 1)

    def _keep(self, name: str, value: dict[str, Any]) -> None:
        inner = [value, *(value[key] for key in _INSIDE if isinstance(value.get(key), dict))]
        if name not in self._calls:
            given = next((one[key] for one in inner for key in _ARGUMENTS if one.get(key)), None)
            if given is not None:
                self._calls[name] = _command(given, self._longest)
        if name not in self._results:
            result = next((text for one in inner for key in _RESULTS if (text := _result(one.get(key)))), "")
            if result:
                self._results[name] = bounded(result, self._longest)


def bounded(text: str, longest: int) -> str:
    """Text without secrets, no longer than that."""
    clean = redact(text[: longest + _MARGIN]).strip()
    return clean if len(clean) <= longest else clean[: longest - 1].rstrip() + "…"


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def error_line(text: str) -> str:
    """The line of a result that best says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for sign in _TELLING:
        for line in lines:
            if sign.search(line):
                return line
    return lines[-1] if lines else ""


def _decoded(data: bytes | str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _spoken(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip() and not value.lstrip().startswith(_ADDED):
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _spoken(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for name in ("text", "content", *_INSIDE, "output", "error"):
            found = list(_spoken(value.get(name), depth + 1))
            if found:
                yield from found
                return


def _answer(content: Any) -> list[str]:
    """What an answer says to the person, its calls and thoughts left out."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type") in ("text", "output_text")
        and isinstance(part.get("text"), str)
    ]


def _answered(value: Any, depth: int) -> list[str]:
    """What a record of the model's answer says to the person."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return []
    if value.get("role") == "assistant" or value.get("type") in ("assistant", "gemini"):
        found = [text for text in _answer(value.get("content")) if text.strip()]
        if found:
            return found
    inner = (value.get(name) for name in ("message", "payload", "data"))
    return next((found for item in inner if (found := _answered(item, depth + 1))), [])


def _result(value: Any) -> str:
    """A result's text, wherever in it that stands."""
    found = words(value)
    if found:
        return found
    if isinstance(value, list):
        return "\n".join(part for item in value if (part := _result(item)))
    if isinstance(value, dict):
        return next(
            (part for item in value.values() if isinstance(item, dict) and (part := _result(item))), ""
        )
    return ""


def _command(given: Any, longest: int) -> str:
    """A call's arguments in few words: the command, what it is about, or all of them."""
    value = _decoded(given) if isinstance(given, str) else given
    if value is None:
        return bounded(str(given), longest)
    whole = bounded(msgspec.json.encode(value).decode(), longest + _MARGIN)
    clean = _decoded(whole)
    if isinstance(clean, dict):
        for name in (*_COMMANDS, *_ABOUT):
            told = clean.get(name)
            if isinstance(told, list):
                told = " ".join(map(str, told))
            if isinstance(told, str) and told.strip():
                return bounded(told, longest)
    return bounded(whole, longest)
