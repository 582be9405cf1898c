"""Hides secrets in decoded values, known by the names they are under, and in the names of events."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from core.events import (
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    Rollback,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.logs.redact.text import HIDDEN, SecretKind, is_secret_value, name_kind, redact, redact_torn, redact_words
from core.logs.redact.tokens import SHAPES
from core.safe_text import safe

_DEEPEST = 64  # Levels of a value that are looked at; what is deeper is left out.
_LONGEST_NAME = 80
_LONGEST_COMMAND = 100_000
_LONGEST_TEXT = 1_000_000
_OPENS, _CLOSES = frozenset("{["), frozenset("}]")
# Whole names, in lower case, that no ending announces.
_HEADERS: dict[str, SecretKind] = {
    **dict.fromkeys(("authorization", "proxy-authorization", "cookie", "set-cookie", "bearer"), "secret"),
    **dict.fromkeys(("passcode", "pw"), "password"),
}
# Names beside `pass` that make it a password.
_USERS = frozenset(("user", "username", "user_name", "login", "email", "host"))
# Names of descriptions inside a table of secrets.
_ABOUT = frozenset(SHAPES.names.facts)
_ABOUT_ENDS = ("_id", "_email", "_url", "_uri", "_at", "_name", "_type")
_NAMED_BY = ("name", "Name", "key", "Key", "header", "variable", "field", "label")
_TYPED_INTO = ("element", "selector", "placeholder")
_GIVEN = ("value", "Value", "text", "val")  # Fields of a name, of what is typed into, and of what is given to them.
_LABEL_END = re.compile(r"(?i)(?:[ _-](?:field|input|box))?[ *:?.]{0,8}\Z")
_OPTION = re.compile(r"--?[A-Za-z]")
_PATCHED = frozenset(("", " ", "+", "-", "\\"))  # Beginnings of lines in a patch.
_INSET = re.compile(r"\n {1,8}(?=\S)")  # Indentation of formatted JSON.
_FOLDER = re.compile(r"[/~.]|[A-Za-z]:[/\\]")
_PASSWORD = re.compile(r"(?i)passw(?:or)?d|passphrase|passcode")
_COMMANDS = ("command", "cmd", "program")
_ARGUMENTS = ("args", "argv", "arguments")
_MIXED = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])\S{8,}")


def redact_value(value: Any, depth: int = 0) -> Any:
    """Return the value with every secret hidden that its name announces; the same object if there is none."""
    if isinstance(value, dict):
        return _redact_table(value, depth) if depth <= _DEEPEST else {}
    if isinstance(value, list):
        if depth > _DEEPEST:
            return []
        words = _command_words(value)
        items = [redact_value(item, depth + 1) for item in value] if words is None else words
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, str) and len(value) <= _LONGEST_TEXT:
        bare = value.strip()
        if bare[:1] in _OPENS and bare[-1:] in _CLOSES:
            return _json_text(value, depth)
    return value


def _json_text(value: str, depth: int) -> str:
    """Redact a text that is JSON itself, with its formatting."""
    try:
        inner = msgspec.json.decode(value)
        hidden = redact_value(inner, depth + 1)
        if hidden is inner:
            return value
        inset = _INSET.search(value)
        plain = msgspec.json.encode(hidden)
        return (msgspec.json.format(plain, indent=len(inset[0]) - 1) if inset else plain).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return value


def _redact_table(value: dict[str, Any], depth: int) -> dict[str, Any]:
    changed = _paired_secrets(value)
    for names in _ARGUMENTS:
        if names in value:
            changed.update(_argument_secrets(value, names))
    sealed = value.get("kind") == "Secret"
    for name, item in value.items():
        if name in changed or item is None or item is True or item is False:
            continue
        kind = _kind_of_name(name[-_LONGEST_NAME:])
        if kind == "word" and not _USERS.isdisjoint(value):
            kind = "password"
        if sealed and name in ("data", "stringData"):
            kind = "password"
        hidden = redact_value(item, depth + 1) if kind is None else _redact_under(name, item, kind, depth)
        if hidden is not item:
            changed[name] = hidden
    return {**value, **changed} if changed else value


def _redact_under(name: str, item: Any, kind: SecretKind, depth: int) -> Any:
    """Redact the value under a secret's name."""
    if isinstance(item, str):
        folder = name[-3:] in ("pwd", "PWD") and _FOLDER.match(item)
        return HIDDEN if is_secret_value(item, kind) and not folder else item
    if isinstance(item, dict | list):
        if kind in ("password", "secret"):
            return _redact_below(item, kind, "token" in name.lower(), depth + 1)
        if kind == "login" and len(item) == 2 and isinstance(item, list) and isinstance(item[1], str):
            return [item[0], HIDDEN] if is_secret_value(item[1], "password") else item
        return redact_value(item, depth + 1)
    return HIDDEN if kind == "password" and isinstance(item, int) and not isinstance(item, bool) else item


