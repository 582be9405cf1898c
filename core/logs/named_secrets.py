"""Secrets whose name stands elsewhere: in a field beside the value, or as the kind of the whole document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.logs.assignments import is_plain_word
from core.logs.token_shapes import Span

_LINE = r"(?:\n|\\+n)"
_QUOTE = r"(?:\\*[\"'])?"
_BLANK = r"(?:[ \t]|\\+t)"
_IS = rf"{_QUOTE}{_BLANK}{{0,4}}[:=]{_BLANK}{{0,4}}{_QUOTE}"
_NAME = re.compile(
    rf"(?i:(?:name|key){_IS}[a-z0-9_.-]{{0,60}}?"
    r"(?:password|passwd|passphrase|secret|token|credential|(?:api|access|private)[_-]?key)"
    rf"(?:[_-]?(?:[0-9]{{1,3}}|base|data))?{_QUOTE}(?:[,\s]|\\+[nrt]){{1,40}}{_QUOTE})\Z"
)
_VALUE = re.compile(rf"(?i:value){_IS}(?P<value>(?![<${{%*\[])[^\s\"'\\<>,;(){{}}\[\]]{{3,400}})")
"""A name and its value as two fields, as in manifests and configuration files."""
_BEFORE = 160
"""Letters before a value in which its name is looked for."""
_KIND = re.compile(rf"kind{_QUOTE}[ ]*:[ ]*{_QUOTE}Secret(?![A-Za-z0-9_-])")
_DATA = re.compile(
    rf"(?:data|stringData){_QUOTE}[ ]*:"
    rf"(?P<block>(?:{_LINE}{_BLANK}{{1,40}}[^\n\\{{}}]{{0,4000}})++|[ ]*\{{[^{{}}]{{0,100000}})"
)
_FIELD = re.compile(
    rf"[A-Za-z0-9_.-]{{1,253}}{_QUOTE}[ ]*:[ ]*{_QUOTE}"
    r"(?P<value>(?!<redacted>|[|>][-+]?(?:\s|\\|$))[^\s\"'\\,{}<>]{4,})"
)
_PARTED = re.compile(r"(?:\n|\\n)---")
"""What stands between two documents of one text."""


def named_spans(text: str, small: str) -> Iterator[Span]:
    """Where such secrets stand, in a text that is given in small letters too."""
    at = small.find("value")
    while at >= 0:
        found = _VALUE.match(text, at)
        value = found["value"] if found is not None else ""
        named = found is not None and _NAME.search(text, max(0, at - _BEFORE), at)
        if found is not None and named and not is_plain_word(value) and not value.isdecimal():
            yield found.span("value")
        at = small.find("value", at + 5)
    if "Secret" in text and "kind" in text:
        yield from _documents(text)


def _documents(text: str) -> Iterator[Span]:
    start = 0
    for end in (*(sign.start() for sign in _PARTED.finditer(text)), len(text)):
        if _KIND.search(text, start, end):
            for block in _DATA.finditer(text, start, end):
                yield from (field.span("value") for field in _FIELD.finditer(text, *block.span("block")))
        start = end
