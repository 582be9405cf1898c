"""Every shape of secret goes from every kind of text; what only looks like one stays."""

from __future__ import annotations

import json
import time

import pytest

from core.logs.redact.text import HIDDEN, redact, redact_torn
from tests.core.logs.innocent_corpus import INNOCENT
from tests.core.logs.secret_corpus import PLACES, TOKENS

AROUND = {
    "alone": "{}",
    "prose": "it said {} and went on",
    "shell": "export X={}; run",
    "env file": "A=1\nTHING={}\nB=2",
    "yaml": "thing:\n  value: {}\n  other: 1",
    "json": '{{"a": 1, "value": "{}", "b": [2]}}',
    "json in json": '{{"line": "{{\\"value\\": \\"{}\\"}}"}}',
    "escaped line": '{{"text": "one\\n{}\\ntwo"}}',
    "header": "X-Thing: {}\r\nAccept: */*",
    "address": "https://example.com/x?thing={}&b=2",
}


def test_the_corpus_is_large() -> None:
    assert len(TOKENS) + len(PLACES) >= 200
    assert len(set(TOKENS.values())) == len(TOKENS)


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_tokens_go_from_every_kind_of_text(around: str) -> None:
    before, _, after = around.format("\0").partition("\0")
    for name, token in TOKENS.items():
        hidden = redact(around.format(token))
        for start in range(0, len(token) - 12, 6):
            assert token[start : start + 16] not in hidden or len(token) < 16, name
        assert HIDDEN in hidden, name
        assert hidden.startswith(before) and hidden.endswith(after), name
        assert redact(hidden) == hidden, name


def test_secrets_go_from_where_they_are_used() -> None:
    for secret, around in PLACES:
        text = around.format(secret)
        for shown in (text, f"before\n{text}\nafter"):
            hidden = redact(shown)
            assert secret not in hidden and HIDDEN in hidden, shown
            assert redact(hidden) == hidden, shown


def test_secrets_go_from_lines_of_json() -> None:
    for secret, around in PLACES:
        line = json.dumps({"content": [{"text": f"one\n{around.format(secret)}\ntwo"}]})
        for text in (line, json.dumps({"outer": line})):
            hidden = redact(text)
            assert secret not in hidden and HIDDEN in hidden, text
            json.loads(hidden)


UNSEEN = (
    *("\u200b", "\u200d", "\u00ad", "\ufeff", "\u2060", "\\u200b"),
    *("\x1b[0m", "\x1b[01;31m\x1b[K", "\\u001b[38;5;9m", "\x1b]8;;http://x\x07"),
)
BREAKS = ("\n", "\r\n", "\n    ", "\\\n", "\\n")


@pytest.mark.parametrize("inside", UNSEEN, ids=ascii)
def test_an_unseen_character_inside_saves_no_secret(inside: str) -> None:
    for secret, around in [*((token, "it said {} and went on") for token in TOKENS.values()), *PLACES]:
        middle = len(secret) // 2
        text = around.format(secret[:middle] + inside + secret[middle:])
        hidden = redact(text)
        assert HIDDEN in hidden and secret[middle : middle + 12] not in hidden, text


@pytest.mark.parametrize("inside", BREAKS, ids=ascii)
def test_a_line_break_inside_saves_no_token(inside: str) -> None:
    for name in ("OpenAI", "Groq", "Anthropic", "Perplexity", "LangSmith personal"):
        token = TOKENS[name]
        for middle in (12, len(token) // 2, len(token) - 12):
            text = f"export X={token[:middle]}{inside}{token[middle:]}\nthe next line"
            hidden = redact(text)
            assert token[middle : middle + 8] not in hidden and token[:middle] not in hidden, text
            assert hidden.endswith("\nthe next line")


def test_look_alikes_stay() -> None:
    for text in INNOCENT:
        assert redact(text) == text
        assert redact(f"first\n{text}\nlast") == f"first\n{text}\nlast"
        line = json.dumps({"text": f"first\n{text}\nlast"})
        assert redact(line) == line


def test_a_secret_across_a_cut_does_not_show() -> None:
    for secret, around in [*((token, "{}") for token in TOKENS.values()), *PLACES]:
        text = "words before it " + around.format(secret)
        first = text.index(secret)
        for end in range(first + 6, first + len(secret), max(1, len(secret) // 16)):
            assert secret[: max(6, end - first)] not in redact_torn(text[:end]), text[:end]


def test_a_cut_off_text_keeps_all_but_its_last_word() -> None:
    assert redact_torn("one two thr") == "one two "
    assert redact_torn("one two ") == "one two "
    assert redact_torn("a" * 1000) == "a" * 744


PIECES = [
    *(token[: len(token) - cut] for token in TOKENS.values() for cut in (len(token) // 2, 1)),
    *(around.split("{}")[0] for _, around in PLACES if not around.startswith("{}")),
    *("-eyJ", "eyJ.", "://a:b", "://a@", "@", "curl -u a", "curl ", "login a password ", "<password>", "|;", "\\n"),
    *(
        '"auth": "',
        "pass",
        "auth",
        "_auth=",
        "docker login -p ",
        "echo a",
        "key",
        "token ",
        "\\",
        "'",
        "?key=",
        ":*:",
        "kind: Secret\ndata:\n  a: b\n",
        "kind: Secret ",
        "data:\n  ",
        'name: "password"\n',
        "name=" + "a" * 50,
        '"value": ',
        "_session=",
        "\n---\nkind: Secret",
        "1234567890123456|",
        "bot12345678",
        "12345678:AA",
        "curl -b 'a=",
        "curl -b a=b;",
        "curl -b \\\n'",
        "vault login -a ",
        "vault login ",
        "sqlplus -a ",
        "sqlplus a/",
        'sqlplus a/"',
        "http -a ",
        '"--token", ',
        "://a1b2c3",
        "my password is ",
        "token for a is ",
        "ghp_abc\n",
        "a1b2c3\n",
        "a1b2c3d4\\n",
        "\u200b",
        "ghp_\u200babc",
        "\x1b[0;",
        "\x1b[m1a",
        "\x1b]8;",
        "\\u001b]",
        "private key of a ",
        "17, ",
        "private [1,",
        "mnemonic: abc ",
        "ConvertTo-SecureString ",
        "$2b$12$",
        "$argon2id$v=19$",
    ),
]


_LIMIT = 16
"""Eight times the text takes about eight times the work, not sixty-four."""
_SLACK = 0.002
"""Seconds that a clock's grain may add."""


def test_work_grows_no_faster_than_the_text() -> None:
    for piece in sorted(set(PIECES)):
        small, large = least_work(piece)
        assert large < _LIMIT * small + _SLACK, piece


def least_work(piece: str) -> tuple[float, float]:
    """Seconds for a text and for one of eight times its length; the least of several tries counts."""
    small, large = (piece * (size // len(piece) + 1) for size in (4_000, 32_000))
    least = [float("inf"), float("inf")]
    for _ in range(6):
        for place, written in enumerate((small, large)):
            begun = time.thread_time()
            redact(written)
            least[place] = min(least[place], time.thread_time() - begun)
        if least[1] < _LIMIT * least[0] + _SLACK:
            break
    return least[0], least[1]
