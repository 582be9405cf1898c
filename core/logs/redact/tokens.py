"""Tokens that are known by their own shape: how they begin, which letters follow and how many."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

Span = tuple[int, int]

# No letter before; the last letter of an escaped line end does not count as one.
EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
# `{mixed}`: a digit and a capital among the next letters, as in random text and rarely in names.
_PIECES = {
    "{any}": "[A-Za-z0-9_-]",
    "{alnum}": "[A-Za-z0-9]",
    "{hex}": "[0-9a-f]",
    "{base}": "[A-Za-z0-9+/]",
    "{base58}": "[1-9A-HJ-NP-Za-km-z]",
    "{mixed}": "(?=[A-Za-z_-]{0,42}[0-9])(?=[a-z0-9_-]{0,42}[A-Z])",
    "{uuid}": "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "{uuid4}": "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
}


class Names(msgspec.Struct, frozen=True):
    """Words that make up the name of a secret, and values that are not secret."""

    passwords: tuple[str, ...]
    secrets: tuple[str, ...]
    keys: tuple[str, ...]  # Words before `key`.
    after_key: tuple[str, ...]
    passes: tuple[str, ...]  # Words before `pass`.
    endings: tuple[str, ...]  # Endings of environment variables.
    plain_values: tuple[str, ...]  # Types, constants and mere names.
    descriptions: tuple[str, ...]  # Words that describe a password instead of being one.
    facts: tuple[str, ...]  # Names of what a table of secrets says about them.


class Program(msgspec.Struct, array_like=True, frozen=True):
    """A program that takes a password on its command line."""

    stem: str
    more: str  # How its name continues.
    form: str  # How the value follows the flag: either, apart, attached or pass.
    flags: str
    separator: str = ""  # What separates a user name from the password.
    list_separator: str = ""


class _Shapes(msgspec.Struct, frozen=True):
    """The content of `shapes.json`, whose expressions use the abbreviations of `_PIECES`."""

    beginnings: dict[str, dict[str, str]]  # Some beginnings of a token, and the expression that must follow.
    middles: dict[str, tuple[str, int, str]]  # Letters in the middle; what is before, its length, what is after.
    discord: str  # The expression of a token of Discord.
    parts: dict[str, list[str]]  # A mark that the text must contain, and expressions of the whole token.
    programs: tuple[Program, ...]
    names: Names


SHAPES = msgspec.json.decode(Path(__file__).with_name("shapes.json").read_bytes(), type=_Shapes)


def _expand(expression: str) -> str:
    for name, piece in _PIECES.items():
        expression = expression.replace(name, piece)
    return expression


# The expression that follows each beginning.
_AFTER = {
    word: _expand(expression)
    for section in SHAPES.beginnings.values()
    for words, expression in section.items()
    for word in words.split()
}
_OTHER_LETTERS = re.compile(r"\[[^]]*[+/=.]|\\\$")
# Beginnings of tokens that are one stretch of letters, digits, `_` and `-`, or begin with one.
_ONE_STRETCH = tuple(
    word
    for word, expression in _AFTER.items()
    if re.fullmatch(r"[\w-]+", word) and not _OTHER_LETTERS.search(expression)
)
# Those that continue beyond that stretch.
_CONTINUED = frozenset(word for word in _ONE_STRETCH if r"\." in _AFTER[word])
# The other beginnings of one stretch, by their first two letters, with which a part of a stretch must begin.
_SEPARATOR = re.compile(r"[\n_-]")
_BY_HEAD: dict[str, list[str]] = {}
for _word in _ONE_STRETCH:
    if _word not in _CONTINUED:
        _BY_HEAD.setdefault(_SEPARATOR.split(_word)[0][:2], []).append(_word)
_MIDDLES = {
    mark: (_expand(before), width, _expand(after))
    for marks, (before, width, after) in SHAPES.middles.items()
    for mark in marks.split()
}


def _grouped(words: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group words by their first two letters, so that one look at a text excludes several."""
    heads: dict[str, list[str]] = {}
    for word in words:
        heads.setdefault(word[:2], []).append(word)
    return [(head if len(group) > 1 else group[0], group) for head, group in heads.items()]


def _present(groups: list[tuple[str, list[str]]], text: str) -> list[str]:
    return [word for head, group in groups if head in text for word in group if word in text]


