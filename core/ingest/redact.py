"""Takes secrets out of text before a person or a file sees it."""

from __future__ import annotations

import re

HIDDEN = "<redacted>"

_QUOTE = r"""\\*["']"""
_LITERAL = (
    rf"""(?:{_QUOTE})(?P<quoted>[^"'\\\s][^"'\\\n]*)(?={_QUOTE}|$)|(?P<bare>[^\s"'\\,;&<>(){{}}\[\]$`|*]+)"""
)

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
    rf"({_EDGE}(?i:bearer|basic)\s+)(?=[a-z]{{0,200}}[0-9A-Z=._~+/-])[A-Za-z0-9+/=._~-]{{12,}}"
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

_LOGIN_NAMES = r"(?:pass(?:word|wd|phrase)|pwd|pgpassword|mysql_pwd)"
_KEY_NAMES = (
    r"(?:secret(?:[_-]?(?:access)?[_-]?key)?|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key"
    r"|encryption[_-]?key|account[_-]?key|auth[_-]?key|master[_-]?key|credentials?|client[_-]?secret)"
)
_SEPARATOR = rf"(?:{_QUOTE})?\s*(?::=|=>|[:=])\s*"
_NAMED = re.compile(
    rf"(?i)(?P<name>(?P<pass>{_LOGIN_NAMES})|{_KEY_NAMES})(?![A-Za-z0-9_-])"
    rf"(?P<between>{_SEPARATOR})(?P<value>{_LITERAL})(?P<after>[(\[]?)"
)
_FLAG = re.compile(
    rf"(?i)(?<=-)(?P<name>(?P<pass>{_LOGIN_NAMES})|{_KEY_NAMES})(?![A-Za-z0-9_-])"
    rf"(?P<between>[ ]+)(?P<value>{_LITERAL})(?P<after>[(\[]?)"
)
_ENVIRONMENT = re.compile(
    r"(?<=[A-Z0-9]_)(?P<name>KEY|PASS|AUTH|PAT|DSN|CREDENTIALS)(?P<between>\\*[\"']?\s*[=:]\s*)"
    rf"(?P<value>{_LITERAL})(?P<after>[(\[]?)"
)

_WORD = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+)*")
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@ -]{1,32}){2,}/?|(?:~|\.{1,2})/[\w.-]+")
_PLAIN = re.compile(
    r"(?i)str|string|bytes|int|bool|any|object|none|null|nil|true|false|undefined|optional|required|default"
    r"|secretstr|self|this|var|let|const|env|getenv|input|prompt|changeme|placeholder|example|redacted"
    r"|password|passwd|secret|token|key"
)
_SHORTEST_PASS = 3
_SHORTEST = 6
"""A shorter value is nobody's secret."""


def redact(text: str) -> str:
    """The same text with every secret replaced; what was redacted once stays as it is."""
    text = _BLOCKS.sub(HIDDEN, text)
    text = _SHAPES.sub(HIDDEN, text)
    text = _HOOKS.sub(rf"\1{HIDDEN}", text)
    text = _ADDRESS.sub(rf"\1{HIDDEN}", text)
    text = _SCHEME.sub(rf"\1{HIDDEN}", text)
    text = _HEADER.sub(rf"\1{HIDDEN}", text)
    text = _COOKIE.sub(rf"\1{HIDDEN}", text)
    text = _QUERY.sub(rf"\1{HIDDEN}", text)
    text = _NAMED.sub(_hide, text)
    text = _FLAG.sub(_hide, text)
    return _ENVIRONMENT.sub(_hide, text)


def _hide(match: re.Match[str]) -> str:
    quoted = match["quoted"]
    value = match["bare"] if quoted is None else quoted
    password = match.groupdict().get("pass") is not None
    if (
        len(value) < (_SHORTEST_PASS if password else _SHORTEST)
        or value.startswith(("<", "$", "%", "{", "*", "["))
        or _PLAIN.fullmatch(value)
        or _PATH.fullmatch(value)
        or (value.isdecimal() and not password)
        or (quoted is None and _is_code(value, match, password))
    ):
        return match[0]
    opening = match["value"][: match["value"].index(value)]
    return f"{match['name']}{match['between']}{opening}{HIDDEN}{match['after']}"


def _is_code(value: str, match: re.Match[str], password: bool) -> bool:
    """Whether an unquoted value is a call, an item, or a variable's name."""
    if match["after"]:
        return True
    return not password and not match["name"].isupper() and _WORD.fullmatch(value) is not None
