"""Passwords and tokens inside addresses: before the host, and among what follows the question mark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.logs.token_shapes import Span, spans

_LONGEST = 512
"""Letters of an address that are looked at."""
_REST = re.compile(r"[^\s\"'\\<>`]{1,512}")
_HOST = re.compile(r"(?<!/)@(?=[A-Za-z0-9_.\[-][A-Za-z0-9_.:\]-]*(?:[/?#),;]|\Z))")
"""An `@` with a host after it."""
_PORT = re.compile(r"[0-9]{0,5}(?:[/?#),;].*)?", re.DOTALL)
_VARIABLE = re.compile(r"\$.*|\{.*|%[sd(].*|\*+|:|x{3,}|\.{3,}")
_TOKEN = re.compile(
    r"(?=[A-Za-z_.~-]*[0-9])[A-Za-z0-9_.~%=+-]{16,}"
    r"|(?=(?:[^0-9]{0,15}[0-9]{1,15}+[A-Za-z]){2})[A-Za-z0-9_.~%=+-]{10,15}"
)
"""A name that nobody has: long with a digit, or with digits amid its letters."""
_HOOKS = {
    "hooks.slack.com/": re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/([^\s\"'\\<>]+)"),
    "/api/webhooks/": re.compile(r"/api/webhooks/([^\s\"'\\<>]+)"),
    "/webhookb2/": re.compile(r"/webhookb2/([^\s\"'\\<>]+)"),
    "hooks.zapier.com/": re.compile(r"hooks\.zapier\.com/hooks/catch/([^\s\"'\\<>]+)"),
}
_QUERY = re.compile(
    r"(?i)[?&;](?:[a-z]{1,20}[_-])?(?:api[_-]?key|key|access[_-]?token|auth|token|sig|signature|secret|password|passwd|pwd"
    r"|code|x-amz-(?:signature|security-token|credential))=([^\s&\"'\\<>#$]{6,})"
)


def address_spans(text: str) -> Iterator[Span]:
    """Where secrets in addresses stand."""
    at = text.find("://")
    if at < 0:
        return
    while at >= 0:
        yield from _before_host(text, at + 3)
        at = text.find("://", at + 3)
    for word, pattern in _HOOKS.items():
        if word in text:
            yield from spans(pattern, text, 1)


def query_spans(text: str) -> Iterator[Span]:
    """Where secrets that are handed over in an address's query stand."""
    if "=" in text and ("?" in text or "&" in text):
        yield from spans(_QUERY, text, 1)


def _before_host(text: str, start: int) -> Iterator[Span]:
    """What stands before the host of an address: a password after its colon, or a token for a name."""
    if text.find("@", start, start + _LONGEST) < 0:
        return
    rest = _REST.match(text, start)
    if rest is None or "@" not in rest[0]:
        return
    address = rest[0]
    user = re.split(r"[/?#@]", address, maxsplit=1)[0]
    name, colon, _ = user.partition(":")
    hosts = [found.start() for found in _HOST.finditer(address)]
    if not hosts:
        return
    if not colon:
        if address[len(user) : len(user) + 1] == "@" and _TOKEN.fullmatch(name):
            yield start, start + len(name)
        return
    first = len(name) + 1
    if address[len(user) : len(user) + 1] != "@" and _PORT.fullmatch(address, first):
        return
    end = max((host for host in hosts if "?" not in address[first:host]), default=hosts[0])
    if end <= first or _VARIABLE.fullmatch(address, first, end):
        return
    yield start + first, start + end
    if _TOKEN.fullmatch(name):
        yield start, start + len(name)