_ANYWHERE = _grouped(word for word in _AFTER if word not in _ONE_STRETCH and "$" not in word)
_HASHES = _grouped(word for word in _AFTER if "$" in word)  # Beginnings of hashes of passwords.
_MARKS = _grouped(_MIDDLES)
_LONG = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{15,}")  # Stretches long enough to be a token.
_SMALL = "abcdefghijklmnopqrstuvwxyz_-"  # Letters of which no token consists alone.
_ESCAPED = frozenset("nrt")  # Letters that may end an escaped line end instead of starting a stretch.
_DISCORD_ID = re.compile(r"[nrt]?[MNO][A-Za-z0-9_-]{23,25}")  # The first part of a token of Discord.
_AWS = frozenset(("AKIA", "ASIA", "ABIA", "ACCA"))
_NEAR_ID = 240  # Letters around the id of an AWS key in which its secret is looked for.
_AWS_SECRET = re.compile(
    r"(?:(?<![A-Za-z0-9/+=])|(?<=\\[nrt]))(?=[A-Za-z/+]{0,39}[0-9])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])"
    r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
)
_WALLET = re.compile(r"(?:5[HJK]|[KL][1-9A-HJ-NP-Za-km-z]|[9c][1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{49,50}")


def token_spans(text: str) -> Iterator[Span]:
    """Yield where tokens of known shapes are."""
    stretches = {word for word in set(_LONG.findall(text)) if word.strip(_SMALL)}
    if not stretches and "$" not in text and "{S" not in text:
        return
    words = _present(_ANYWHERE, text)
    if "$" in text:
        words += _present(_HASHES, text)
    if stretches:
        words += _beginnings(stretches)
        if not _AWS.isdisjoint(words):
            yield from _near_aws_ids(text)
        yield from _wallet_keys(text, stretches)
        if any(map(_DISCORD_ID.fullmatch, stretches)):
            yield from spans(_part(SHAPES.discord), text)
        for mark in _present(_MARKS, text):
            yield from ((start - _MIDDLES[mark][1], end) for start, end in spans(_middle(mark), text))
        for mark in [mark for mark in SHAPES.parts if mark in text]:
            yield from (span for one in SHAPES.parts[mark] for span in spans(_part(one), text))
    yield from (span for word in words for span in spans(_token_pattern(word), text))


def _beginnings(stretches: set[str]) -> Iterator[str]:
    """Yield the beginnings of tokens that long stretches have."""
    long = "\n".join([*stretches, *[word[1:] for word in stretches if word[0] in _ESCAPED]])
    heads = {part[:2] for part in _SEPARATOR.split(long)}
    for head in heads & _BY_HEAD.keys():
        yield from (word for word in _BY_HEAD[head] if word in long and _token_pattern(word).search(long))
    yield from (word for word in _CONTINUED if word in long)


def spans(pattern: re.Pattern[str], text: str, group: int | str = 0) -> Iterator[Span]:
    """Yield where a pattern, or one of its groups, matches."""
    return (match.span(group) for match in pattern.finditer(text))


@cache
def _token_pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a token by its beginning, compiled when a text first contains that."""
    first = re.escape(word)
    own = "A-Za-z0-9_-" if word == "eyJ" else "A-Za-z0-9"
    return re.compile(rf"{first}(?:(?<![{own}]{first})|(?<=\\[nrt]{first})){_AFTER[word]}")


@cache
def _middle(mark: str) -> re.Pattern[str]:
    before, _, after = _MIDDLES[mark]
    letters = re.escape(mark)
    return re.compile(f"{letters}(?<={before}{letters}){after}")


@cache
def _part(expression: str) -> re.Pattern[str]:
    return re.compile(_expand(expression))


def _near_aws_ids(text: str) -> Iterator[Span]:
    for kind in _AWS:
        for start, end in spans(_token_pattern(kind), text):
            for low, high in ((max(0, start - _NEAR_ID), start), (end, end + _NEAR_ID)):
                yield from (match.span() for match in _AWS_SECRET.finditer(text, low, high))


def _wallet_keys(text: str, stretches: Iterable[str]) -> Iterator[Span]:
    """Yield private keys of wallets in import format, which end with a checksum."""
    for word in stretches:
        if 51 <= len(word) <= 53:
            key = word[1:] if word[0] in _ESCAPED else word
            if _WALLET.fullmatch(key) and _has_checksum(key):
                yield from spans(re.compile(key), text)


def _has_checksum(key: str) -> bool:
    number = 0
    for letter in key:
        number = number * 58 + _BASE58.index(letter)
    data = number.to_bytes(38, "big").lstrip(b"\0")
    return hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()[:4] == data[-4:]
