"""Every shape of secret goes from every kind of text; what only looks like one stays."""

from __future__ import annotations

import json
import time

import pytest

from core.logs.redaction import HIDDEN, redact, redact_torn
from tests.core.logs.secret_corpus import INNOCENT, PLACES, TOKENS

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
@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_tokens_go_from_every_kind_of_text(token: str, around: str) -> None:
    hidden = redact(around.format(token))
    for start in range(0, len(token) - 12, 6):
        assert token[start : start + 16] not in hidden or len(token) < 16
    assert HIDDEN in hidden
    before, _, after = around.format("\0").partition("\0")
    assert hidden.startswith(before) and hidden.endswith(after)
    assert redact(hidden) == hidden


@pytest.mark.parametrize(("secret", "around"), PLACES)
def test_secrets_go_from_where_they_are_used(secret: str, around: str) -> None:
    text = around.format(secret)
    for shown in (text, f"before\n{text}\nafter"):
        hidden = redact(shown)
        assert secret not in hidden and HIDDEN in hidden
        assert redact(hidden) == hidden


@pytest.mark.parametrize(("secret", "around"), PLACES)
def test_secrets_go_from_lines_of_json(secret: str, around: str) -> None:
    line = json.dumps({"content": [{"text": f"one\n{around.format(secret)}\ntwo"}]})
    for text in (line, json.dumps({"outer": line})):
        hidden = redact(text)
        assert secret not in hidden and HIDDEN in hidden
        json.loads(hidden)


@pytest.mark.parametrize("text", INNOCENT)
def test_look_alikes_stay(text: str) -> None:
    assert redact(text) == text
    assert redact(f"first\n{text}\nlast") == f"first\n{text}\nlast"
    line = json.dumps({"text": f"first\n{text}\nlast"})
    assert redact(line) == line


@pytest.mark.parametrize(("secret", "around"), [*((token, "{}") for token in TOKENS.values()), *PLACES])
def test_a_secret_across_a_cut_does_not_show(secret: str, around: str) -> None:
    text = "words before it " + around.format(secret)
    first = text.index(secret)
    for end in range(first + 6, first + len(secret), max(1, len(secret) // 16)):
        assert secret[: max(6, end - first)] not in redact_torn(text[:end])


def test_a_cut_off_text_keeps_all_but_its_last_word() -> None:
    assert redact_torn("one two thr") == "one two "
    assert redact_torn("one two ") == "one two "
    assert redact_torn("a" * 1000) == "a" * 744


PIECES = [
    *(token[: len(token) - cut] for token in TOKENS.values() for cut in (len(token) // 2, 1)),
    *(around.split("{}")[0] for _, around in PLACES if not around.startswith("{}")),
    *(
        "-eyJ",
        "eyJ.",
        "://a:b",
        "://a@",
        "@",
        "curl -u a",
        "curl ",
        "login a password ",
        "<password>",
        "|;",
        "\\n",
    ),
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
    ),
]


@pytest.mark.parametrize("piece", sorted(set(PIECES)))
def test_work_grows_no_faster_than_the_text(piece: str) -> None:
    """Four times the text takes about four times the work, not sixteen; the least of several tries counts."""
    small, large = (piece * (size // len(piece) + 1) for size in (20_000, 80_000))
    least = [float("inf"), float("inf")]
    for _ in range(6):
        for place, written in enumerate((small, large)):
            begun = time.thread_time()
            redact(written)
            least[place] = min(least[place], time.thread_time() - begun)
        if least[1] < 8 * least[0] + 0.01:
            return
    pytest.fail(f"{least[0]:.4f} s for a quarter of the text, {least[1]:.4f} s for all of it")
