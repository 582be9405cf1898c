"""What stands under a secret's name in arguments and results goes, at any depth; the rest stays."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.logs.redact.text import HIDDEN
from core.logs.redact.values import redact_value

PW = "hunter" + "two"
KEY = "k3y" + "V4lue" + "9x"

NAMES = [
    *("password", "Password", "PASSWORD", "passwd", "passphrase", "pwd", "passcode", "pw", "db_password"),
    *("newPassword", "password2", "passwordConfirm", "password_confirmation", "userPass", "SMTP_PASS"),
    *("secret", "clientSecret", "client_secret", "client-secret", "Client Secret", "SecretString"),
    *("token", "accessToken", "access_token", "X-Auth-Token", "tokenValue", "refreshToken", "bearer"),
    *("apiKey", "api_key", "X-Api-Key", "apikey", "API Key", "privateKey", "private_key_pem", "accessKey"),
    *("secretAccessKey", "AWS_SECRET_ACCESS_KEY", "signingKey", "STRIPE_KEY", "credential", "credentials"),
    *("Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "SENTRY_DSN"),
]

HIDDEN_VALUES: list[Any] = [
    {"password": "x"},
    {"password": 12345678},
    {"password": "correct horse battery"},
    {"headers": {"Authorization": KEY}},
    {"headers": [{"name": "X-Api-Key", "value": KEY}]},
    {"env": [{"name": "DB_PASSWORD", "value": PW}]},
    {"Environment": [{"Name": "API_TOKEN", "Value": KEY}]},
    {"tags": [{"key": "client_secret", "value": KEY}]},
    {"passwords": [PW, KEY]},
    {"secrets": {"first": PW, "second": {"third": KEY}}},
    {"credentials": {"value": PW}},
    {"token": {"raw": KEY, "type": "bearer"}},
    {"cookies": {"sid": PW}},
    {"cookies": [{"name": "sid", "value": PW, "domain": "example.com"}]},
    {"user": "me", "pass": PW},
    {"username": "me", "pass": 1234},
    {"pass": KEY},
    {"auth": ["me", PW]},
    {"auth": {"user": "me", "password": PW}},
    {"auth": "bWU6aHVu" + "dGVyMlh5"},
    {"kind": "Secret", "data": {"licence": PW}},
    {"element": "Password field", "ref": "e1", "text": PW},
    {"selector": "#password", "value": PW},
    {"fields": [{"name": "Password", "type": "textbox", "value": PW}]},
    {"label": "Your password *", "value": PW},
    {"name": "Password field", "value": PW},
    {"type": "password", "value": PW},
    {"output": json.dumps([{"name": "DB_PASSWORD", "value": PW}]) + "\n"},
    {"output": "\n  " + json.dumps([{"name": "DB_PASSWORD", "value": PW}], indent=2)},
    {"argv": ["tool", "--password", PW]},
    {"command": ["sshpass", "-p", PW, "ssh", "host"]},
    {"command": "sshpass", "args": ["-p", PW, "ssh", "host"]},
    {"command": "npx", "args": ["server", "--api-key", KEY]},
    ["mysql", "-u", "root", "--password", PW],
    [[{"deep": [{"apiKey": KEY}]}]],
    {"arguments": json.dumps({"element": "Password", "text": PW})},
    {"SecretString": json.dumps({"db": PW})},
    {"body": json.dumps([json.dumps({"credentials": {"value": PW}})])},
]

STAY: list[Any] = [
    {"password": ""},
    {"password": None, "token": True, "secret": False},
    {"password": "string", "token": "required"},
    {"password": "${DB_PASSWORD}", "token": "$TOKEN", "secret": "{{ secrets.deploy }}", "apiKey": "<yours>"},
    {"pwm": "duty", "pwr": "on", "cookied": "yes", "token": "{token}", "secret": "${{ secrets.deploy }}"},
    {"private_key": "~/.ssh/id_ed25519"},
    {"input_tokens": 1234, "max_tokens": "4096", "token_count": 7, "tokens": ["def", "name", "("]},
    {"token": {"type": "keyword", "text": "def", "start": 3}},
    {"name": "token_count", "value": "123456"},
    {"role": "tool", "name": "get_token", "content": "it went well"},
    {"type": "text", "text": "words"},
    {"pass": "all tests", "fail": 0},
    {"pass": 12},
    {"pwd": "/app", "OLDPWD": "~", "PWD": "C:\\work"},
    {"name": "password_min_length", "value": "12"},
    {"auth": "none", "author": "someone", "authority": "example.com"},
    {"auth": {"type": "oauth2"}},
    {"key": "enter", "keys": ["ctrl", "c"], "monkey": "banana", "primary_key": "id"},
    {"tokenizer": "sentencepiece-model", "secretary": "someone", "passenger": "someone"},
    {"imagePullSecrets": [{"name": "registry"}]},
    {"secretKeyRef": {"name": "db", "key": "password"}},
    {"kind": "ConfigMap", "data": {"licence": PW}},
    {"element": "Name field", "text": PW},
    {"label": "Forgot password?", "text": "click here"},
    {"command": ["git", "commit", "-m", "rename the token"]},
    {"args": ["-p", "8080:80"], "command": "docker"},
    {"lines": [" fields:", "-password:", "+secret_key: string1", "\\ No newline at end of file"]},
    {"notes": ["- ask for the password:", "restart2.service"]},
    {"body": '{"a": 1, "b":  [2]}', "text": "{not json}", "list": "[1, 2", "odd": "[\ud800]"},
    "password",
    3,
    None,
]


def flat(value: Any) -> str:
    return json.dumps(value)


@pytest.mark.parametrize("name", NAMES)
def test_a_telling_name_hides_its_value_at_any_depth(name: str) -> None:
    for value in ({name: KEY}, {"a": [{"b": {name: KEY, "c": "stays"}}]}):
        hidden = redact_value(value)
        assert KEY not in flat(hidden) and HIDDEN in flat(hidden)
        assert flat(hidden) == flat(value).replace(KEY, HIDDEN)


@pytest.mark.parametrize("value", HIDDEN_VALUES, ids=flat)
def test_secrets_go(value: Any) -> None:
    before = flat(value)
    hidden = redact_value(value)
    assert HIDDEN in flat(hidden)
    assert PW not in flat(hidden) and KEY not in flat(hidden)
    assert flat(value) == before
    assert redact_value(hidden) == hidden


@pytest.mark.parametrize("value", STAY, ids=flat)
def test_the_rest_stays_the_very_same(value: Any) -> None:
    assert redact_value(value) is value


def test_what_stands_beside_a_secret_stays() -> None:
    value = {"host": "h", "password": PW, "port": 1, "auth": {"user": "me", "token": KEY}}
    assert redact_value(value) == {"host": "h", "password": HIDDEN, "port": 1, "auth": {"user": "me", "token": HIDDEN}}


def test_what_is_deeper_than_anything_shown_is_left_out() -> None:
    value: Any = {"password": PW}
    for _ in range(400):
        value = {"a": [value]}
    assert PW not in flat(redact_value(value))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([PW, KEY, "", "a b", "-p", "--token"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*NAMES, "a", "value", "name"]), inner),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(values)
def test_any_value_is_survived_and_settles(value: Any) -> None:
    once = redact_value(value)
    assert redact_value(once) == once


def test_work_grows_no_faster_than_the_value() -> None:
    def work(size: int) -> float:
        value = [{f"a{number}": "x", "password": PW, "l": ["-p", str(number)]} for number in range(size)]
        value.append({"argv": ["--token", KEY] * size})
        begun = time.thread_time()
        redact_value(value)
        return time.thread_time() - begun

    least = min(work(500) for _ in range(5))
    assert any(work(4_000) < 16 * least + 0.002 for _ in range(6))


@pytest.mark.parametrize("indent", [2, 4])
def test_a_file_that_is_written_keeps_its_lines(indent: int) -> None:
    held = {"name": "mill", "database": {"password": PW, "hosts": ["a", "b"]}}
    hidden = {"name": "mill", "database": {"password": HIDDEN, "hosts": ["a", "b"]}}
    told = redact_value({"content": json.dumps(held, indent=indent) + "\n"})
    assert told == {"content": json.dumps(hidden, indent=indent)}
