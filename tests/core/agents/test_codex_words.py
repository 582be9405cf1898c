"""What Codex and the person say: each answer has its own words, in the layout of every version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.codex.reader import Codex
from core.agents.registry import make_kit
from core.agents.words import words_of
from core.events import Event, Prompt, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.logs.titles import title_of
from tests.core.agents.samples import (
    codex,
    codex_call,
    codex_meta,
    codex_output,
    encoded,
    feed,
    new_kit,
)

_META = codex_meta(0)


def _asked(second: int, text: str, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="user_message", message=text, **more)


def _event(second: int, text: str, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="agent_message", message=text, **more)


def _message(second: int, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text} for text in texts]
    return codex("response_item", second, type="message", role="assistant", content=content, **more)


def _item(second: int, *texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "Text", "text": text} for text in texts]
    return codex(
        "event_msg", second, type="item_completed", item={"type": "AgentMessage", "content": content}
    )


def _work(second: int) -> list[dict[str, Any]]:
    return [
        codex_call(second, f"c{second}", "shell", {"command": ["make"]}),
        codex_output(second + 1, f"c{second}", "ok"),
    ]


def _over(second: int, **more: Any) -> dict[str, Any]:
    return codex("event_msg", second, type="task_complete", **more)


def _turns(events: list[Event]) -> list[Turn]:
    return [event for event in events if isinstance(event, Turn)]


def _read(*lines: Any) -> list[Turn]:
    return _turns(feed(Codex(new_kit(), session="file"), [_META, *lines]))


def _stops(*lines: Any) -> list[str]:
    return [turn.stop for turn in _read(_asked(1, "go"), *lines)]


def _written(tmp_path: Path, *lines: Any) -> list[Event]:
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    kit = make_kit()
    [session] = sessions([path], kit)
    return list(read_session(session, kit))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it\n",
            "fix it",
        ),
        ("## My request for Codex:\nfix it", "fix it"),
        ("what does ## My request for Codex: mean", "what does ## My request for Codex: mean"),
    ],
)
def test_what_an_editor_tells_of_itself_is_not_asked(tmp_path: Path, written: str, meant: str) -> None:
    events = _written(tmp_path, _META, _asked(1, written))
    (prompt,) = [event for event in events if isinstance(event, Prompt)]
    (plain,) = [event for event in _written(tmp_path, _META, _asked(1, meant)) if isinstance(event, Prompt)]
    assert (prompt.characters, prompt.call) == (len(meant), plain.call)
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(encoded(_META) + b"\n" + encoded(_asked(1, written)) + b"\n")
    [session] = sessions([path], make_kit())
    assert (words_of(prompt).said, title_of(session)) == (meant, meant)


@pytest.mark.parametrize(
    "prompt",
    [
        _asked(1, "", images=["data:image/png;base64,AAAA"]),
        _asked(1, "", local_images=["a.png"]),
        codex(
            "event_msg",
            1,
            type="item_completed",
            item={"type": "UserMessage", "content": [{"type": "image"}]},
        ),
    ],
)
def test_an_image_alone_is_a_prompt(prompt: dict[str, Any]) -> None:
    events = feed(Codex(new_kit(), session="file"), [_META, prompt])
    assert sum(isinstance(event, Prompt) for event in events) == 1
    nothing = feed(Codex(new_kit(), session="file"), [_META, _asked(1, "", images=[])])
    assert not any(isinstance(event, Prompt) for event in nothing)
