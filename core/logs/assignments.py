"""Finds values that are given to a secret's name: assignments, fields, flags."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from core.logs.token_shapes import Span

_QUOTE = r"""\\*["']"""
_VALUE = re.compile(
    rf"(?P<between>(?:{_QUOTE})?\s*(?::=|=>|[:=])\s*|(?P<flag>[ ]+)"
    rf"|(?P<listed>{_QUOTE},(?:\s|\\+[nrt]){{0,40}}+(?={_QUOTE})))"
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\[^\n]|[^\n\\]))++)(?:(?=(?P=quote))|\Z)"
    r"""|(?P<bare>[^\s"'\\,;&<>(){}\[\]$`|*]++)(?P<call>[(\[]?))"""
)
"""What may follow a name: a separator and a value, in quotes or bare."""
_OPTION = re.compile(r"""["']--?(?:[A-Za-z0-9_-]*[_-])?\Z""")
_LONGEST_OPTION = 64
"""What stands before a name that is an option in a list of words."""
_NEXT = re.compile(r"--[a-z][a-z0-9-]*(?:=.*)?", re.DOTALL)
"""Another option, behind one that takes no value and makes the program ask."""

_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
_SECRETS = ("secret", "token", "credential", "credentials")
_KEYS = tuple(
    f"{kind}{link}"
    for kind in (
        *("api", "access", "private", "signing", "encryption", "account", "auth", "master", "secret"),
        *(
            "subscription",
            "hmac",
            "deploy",
            "license",
            "shared",
            "jwt",
            "cipher",
            "role",
            "consumer",
            "webhook",
        ),
        *("client", "storage", "session"),
    )
    for link in ("", "_", "-")
)
"""What stands before `key` where the key is a secret."""
_AFTER_KEY = ("_base", "-data", "_data")
"""What may follow `key` in the name of a secret."""
_PASSES = tuple(
    f"{kind}{link}"
    for kind in (
        *(
            "db",
            "database",
            "user",
            "admin",
            "root",
            "smtp",
            "mail",
            "email",
            "ftp",
            "mysql",
            "pg",
            "postgres",
        ),
        *(
            "redis",
            "mongo",
            "rabbitmq",
            "ldap",
            "http",
            "proxy",
            "auth",
            "login",
            "sudo",
            "ssh",
            "key",
            "store",
        ),
        *("sql", "vault", "wifi", "registry", "docker", "git", "service", "cert", "pfx"),
    )
    for link in ("", "_", "-")
)
"""What stands before `pass` where it is a password."""
_SHOUTED = ("KEY", "PASS", "AUTH", "PAT", "DSN")
"""What a variable of the environment that holds a secret ends with."""

_TAGGED = re.compile(r"""\\*["']?>(?P<value>[^<>\s]{3,200})</""")
_MIXED = re.compile(r"[0-9!@#$%^&*]")
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
_SHORTEST_FIELD = 4
"""The same where a name and its value are fields, so that nothing else can be meant."""
_LONGEST_NUMBER = 11
"""Digits of a number that counts or names something."""
_VARIABLE = re.compile(
    r"\$[A-Z_][A-Z0-9_]*|\$\{[^{}]*\}|\{[A-Za-z_][A-Za-z0-9_.]*\}|\$?\{\{[^{}]*\}\}|\$\([^()]*\)|<[^<>]*>"
    r"|%[A-Z_]+%|\*+"
)
_MORE = re.compile(r"(?i)[ _-]?(?:value|string|plain(?:text)?|base64|b64|pem|confirm(?:ation)?|[0-9]{1,3})\Z")
"""What may follow the name of a secret."""

SecretKind = Literal["password", "secret", "login", "word"]


class _Name(NamedTuple):
    start: int
    end: int
    kind: SecretKind


def small_letters(text: str) -> str:
    """The text in small letters, each where it was."""
    return text.replace("İ", "I").lower()


def assigned_spans(text: str, small: str) -> Iterator[Span]:
    """Where secret values stand, in a text that is given in small letters too."""
    done = 0
    for name in _names(text, small):
        if name.end < done:
            continue
        span = _given(text, name) or _enclosed(text, name.end)
        if span is not None:
            yield span
            done = span[1]


