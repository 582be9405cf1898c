"""Secrets go, everything else stays."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.logs.redact.text import HIDDEN, redact

LETTERS = "abcDEF123ghiJKL456mnoPQR789stuVWX012yzABCdef345"

HITS = [
    ("sk-ant-api03-" + LETTERS, ""),
    ("sk-proj-" + LETTERS, ""),
    ("sk-" + LETTERS, ""),
    ("sk-or-v1-" + "0123456789abcdef" * 4, ""),
    ("ghp_" + LETTERS[:36], ""),
    ("github_pat_" + LETTERS, ""),
    ("glpat-" + LETTERS[:20], ""),
    ("xoxb-123456789012-" + LETTERS[:24], ""),
    ("AKIAIOSFODNN7EXAMPLE", ""),
    ("AIza" + LETTERS[:35], ""),
    ("hf_" + LETTERS[:34], ""),
    ("npm_" + LETTERS[:36], ""),
    ("sk_live_" + LETTERS[:24], ""),
    ("SG." + LETTERS[:22] + "." + LETTERS[:43], ""),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN", ""),
    ("123456789:AA" + LETTERS[:33], ""),
    ("hunter2", "password={}"),
    ("hunter2", 'password: "{}"'),
    ("hunter2", "DB_PASSWORD={}"),
    ("correct horse battery", 'passphrase = "{}"'),
    ("9f8e7d6c5b4a", '"api_key": "{}"'),
    ("9f8e7d6c5b4a", "MY_SERVICE_API_KEY={}"),
    ("lowercaseonly", "SERVICE_TOKEN={}"),
    ("abc123def456", "'client_secret': '{}'"),
    ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY={}"),
    ("abcdef0123456789", "export OPENAI_KEY={}"),
    ("s3cr3tvalue", "curl --token {} https://x"),
    ("s3cr3tvalue", "login --password {}"),
    ("dGhpc2lzYXNlY3JldA==", "Authorization: Basic {}"),
    ("0123456789abcdefXYZ", "authorization: Bearer {}"),
    ("0123456789abcdefXYZ", '-H "Authorization: token {}"'),
    ("0123456789abcdefXYZ", "Bearer {}"),
    ("p4ssw0rd", "postgres://user:{}@db.example.com/x"),
    ("p4ssw0rd", "https://user:{}@github.com/a/b.git"),
    ("abcdef123456", "https://example.com/x?a=1&access_token={}&b=2"),
    ("T000/B000/XXXXXXXX", "https://hooks.slack.com/services/{}"),
    ("session=abcdef0123456789", "Cookie: {}"),
    ("it's, a secret", '"password": "{}"'),
    ("ab cd ef", "api_key='{}'"),
    ("unended 'secret", 'token: "{}'),
    ("MIIEpAIBAAKCAQEA", "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----"),
    ("MIIEpAIBAAKCAQEA", "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\ncut off here"),
]

INNOCENT = [
    "d41d8cd98f00b204e9800998ecf8427e",
    "commit 92a6a2cdeadbeef0123456789abcdef012345678",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "123e4567-e89b-12d3-a456-426614174000",
    "/home/someone/.config/secrets/token.txt",
    "src/auth/token_store.py",
    '"input_tokens": 123456, "cache_read_input_tokens": 98765432',
    "max_tokens=4096",
    '"token_count": 1234567',
    "def login(user: str, password: str) -> None:",
    "token = get_token()",
    'secret = os.environ["SECRET_NAME"]',
    "api_key=settings.api_key",
    "password: ${DB_PASSWORD}",
    'export TOKEN="$OTHER"',
    "the password: required",
    "PWD=/home/someone/project",
    "private_key: ~/.ssh/id_ed25519",
    "GOOGLE_APPLICATION_CREDENTIALS=/home/someone/key/service.json",
    "https://example.com:8080/path?page=2&size=10",
    "git@github.com:owner/name.git",
    "http://localhost:3000/@scope/name",
    "a bearer of good news and basic understanding",
    "task-manager-with-a-really-long-name",
    "sk-chasing-dots-and-more-dots-in-css",
    "key: value",
    "no arguments are needed for basic functionality.",
    "the token is 'x' and the secret is out",
    "tokenizer: sentencepiece-model",
    "monkey=banana-split",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZI\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "toolu_01A2b3C4d5E6f7G8h9I0jKlM",
    "call_abcDEF123ghiJKL456mnoPQR",
    "msg_01XyZabcDEF123ghiJKL456mn",
]


@pytest.mark.parametrize(("secret", "around"), HITS)
def test_secrets_go(secret: str, around: str) -> None:
    text = (around or "before {} after").format(secret)
    hidden = redact(text)
    assert secret not in hidden
    assert HIDDEN in hidden


@pytest.mark.parametrize(("secret", "around"), HITS)
def test_secrets_inside_a_line_of_json_go(secret: str, around: str) -> None:
    text = (around or "{}").format(secret)
    line = json.dumps({"type": "user", "message": {"content": [{"text": f"one\n{text}\ntwo"}]}})
    hidden = redact(json.dumps({"outer": line}))
    assert secret not in hidden
    assert secret.replace("\n", "\\\\n") not in hidden


@pytest.mark.parametrize("text", INNOCENT)
def test_look_alikes_stay(text: str) -> None:
    assert redact(text) == text
    assert redact(f"first\n{text}\nlast") == f"first\n{text}\nlast"


def test_what_surrounds_a_secret_stays() -> None:
    text = 'curl -H "Authorization: Bearer abcdefghijkl0123456789" https://api.example.com/v1'
    assert redact(text) == f'curl -H "Authorization: Bearer {HIDDEN}" https://api.example.com/v1'
    assert redact("DB_PASSWORD=hunter2\nDB_HOST=localhost") == f"DB_PASSWORD={HIDDEN}\nDB_HOST=localhost"


def test_a_redacted_line_of_json_is_still_json() -> None:
    line = json.dumps({"a": 'password = "hunter2"', "b": "token: 'abcdef123'", "c": {"api_key": "abcdef123456"}})
    assert json.loads(redact(line))["c"] == {"api_key": HIDDEN}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([around.format(secret) if around else secret for secret, around in HITS] + INNOCENT)))
def test_redacting_twice_changes_nothing_more(parts: list[str]) -> None:
    once = redact("\n".join(parts))
    assert redact(once) == once


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("abAB01_-=:\"'\\ .@/\n<>{}"), max_size=200))
def test_any_text_is_survived_and_settles(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece", ["a", "A_", "sk-", "eyJ", "://a:", "token=", "bearer ", "\\", "-----BEGIN ", "x=", '"']
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = time.process_time()
    redact(text)
    assert time.process_time() - begun < 5.0
