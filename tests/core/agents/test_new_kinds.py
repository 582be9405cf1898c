"""Kinds of records that a reader does not know are counted, and known ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.atif import AtifReader
from core.agents.chat import ChatReader
from core.agents.claude_code.reader import ClaudeCode
from core.agents.cline import ClineReader
from core.agents.codex.reader import Codex
from core.agents.crush import CrushReader
from core.agents.cursor import CursorReader
from core.agents.droid import DroidReader
from core.agents.gemini import GeminiReader, QwenReader
from core.agents.goose import GooseReader
from core.agents.hermes import HermesReader
from core.agents.kimi import KimiReader
from core.agents.kiro import KiroReader
from core.agents.mistral_vibe import VibeReader
from core.agents.pi import PiReader
from core.agents.reader import TranscriptReader
from core.agents.vscode_chat import VsCodeChatReader
from core.agents.zed import ZedReader
from core.logs.format import Reader
from tests.core.agents.reading_more import new_kit, read
from tests.core.agents.samples import feed

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


_AT = "2026-01-05T10:00:00.000Z"


def _said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": [_TEXT, *parts]}


@pytest.mark.parametrize(
    ("reader", "record", "kinds"),
    [
        (PiReader, {"type": "message", "timestamp": _AT, "message": _said("critic")}, ["message/critic"]),
        (PiReader, {"type": "message", "timestamp": _AT, "message": _said("user", {"type": "hologram"})}, ["hologram"]),
        (GeminiReader, {"id": "1", "timestamp": _AT, "type": "user", "content": [{"hologram": 1}]}, ["hologram"]),
        (GeminiReader, {"$undo": "1"}, ["$undo"]),
        (
            GeminiReader,
            {"id": "1", "timestamp": _AT, "type": "gemini", "toolCalls": [{"name": "x", "status": "dreamt"}]},
            ["status/dreamt"],
        ),
        (QwenReader, {"type": "user", "timestamp": _AT, "message": {"parts": [{"hologram": 1}]}}, ["hologram"]),
        (
            KimiReader,
            {"type": "context.append_loop_event", "time": 1767607200000, "event": {"type": "tool.dreamt"}},
            ["event/tool.dreamt"],
        ),
        (
            KimiReader,
            {
                "type": "context.append_loop_event",
                "time": 1767607200000,
                "event": {"type": "content.part", "part": {"type": "hologram"}},
            },
            ["hologram"],
        ),
        (
            KiroReader,
            {"version": "v1", "kind": "AssistantMessage", "data": {"content": [{"kind": "hologram"}]}},
            ["hologram"],
        ),
        (
            DroidReader,
            {"type": "message", "timestamp": _AT, "message": _said("user", {"type": "hologram"})},
            ["hologram"],
        ),
        (ChatReader, _said("user", {"type": "hologram"}), ["hologram"]),
        (CrushReader, {"table": "messages", **_CRUSH, "role": "critic", "parts": []}, ["role/critic"]),
        (
            AtifReader,
            {"schema_version": "ATIF-v1.7", "agent": {"name": "x"}, "steps": [{"source": "critic", "message": "x"}]},
            ["source/critic"],
        ),
        (
            Codex,
            {
                "timestamp": _AT,
                "type": "response_item",
                "payload": {"type": "message", **_said("user", {"type": "hologram"})},
            },
            ["hologram"],
        ),
        (
            ClaudeCode,
            {"type": "user", "timestamp": _AT, "sessionId": "s", "message": _said("user", {"type": "hologram"})},
            ["hologram"],
        ),
        (
            ClaudeCode,
            {
                "type": "assistant",
                "timestamp": _AT,
                "sessionId": "s",
                "message": _said("assistant", {"type": "hologram"}),
            },
            ["hologram"],
        ),
    ],
)
def test_new_parts_and_roles_are_counted_with_their_log(reader: type[Reader], record: Any, kinds: list[str]) -> None:
    kit = new_kit()
    feed(reader(kit), [record])
    assert [kind for _, _, kind in kit.diagnostics.skipped] == kinds
    assert set(kit.diagnostics.skipped_in.values()) == {"log"}
