"""A log exported and read back is the same log."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from core.agents.open_events import write
from core.agents.registry import make_kit
from core.events import Event
from core.logs.finder import sessions
from core.logs.format import Diagnostics
from core.logs.session import read_session
from tests.core.agents.real_logs import FOLDERS
from tests.core.logs import log_lines as logs
from tests.core.strategies import events
from tui.cli import main

KIT = make_kit()


def told(path: Path) -> list[list[Event]]:
    kit = KIT.counting(Diagnostics())
    found = [list(read_session(session, kit)) for session in sessions([path], kit)]
    odd = set(kit.diagnostics.counts) - {"not JSON", "no time", "result without a call"}
    assert not odd
    return found


def test_reading_back_gives_the_same_events(tmp_path: Path) -> None:
    log, out = tmp_path / "s-1.jsonl", tmp_path / "out.jsonl"
    nested = tmp_path / "s-1" / "subagents" / "agent-a.jsonl"
    nested.parent.mkdir(parents=True)
    log.write_bytes(logs.session(5) + b"broken\n" + logs.call(90, "open"))
    nested.write_bytes(logs.session(3, agentId="a", isSidechain=True))
    assert main(["export", str(log), "--format", "events", "-o", str(out)]) == 0
    assert told(out) == told(log)
    assert len(told(out)[0]) > 15


@pytest.mark.skipif(not FOLDERS, reason="no real logs beside the project")
def test_every_real_log_survives(tmp_path: Path) -> None:
    for place in FOLDERS:
        out = tmp_path / f"{place.name}.jsonl"
        assert main(["export", str(place), "-o", str(out)]) == 0
        assert sorted(map(str, told(out))) == sorted(map(str, told(place)))


def test_no_content_gets_in(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(
        logs.prompt(0, "my password is hunter2")
        + logs.call(1, "t", "Bash", {"command": "curl -H 'Authorization: Bearer abcdef123456789' https://x"})
        + logs.result(2, "t", "API_KEY=sk-ant-api03-abcdefghijklmnop12345")
    )
    assert main(["export", str(log)]) == 0
    out, err = capfdbinary.readouterr()
    assert out.count(b"\n") == 4
    for secret in (b"hunter2", b"abcdef123456789", b"sk-ant"):
        assert secret not in out
    assert err.strip() == b"4 events of 1 session"


@pytest.mark.parametrize("written", ["s-1.jsonl", "s-1/subagents/agent-a1.jsonl", "agent-aside_question-1.jsonl"])
def test_the_log_itself_is_never_written(tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str) -> None:
    log, one = tmp_path / "s-1.jsonl", tmp_path / written
    one.parent.mkdir(parents=True, exist_ok=True)
    one.write_bytes(logs.session(1, isSidechain=True))
    log.write_bytes(logs.session(1))
    before = one.read_bytes()
    assert main(["export", str(log), "-o", str(one)]) == 2
    assert "is the log itself" in capsys.readouterr().err
    assert one.read_bytes() == before
    assert [path.name for path in one.parent.glob("*.jsonl") if path != log] == [one.name] * (one != log)


def test_trouble_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "gone.jsonl")]) == 1
    assert "gone.jsonl: no such file" in capsys.readouterr().err
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(logs.session(1))
    assert main(["export", str(log), "-o", str(tmp_path / "no" / "out")]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["events", "html", "markdown", "cast", "otlp"])
def test_what_is_beside_the_target_stays(tmp_path: Path, form: str) -> None:
    log, beside, out = tmp_path / "s-1.jsonl", tmp_path / "out.part", tmp_path / "out"
    log.write_bytes(logs.session(2))
    beside.write_bytes(b"mine")
    assert main(["export", str(log), "--format", form, "-o", str(out)]) == 0
    assert beside.read_bytes() == b"mine" and out.stat().st_size
    assert len(list(tmp_path.iterdir())) == 3


@settings(max_examples=60, deadline=None)
@given(events(max_size=30, min_size=1, agents=("main", "helper"), backwards=True))
def test_any_events_survive(stream: list[Event]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "e.jsonl")
        path.write_bytes(b"".join(write(event, "s-1") + b"\n" for event in stream))
        assert [event for session in told(path) for event in session] == stream
