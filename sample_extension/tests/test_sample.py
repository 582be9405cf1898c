"""The sample's own tests: each part by itself, without installing anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.engine.mind.fabric import Ticked
from core.extension import Registry, ToolCall
from core.live.notices import ShownNotice
from core.logs.finder import sessions
from core.logs.session import read_session
from core.timeline.rerun import prove
from nooscope_sample.agent import AGENT
from nooscope_sample.channel import write_notice
from nooscope_sample.detector import RepeatedFailure
from nooscope_sample.listener import Diary

LINES = [
    {"plain": 1, "t": 1_700_000_000, "session": "p-1", "project": "/work", "say": "make the tests pass"},
    *({"plain": 1, "t": 1_700_000_010 + n, "run": "npm test", "ok": False, "output": "FAIL"} for n in range(7)),
    {"plain": 1, "t": 1_700_000_030, "run": "npm test", "ok": True, "output": "ok"},
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_the_agent_is_read_and_the_detector_finds_the_same_in_every_replay(log: Path) -> None:
    kit = make_kit(more=(AGENT,))
    [session] = sessions([log], kit)
    events = list(read_session(session, kit))
    assert [type(event).__name__ for event in events[:2]] == ["SessionStart", "Prompt"]
    proof = prove(RepeatedFailure, events)
    assert proof.sound, proof.sentences
    assert "2 findings, 0 faults" in proof.sentences[0]
    assert "failed 3 times in a row" in proof.sentences[1]


def test_a_push_is_asked_about() -> None:
    diary = Diary()
    call = ToolCall("s", "Bash", "shell_exec", "", "Bash git push origin main")
    assert diary.on_tool_call(call) == "ask"
    assert diary.on_tool_call(call._replace(what="Bash git status")) == "pass"


def test_what_is_said_to_the_agent_is_worded() -> None:
    registry = Registry([Diary()])
    assert registry.starting_lines("s") == [("diary", "Keep commits small.")]
    assert registry.change("on_input", "s", "Look at the mock.") == "Look at the mock, says the person."
    assert registry.change("on_context", "s", "npm failed 4 times.") == "npm failed 4 times. It is in the diary."
    assert [Diary().after_tick(Ticked(0.0, 1, kind, "T0", 0.0)) for kind in ("theta", "delta")] == [
        {},
        {"fatigue": 0.01},
    ]


def test_the_channel_writes_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    write_notice(ShownNotice(1.0, "main", "risk", "r", "at risk", "npm failed"))
    assert (tmp_path / "nooscope" / "notices.log").read_text() == "⚑ at risk: npm failed\n"
