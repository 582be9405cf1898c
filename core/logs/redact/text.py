"""Hides secrets in text before a person or a file sees it."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from core.logs.redact.tokens import EDGE, SHAPES, Program, Span, spans, token_spans

HIDDEN = "<redacted>"

_NAMES = SHAPES.names
_LINKS = ("", "_", "-")
_MIXED = re.compile(r"[0-9!@#$%^&*]")
_OPTIONAL_QUOTE = r"(?:\\*[\"'])?"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when a text first needs it: most never do, and together they delay a start."""
    return re.compile(pattern)


_QUOTE = r"""\\*["']"""
# The text after a name: a separator and a value, quoted or bare.
_ASSIGNED = re.compile(
    rf"(?P<between>(?:{_QUOTE})?\s*(?::=|=>|[:=])\s*|(?P<flag>[ ]+)"
    rf"|(?P<listed>{_QUOTE},(?:\s|\\+[nrt]){{0,40}}+(?={_QUOTE})))"
    rf"(?:(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))(?:\\[^\n]|[^\n\\]))++)(?:(?=(?P=quote))|\Z)"
    r"""|(?P<bare>[^\s"'\\,;&<>(){}\[\]$`|*]++)(?P<call>[(\[]?))"""
)
_OPTION = re.compile(r"""["']--?(?:[A-Za-z0-9_-]*[_-])?\Z""")
_LONGEST_OPTION = 64  # The text before a name that is an option in a list of words.
# Another option, behind one that takes no value and makes the program ask.
_NEXT_OPTION = re.compile(r"--[a-z][a-z0-9-]*(?:=.*)?", re.DOTALL)

_KEYS = tuple(f"{kind}{link}" for kind in _NAMES.keys for link in _LINKS)  # Words before `key` that make it a secret.
# Words before `pass` that make it a password.
_PASSES = tuple(f"{kind}{link}" for kind in _NAMES.passes for link in _LINKS)

_TAGGED = re.compile(r"""\\*["']?>(?P<value>[^<>\s]{3,200})</""")
_WORD = re.compile(r"[A-Za-z]+(?:[_.-][A-Za-z]+)*")
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@ -]{1,32}){2,}/?|(?:~|\.{1,2})/[\w.-]+")
_PLAIN_VALUE = re.compile("|".join(_NAMES.plain_values), re.IGNORECASE)
_SHORTEST_PASSWORD = 3
_SHORTEST_SECRET = 6  # Shorter values are not secrets.
_SHORTEST_FIELD = 4  # Shortest value of a field, whose meaning is certain.
_LONGEST_NUMBER = 11  # Digits of a number that counts or names something.
_PLACEHOLDER = re.compile(
    r"\$[A-Z_][A-Z0-9_]*|\$\{[^{}]*\}|\{[A-Za-z_][A-Za-z0-9_.]*\}|\$?\{\{[^{}]*\}\}|\$\([^()]*\)|<[^<>]*>"
    r"|%[A-Z_]+%|\*+"
)
# What may follow the name of a secret.
_NAME_SUFFIX = re.compile(r"(?i)[ _-]?(?:value|string|plain(?:text)?|base64|b64|pem|confirm(?:ation)?|[0-9]{1,3})\Z")

