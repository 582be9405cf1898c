"""Providers: how they are named, and where their keys come from and go to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from core.extras.narrator.router import api_key, provider_of
from core.settings.layers import Given, Layer, resolve
from tests.core.extras.narrator.made_up_model import serving
from tests.core.extras.narrator.routing import GOOD, Bench, by_template, settings_with, words


def test_keys_come_from_the_environment_and_go_only_to_https_or_this_machine(
    at: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.key = "the-key"
    with serving(GOOD) as model:
        at.tell(settings_with(small=[words(model)]))
        at.tell(settings_with(small=[words(model, "anthropic")]), purpose="why")
        assert model.asked[0][2]["authorization"] == "Bearer the-key"
        assert model.asked[1][2]["x-api-key"] == "the-key"
        assert "the-key" not in model.spoken() and "the-key" not in at.store.path.read_text()
    at.key = ""
    told = at.tell(settings_with(small=["anthropic claude-haiku-4-5"]), purpose="dream")
    assert by_template(told) and "has no key; put it into ANTHROPIC_API_KEY" in told.reason
    told = at.tell(settings_with(small=["openai x http://example.com/v1"]), purpose="dream")
    assert by_template(told) and "unencrypted" in told.reason


@pytest.mark.parametrize(
    ("text", "name", "local", "variable"),
    [
        ("anthropic m", "m on api.anthropic.com", False, "ANTHROPIC_API_KEY"),
        ("openai m https://h.example/v1 MY_KEY", "m on h.example", False, "MY_KEY"),
        ("openai q:4b http://localhost:11434/v1", "q:4b on localhost", True, "OPENAI_API_KEY"),
        ("openai q http://[::1]:1/v1", "q on ::1", True, "OPENAI_API_KEY"),
    ],
)
def test_providers_are_named_in_a_few_words(text: str, name: str, local: bool, variable: str) -> None:
    found = provider_of(text)
    assert (found.name, found.local, found.variable) == (name, local, variable)


@pytest.mark.parametrize("text", ["openai", "ollama x", "openai x ftp://h", "openai x http://u:p@h/v1", "openai x y z"])
def test_a_wrong_provider_is_refused_with_the_settings(text: str) -> None:
    layer = Layer("f.toml", (Given("narrator.small", [text]),))
    assert [one.name for one in resolve([layer]).complaints] == ["narrator.small"]


class Keyring(ModuleType):
    """Stands in for the package `keyring`."""

    def __init__(self, answer: Callable[[str, str], str | None]) -> None:
        super().__init__("keyring")
        self.get_password = answer


def _locked(*_: str) -> str:
    raise RuntimeError("locked")


@pytest.mark.parametrize(
    ("answer", "key"),
    [(lambda service, name: f"{service}/{name}", "nooscope/OPENAI_API_KEY"), (lambda *_: None, ""), (_locked, "")],
    ids=["held", "not-held", "locked"],
)
def test_a_key_comes_from_the_environment_else_from_the_keyring(
    answer: Callable[[str, str], str | None], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", Keyring(answer))
    hosted = provider_of("openai gpt-5-mini")
    assert api_key(hosted, {}) == key
    assert api_key(hosted, {"OPENAI_API_KEY": "mine"}) == "mine"
    local = provider_of("openai any http://127.0.0.1:11434/v1")
    assert api_key(local, {}) == ""
