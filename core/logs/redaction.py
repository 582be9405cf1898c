"""Takes secrets out of text before a person or a file sees it."""

from __future__ import annotations

import re

from core.logs.assignments import hide_assigned, small_letters

HIDDEN = "<redacted>"

_EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
"""No letter before; the last letter of an escaped line end is none."""

_BLOCKS = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)", re.DOTALL
)

_SHAPES = re.compile(
    rf"{_EDGE}(?:"
    r"sk-(?=[a-z_-]{0,80}[0-9A-Z])[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic, OpenRouter and kin
    r"|(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dckr_pat_[A-Za-z0-9_-]{20,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[0-9a-f]{32}(?![0-9a-f])"
    r"|dop_v1_[0-9a-f]{60,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{50,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web token
    r"|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"  # Telegram
    r")"
)

_HOOKS = re.compile(
    r"(https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/)[^\s\"'\\<>]+"
)
_ADDRESS = re.compile(r"(://[^\s/:@\"'\\<>]{0,200}:)[^\s/@\"'\\<>$][^\s/@\"'\\<>]*(?=@)")
_SCHEME = re.compile(
    rf"({_EDGE}(?i:bearer|basic)\s+)(?=[a-z._~+/-]{{0,200}}[0-9A-Z=])[A-Za-z0-9+/=._~-]{{12,}}"
)
_HEADER = re.compile(
    rf"(?i)({_EDGE}(?:proxy-)?authorization\\*[\"']?\s*[:=]\s*\\*[\"']?(?:[a-z]+\s+)?)(?!<redacted>)[^\s\"'\\<>,]{{8,}}"
)
_COOKIE = re.compile(
    rf"(?i)({_EDGE}(?:set-)?cookie\\*[\"']?\s*:\s*\\*[\"']?)(?!<redacted>)[^\"'\\\n<>]{{8,}}"
)
_QUERY = re.compile(
    r"(?i)([?&](?:api[_-]?key|key|access[_-]?token|auth|token|sig|signature|secret|password|x-amz-[a-z-]+)=)"
    r"[^\s&\"'\\<>#]{6,}"
)

_GUARDS: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    (
        _SHAPES,
        HIDDEN,
        (
            *("sk-", "sk_", "rk_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
            *("gldt-", "glrt-", "glcbt-", "xox", "xapp-", "akia", "asia", "abia", "acca", "aiza", "ya29."),
            *(
                "gocspx-",
                "hf_",
                "xai-",
                "pplx-",
                "r8_",
                "npm_",
                "pypi-",
                "dckr_pat_",
                "sg.",
                "key-",
                "dop_v1_",
            ),
            *("shpat_", "shpca_", "shppa_", "shpss_", "lin_api_", "ntn_", "eyj", ":aa"),
        ),
    ),
    (_HOOKS, rf"\1{HIDDEN}", ("/services/", "/workflows/", "/webhooks/")),
    (_ADDRESS, rf"\1{HIDDEN}", ("://",)),
    (_SCHEME, rf"\1{HIDDEN}", ("bearer", "basic")),
    (_HEADER, rf"\1{HIDDEN}", ("authorization",)),
    (_COOKIE, rf"\1{HIDDEN}", ("cookie",)),
    (_QUERY, rf"\1{HIDDEN}", ("?", "&")),
)
"""Patterns, what stands in their place, and words without one of which (in small letters) none can match."""


def redact(text: str) -> str:
    """The same text with every secret replaced; what was redacted once stays as it is."""
    text = _BLOCKS.sub(HIDDEN, text)
    small = small_letters(text)
    for pattern, instead, words in _GUARDS:
        if any(word in small for word in words):
            text = pattern.sub(instead, text)
    return hide_assigned(text, HIDDEN)