def _given(text: str, name: _Name) -> Span | None:
    match = _VALUE.match(text, name.end)
    if match is None or (match["flag"] and text[name.start - 1 : name.start] != "-"):
        return None
    if match["listed"] and not _OPTION.search(text, max(0, name.start - _LONGEST_OPTION), name.start):
        return None
    value = match["bare"] or match["quoted"]
    if (match["flag"] or match["listed"]) and (
        _NEXT.fullmatch(value) or text.endswith("--no-", 0, name.start)
    ):
        return None
    if name.kind == "login" and not _is_login(value):
        return None
    if name.kind == "word" and (match["bare"] or not _MIXED.search(value)):
        return None
    if _innocent(match, text[name.start : name.end], name.kind == "password"):
        return None
    return match.span("bare" if match["bare"] else "quoted")


def _enclosed(text: str, end: int) -> Span | None:
    """A value between tags."""
    match = _TAGGED.match(text, end)
    if match is None or is_plain_word(match["value"]) or match["value"].startswith(("$", "{", "%", "*")):
        return None
    return match.span("value")


def name_kind(name: str) -> SecretKind | None:
    """What a whole name, such as a field's, says of the value under it; None where that is no secret."""
    quoted = f'"{_MORE.sub("", name).replace(" ", "_")}"'
    found = _names(quoted, small_letters(quoted))
    return next((one.kind for one in found if one.end == len(quoted) - 1), None)


def is_secret_value(value: str, kind: SecretKind) -> bool:
    """Whether a value that stands alone under such a name is a secret: no type, number, path or variable."""
    if not value or is_plain_word(value) or _VARIABLE.fullmatch(value) or _PATH.fullmatch(value):
        return False
    if kind == "secret":
        counts = value.isdecimal() and len(value) <= _LONGEST_NUMBER
        return len(value) >= _SHORTEST_FIELD and not counts
    if kind == "word":
        return _MIXED.search(value) is not None
    return kind == "password" or _is_login(value)


def is_plain_word(value: str) -> bool:
    """Whether it is a type, a constant or a mere name, and nobody's secret."""
    return _PLAIN.fullmatch(value) is not None


def _is_login(value: str) -> bool:
    """Whether it is a name and a password as base64, as registries keep them."""
    try:
        return b":" in binascii.a2b_base64(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4))[1:-1]
    except (ValueError, UnicodeEncodeError):
        return False


def _names(text: str, small: str) -> list[_Name]:
    """Where a secret's name ends in the text, in order."""
    found = [_Name(at, at + len(word), "password") for word in _PASSWORDS for at in _places(small, word)]
    found += [_Name(at, at + len(word), "secret") for word in _SECRETS for at in _places(small, word)]
    for at in _places(small, "key"):
        before = _before(small, at, _KEYS)
        if before:
            end = at + 3 + next((len(more) for more in _AFTER_KEY if small.startswith(more, at + 3)), 0)
            found.append(_Name(at - len(before), end, "secret"))
    for at in _places(small, "pass"):
        before = _before(small, at, _PASSES)
        if before:
            found.append(_Name(at - len(before), at + 4, "password"))
        elif not small[at - 1 : at].isalnum() and small[at - 1 : at] not in ("_", "-"):
            found.append(_Name(at, at + 4, "word"))
    for at in _places(small, "auth"):
        led = small[at - 1 : at] if at else ""
        if led == "_" and not small[max(0, at - 2) : at - 1].isalnum():
            found.append(_Name(at - 1, at + 4, "secret"))
        elif led in ('"', "'"):
            found.append(_Name(at, at + 4, "login"))
    for word in _SHOUTED:
        found += [
            _Name(at, at + len(word), "secret") for at in _places(text, word) if text[at - 1 : at] == "_"
        ]
    found.sort()
    return [name for name in found if not _goes_on(text, name.end)]


def _before(small: str, at: int, kinds: tuple[str, ...]) -> str:
    """Which of these words stands before a place."""
    if not small.endswith(kinds, 0, at):
        return ""
    return next(kind for kind in kinds if small.endswith(kind, 0, at))


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
    if value.startswith(("<", "$", "%", "{", "*", "[")) or is_plain_word(value) or _PATH.fullmatch(value):
        return True
    if match["quoted"] is not None:
        return False
    return bool(match["call"]) or (not password and not name.isupper() and _WORD.fullmatch(value) is not None)
