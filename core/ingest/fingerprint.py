"""Short fingerprints of texts, so that equal and nearly equal ones can be told without keeping them."""

from __future__ import annotations

import re

from blake3 import blake3

LONGEST = 65_536
"""Of a longer text only its beginning, its end and its length are looked at."""

_BLANKED = re.compile(
    r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`"""
    r"""|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}|\b0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f]{7,}\b|\d+"""
)


def fingerprint(text: str | bytes) -> int:
    """64 bits that stand for a text; 0 where it is blank."""
    length = len(text)
    if length > LONGEST:
        half = LONGEST // 2
        text = b"%b\0%d\0%b" % (_encoded(text[:half]), length, _encoded(text[-half:]))
    elif not text or text.isspace():
        return 0
    else:
        text = _encoded(text)
    return int.from_bytes(blake3(text).digest(8), "big")


def blanked(text: str) -> str:
    """The text with its numbers, ids and quoted strings taken out."""
    return _BLANKED.sub("#", text)


def shape(text: str) -> int:
    """A fingerprint that near-duplicates share."""
    return fingerprint(blanked(text))


def _encoded(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