# The text after a secret's name in a sentence: my password is ..., the token for staging was ...
_SENTENCE = re.compile(
    r"(?i:(?:[ ](?:for|of|to|on|in|at)(?:[ ][\w.@'-]{1,30}){1,4}?)?[ ](?:is|was|will[ ]be)"
    r"(?:[ ](?:now|set[ ]to))?:?[ ])"
    r"(?:\\*[\"'`]+(?P<quoted>[^\s\"'`\\<][^\n\"'`\\<]{3,80})(?:(?=\\*[\"'`])|\Z)"
    r"|(?P<bare>[^\s\"'`\\<>$%{(\[*][^\s\"'`\\<>]{3,200}))"
)
_RANDOM_LOOK = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])\S+|\S*[^\W\d_][!@#$%^&*]\S*|\S*[a-z][A-Z]\S*")
_DESCRIPTION = re.compile(rf"(?i)(?:{'|'.join(_NAMES.descriptions)}|[a-z]+(?:ed|ing|able|ible))")
_POINTS = ".,;:!?)"

SecretKind = Literal["password", "secret", "login", "word"]


_WHOLE_NAMES: tuple[tuple[str, SecretKind], ...] = (
    *((word, "password") for word in _NAMES.passwords),
    *((word, "secret") for word in _NAMES.secrets),
)
_ENDINGS = tuple(f"_{word}" for word in _NAMES.endings)


class _SecretName(NamedTuple):
    start: int
    end: int
    kind: SecretKind


def small_letters(text: str) -> str:
    """Return the text in lower case, with every letter at its place."""
    return text.replace("İ", "I").lower()


def assigned_spans(text: str, small: str) -> Iterator[Span]:
    """Yield the values assigned to names of secrets; `small` is the text in lower case."""
    done = 0
    for name in _secret_names(text, small):
        if name.end < done:
            continue
        span = _assigned_value(text, name) or _tagged_value(text, name.end) or _spoken_value(text, name)
        if span is not None:
            yield span
            done = span[1]


def _assigned_value(text: str, name: _SecretName) -> Span | None:
    match = _ASSIGNED.match(text, name.end)
    if match is None or (match["flag"] and text[name.start - 1 : name.start] != "-"):
        return None
    if match["listed"] and not _OPTION.search(text, max(0, name.start - _LONGEST_OPTION), name.start):
        return None
    value = match["bare"] or match["quoted"]
    if (match["flag"] or match["listed"]) and (_NEXT_OPTION.fullmatch(value) or text.endswith("--no-", 0, name.start)):
        return None
    if name.kind == "login" and not _is_login(value):
        return None
    if name.kind == "word" and (match["bare"] or not _MIXED.search(value)):
        return None
    if _is_innocent(match, text[name.start : name.end], name.kind == "password"):
        return None
    return match.span("bare" if match["bare"] else "quoted")


def _spoken_value(text: str, name: _SecretName) -> Span | None:
    """Return the value that a sentence gives to a name; a mere word is one only after `my` or `our`."""
    match = _SENTENCE.match(text, name.end) if text[name.end : name.end + 1] == " " else None
    if match is None or name.kind not in ("password", "secret"):
        return None
    group = "quoted" if match["quoted"] else "bare"
    value = match[group] if match["quoted"] else match["bare"].rstrip(_POINTS)
    start, end = match.start(group), match.start(group) + len(value)
    if len(value) < _SHORTEST_FIELD or is_plain_word(value) or _PATH.fullmatch(value) or "://" in value:
        return None
    if _DESCRIPTION.fullmatch(value):
        return None
    if not _RANDOM_LOOK.fullmatch(value):
        own = text.endswith(("my ", "our ", "My ", "Our "), 0, name.start)
        last = text[end : end + 1] in ("", "\n", "\\", '"', "'", *_POINTS)
        alone = value.isdecimal() or match["quoted"] or (own and last and len(value) >= _SHORTEST_SECRET)
        if name.kind != "password" or not alone:
            return None
    return start, end


def _tagged_value(text: str, end: int) -> Span | None:
    """A value between tags."""
    match = _TAGGED.match(text, end)
    if match is None or is_plain_word(match["value"]) or match["value"].startswith(("$", "{", "%", "*")):
        return None
    return match.span("value")


def name_kind(name: str) -> SecretKind | None:
    """Return the kind of secret that a whole name announces, such as a field's; None if none."""
    quoted = f'"{_NAME_SUFFIX.sub("", name).replace(" ", "_")}"'
    names = _secret_names(quoted, small_letters(quoted))
    return next((one.kind for one in names if one.end == len(quoted) - 1), None)


def is_secret_value(value: str, kind: SecretKind) -> bool:
    """Whether a value under such a name is a secret, and not a type, number, path or variable."""
    if not value or is_plain_word(value) or _PLACEHOLDER.fullmatch(value) or _PATH.fullmatch(value):
        return False
    if kind == "secret":
        counts = value.isdecimal() and len(value) <= _LONGEST_NUMBER
        return len(value) >= _SHORTEST_FIELD and not counts
    if kind == "word":
        return _MIXED.search(value) is not None
    return kind == "password" or _is_login(value)


def is_plain_word(value: str) -> bool:
    """Whether it is a type, a constant or a mere name."""
    return _PLAIN_VALUE.fullmatch(value) is not None


def _is_login(value: str) -> bool:
    """Whether it is a user name and a password in base64, as registries store them."""
    try:
        return b":" in binascii.a2b_base64(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4))[1:-1]
    except (ValueError, UnicodeEncodeError):
        return False


