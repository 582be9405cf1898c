"""Tokens and passwords on a command line without a flag: after a login, or behind a user's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from core.logs.token_shapes import EDGE, Span

_QUOTE = r"(?:\\*[\"'])?"
_BLANK = r"[ \t]{1,8}"
_TOKEN = (
    rf"(?:{_BLANK}(?:--(?:registry|host){_BLANK}|-)[^\s\"'\\]{{1,200}})*+{_BLANK}{_QUOTE}"
    r"(?P<token>(?=[A-Za-z_.~+/-]{0,400}[0-9])[A-Za-z0-9_.~+/-]{8,}+)(?![^\s\"'\\;|&)])"
)
_LOGINS = {
    "vault": rf"{_BLANK}login{_TOKEN}",
    "cargo": rf"{_BLANK}login{_TOKEN}",
    "wandb": rf"{_BLANK}login{_TOKEN}",
    "snyk": rf"{_BLANK}auth{_TOKEN}",
}
_ORACLE = ("sqlplus", "sqlldr", "expdp", "impdp", "rman")
_PASSWORD = (
    rf"(?:{_BLANK}-[A-Za-z]{{1,20}})*+{_BLANK}(?:userid=|target{_BLANK})?{_QUOTE}"
    r"[A-Za-z][A-Za-z0-9_$#.\[\]]{0,60}/"
    r"(?:\\*\"(?P<quoted>[^\s\"\\]{2,200})\\*\"|(?P<bare>[^\s\"'\\;|&<>()$`@/{%][^\s\"'\\;|&<>()]++))"
)
_BEGINS = re.compile(r"(?:\A|[\n;|&(\"'`]|\\n)[ \t]{0,8}\Z")
"""What stands before the first word of a command."""
_MIXED = re.compile(r"[0-9!@#$%^&*]")


def login_spans(text: str) -> Iterator[Span]:
    """Where such secrets stand."""
    if " " not in text and "\t" not in text:
        return
    for program, rest in _LOGINS.items():
        if program in text:
            yield from (found.span("token") for found in _calls(text, program, rest))
    if "/" not in text:
        return
    for program in _ORACLE:
        if program in text:
            for found in _calls(text, program, _PASSWORD):
                yield from _password(text, found)


def _calls(text: str, program: str, rest: str) -> Iterator[re.Match[str]]:
    at = text.find(program)
    while at >= 0:
        found = _compiled(program, rest).match(text, at)
        if found is not None:
            yield found
        at = text.find(program, at + len(program))


@cache
def _compiled(program: str, rest: str) -> re.Pattern[str]:
    """The pattern of a program, made when a text first names it."""
    return re.compile(f"{EDGE}{program}{rest}")


def _password(text: str, found: re.Match[str]) -> Iterator[Span]:
    """What stands between the user and the database; words that are joined by a slash are none."""
    if found["quoted"]:
        yield found.span("quoted")
        return
    start, end = found.span("bare")
    password, at, _ = found["bare"].rpartition("@")
    if at:
        yield start, start + len(password)
    elif _MIXED.search(found["bare"]) or _BEGINS.search(text, max(0, found.start() - 9), found.start()):
        yield start, end
