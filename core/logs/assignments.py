"""Finds values that are given to a secret's name: assignments, fields, flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_QUOTE = r"""\\*["']"""
_VALUE = re.compile(
    rf"(?P<between>(?:{_QUOTE})?\s*(?::=|=>|[:=])\s*|(?P<flag>[ ]+))"
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\[^\n]|[^\n\\]))++)(?:(?=(?P=quote))|\Z)"
    r"""|(?P<bare>[^\s"'\\,;&<>(){}\[\]$`|*]++)(?P<call>[(\[]?))"""
)
"""What may follow a name: a separator and a value, in quotes or bare."""

_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
_SECRETS = ("secret", "token", "credential", "credentials")
_KEYS = tuple(
    f"{kind}{link}"
    for kind in ("api", "access", "private", "signing", "encryption", "account", "auth", "master", "secret")
    for link in ("", "_", "-")
)
"""What stands before `key` where the key is a secret."""
_SHOUTED = ("KEY", "PASS", "AUTH", "PAT", "DSN")
"""What a variable of the environment that holds a secret ends with."""

_WORD = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+)*")
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@ -]{1,32}){2,}/?|(?:~|\.{1,2})/[\w.-]+")
_PLAIN = re.compile(
    r"(?i)str|string|bytes|int|bool|any|object|none|null|nil|true|false|undefined|optional|required|default"
    r"|secretstr|self|this|var|let|const|env|getenv|input|prompt|changeme|placeholder|example|redacted"
    r"|password|passwd|secret|token|key"
)
_SHORTEST_PASS = 3
_SHORTEST = 6
"""A shorter value is nobody's secret."""


class _Name(NamedTuple):
    start: int
    end: int
    password: bool


def small_letters(text: str) -> str:
    """The text in small letters, each where it was."""
    return text.replace("İ", "I").lower()


def hide_assigned(text: str, instead: str) -> str:
    """The same text with each secret value replaced."""
    pieces: list[str] = []
    done = 0
    for name in _names(text):
        if name.end < done:
            continue
        match = _VALUE.match(text, name.end)
        if match is None or (match["flag"] and text[name.start - 1 : name.start] != "-"):
            continue
        if _innocent(match, text[name.start : name.end], name.password):
            continue
        start, end = match.span("bare" if match["bare"] else "quoted")
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]]) if pieces else text


def _names(text: str) -> list[_Name]:
    """Where a secret's name ends in the text, in order."""
    small = small_letters(text)
    found = [_Name(at, at + len(word), True) for word in _PASSWORDS for at in _places(small, word)]
    found += [_Name(at, at + len(word), False) for word in _SECRETS for at in _places(small, word)]
    for at in _places(small, "key"):
        before = next((kind for kind in _KEYS if small.endswith(kind, max(0, at - len(kind)), at)), "")
        if before:
            found.append(_Name(at - len(before), at + 3, False))
    for word in _SHOUTED:
        found += [_Name(at, at + len(word), False) for at in _places(text, word) if text[at - 1 : at] == "_"]
    found.sort()
    return [name for name in found if not _goes_on(text, name.end)]


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _goes_on(text: str, end: int) -> bool:
    following = text[end : end + 1]
    return following.isalnum() or following in ("_", "-")


def _innocent(match: re.Match[str], name: str, password: bool) -> bool:
    """Whether a value given to a secret's name is none: a type, a number, a path, a variable, a call."""
    value = match["bare"] or match["quoted"]
    if len(value) < (_SHORTEST_PASS if password else _SHORTEST) or (value.isdecimal() and not password):
        return True
    if value.startswith(("<", "$", "%", "{", "*", "[")) or _PLAIN.fullmatch(value) or _PATH.fullmatch(value):
        return True
    if match["quoted"] is not None:
        return False
    return bool(match["call"]) or (not password and not name.isupper() and _WORD.fullmatch(value) is not None)
