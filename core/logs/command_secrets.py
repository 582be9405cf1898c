"""Passwords handed to programs on their command line, and in the files such programs read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from core.logs.token_shapes import Span, spans

_LONGEST = 2_000
"""Letters of a command that are looked at."""
_GAP = r"(?:[ \t]|\\+\n|\\+[nrt])++"
_VALUE = (
    rf"(?:(?P<quote>\\*[\"'])(?P<quoted>(?:(?!(?P=quote))[^\n]){{1,{_LONGEST}}})(?:(?P=quote)|\Z)"
    r"|(?P<bare>[^\s\"'\\;|&<>()`$-][^\s\"'\\;|&<>()`]*))"
)
_SET_OFF = rf"(?<![^\s\"'=])FLAGS(?:{_GAP}|=){_VALUE}"
_EITHER = rf"(?<![^\s\"'])FLAGS(?:{_GAP}|=)?{_VALUE}"
_ATTACHED = rf"(?<![^\s\"'])FLAGS{_VALUE}"


class _Program(NamedTuple):
    stem: str
    called: str
    """How the program is called, from its stem on."""
    flags: str
    parted: str = ""
    """What stands between a name and the password where both are one value."""
    listed: str = ""
    """What stands between several such."""


def _program(
    stem: str, form: str, flags: str, parted: str = "", more: str = "", listed: str = ""
) -> _Program:
    called = rf"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt])){stem}{more}(?=\s|\\+\n)"
    return _Program(stem, called, form.replace("FLAGS", f"(?:{flags})"), parted, listed)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, made when a text first calls for it: most never are, and together they hold up a start."""
    return re.compile(pattern)


_PASS_FORM = rf"(?<=\s)FLAGS{_GAP}(?:\\*[\"'])?pass:{_VALUE}"
_PROGRAMS = (
    _program("curl", _EITHER, "-[a-zA-Z]{0,6}u|--user|--proxy-user|-U", ":"),
    _program("curl", _EITHER, "-[a-zA-Z]{0,6}b|--cookie", "=", listed=";"),
    _program("http", _SET_OFF, "-a|--auth", ":", more="(?:s|ie)?"),
    _program("sshpass", _EITHER, "-p"),
    _program("login", _EITHER, "-p|--password"),
    _program("skopeo", _SET_OFF, "--(?:src-|dest-)?creds", ":"),
    _program("mysql", _ATTACHED, "-p", more="[a-z]*"),
    _program("mariadb", _ATTACHED, "-p", more="[a-z-]*"),
    _program("redis-cli", _SET_OFF, "-a|--pass"),
    _program("mongo", _EITHER, "-p", more="[a-z]*"),
    _program("ldap", _EITHER, "-w", more="[a-z]+"),
    _program("smbclient", _SET_OFF, "-U", "%"),
    _program("openssl", _PASS_FORM, "-pass|-passin|-passout"),
    _program("sqlcmd", _SET_OFF, "-P"),
    _program("zip", _SET_OFF, "-P"),
    _program("unzip", _SET_OFF, "-P"),
    _program("7z", _ATTACHED, "-p", more="a?"),
    _program("xfreerdp", _ATTACHED, "/p:"),
    _program("twine", _SET_OFF, "-p"),
    _program("lftp", _EITHER, "-u|--user", ","),
    _program("mosquitto_", _SET_OFF, "-P", more="(?:pub|sub|rr)"),
    _program("kubectl", _SET_OFF, "--from-literal", "="),
    _program("ngrok", _SET_OFF, "(?:add-)?authtoken"),
    _program("aws", _SET_OFF, "aws_secret_access_key|aws_session_token", more="[ ]configure"),
)
_LOGS_IN = re.compile(r"(?:docker|podman|nerdctl|buildah|skopeo|helm|registry|oras|crane|az|acr|oc)\s+\Z")
_PORT = re.compile(r"[0-9]{1,5}(?::[0-9]{1,5})?")
_ENDS = re.compile(r"(?<!\\)\n|(?<!\\)\\n|[;|]|&&")

