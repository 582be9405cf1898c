"""Short fingerprints of texts, so that equal and nearly equal ones can be told without keeping them."""

from __future__ import annotations

import re

from blake3 import blake3

LONGEST = 32_768
"""Of a longer text only its beginning, its end and its length are looked at."""
_HALF = LONGEST // 2

_BLANKED = re.compile(r"""[0-9"'`](?:(?<=\d)[0-9a-fA-FxX-]*|(?<=")[^"\n]*"|(?<=')[^'\n]*'|(?<=`)[^`\n]*`)""")
_HEX = "abcdefABCDEF"
_number = int.from_bytes


def fingerprint(text: str | bytes) -> int:
    """64 bits that stand for a text; 0 where it is blank."""
    if not text or text.isspace():
        return 0
    if isinstance(text, bytes):
        return _number(blake3(text).digest(8), "big")
    if len(text) > LONGEST:
        text = f"{text[:_HALF]}\0{len(text)}\0{text[-_HALF:]}"
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    return _number(blake3(data).digest(8), "big")


def blanked(text: str) -> str:
    """The text with its numbers, ids and quoted strings taken out."""
    pieces = _BLANKED.split(text)
    if len(pieces) == 1:
        return text
    last = pieces.pop()
    return "#".join([*[piece.rstrip(_HEX) for piece in pieces], last])


def shape(text: str) -> int:
    """A fingerprint that near-duplicates share."""
    return fingerprint(blanked(text))
