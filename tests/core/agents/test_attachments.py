"""A prompt that is only an image is a prompt; an image that a call came back with is none."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.copilot import CopilotReader
from core.agents.crush import CrushReader
from core.agents.droid import DroidReader
from core.agents.gemini import GeminiReader, QwenReader
from core.agents.goose import GooseReader
from core.agents.kimi import KimiReader, KimiWireReader
from core.events import Prompt
from core.logs.format import Reader
from tests.core.agents.reading_more import iso, read
from tests.core.agents.samples_more import COPILOT_START, GEMINI_HEADER, copilot_event
from tests.core.agents.samples_recent import (
    CRUSH_SESSIONS,
    GOOSE,
    KIMI,
    KIMI_WIRE,
    crush_message,
    droid_message,
    droid_result,
    goose_message,
    kimi,
    part,
    wire,
)
from tests.core.agents.test_newer_agents import qwen

INLINE = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
IMAGE = {"type": "image", "data": "AA", "mimeType": "image/png"}
LINKED = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
RESULT = {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": [IMAGE]}}


def gemini(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"id": "m1", "timestamp": iso(2), "type": "user", "content": list(parts)}


@pytest.mark.parametrize(
    ("reader", "records"),
    [
        (QwenReader, [qwen(1, "user", [INLINE])]),
        (GeminiReader, [GEMINI_HEADER, gemini(INLINE)]),
        (DroidReader, [droid_message(1, "user", {"type": "image", "source": {"data": "AA"}})]),
        (KimiReader, [KIMI.entries[0], kimi("turn.prompt", 1, input=[LINKED], origin={"kind": "user"})]),
        (KimiWireReader, [KIMI_WIRE.entries[0], wire("TurnBegin", 1, user_input=[LINKED])]),
        (GooseReader, [GOOSE.entries[0], goose_message("user", 1, IMAGE)]),
        (
            CrushReader,
            [
                *({"table": "sessions", **one} for one in CRUSH_SESSIONS[:1]),
                {
                    "table": "messages",
                    **crush_message("m1", "user", 1, part("binary", MIMEType="image/png", Data="AA")),
                },
            ],
        ),
        (CopilotReader, [COPILOT_START, copilot_event(2, "user.message", {"content": "", "attachments": [IMAGE]})]),
    ],
)
def test_an_image_alone_is_a_prompt(reader: type[Reader], records: list[Any]) -> None:
    prompts = [event for event in read(reader, records) if isinstance(event, Prompt)]
    assert [(one.characters, one.interrupt) for one in prompts] == [(len("an image"), False)]


@pytest.mark.parametrize(
    ("reader", "records"),
    [
        (QwenReader, [qwen(1, "user", [{"functionResponse": {"name": "read", "response": INLINE}}])]),
        (GeminiReader, [GEMINI_HEADER, gemini({"functionResponse": {"name": "read", "parts": [INLINE]}})]),
        (DroidReader, [droid_message(1, "user", droid_result("c1", [{"type": "image"}]))]),
        (GooseReader, [GOOSE.entries[0], goose_message("user", 1, RESULT)]),
    ],
)
def test_an_image_that_a_call_came_back_with_is_none(reader: type[Reader], records: list[Any]) -> None:
    assert not [event for event in read(reader, records) if isinstance(event, Prompt)]
