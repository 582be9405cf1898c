"""Names as parts of a NATS subject, which are also safe as names of files."""

from __future__ import annotations

import re

from blake3 import blake3

ROOT = "noo"
STREAM = "NOO"
STORED = f"{ROOT}.*.*.*"
"""Host, agent and session of every event."""
ALIVE = f"{ROOT}.*"
"""A sign of life from a host; never stored."""

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_TOKEN = re.compile(r"[A-Za-z0-9_=~-]{1,120}")
_LONGEST = 100
_KEPT = 60


def token(name: str) -> str:
    """A name as one part of a subject; other letters as =XX, a long name by its beginning and its hash."""
    raw = name.encode("utf-8", "surrogatepass")
    spelled = "".join(chr(byte) if byte in _PLAIN else f"={byte:02X}" for byte in raw) or "="
    if len(spelled) <= _LONGEST:
        return spelled
    return f"{spelled[:_KEPT].rpartition('=')[0] or spelled[:_KEPT]}~{blake3(raw).hexdigest(length=12)}"


def name_of(part: str) -> str:
    """The name behind a part of a subject, as far as it was kept."""
    raw = re.sub(rb"=([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), part.encode())
    return raw.decode("utf-8", "replace") if part != "=" else ""


def session_subject(host: str, agent: str, session: str) -> str:
    """Where the events of one session go."""
    return ".".join((ROOT, token(host), token(agent), token(session)))


def parts(said: str) -> tuple[str, str, str] | None:
    """The tokens of host, agent and session in a subject of ours; None of any other."""
    words = said.split(".")
    if len(words) != 4 or words[0] != ROOT or not all(map(_TOKEN.fullmatch, words)):
        return None
    return words[1], words[2], words[3]
