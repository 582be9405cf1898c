"""The made-up model by itself: three dialects, stories, held answers."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.agents.fake_model import FakeModel, say, use


def ask(model: FakeModel, path: str, body: dict[str, Any]) -> bytes:
    """Send one request."""
    request = Request(f"{model.url}{path}", json.dumps(body).encode())  # noqa: S310 loopback
    with urlopen(request, timeout=10) as answer:  # noqa: S310
        data: bytes = answer.read()
    return data


@pytest.mark.parametrize(
    ("path", "body", "called", "said"),
    [
        (
            "/v1/messages",
            {"messages": [{"role": "user", "content": "play it"}], "tools": [{"name": "Bash"}]},
            lambda told: told["content"][0]["input"],
            lambda told: told["content"][0]["text"],
        ),
        (
            "/v1/responses",
            {"input": [{"role": "user", "content": [{"text": "play it"}]}], "tools": [{"name": "shell"}]},
            lambda told: json.loads(told["output"][0]["arguments"]),
            lambda told: told["output"][0]["content"][0]["text"],
        ),
        (
            "/v1/chat/completions",
            {"messages": [{"content": "play it"}], "tools": [{"function": {"name": "bash"}}]},
            lambda told: json.loads(told["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]),
            lambda told: told["choices"][0]["message"]["content"],
        ),
    ],
)
def test_a_story_is_told_in_every_dialect(path: str, body: dict[str, Any], called: Any, said: Any) -> None:
    """An answer a request, whole or streamed; then it is done."""
    with FakeModel({"play it": [use("Bash", command="ls"), say("fine")]}) as model:
        assert called(json.loads(ask(model, path, body))) == {"command": "ls"}
        streamed = ask(model, path, {**body, "stream": True})
        assert b"data: " in streamed and b"fine" in streamed
        assert said(json.loads(ask(model, path, body))) == "done"
        assert said(json.loads(ask(model, path, {**body, "tools": []}))) == "done"
        assert len(model.asked) == 4 and model.asked[0].texts == ("play it",)


def test_anything_else_is_answered_with_nothing() -> None:
    """Counters, telemetry, and a body that is no JSON."""
    with FakeModel({}) as model:
        assert json.loads(ask(model, "/v1/messages/count_tokens", {})) == {"input_tokens": 10}
        assert json.loads(ask(model, "/v1/logs", {})) == {}