def _secret_names(text: str, small: str) -> list[_SecretName]:
    """Return the names of secrets in the text, in order."""
    names = [
        _SecretName(at, at + len(word), kind)
        for word, kind in _WHOLE_NAMES
        if word in small
        for at in places_of(small, word)
    ]
    for at in places_of(small, "key"):
        before = _word_before(small, at, _KEYS)
        if before:
            end = at + 3 + next((len(more) for more in _NAMES.after_key if small.startswith(more, at + 3)), 0)
            names.append(_SecretName(at - len(before), end, "secret"))
    for at in places_of(small, "pass"):
        before = _word_before(small, at, _PASSES)
        if before:
            names.append(_SecretName(at - len(before), at + 4, "password"))
        elif not small[at - 1 : at].isalnum() and small[at - 1 : at] not in ("_", "-"):
            names.append(_SecretName(at, at + 4, "word"))
    for at in places_of(small, "auth"):
        led = small[at - 1 : at] if at else ""
        if led == "_" and not small[max(0, at - 2) : at - 1].isalnum():
            names.append(_SecretName(at - 1, at + 4, "secret"))
        elif led in ('"', "'"):
            names.append(_SecretName(at, at + 4, "login"))
    for word in _ENDINGS:
        if word in text:
            names += [_SecretName(at + 1, at + len(word), "secret") for at in places_of(text, word)]
    names.sort()
    return [name for name in names if not _name_continues(text, name.end)]


def _word_before(small: str, at: int, kinds: tuple[str, ...]) -> str:
    """Return which of these words is before a place."""
    if not small.endswith(kinds, 0, at):
        return ""
    return next(kind for kind in kinds if small.endswith(kind, 0, at))