_SPACE = r"(?:\s|\\++[nrt]){1,40}+"
_NETRC = tuple(
    rf"{word}{_SPACE}[^\s\\\"']{{1,200}}{_SPACE}(?:account{_SPACE}[^\s\\\"']{{1,200}}{_SPACE})?"
    rf"password{_SPACE}(?P<bare>[^\s\\\"'<$][^\s\\\"'<]{{2,}})"
    for word in ("login", "machine")
)
_PGPASS = (
    r"(?:(?<![^\s])|(?<=\\n))[^\s:\\\"']{1,100}:(?:5432|\*):[^\s:\\\"']{1,64}:[^\s:\\\"']{1,64}:"
    r"(?P<bare>[^\s\\\"'<$/][^\s\\\"'<]{2,})"
)
_TAKES_IT = (
    r"[ ]*\|[ ]*(?:sudo[ ]+(?:-[a-zA-Z]+[ ]+)*-[a-zA-Z]*S|(?:sudo[ ]+)?(?:chpasswd|passwd|docker[ ]+login"
    r"|podman[ ]+login|helm[ ]+registry|gh[ ]+auth|vault[ ]+login|wrangler|fly[ ]+auth))"
)
"""A pipe into a program that reads a password from it."""
_PIPED = tuple(
    rf"{word}(?:(?<![A-Za-z0-9_.-]{word})|(?<=\\[nrt]{word}))(?:[ ]-[ne]+)?[ ]+"
    rf"(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ ]+)?{_VALUE}{_TAKES_IT}"
    for word in ("echo", "printf")
)
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,4}(?P<bare>.*?)(?=Private-MAC|\Z)", re.DOTALL)
_PLAIN = re.compile(r"<.*|\$.*|\{.*|%[A-Z_]+%|\*+|\.{2,}")
_SHORTEST = 2


def command_spans(text: str) -> Iterator[Span]:
    """Where passwords on command lines, and in the files of commands, stand."""
    if " " in text or "\n" in text or "\t" in text:
        for program in _PROGRAMS:
            if program.stem in text:
                yield from _called(text, program)
    if "password" in text:
        yield from (span for pattern in _NETRC for span in spans(_compiled(pattern), text, "bare"))
    if ":5432:" in text or ":*:" in text:
        yield from spans(_compiled(_PGPASS), text, "bare")
    if "|" in text:
        yield from (
            span
            for pattern in _PIPED
            for found in _compiled(pattern).finditer(text)
            for span in _value(found, "")
        )
    if "Private-Lines: " in text:
        yield from spans(_PUTTY, text, "bare")


def _called(text: str, program: _Program) -> Iterator[Span]:
    at = text.find(program.stem)
    while at >= 0:
        found = _compiled(program.called).match(text, at)
        end = at + 1
        if found is not None and (program.stem != "login" or _LOGS_IN.search(text, max(0, at - 16), at)):
            end = _end(text, found.end())
            for flag in _compiled(program.flags).finditer(text, found.end(), end):
                if program.stem != "login" or not _PORT.fullmatch(flag["bare"] or ""):
                    yield from _value(flag, program.parted, program.listed)
        at = text.find(program.stem, max(end, at + 1))


def _end(text: str, start: int) -> int:
    """Where a command ends: its line, or a sign between commands that stands in no quotes."""
    for sign in _ENDS.finditer(text, start, start + _LONGEST):
        at = sign.start()
        if sign[0] in ("\n", "\\n"):
            return at
        if not text.count('"', start, at) % 2 and not text.count("'", start, at) % 2:
            return at
    return min(len(text), start + _LONGEST)


def _value(found: re.Match[str], parted: str, listed: str = "") -> Iterator[Span]:
    """The secret part of a value, or of each that it lists; none where it is a variable or a mere name."""
    group = "bare" if found["bare"] else "quoted"
    start = found.start(group)
    for value in found[group].split(listed) if listed else [found[group]]:
        yield from _secret_part(value, start, parted)
        start += len(value) + 1


def _secret_part(value: str, start: int, parted: str) -> Iterator[Span]:
    end = start + len(value)
    if parted:
        name, sign, value = value.partition(parted)
        if not sign:
            return
        start += len(name) + 1
        if not value and len(name) >= 16 and any(map(str.isdigit, name)):
            start, end, value = start - len(name) - 1, start - 1, name
    if len(value) >= _SHORTEST and not _PLAIN.fullmatch(value):
        yield start, end
