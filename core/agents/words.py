"""The words behind an event, read from its log when somebody looks: asked, said, run, answered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec

from core.agents.arguments import Arguments
from core.agents.loose import decode, items, table, text, words
from core.agents.tables import read_tables
from core.events import AgentStart, Event, Prompt, ToolUse, Turn, Where
from core.logs.excerpt import raw
from core.logs.redaction import redact

LONGEST = 20_000
"""Characters of one text that are handed out at most; of outputs, the last ones."""
_DEEPEST = 12
_IDS = ("id", "tool_use_id", "call_id", "callID", "toolCallId", "tool_call_id", "toolUseId")
_CALLED = ("input", "arguments", "args", "parameters", "rawInput", "toolArgs", "action", "command")
_ANSWERED = ("output", "result", "content", "observation", "tool_result", "toolResult", "response", "error")
_ANSWERS = frozenset(("tool_result", "function_call_output", "custom_tool_call_output", "toolResult"))
_FENCED = re.compile(r"```(?:mswea_bash_command|bash|sh)?[ \t]*\n(.*?)\n```", re.DOTALL)
_THOUGHTS = frozenset(("thinking", "reasoning", "redacted_thinking", "thought"))


class Words(NamedTuple):
    """What a person would read of one event; everything is redacted and bounded."""

    said: str = ""
    """The prompt's or the answer's text."""
    command: str = ""
    """Of a call: the command, or the argument that says most."""
    before: str = ""
    """Of an edit: the text it took away."""
    after: str = ""
    """Of an edit: the text it put there."""
    output: str = ""
    """What came back; its end, where it is long."""
    fault: str = ""
    """Why the log could not be read again; blank where it could."""


NOTHING = Words()


def words_of(event: Event) -> Words:
    """The words behind an event; never raises on what the disk or the log holds."""
    try:
        if isinstance(event, ToolUse):
            return _call(event)
        if isinstance(event, Prompt | AgentStart):
            return Words(said=_shown(_spoken(_values(event.where), ("user", ""))))
        if isinstance(event, Turn):
            return Words(said=_shown(_spoken(_values(event.where), ("assistant", ""))))
    except OSError as fault:
        return Words(fault=fault.strerror or str(fault))
    return NOTHING


def telling_line(output: str) -> str:
    """The line of an output that says what went wrong: the last that names an error, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in reversed(lines):
        lower = line.lower()
        if any(
            mark in lower
            for mark in ("error", "fail", "exception", "not found", "denied", "expected", "panic")
        ):
            return line
    return lines[-1] if lines else ""


def _call(event: ToolUse) -> Words:
    asked = list(_values(event.called or event.where))
    told = list(_values(event.where)) if event.called else asked
    given = _arguments(asked, event)
    paths, before, after = (
        _names().edit(given) if event.action in ("file_edit", "memory_write") else ((), "", "")
    )
    return Words(
        command=_shown(_gist(given, paths)),
        before=_shown(before),
        after=_shown(after),
        output=_end(_answer(told, event)),
    )


def _values(where: Where | None) -> Iterator[Any]:
    """The JSON values that stand at a place, one for each line."""
    if where is None:
        return
    data = raw(where)
    value = decode(data)
    if value is not None:
        yield value
        return
    for line in data.splitlines():
        value = decode(line)
        if value is not None:
            yield value


def _arguments(values: list[Any], event: ToolUse) -> Any:
    for found in _about(values, event):
        function = (
            table(found.get("function")) or table(found.get("state")) or _wrapped(found, "toolCall") or found
        )
        for name in _CALLED:
            given = function.get(name)
            if given is not None and text(found.get("type")) not in _ANSWERS:
                return _opened(given)
    for value in values:
        fenced = _FENCED.search(_plain(table(value).get("content")))
        if fenced:
            return fenced[1]
    return None


def _answer(values: list[Any], event: ToolUse) -> str:
    for found in _about(values, event):
        if text(found.get("type")) in ("tool_use", "toolCall", "function_call"):
            continue
        holder = table(found.get("state")) or _wrapped(found, "toolResult") or found
        for name in _ANSWERED:
            said = words(_opened(holder.get(name)))
            if said:
                return said
    return ""


def _about(values: list[Any], event: ToolUse) -> list[dict[str, Any]]:
    """The objects that name the call; where its log knows no ids, the records themselves."""
    named = [
        found
        for value in values
        for found in _walk(value)
        if event.id and any(found.get(name) == event.id for name in _IDS)
    ]
    return named or [
        told
        for value in values
        for told in (table(value), table(table(value).get("args")), table(table(value).get("action")))
        if told
    ]


def _wrapped(found: dict[str, Any], name: str) -> dict[str, Any]:
    """What a request or a response wraps in a value of its own."""
    return table(table(found.get(name)).get("value"))


def _opened(value: Any) -> Any:
    """Arguments and results that are JSON inside a text, opened."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        inner = decode(value.encode("utf-8", "surrogatepass"))
        return value if inner is None else inner
    return value


def _gist(given: Any, paths: tuple[str, ...]) -> str:
    """The argument a person would name the call by."""
    known = _names()
    command = known.command(given) if not isinstance(given, dict) or not paths else None
    if command is not None:
        return command if isinstance(command, str) else " ".join(map(str, command))
    targets = paths or known.targets(given)
    if targets:
        return " ".join(targets)
    if isinstance(given, dict):
        for name in (
            "pattern",
            "query",
            "description",
            "prompt",
            "url",
            "title",
            "question",
            "skill",
            "task",
        ):
            if text(given.get(name)):
                return text(given.get(name))
        short = {name: item for name, item in given.items() if isinstance(item, str | int | float | bool)}
        return msgspec.json.encode(short).decode() if short else ""
    return text(given)


def _spoken(values: Iterator[Any], roles: tuple[str, ...]) -> str:
    """What is said in some records by one of these roles, without thoughts, calls and results."""
    found = []
    for value in values:
        for holder in (
            value,
            table(value).get("message"),
            table(value).get("payload"),
            table(value).get("data"),
        ):
            said = _text(holder, roles)
            if said:
                found.append(said)
                break
    return "\n".join(found)


def _text(holder: Any, roles: tuple[str, ...]) -> str:
    told = table(holder)
    if isinstance(holder, str):
        return holder
    role = text(told.get("role"))
    if role and role not in (*roles, "model" if "assistant" in roles else role if "" not in roles else ""):
        return ""
    item = table(told.get("item"))
    if item:
        return _text(item, roles)
    for name in (
        "content",
        "text",
        "message",
        "parts",
        "response",
        "prompt",
        "last_agent_message",
        "thought",
    ):
        said = _plain(told.get(name))
        if said:
            return said
    return ""


def _plain(value: Any, depth: int = 0) -> str:
    """The text of a message's content, its thoughts, calls and results left out."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(said for part in value if (said := _plain(part, depth + 1)))
    part = table(value)
    kind = text(part.get("type"))
    if kind in _THOUGHTS or kind in _ANSWERS or kind in ("tool_use", "toolCall", "function_call"):
        return ""
    return text(part.get("text")) or _plain(items(part.get("content")), depth + 1)


def _walk(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every object in a value, the outer ones first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _walk(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner, depth + 1)


def _shown(said: str) -> str:
    return redact(said[: LONGEST * 2])[:LONGEST].strip()


def _end(said: str) -> str:
    return redact(said[-LONGEST * 2 :])[-LONGEST:].strip()


@cache
def _names() -> Arguments:
    return Arguments(read_tables().lists["arguments"])
