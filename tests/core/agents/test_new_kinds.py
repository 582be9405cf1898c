"""Kinds of records that a reader does not know are counted, and known ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.chat import ChatReader
from core.agents.cline import ClineReader
from core.agents.crush import CrushReader
from core.agents.cursor import CursorReader
from core.agents.goose import GooseReader
from core.agents.hermes import HermesReader
from core.agents.mistral_vibe import VibeReader
from core.agents.reader import TranscriptReader
from core.agents.vscode_chat import VsCodeChatReader
from core.agents.zed import ZedReader
from tests.core.agents.reading_more import new_kit, read

_CRUSH = {"id": "m", "session_id": "s", "role": "user", "created_at": 1767607200}
_TEXT = {"type": "text", "text": "hi"}


def _hermes(role: str) -> dict[str, Any]:
    return {"id": role, "role": role, "content": "hi", "timestamp": 1767607200}


def _vscode(kind: str) -> dict[str, Any]:
    request = {"requestId": "r", "timestamp": 1767607200000, "message": {"text": "hi"}, "response": [{"kind": kind}]}
    return {"sessionId": "s", "requests": [request | {"result": {"metadata": {}}}]}


@pytest.mark.parametrize(
    ("reader", "known", "new", "kinds"),
    [
        (ChatReader, {"role": "system", "content": "x"}, {"role": "narrator", "content": "x"}, ["narrator"]),
        (
            CursorReader,
            {"role": "user", "message": {"content": [_TEXT]}},
            {"role": "user", "message": {"content": [_TEXT, {"type": "custom_block"}]}},
            ["custom_block"],
        ),
        (CursorReader, {"role": "user", "message": {"content": []}}, {"type": "turn_started"}, ["turn_started"]),
        (HermesReader, _hermes("system"), _hermes("critic"), ["critic"]),
        (VibeReader, {"role": "user", "content": "x"}, {"role": "critic", "content": "x"}, ["critic"]),
        (
            GooseReader,
            {"role": "user", "created": 1767607200, "content": [_TEXT]},
            {"role": "user", "created": 1767607201, "content": [{"type": "hologram"}]},
            ["hologram"],
        ),
        (
            CrushReader,
            {"table": "messages", **_CRUSH, "parts": [{"type": "text", "data": {"text": "x"}}]},
            {"table": "messages", **_CRUSH, "id": "n", "parts": [{"type": "hologram", "data": {}}]},
            ["hologram"],
        ),
        (
            ZedReader,
            {"id": "z", "updated_at": "2026-01-05T10:00:00Z", "thread": {"messages": ["Resume"]}},
            {"id": "y", "updated_at": "2026-01-05T10:00:00Z", "thread": {"messages": [{"Critic": {}}]}},
            ["Critic"],
        ),
        (VsCodeChatReader, _vscode("thinking"), _vscode("hologram"), ["hologram"]),
        (
            ClineReader,
            [{"role": "user", "ts": 1, "content": [_TEXT]}],
            [{"role": "user", "ts": 1, "content": [{"type": "hologram"}]}],
            ["hologram"],
        ),
    ],
)
def test_new_kinds_are_counted(reader: type[TranscriptReader], known: Any, new: Any, kinds: list[str]) -> None:
    kit = new_kit()
    read(reader, [known], kit)
    assert kit.diagnostics.skipped == {}
    read(reader, [new], kit)
    assert {(agent, kind): count for (agent, _, kind), count in kit.diagnostics.skipped.items()} == {
        (reader.name, kind): 1 for kind in kinds
    }
