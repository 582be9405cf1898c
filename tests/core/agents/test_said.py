"""Every answer that says something has a place where its words stand, so that it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.agents.antigravity import AntigravityReader
from core.agents.cline import ClineReader
from core.agents.crush import CrushReader
from core.agents.cursor import CursorReader
from core.agents.droid import DroidReader
from core.agents.gemini import QwenReader
from core.agents.goose import GooseReader
from core.agents.kimi import KimiWireReader
from core.agents.registry import make_kit
from core.agents.words import WordReader
from core.events import Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.story import last_word
from core.settings import Settings
from tests.core.agents.reading_more import read
from tests.core.agents.real_logs import FOLDERS
from tests.core.agents.samples_recent import (
    crush_message,
    crush_session,
    droid_message,
    finish,
    goose_message,
    part,
    wire,
)

_TEXT = {"type": "text", "text": "Done."}
_STEP = {"source": "MODEL", "status": "DONE", "created_at": "2026-03-01T10:00:00Z"}


def _crush(*parts: dict[str, Any]) -> list[Any]:
    answer = crush_message("m1", "assistant", 1, *parts, finish(2))
    return [{"table": "sessions", **crush_session()}, {"table": "messages", **answer}]


def _cline(*content: dict[str, Any]) -> list[Any]:
    return [{"sessionId": "s-1", "messages": [{"id": "m1", "role": "assistant", "content": list(content), "ts": 1}]}]


def _panel(*shown: dict[str, Any]) -> list[Any]:
    asked = [{"ts": 1, "type": "say", "say": "text", "text": "mend"}]
    return [[*asked, {"ts": 2, "type": "say", "say": "api_req_started", "text": '{"tokensOut":5}'}, *shown]]


def _qwen(*parts: dict[str, Any]) -> list[Any]:
    told = {"uuid": "a", "parentUuid": None, "sessionId": "q", "timestamp": "2026-03-01T10:00:00Z"}
    return [{**told, "type": "assistant", "message": {"role": "model", "parts": list(parts)}}]


_USED = wire("StatusUpdate", 3, token_usage={"output": 5}, message_id="m1")


@pytest.mark.parametrize(
    ("reader", "records", "speaks"),
    [
        (AntigravityReader, [{**_STEP, "type": "PLANNER_RESPONSE", "content": "Done."}], True),
        (AntigravityReader, [{**_STEP, "type": "PLANNER_RESPONSE", "content": ""}], False),
        (ClineReader, _cline(_TEXT), True),
        (ClineReader, _cline({"type": "thinking", "thinking": "Hm."}), False),
        (ClineReader, _panel({"ts": 3, "type": "say", "say": "text", "text": "Done."}), True),
        (ClineReader, _panel({"ts": 3, "type": "say", "say": "text", "text": "Do", "partial": True}), False),
        (CrushReader, _crush(part("text", text="Done.")), True),
        (CrushReader, _crush(part("reasoning", thinking="Hm.")), False),
        (CursorReader, [{"role": "assistant", "message": {"content": [_TEXT]}}], True),
        (CursorReader, [{"role": "assistant", "message": {"content": []}}], False),
        (DroidReader, [droid_message(1, "assistant", _TEXT)], True),
        (DroidReader, [droid_message(1, "assistant", {"type": "thinking", "thinking": "Hm."})], False),
        (GooseReader, [goose_message("assistant", 1, _TEXT)], True),
        (GooseReader, [goose_message("assistant", 1, {"type": "thinking", "thinking": "Hm."})], False),
        (KimiWireReader, [wire("ContentPart", 1, type="text", text="Done."), _USED], True),
        (KimiWireReader, [wire("ContentPart", 1, type="think", think="Hm."), _USED], False),
        (QwenReader, _qwen({"text": "Hm.", "thought": True}, {"text": "Done."}), True),
        (QwenReader, _qwen({"text": "Hm.", "thought": True}), False),
    ],
)
def test_an_answer_has_a_place_where_it_says_something(reader: Any, records: list[Any], speaks: bool) -> None:
    (turn,) = (event for event in read(reader, records) if isinstance(event, Turn) and event.stop != "total")
    assert (turn.said is not None) == speaks


@pytest.mark.parametrize(
    "folder", [folder for folder in FOLDERS if folder.name != "swe-agent"], ids=lambda path: path.name
)
def test_the_words_of_real_logs_stand_where_their_answers_say(folder: Path) -> None:
    """An answer without a place has no words, but for one that an error ended or the person stopped.

    The responses of SWE-agent hold their calls, and are read without them.
    """
    kit = make_kit()
    for session in sessions([folder], kit):
        reader = WordReader()
        for event in read_session(session, kit):
            if isinstance(event, Turn) and event.stop not in ("error", "aborted"):
                assert bool(reader.words(event).said) == (event.said is not None), event


@pytest.mark.parametrize(
    ("log", "session", "close"),
    [
        ("aider", "2025-06-02T11-49-34", "failed"),
        ("claude-code/JanDeDobbeleer_oh-my-posh__85_522027570b_1.jsonl", "", "done"),
        ("claude-code/pomodoro-timer.jsonl", "", "said"),
        ("codex/EntityProcess_agentv__00_34f597b72d_1.jsonl", "", "done"),
        ("codex/entireio_skills__d5_c56be24cc0_0.jsonl", "", "done"),
        ("codex/rollout-pomodoro-timer.jsonl", "", "said"),
        ("copilot-cli/EntityProcess_agentv__26_9e1b9e5502_0.jsonl", "", "done"),
        ("openhands/basic_gui_mode.json", "", "done"),
    ],
)
def test_how_a_real_log_ends(shared_data: Path, log: str, session: str, close: str) -> None:
    """As its last lines tell, and with the words of the last answer or error."""
    kit = make_kit()
    [one] = [each for each in sessions([shared_data / "real_sessions" / log], kit) if session in ("", each.id)]
    events = list(read_session(one, kit))
    left = last_word(reversed(events), frozenset(Settings().response.notices.final))
    assert left.close == close
    assert left.event is not None
    assert WordReader().words(left.event).said
