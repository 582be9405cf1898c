"""`nooscope listen` as a program: what it takes becomes sessions that all else shows."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from core.agents.registry import AGENTS
from core.logs.discovery import find
from tests.core.export.films import hostile
from tests.core.extras.telemetry import packing
from tui.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def listener(home: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The program on a free port, and the port."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "listen", "--otlp", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert program.stderr is not None
    said = program.stderr.readline()
    found = re.search(r"127\.0\.0\.1:(\d+)", said)
    assert found is not None, said + program.stderr.read()
    yield program, int(found[1])
    program.kill()
    program.wait()
    program.stderr.close()


def test_a_trace_we_send_is_a_session_we_show(
    home: Path, listener: tuple[subprocess.Popen[str], int], capsys: pytest.CaptureFixture[str]
) -> None:
    program, port = listener
    log = hostile(home / "s-1.jsonl")
    assert main(["export", str(log), "--otlp", f"http://127.0.0.1:{port}"]) == 0
    found = find(AGENTS, os.environ, Path(os.environ["HOME"]))
    assert [(one.agent, one.session) for one in found] == [("nooscope", "s-1")]
    capsys.readouterr()
    assert main(["analyze", str(found[0].path)]) == 0
    assert "3: 2 succeeded, 1 failed" in capsys.readouterr().out
    program.send_signal(signal.SIGTERM)
    assert program.wait(10) == 0
    assert program.stderr is not None and "events received" in program.stderr.read()


def test_a_session_goes_on_in_its_file(home: Path, listener: tuple[subprocess.Popen[str], int]) -> None:
    _, port = listener
    for number in range(3):
        told = {"session.id": "s", "event.name": "claude_code.user_prompt", "prompt_length": number}
        connection = HTTPConnection("127.0.0.1", port, timeout=10)
        body = packing.logs([(1_760_000_000.0 + number, "", told)], False)
        connection.request("POST", "/v1/logs", body, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200
        connection.close()
    path = find(AGENTS, os.environ, Path(os.environ["HOME"]))[0].path
    assert len(path.read_bytes().splitlines()) == 4


def test_a_taken_port_and_a_wrong_one_are_said(
    listener: tuple[subprocess.Popen[str], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["listen", "--otlp", "--port", str(listener[1])]) == 2
    assert "name another with --port" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["listen", "--otlp", "--port", "70000"])
