"""Takes secrets out of text before a person or a file sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from core.logs.assignments import assigned_spans, is_plain_word, small_letters
from core.logs.token_shapes import EDGE, Span, spans, token_spans

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


_REDACTION_LONGEST = 512
"""Letters of an address that are looked at."""
_REST = re.compile(r"[^\s\"'\\<>`]{1,512}")
_HOST = re.compile(r"(?<!/)@(?=[A-Za-z0-9_.\[-][A-Za-z0-9_.:\]-]*(?:[/?#),;]|\Z))")
"""An `@` with a host after it."""
_REDACTION_PORT = re.compile(r"[0-9]{0,5}(?:[/?#),;].*)?", re.DOTALL)
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
    if text.find("@", start, start + _REDACTION_LONGEST) < 0:
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
    if address[len(user) : len(user) + 1] != "@" and _REDACTION_PORT.fullmatch(address, first):
        return
    end = max((host for host in hosts if "?" not in address[first:host]), default=hosts[0])
    if end <= first or _VARIABLE.fullmatch(address, first, end):
        return
    yield start + first, start + end
    if _TOKEN.fullmatch(name):
        yield start, start + len(name)


_QUOTE = r"(?:\\*[\"'])?"
_BLANK = r"[ \t]{1,8}"
_REDACTION_TOKEN = (
    rf"(?:{_BLANK}(?:--(?:registry|host){_BLANK}|-)[^\s\"'\\]{{1,200}})*+{_BLANK}{_QUOTE}"
    r"(?P<token>(?=[A-Za-z_.~+/-]{0,400}[0-9])[A-Za-z0-9_.~+/-]{8,}+)(?![^\s\"'\\;|&)])"
)
_LOGINS = {
    "vault": rf"{_BLANK}login{_REDACTION_TOKEN}",
    "cargo": rf"{_BLANK}login{_REDACTION_TOKEN}",
    "wandb": rf"{_BLANK}login{_REDACTION_TOKEN}",
    "snyk": rf"{_BLANK}auth{_REDACTION_TOKEN}",
}
_ORACLE = ("sqlplus", "sqlldr", "expdp", "impdp", "rman")
_PASSWORD = (
    rf"(?:{_BLANK}-[A-Za-z]{{1,20}})*+{_BLANK}(?:userid=|target{_BLANK})?{_QUOTE}"
    r"[A-Za-z][A-Za-z0-9_$#.\[\]]{0,60}/"
    r"(?:\\*\"(?P<quoted>[^\s\"\\]{2,200})\\*\"|(?P<bare>[^\s\"'\\;|&<>()$`@/{%][^\s\"'\\;|&<>()]++))"
)
_BEGINS = re.compile(r"(?:\A|[\n;|&(\"'`]|\\n)[ \t]{0,8}\Z")
"""What stands before the first word of a command."""
_MIXED = re.compile(r"[0-9!@#$%^&*]")


def login_spans(text: str) -> Iterator[Span]:
    """Where such secrets stand."""
    if " " not in text and "\t" not in text:
        return
    for program, rest in _LOGINS.items():
        if program in text:
            yield from (found.span("token") for found in _calls(text, program, rest))
    if "/" not in text:
        return
    for program in _ORACLE:
        if program in text:
            for found in _calls(text, program, _PASSWORD):
                yield from _password(text, found)


def _calls(text: str, program: str, rest: str) -> Iterator[re.Match[str]]:
    at = text.find(program)
    while at >= 0:
        found = _command_pattern(program, rest).match(text, at)
        if found is not None:
            yield found
        at = text.find(program, at + len(program))


@cache
def _command_pattern(program: str, rest: str) -> re.Pattern[str]:
    """The pattern of a program, made when a text first names it."""
    return re.compile(f"{EDGE}{program}{rest}")


def _password(text: str, found: re.Match[str]) -> Iterator[Span]:
    """What stands between the user and the database; words that are joined by a slash are none."""
    if found["quoted"]:
        yield found.span("quoted")
        return
    start, end = found.span("bare")
    password, at, _ = found["bare"].rpartition("@")
    if at:
        yield start, start + len(password)
    elif _MIXED.search(found["bare"]) or _BEGINS.search(text, max(0, found.start() - 9), found.start()):
        yield start, end


_LINE = r"(?:\n|\\+n)"
_REDACTION_QUOTE = r"(?:\\*[\"'])?"
_REDACTION_BLANK = r"(?:[ \t]|\\+t)"
_IS = rf"{_REDACTION_QUOTE}{_REDACTION_BLANK}{{0,4}}[:=]{_REDACTION_BLANK}{{0,4}}{_REDACTION_QUOTE}"
_NAME = re.compile(
    rf"(?i:(?:name|key){_IS}[a-z0-9_.-]{{0,60}}?"
    r"(?:password|passwd|passphrase|secret|token|credential|(?:api|access|private)[_-]?key)"
    rf"(?:[_-]?(?:[0-9]{{1,3}}|base|data))?{_REDACTION_QUOTE}(?:[,\s]|\\+[nrt]){{1,40}}{_REDACTION_QUOTE})\Z"
)
_REDACTION_VALUE = re.compile(rf"(?i:value){_IS}(?P<value>(?![<${{%*\[])[^\s\"'\\<>,;(){{}}\[\]]{{3,400}})")
"""A name and its value as two fields, as in manifests and configuration files."""
_BEFORE = 160
"""Letters before a value in which its name is looked for."""
_KIND = re.compile(rf"kind{_REDACTION_QUOTE}[ ]*:[ ]*{_REDACTION_QUOTE}Secret(?![A-Za-z0-9_-])")
_DATA = re.compile(
    rf"(?:data|stringData){_REDACTION_QUOTE}[ ]*:"
    rf"(?P<block>(?:{_LINE}{_REDACTION_BLANK}{{1,40}}[^\n\\{{}}]{{0,4000}})++|[ ]*\{{[^{{}}]{{0,100000}})"
)
_FIELD = re.compile(
    rf"[A-Za-z0-9_.-]{{1,253}}{_REDACTION_QUOTE}[ ]*:[ ]*{_REDACTION_QUOTE}"
    r"(?P<value>(?!<redacted>|[|>][-+]?(?:\s|\\|$))[^\s\"'\\,{}<>]{4,})"
)
_PARTED = re.compile(r"(?:\n|\\n)---")
"""What stands between two documents of one text."""


def named_spans(text: str, small: str) -> Iterator[Span]:
    """Where such secrets stand, in a text that is given in small letters too."""
    at = small.find("value")
    while at >= 0:
        found = _REDACTION_VALUE.match(text, at)
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
    return _piecewise(words, " ")


def redact_lines(lines: Sequence[str]) -> list[str]:
    """The lines of one text, each without what is secret in the whole; a line stays a line."""
    bare = [line.removesuffix("\n") for line in lines]
    return _piecewise(bare, "\n")


def _piecewise(words: Sequence[str], gap: str) -> list[str]:
    """Parts of a text, each without what is secret where they stand together."""
    text = gap.join(words)
    blocks = [match.span() for match in _BLOCKS.finditer(text)] if "-----BEGIN " in text else []
    spans = sorted((*blocks, *_spans(text)))
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
