"""The ACP proxy forwards bytes unchanged, logs each session, and its log is read live as events."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.errors import UsageError
from core.events import Event, Prompt, SessionStart, ToolUse, Turn
from core.extras.acp_proxy import AcpLog, run_proxy
from core.logs.finder import sessions
from core.logs.session import read_session
from tui.cli import main

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
AGENT = r"""
import json, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def update(**fields):
    send(method="session/update", params={"sessionId": "sess-1", "update": fields})
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=number, result={"protocolVersion": 1})
    elif method == "session/new":
        send(id=number, result={"sessionId": "sess-1"})
    elif method == "session/prompt":
        asked = number
        update(sessionUpdate="plan", entries=[{"content": "look", "status": "pending"}])
        update(sessionUpdate="tool_call", toolCallId="c1", title="`make`", kind="execute", status="pending")
        send(id="p1", method="session/request_permission", params={"sessionId": "sess-1",
             "toolCall": {"toolCallId": "c1"},
             "options": [{"optionId": "no", "kind": "reject_once"},
                         {"optionId": "yes", "kind": "allow_once"}]})
    elif number == "p1":
        chosen = message["result"]["outcome"]["optionId"]
        status = "completed" if chosen == "yes" else "failed"
        done = {"exit_code": 0, "output": "ok"}
        update(sessionUpdate="tool_call_update", toolCallId="c1", status=status, rawOutput=done)
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "All "})
        update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "done."})
        send(id=asked, result={"stopReason": "end_turn", "usage": {"inputTokens": 90, "outputTokens": 7}})
sys.exit(7)
"""


def _request(number: Any, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


class _Editor:
    """A client at the other end of the proxy: writes messages and collects what comes back."""

    def __init__(self, folder: Path, command: list[str]) -> None:
        self._read_end, self._write = os.pipe()
        self._back, back_end = os.pipe()
        self.code, self.fault = -1, ""
        self.lines: list[bytes] = []

        def run() -> None:
            self.code, self.fault = run_proxy(command, folder, self._read_end, back_end)
            os.close(back_end)

        self._proxy = threading.Thread(target=run)
        self._proxy.start()
        self._stream = os.fdopen(self._back, "rb")

    def send(self, line: bytes) -> None:
        os.write(self._write, line)

    def receive(self) -> dict[str, Any]:
        self.lines.append(self._stream.readline())
        message: dict[str, Any] = json.loads(self.lines[-1])
        return message

    def close(self) -> None:
        os.close(self._write)
        self.lines += self._stream.readlines()
        self._proxy.join(20)
        self._stream.close()


def _play(folder: Path, choice: str = "yes") -> tuple[_Editor, list[bytes]]:
    editor = _Editor(folder, [sys.executable, "-c", AGENT])
    editor.send(_request(1, "initialize", protocolVersion=1))
    editor.receive()
    editor.send(_request(2, "session/new", cwd="/work/app", mcpServers=[]))
    editor.receive()
    words = [{"type": "text", "text": f"run make with {SECRET}"}, {"type": "image", "data": "AAAA" * 9}]
    editor.send(_request(3, "session/prompt", sessionId="sess-1", prompt=words))
    while editor.receive().get("method") != "session/request_permission":
        pass
    outcome = {"outcome": {"outcome": "selected", "optionId": choice}}
    editor.send(json.dumps({"jsonrpc": "2.0", "id": "p1", "result": outcome}).encode() + b"\n")
    while "stopReason" not in (editor.receive().get("result") or {}):
        pass
    editor.close()
    return editor, editor.lines


def _events(folder: Path) -> list[Event]:
    kit = make_kit()
    (session,) = sessions([folder / "sess-1.jsonl"], kit)
    return list(read_session(session, kit))


def test_a_session_passes_through_and_is_read_from_its_log(tmp_path: Path) -> None:
    editor, lines = _play(tmp_path)
    assert (editor.code, editor.fault) == (7, "")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    events = _events(tmp_path)
    start = events[0]
    assert isinstance(start, SessionStart) and (start.session, start.project) == ("sess-1", "/work/app")
    prompts = [event for event in events if isinstance(event, Prompt)]
    uses = [event for event in events if isinstance(event, ToolUse)]
    turns = [event for event in events if isinstance(event, Turn)]
    assert len(prompts) == 1
    assert [(use.tool, use.outcome) for use in uses] == [("plan", "success"), ("execute", "success")]
    assert [(turn.stop, turn.input_tokens, turn.output_tokens) for turn in turns] == [("end_turn", 90, 7)]
    written = (tmp_path / "sess-1.jsonl").read_text()
    assert SECRET not in written and "AAAA" not in written
    assert (tmp_path / "sess-1.jsonl").stat().st_mode & 0o077 == 0


def test_a_refused_permission_is_a_rejected_call(tmp_path: Path) -> None:
    _play(tmp_path, "no")
    (use,) = [event for event in _events(tmp_path) if isinstance(event, ToolUse) and event.tool == "execute"]
    assert use.outcome == "rejected"


def test_bytes_are_forwarded_unchanged_even_if_they_are_not_json(tmp_path: Path) -> None:
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line[::-1] + b'!')"
    editor = _Editor(tmp_path, [sys.executable, "-c", echo])
    editor.send(b"\xff\x00 not json {\n")
    editor.send(b'{"method":"session/update","params":{"sessionId":"../../etc/x","update":{}}}\n')
    editor.close()
    assert b"".join(editor.lines).startswith(b"\n{ nosj ton \x00\xff!")
    assert [path.suffix for path in tmp_path.iterdir()] == [".jsonl"]
    assert editor.code == 0


def test_a_full_disk_ends_the_logging_and_not_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.extras.acp_proxy.append", fail)
    editor, _ = _play(tmp_path)
    assert editor.code == 7 and "No space left" in editor.fault


def test_answers_go_to_the_session_of_their_request(tmp_path: Path) -> None:
    log = AcpLog(tmp_path)
    for number, name in ((1, "a"), (2, "b")):
        log.add("client", _request(number, "session/new", cwd=f"/{name}"), 5.0)
    for number, name in ((2, "b"), (1, "a")):
        log.add("agent", json.dumps({"id": number, "result": {"sessionId": name}}).encode(), 6.0)
    for name in "ab":
        first, second = (tmp_path / f"{name}.jsonl").read_text().splitlines()
        assert json.loads(first)["message"]["params"]["cwd"] == f"/{name}"
        assert json.loads(second)["message"]["result"]["sessionId"] == name


def test_a_command_that_is_missing_or_unknown_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="cannot run"):
        run_proxy(["/nowhere/agent"], tmp_path)
    assert main(["acp"]) == 2
    assert "name the agent's command" in capsys.readouterr().err
