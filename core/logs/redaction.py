"""Takes secrets out of text before a person or a file sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.logs.address_secrets import address_spans, query_spans
from core.logs.assignments import assigned_spans, small_letters
from core.logs.command_secrets import command_spans
from core.logs.login_secrets import login_spans
from core.logs.named_secrets import named_spans
from core.logs.token_shapes import EDGE, Span, token_spans

HIDDEN = "<redacted>"

_BLOCKS = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)",
    re.DOTALL,
)
_SCHEME = re.compile(
    rf"(?i:{EDGE}(?:bearer|basic)\s+)((?=[a-z._~+/-]{{0,200}}[0-9A-Z=])[A-Za-z0-9+/=._~-]{{12,}})"
)
_HEADER = re.compile(
    rf"(?i){EDGE}authorization\\*[\"']?\s*[:=]\s*\\*[\"']?(?:[a-z]+\s+)?(?!<redacted>)([^\s\"'\\<>,]{{8,}})"
)
_COOKIE = re.compile(rf"(?i){EDGE}cookie\\*[\"']?\s*:\s*\\*[\"']?(?!<redacted>)([^\"'\\\n<>]{{8,}})")
_SESSION = re.compile(r"_session=(?![0-9a-f]{8}-[0-9a-f]{4}-)([A-Za-z0-9%=+/._-]{24,})")
_HEADERS = (
    ("bearer", _SCHEME),
    ("basic", _SCHEME),
    ("authorization", _HEADER),
    ("cookie", _COOKIE),
    ("_session=", _SESSION),
)
"""Words in small letters, and what follows them."""

_TORN = 256
"""Letters at a cut that may be the beginning of a secret whose end is not there."""
_LAST_WORD = re.compile(rf"\S{{1,{_TORN}}}\Z")


def redact(text: str) -> str:
    """The same text with every secret replaced; what was redacted once stays as it is."""
    if "-----BEGIN " in text:
        text = _BLOCKS.sub(HIDDEN, text)
    return _without(text, sorted(_spans(text)))


def redact_torn(text: str) -> str:
    """The same of a text that was cut off at its end: its last word may be half a secret and goes too."""
    hidden = redact(text)
    if hidden.endswith(HIDDEN):
        return hidden
    return hidden[:-_TORN] + _LAST_WORD.sub("", hidden[-_TORN:])


def redact_words(words: Sequence[str]) -> list[str]:
    """The words of one command, each without what is secret where they stand together."""
    text = " ".join(words)
    spans = sorted(_spans(text))
    hidden, start, first = [], 0, 0
    for word in words:
        end = start + len(word)
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        own, at = [], first
        while at < len(spans) and spans[at][0] < end:
            own.append((max(0, spans[at][0] - start), min(end, spans[at][1]) - start))
            at += 1
        hidden.append(_without(word, own))
        start = end + 1
    return hidden


def _spans(text: str) -> Iterator[Span]:
    small = small_letters(text)
    yield from token_spans(text)
    yield from address_spans(text)
    yield from query_spans(text)
    for word, pattern in _HEADERS:
        at = small.find(word)
        while at >= 0:
            found = pattern.match(text, at)
            if found is not None:
                yield found.span(1)
            at = small.find(word, max(found.end() if found else 0, at + 1))
    yield from command_spans(text)
    yield from login_spans(text)
    yield from assigned_spans(text, small)
    yield from named_spans(text, small)


def _without(text: str, spans: Iterable[Span]) -> str:
    """The text with every span replaced; those that overlap are one."""
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done and end > start:
            pieces += [text[done:start], HIDDEN]
        done = max(done, end)
    return "".join([*pieces, text[done:]]) if pieces else text