def places_of(text: str, word: str) -> Iterator[int]:
    """Yield every place of a word in a text."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _name_continues(text: str, end: int) -> bool:
    following = text[end : end + 1]
    return following.isalnum() or following in ("_", "-")


def _is_innocent(match: re.Match[str], name: str, password: bool) -> bool:
    """Whether an assigned value is not a secret: a type, a number, a path, a variable, a call."""
    value = match["bare"] or match["quoted"]
    if len(value) < (_SHORTEST_PASSWORD if password else _SHORTEST_SECRET) or (value.isdecimal() and not password):
        return True
    if value.startswith(("<", "$", "%", "{", "*", "[")) or is_plain_word(value) or _PATH.fullmatch(value):
        return True
    if match["quoted"] is not None:
        return False
    return bool(match["call"]) or (not password and not name.isupper() and _WORD.fullmatch(value) is not None)


_LONGEST = 2_000  # Letters of a command that are looked at.
_GAP = r"(?:[ \t]|\\+\n|\\+[nrt])++"
_VALUE = (
    rf"(?:(?P<quote>\\*[\"'])(?P<quoted>(?:(?!(?P=quote))[^\n]){{1,{_LONGEST}}})(?:(?P=quote)|\Z)"
    r"|(?P<bare>[^\s\"'\\;|&<>()`$-][^\s\"'\\;|&<>()`]*))"
)
_FORMS = {
    "either": rf"(?<![^\s\"'])FLAGS(?:{_GAP}|=)?{_VALUE}",
    "apart": rf"(?<![^\s\"'=])FLAGS(?:{_GAP}|=){_VALUE}",
    "attached": rf"(?<![^\s\"'])FLAGS{_VALUE}",
    "pass": rf"(?<=\s)FLAGS{_GAP}(?:\\*[\"'])?pass:{_VALUE}",
}
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
# A pipe into a program that reads a password from it.
_TAKES_IT = (
    r"[ ]*\|[ ]*(?:sudo[ ]+(?:-[a-zA-Z]+[ ]+)*-[a-zA-Z]*S|(?:sudo[ ]+)?(?:chpasswd|passwd|docker[ ]+login"
    r"|podman[ ]+login|helm[ ]+registry|gh[ ]+auth|vault[ ]+login|wrangler|fly[ ]+auth))"
)
_PIPED = tuple(
    rf"{word}(?:(?<![A-Za-z0-9_.-]{word})|(?<=\\[nrt]{word}))(?:[ ]-[ne]+)?[ ]+"
    rf"(?:\\*[\"']%s(?:\\+n)?\\*[\"'][ ]+)?{_VALUE}{_TAKES_IT}"
    for word in ("echo", "printf")
)
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,4}(?P<bare>.*?)(?=Private-MAC|\Z)", re.DOTALL)
_PROGRAMS = tuple((program.stem, program) for program in SHAPES.programs)
_NOT_A_PASSWORD = re.compile(r"<.*|\$.*|\{.*|%[A-Z_]+%|\*+|\.{2,}")
_SHORTEST_ARGUMENT = 2


def command_spans(text: str) -> Iterator[Span]:
    """Yield passwords on command lines, and in the files of commands."""
    if " " in text or "\n" in text or "\t" in text:
        for stem, program in _PROGRAMS:
            if stem in text:
                yield from _program_passwords(text, program)
    if "password" in text:
        yield from (span for pattern in _NETRC for span in spans(_compiled(pattern), text, "bare"))
    if ":5432:" in text or ":*:" in text:
        yield from spans(_compiled(_PGPASS), text, "bare")
    if "|" in text:
        yield from (
            span
            for pattern in _PIPED
            for match in _compiled(pattern).finditer(text)
            for span in _argument_spans(match, "")
        )
    if "Private-Lines: " in text:
        yield from spans(_PUTTY, text, "bare")


def _program_passwords(text: str, program: Program) -> Iterator[Span]:
    """Yield the passwords in the calls of one program."""
    called = _compiled(rf"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt])){program.stem}{program.more}(?=\s|\\+\n)")
    flags = _compiled(_FORMS[program.form].replace("FLAGS", f"(?:{program.flags})"))
    is_login = program.stem == "login"
    at = text.find(program.stem)
    while at >= 0:
        call = called.match(text, at)
        end = at + 1
        if call is not None and (not is_login or _LOGS_IN.search(text, max(0, at - 16), at)):
            end = _command_end(text, call.end())
            for flag in flags.finditer(text, call.end(), end):
                if not is_login or not _PORT.fullmatch(flag["bare"] or ""):
                    yield from _argument_spans(flag, program.separator, program.list_separator)
        at = text.find(program.stem, max(end, at + 1))


def _command_end(text: str, start: int) -> int:
    """Return where a command ends: at its line end, or at a separator outside quotes."""
    for sign in _ENDS.finditer(text, start, start + _LONGEST):
        at = sign.start()
        if sign[0] in ("\n", "\\n"):
            return at
        if not text.count('"', start, at) % 2 and not text.count("'", start, at) % 2:
            return at
    return min(len(text), start + _LONGEST)


def _argument_spans(match: re.Match[str], separator: str, list_separator: str = "") -> Iterator[Span]:
    """Yield the secret part of each value; none if it is a variable or a mere name."""
    group = "bare" if match["bare"] else "quoted"
    start = match.start(group)
    for value in match[group].split(list_separator) if list_separator else [match[group]]:
        yield from _secret_part(value, start, separator)
        start += len(value) + 1


def _secret_part(value: str, start: int, separator: str) -> Iterator[Span]:
    end = start + len(value)
    if separator:
        name, sign, value = value.partition(separator)
        if not sign:
            return
        start += len(name) + 1
        if not value and len(name) >= 16 and any(map(str.isdigit, name)):
            start, end, value = start - len(name) - 1, start - 1, name
    if len(value) >= _SHORTEST_ARGUMENT and not _NOT_A_PASSWORD.fullmatch(value):
        yield start, end


_LONGEST_ADDRESS = 512  # Letters of an address that are looked at.
_REST = re.compile(r"[^\s\"'\\<>`]{1,512}")
# An `@` with a host after it.
_HOST = re.compile(r"(?<!/)@(?=[A-Za-z0-9_.\[-][A-Za-z0-9_.:\]-]*(?:[/?#),;]|\Z))")
_PORT_AND_PATH = re.compile(r"[0-9]{0,5}(?:[/?#),;].*)?", re.DOTALL)
_VARIABLE_PART = re.compile(r"\$.*|\{.*|%[sd(].*|\*+|:|x{3,}|\.{3,}")
# A random user name: long with a digit, or with digits among its letters.
_RANDOM_NAME = re.compile(
    r"(?=[A-Za-z_.~-]*[0-9])[A-Za-z0-9_.~%=+-]{16,}"
    r"|(?=(?:[^0-9]{0,15}[0-9]{1,15}+[A-Za-z]){2})[A-Za-z0-9_.~%=+-]{10,15}"
)
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
    """Yield secrets in addresses."""
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
    """Yield secrets in the query of an address."""
    if "=" in text and ("?" in text or "&" in text):
        yield from spans(_QUERY, text, 1)


def _before_host(text: str, start: int) -> Iterator[Span]:
    """Yield the password before the host of an address, or a token in place of the user name."""
    if text.find("@", start, start + _LONGEST_ADDRESS) < 0:
        return
    rest = _REST.match(text, start)
    if rest is None or "@" not in rest[0]:
        return
    address = rest[0]
    user = re.split(r"[/?#@]", address, maxsplit=1)[0]
    name, colon, _ = user.partition(":")
    hosts = [match.start() for match in _HOST.finditer(address)]
    if not hosts:
        return
    if not colon:
        if address[len(user) : len(user) + 1] == "@" and _RANDOM_NAME.fullmatch(name):
            yield start, start + len(name)
        return
    first = len(name) + 1
    if address[len(user) : len(user) + 1] != "@" and _PORT_AND_PATH.fullmatch(address, first):
        return
    end = max((host for host in hosts if "?" not in address[first:host]), default=hosts[0])
    if end <= first or _VARIABLE_PART.fullmatch(address, first, end):
        return
    yield start + first, start + end
    if _RANDOM_NAME.fullmatch(name):
        yield start, start + len(name)


_BLANKS = r"[ \t]{1,8}"
_LOGIN_TOKEN = (
    rf"(?:{_BLANKS}(?:--(?:registry|host){_BLANKS}|-)[^\s\"'\\]{{1,200}})*+{_BLANKS}{_OPTIONAL_QUOTE}"
    r"(?P<token>(?=[A-Za-z_.~+/-]{0,400}[0-9])[A-Za-z0-9_.~+/-]{8,}+)(?![^\s\"'\\;|&)])"
)
_LOGINS = {
    "vault": rf"{_BLANKS}login{_LOGIN_TOKEN}",
    "cargo": rf"{_BLANKS}login{_LOGIN_TOKEN}",
    "wandb": rf"{_BLANKS}login{_LOGIN_TOKEN}",
    "snyk": rf"{_BLANKS}auth{_LOGIN_TOKEN}",
}
_ORACLE = ("sqlplus", "sqlldr", "expdp", "impdp", "rman")
_ORACLE_LOGIN = (
    rf"(?:{_BLANKS}-[A-Za-z]{{1,20}})*+{_BLANKS}(?:userid=|target{_BLANKS})?{_OPTIONAL_QUOTE}"
    r"[A-Za-z][A-Za-z0-9_$#.\[\]]{0,60}/"
    r"(?:\\*\"(?P<quoted>[^\s\"\\]{2,200})\\*\"|(?P<bare>[^\s\"'\\;|&<>()$`@/{%][^\s\"'\\;|&<>()]++))"
)
_BEGINS = re.compile(r"(?:\A|[\n;|&(\"'`]|\\n)[ \t]{0,8}\Z")  # The text before the first word of a command.


def login_spans(text: str) -> Iterator[Span]:
    """Yield tokens and passwords of login commands."""
    if " " not in text and "\t" not in text:
        return
    for program, rest in _LOGINS.items():
        if program in text:
            yield from (match.span("token") for match in _calls(text, program, rest))
    if "/" not in text:
        return
    for program in _ORACLE:
        if program in text:
            for match in _calls(text, program, _ORACLE_LOGIN):
                yield from _oracle_password(text, match)


def _calls(text: str, program: str, rest: str) -> Iterator[re.Match[str]]:
    at = text.find(program)
    while at >= 0:
        match = _command_pattern(program, rest).match(text, at)
        if match is not None:
            yield match
        at = text.find(program, at + len(program))


@cache
def _command_pattern(program: str, rest: str) -> re.Pattern[str]:
    """The pattern of a program, made when a text first names it."""
    return re.compile(f"{EDGE}{program}{rest}")


def _oracle_password(text: str, match: re.Match[str]) -> Iterator[Span]:
    """Yield the password between user and database; words joined by a slash are not one."""
    if match["quoted"]:
        yield match.span("quoted")
        return
    start, end = match.span("bare")
    password, at, _ = match["bare"].rpartition("@")
    if at:
        yield start, start + len(password)
    elif _MIXED.search(match["bare"]) or _BEGINS.search(text, max(0, match.start() - 9), match.start()):
        yield start, end


_LINE = r"(?:\n|\\+n)"
_BLANK = r"(?:[ \t]|\\+t)"
_IS = rf"{_OPTIONAL_QUOTE}{_BLANK}{{0,4}}[:=]{_BLANK}{{0,4}}{_OPTIONAL_QUOTE}"
_FIELD_NAME = re.compile(
    rf"(?i:(?:name|key){_IS}[a-z0-9_.-]{{0,60}}?"
    r"(?:password|passwd|passphrase|secret|token|credential|(?:api|access|private)[_-]?key)"
    rf"(?:[_-]?(?:[0-9]{{1,3}}|base|data))?{_OPTIONAL_QUOTE}(?:[,\s]|\\+[nrt]){{1,40}}{_OPTIONAL_QUOTE})\Z"
)
# A name and its value as two fields, as in manifests and configuration files.
_FIELD_VALUE = re.compile(rf"(?i:value){_IS}(?P<value>(?![<${{%*\[])[^\s\"'\\<>,;(){{}}\[\]]{{3,400}})")
_BEFORE = 160  # Letters before a value in which its name is looked for.
_KIND = re.compile(rf"kind{_OPTIONAL_QUOTE}[ ]*:[ ]*{_OPTIONAL_QUOTE}Secret(?![A-Za-z0-9_-])")
_DATA = re.compile(
    rf"(?:data|stringData){_OPTIONAL_QUOTE}[ ]*:"
    rf"(?P<block>(?:{_LINE}{_BLANK}{{1,40}}[^\n\\{{}}]{{0,4000}})++|[ ]*\{{[^{{}}]{{0,100000}})"
)
_FIELD = re.compile(
    rf"[A-Za-z0-9_.-]{{1,253}}{_OPTIONAL_QUOTE}[ ]*:[ ]*{_OPTIONAL_QUOTE}"
    r"(?P<value>(?!<redacted>|[|>][-+]?(?:\s|\\|$))[^\s\"'\\,{}<>]{4,})"
)
_DOCUMENT_END = re.compile(r"(?:\n|\\n)---")  # The separator of two documents in one text.


def named_spans(text: str, small: str) -> Iterator[Span]:
    """Yield secrets in name and value fields and in manifests; `small` is the text in lower case."""
    at = small.find("value")
    while at >= 0:
        match = _FIELD_VALUE.match(text, at)
        value = match["value"] if match is not None else ""
        has_name = match is not None and _FIELD_NAME.search(text, max(0, at - _BEFORE), at)
        if match is not None and has_name and not is_plain_word(value) and not value.isdecimal():
            yield match.span("value")
        at = small.find("value", at + 5)
    if "Secret" in text and "kind" in text:
        yield from _manifest_secrets(text)


def _manifest_secrets(text: str) -> Iterator[Span]:
    start = 0
    for end in (*(sign.start() for sign in _DOCUMENT_END.finditer(text)), len(text)):
        if _KIND.search(text, start, end):
            for block in _DATA.finditer(text, start, end):
                yield from (field.span("value") for field in _FIELD.finditer(text, *block.span("block")))
        start = end


_BLOCKS = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)", re.DOTALL
)
_SCHEME = re.compile(
    rf"(?i:{EDGE}(?:bearer|basic|ssws)\s+)((?=[a-z._~+/-]{{0,200}}[0-9A-Z=])[A-Za-z0-9+/=._~-]{{12,}})"
)
_HEADER = re.compile(
    rf"(?i){EDGE}authorization\\*[\"']?\s*[:=]\s*\\*[\"']?(?:[a-z]+\s+)?(?!<redacted>)([^\s\"'\\<>,]{{8,}})"
)
_COOKIE = re.compile(rf"(?i){EDGE}cookie\\*[\"']?\s*:\s*\\*[\"']?(?!<redacted>)([^\"'\\\n<>]{{8,}})")
_SESSION = re.compile(r"_session=(?![0-9a-f]{8}-[0-9a-f]{4}-)([A-Za-z0-9%=+/._-]{24,})")
# Words in small letters, and what follows them.
_HEADERS = (
    ("bearer", _SCHEME),
    ("basic", _SCHEME),
    ("ssws", _SCHEME),
    ("authorization", _HEADER),
    ("cookie", _COOKIE),
    ("_session=", _SESSION),
)

_PRIVATE_KEY = re.compile(
    r"(?i)private[ _-]?key(?:[ ](?:of|for)(?:[ ][\w']{1,20}){1,3}?)?\W{1,12}(?:is\W{1,6})?"
    r"(?P<bare>(?:0x)?[0-9a-f]{64})(?![0-9a-f])"
)
_PHRASE_WORDS = ("seed", "recovery", "mnemonic", "backup", "secret")
_PHRASE_NAME = (
    rf"(?i)(?:{'|'.join(_PHRASE_WORDS)})[ _-]?(?:phrase|words)?(?:[ ]is|\\*[\"']?[ ]*[:=])\s*"
    r"\\*[\"']?"
)
_SEED_PHRASE = re.compile(rf"{_PHRASE_NAME}(?P<bare>(?:[a-z]{{3,8}}[ ,]{{1,2}}){{11,23}}[a-z]{{3,8}})(?![A-Za-z])")
_TORN_PHRASE = re.compile(rf"{_PHRASE_NAME}(?P<bare>(?:[a-z]{{3,8}}[ ,]{{1,2}}){{1,23}}[a-z]{{0,8}})\Z")
_TORN_BYTES = re.compile(r"(?<![\w,.])\[(?P<bare>\s*[0-9]{1,3}(?:\s*,\s*[0-9]{0,3}){1,63})\Z")
_KEY_BYTES = re.compile(r"\[(?<![\w,.]\[)(?P<bare>\s*[0-9]{1,3}(?:\s*,\s*[0-9]{1,3}){63})\s*\]")
_SECURE_STRING = re.compile(r"(?i)ConvertTo-SecureString(?:[ ]+-(?:AsPlainText|Force))*(?:[ ]+-String)?[ ]+" + _VALUE)
_PIPED_STRING = re.compile(
    r"(?i)(?P<quote>\\*[\"'])(?P<bare>[^\n\"'\\$]{1,200})(?P=quote)[ ]*\|[ ]*ConvertTo-SecureString"
)


def wallet_spans(text: str, small: str) -> Iterator[Span]:
    """Yield private keys and phrases of wallets, and secure strings of PowerShell."""
    if "private" in small:
        yield from _spans_at(_PRIVATE_KEY, text, places_of(small, "private"))
        if "[" in text:
            yield from spans(_KEY_BYTES, text, "bare")
    elif text.startswith("[") and text.rstrip().endswith("]"):
        yield from spans(_KEY_BYTES, text, "bare")
    if "phrase" in small or "mnemonic" in small or " words" in small:
        for word in _PHRASE_WORDS:
            yield from _spans_at(_SEED_PHRASE, text, places_of(small, word))
    if "securestring" in small:
        yield from (span for match in _SECURE_STRING.finditer(text) for span in _argument_spans(match, ""))
        yield from spans(_PIPED_STRING, text, "bare")


def _spans_at(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[Span]:
    """Yield the matches at some places, which is faster than a search that ignores case."""
    return (match.span("bare") for at in places if (match := pattern.match(text, at)))


_UNSEEN_CHARACTERS = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
# What follows the escape in a terminal's sequence for colours or links.
_CONTROL = r"(?:\[[0-9;:?]{0,32}[ -/]{0,2}[@-~]|\][^\x07\x1b\\]{0,512}(?:\x07|\x1b\\|\\{1,8}u0007))"
_UNSEEN_ESCAPES = rf"\\{{1,8}}+u(?:00ad|200[b-f]|202[a-e]|206[0-9a-f]|feff|001[bB]{_CONTROL})"
_UNSEEN_CHARACTER, _UNSEEN_ESCAPE = re.compile(_UNSEEN_CHARACTERS), re.compile(_UNSEEN_ESCAPES)
# Characters and sequences without width, as they are or as escapes of JSON.
_UNSEEN = re.compile(f"(?:{_UNSEEN_CHARACTERS}|\x1b{_CONTROL}|{_UNSEEN_ESCAPES})+")
_LETTERS = "[A-Za-z0-9_.+/=-]"
# A line break, and letters and digits that may continue a token.
_CONTINUATION = re.compile(
    r"(?:\n|\r\n|\\(?:\r?\n|\\{0,7}+r?\\{0,8}+n))[ \t]{0,8}"
    rf"(?P<piece>(?=[A-Za-z_.+/=-]{{0,80}}[0-9])(?=[0-9_.+/=-]{{0,80}}[A-Za-z]){_LETTERS}{{6,}}+)"
)
_LAST_PIECE = re.compile(rf"(?:(?<!{_LETTERS})|(?<=\\[nrt])){_LETTERS}{{6,400}}+\Z")


def _without_unseen(text: str) -> Iterator[Span]:
    """Yield secrets with invisible characters inside, by the text without these."""
    places: list[int] = []
    done = 0
    for match in (*_UNSEEN.finditer(text), None):
        places += range(done, len(text) if match is None else match.start())
        done = len(text) if match is None else match.end()
    visible = "".join(map(text.__getitem__, places))
    return ((places[start], places[end - 1] + 1) for start, end in _visible_spans(visible) if end > start)


def _wrapped_tokens(text: str) -> Iterator[Span]:
    """Yield tokens that are broken over several lines, by the joined lines."""
    done = 0
    for match in _CONTINUATION.finditer(text):
        if match.start() < done:
            continue
        first = _LAST_PIECE.search(text, max(0, match.start() - 400), match.start())
        pieces = [] if first is None else [first.span()]
        line: re.Match[str] | None = match
        while pieces and line is not None:
            pieces.append(line.span("piece"))
            line = _CONTINUATION.match(text, line.end())
        if pieces:
            done = pieces[-1][1]
            joined = "".join(text[start:end] for start, end in pieces)
            yield from (_in_text(pieces, span) for span in token_spans(joined))


def _in_text(pieces: Sequence[Span], joined: Span) -> Span:
    """Return where a stretch of the joined pieces is in their text."""
    ends = []
    for at in (joined[0], joined[1] - 1):
        place = 0
        for start, end in pieces:
            if at < place + end - start:
                ends.append(start + at - place)
                break
            place += end - start
    return ends[0], ends[1] + 1


_TORN = 256  # Letters at a cut that may begin a secret.
_LAST_WORD = re.compile(rf"\S{{1,{_TORN}}}\Z")


def redact(text: str) -> str:
    """Return the text with every secret hidden; redacted text does not change."""
    if "-----BEGIN " in text:
        text = _BLOCKS.sub(HIDDEN, text)
    return _without(text, sorted(_spans(text))) if text else text


def redact_torn(text: str) -> str:
    """Hide the secrets of a text that was cut off, and its last word, which may be half a secret."""
    end = text[-_LONGEST:]
    for pattern in (_TORN_PHRASE, _TORN_BYTES):
        end = _without(end, spans(pattern, end, "bare"))
    text = text[:-_LONGEST] + end
    hidden = redact(text)
    if hidden.endswith(HIDDEN):
        return hidden
    return hidden[:-_TORN] + _LAST_WORD.sub("", hidden[-_TORN:])


def redact_words(words: Sequence[str]) -> list[str]:
    """Return the words of one command, without the secrets that they contain together."""
    return _piecewise(words, " ")


def redact_lines(lines: Sequence[str]) -> list[str]:
    """The lines of one text, each without what is secret in the whole; a line stays a line."""
    bare = [line.removesuffix("\n") for line in lines]
    return _piecewise(bare, "\n")


def _piecewise(words: Sequence[str], gap: str) -> list[str]:
    """Return the parts of a text, without the secrets that they contain together."""
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
    """Yield every secret; invisible characters and line breaks inside do not save one."""
    yield from _visible_spans(text)
    if (
        "\x1b" in text
        or (not text.isascii() and _UNSEEN_CHARACTER.search(text))
        or ("\\u" in text and _UNSEEN_ESCAPE.search(text))
    ):
        yield from _without_unseen(text)
    if "\n" in text or "\\n" in text:
        yield from _wrapped_tokens(text)


def _visible_spans(text: str) -> Iterator[Span]:
    small = small_letters(text)
    yield from token_spans(text)
    yield from address_spans(text)
    yield from query_spans(text)
    for word, pattern in _HEADERS:
        at = small.find(word)
        while at >= 0:
            match = pattern.match(text, at)
            if match is not None:
                yield match.span(1)
            at = small.find(word, max(match.end() if match else 0, at + 1))
    yield from command_spans(text)
    yield from login_spans(text)
    yield from assigned_spans(text, small)
    yield from named_spans(text, small)
    yield from wallet_spans(text, small)


def _without(text: str, spans: Iterable[Span]) -> str:
    """Return the text with every span replaced; overlapping spans become one."""
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done and end > start:
            pieces += [text[done:start], HIDDEN]
        done = max(done, end)
    return "".join([*pieces, text[done:]]) if pieces else text