def _redact_below(value: Any, kind: SecretKind, unsure: bool, depth: int) -> Any:
    """Redact everything in a table or list under a secret's name, except descriptions."""
    if isinstance(value, str):
        sure = _MIXED.fullmatch(value) is not None if unsure else " " not in value
        return HIDDEN if sure and is_secret_value(value, kind) else value
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return redact_value(value, depth)
    if isinstance(value, list):
        items = [_redact_below(item, kind, unsure, depth + 1) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    changed: dict[str, Any] = {}
    for name, item in value.items():
        about = _is_about(name) or (name in ("key", "Key") and not {"value", "Value"}.isdisjoint(value))
        own = _kind_of_name(name[-_LONGEST_NAME:])
        if own is not None:
            hidden = _redact_under(name, item, own, depth)
        else:
            hidden = redact_value(item, depth + 1) if about else _redact_below(item, kind, unsure, depth + 1)
        if hidden is not item:
            changed[name] = hidden
    return {**value, **changed} if changed else value


def _is_about(name: str) -> bool:
    small = name.lower()
    return small in _ABOUT or small.endswith(_ABOUT_ENDS)


def _paired_secrets(value: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with the value of a secret whose name is in another field."""
    value_fields = [name for name in _GIVEN if isinstance(value.get(name), str)]
    if not value_fields:
        return {}
    kind: SecretKind | None = "password" if value.get("type") == "password" else None
    for name in _NAMED_BY:
        label = value.get(name)
        if kind is None and isinstance(label, str):
            kind = _kind_of_name(_LABEL_END.sub("", label[:_LONGEST_NAME]))
    typed = any(isinstance(label := value.get(name), str) and _PASSWORD.search(label) for name in _TYPED_INTO)
    return {
        name: HIDDEN
        for name in value_fields
        if (kind is not None and name != "text" and is_secret_value(value[name], kind))
        or (typed and " " not in value[name] and is_secret_value(value[name], "password"))
    }


def _argument_secrets(value: dict[str, Any], names: str) -> dict[str, Any]:
    """The arguments of a program that is named beside them."""
    program = next((command for name in _COMMANDS if isinstance(command := value.get(name), str)), "")
    if not program or not isinstance(value[names], list):
        return {}
    words = _command_words([program, *value[names]])
    return {} if words is None or words[1:] == value[names] else {names: words[1:]}


def _command_words(value: list[Any]) -> list[str] | None:
    """Redact a list that is a command with options;

    None if it is something else, such as lines of a patch.
    """
    if not all(isinstance(word, str) for word in value) or not any(map(_OPTION.match, value)):
        return None
    if any(word.startswith((" ", "+")) for word in value) and all(word[:1] in _PATCHED for word in value):
        return None
    return redact_words(value) if sum(map(len, value)) <= _LONGEST_COMMAND else None


@lru_cache(maxsize=4096)
def _kind_of_name(name: str) -> SecretKind | None:
    kind = _HEADERS.get(name.lower()) or name_kind(name)
    return _kind_of_name(name[:-1]) if kind is None and name[-1:] in ("s", "S") else kind


_FIELDS: dict[type[Event], tuple[str, ...]] = {
    SessionStart: ("agent", "tool", "project", "branch", "version", "model"),
    Prompt: ("agent", "mode"),
    Turn: ("agent", "model", "stop", "mode"),
    ToolUse: ("agent", "tool", "program"),
    Compaction: ("agent", "trigger"),
    Advice: ("agent",),
    Rollback: ("agent",),
    AgentStart: ("agent", "child", "role"),
    AgentEnd: ("agent", "child"),
    SessionEnd: ("agent", "reason"),
}
_MOST_NAMES = 50_000  # Names remembered at once.
_SHORTEST_NAME = 12  # Shortest name that can contain a secret.

_LOOK = 8  # Multiple of the shown length that is read, so that a secret across the cut is recognised.

_redacted_names: dict[str, str] = {}
_harmless: set[str] = {""}  # Names without secrets, as nearly all are.


def redact_event(event: Event) -> Event:
    """Return the event with secrets in its names hidden."""
    harmless = _harmless
    if type(event) is ToolUse:
        if event.tool in harmless and event.program in harmless and event.agent in harmless:
            for target in event.targets:
                if target not in harmless:
                    break
            else:
                return event
    elif type(event) is Turn and event.model in harmless and event.stop in harmless and event.agent in harmless:
        return event
    return _redact_fields(event)


def _redact_fields(event: Event) -> Event:
    changed: dict[str, object] = {}
    for field in _FIELDS.get(type(event), ()):
        name = getattr(event, field)
        if (hidden := redact_name(name)) != name:
            changed[field] = hidden
    if type(event) is ToolUse:
        targets = tuple(map(redact_name, event.targets))
        if targets != event.targets:
            changed["targets"] = targets
    return replace(event, **changed) if changed else event


def redact_name(name: str) -> str:
    """A name as it may be shown."""
    if name in _harmless:
        return name
    hidden = _redacted_names.get(name)
    if hidden is None:
        hidden = redact(name) if len(name) >= _SHORTEST_NAME else name
        if len(_redacted_names) + len(_harmless) >= _MOST_NAMES:
            _redacted_names.clear()
            _harmless.clear()
        if hidden == name:
            _harmless.add(name)
        else:
            _redacted_names[name] = hidden
    return hidden


def one_line(text: str, most: int = 120) -> str:
    """Text from a log as a person may see it: one line, safe for a terminal, without secrets."""
    start = text[: most * _LOOK]
    hidden = redact_torn(start) if len(text) >= most * _LOOK else redact(start)
    return safe(hidden)[:most].strip()
