"""Small logs of our own as OpenHands, OpenCode, chat harnesses and our own format write them."""

from __future__ import annotations

import json
from typing import Any

from core.agents import chat as chat
from core.agents import open_events as openevents
from core.agents import opencode, openhands
from core.agents import openhands as openhands_folder
from tests.core.agents.reading_more import Log


def openhands_action(number: int, action: str, arguments: dict[str, Any], source: str = "agent") -> dict[str, Any]:
    """An action of V0."""
    stamp = f"2026-03-01T10:00:{number:02d}.000000"
    return {"id": number, "timestamp": stamp, "source": source, "action": action, "args": arguments}


def openhands_result(number: int, cause: int, observation: str, told: str, **extras: Any) -> dict[str, Any]:
    """An observation of V0."""
    stamp = f"2026-03-01T10:00:{number:02d}.000000"
    found = {"id": number, "timestamp": stamp, "source": "agent", "cause": cause, "observation": observation}
    return {**found, "content": told, "extras": extras}


OPENHANDS = Log(
    "openhands",
    openhands.OpenHandsReader,
    [
        openhands_action(0, "message", {"content": "Build a mill."}, "user"),
        openhands_action(1, "run", {"command": "make"}),
        openhands_result(2, 1, "run", "no rule", metadata={"exit_code": 2, "working_dir": "/workspace"}),
        openhands_action(3, "read", {"path": "/workspace/mill.c"}),
        openhands_result(4, 3, "read", "int main"),
        openhands_action(5, "delegate", {"agent": "BrowsingAgent", "inputs": {}}),
        openhands_action(6, "browse", {"url": "http://localhost"}),
        openhands_result(7, 6, "browse", "a page"),
        openhands_result(8, 5, "delegate", "found"),
        {"id": 9, "timestamp": "2026-03-01T10:00:09", "observation": "agent_state_changed", "content": ""},
    ],
    [openhands_action(20, "tailtool", {}), openhands_result(21, 20, "tailtool", "done")],
    {},
)


def openhands_file(number: int, kind: str, **told: Any) -> dict[str, Any]:
    """An event of V1."""
    source = "user" if kind == "MessageEvent" else "agent"
    stamp = f"2026-03-01T10:00:{number:02d}.000000"
    return {"kind": kind, "id": f"e{number}", "timestamp": stamp, "source": source, **told}


def openhands_call(number: int, name: str, tool: str, **action: Any) -> dict[str, Any]:
    """A call of V1."""
    return openhands_file(
        number, "ActionEvent", tool_name=tool, tool_call_id=name, llm_response_id=f"r{number}", action=action
    )


def openhands_answer(number: int, name: str, told: str, **observation: Any) -> dict[str, Any]:
    """A result of V1."""
    seen = {"content": [{"type": "text", "text": told}], **observation}
    return openhands_file(number, "ObservationEvent", tool_call_id=name, observation=seen)


OPENHANDS_FOLDER = Log(
    "openhands folder",
    openhands_folder.OpenHandsFolderReader,
    [
        openhands_file(1, "MessageEvent", llm_message={"role": "user", "content": [{"type": "text", "text": "Go."}]}),
        openhands_call(2, "c1", "terminal", command="make"),
        openhands_answer(3, "c1", "no rule", exit_code=2),
        openhands_call(4, "c2", "file_editor", command="view", path="/w/mill.c"),
        openhands_file(5, "AgentErrorEvent", tool_call_id="c2", error="no such file"),
        openhands_file(6, "Condensation", summary="s", forgotten_event_ids=["e1"]),
    ],
    [openhands_call(20, "c9", "tailtool"), openhands_answer(21, "c9", "done")],
)


def chat_call(name: str, tool: str, arguments: Any) -> dict[str, Any]:
    """An answer that calls one tool."""
    call = {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def chat_result(name: str, told: str) -> dict[str, Any]:
    """The answer to a call."""
    return {"role": "tool", "tool_call_id": name, "content": told}


CHAT = Log(
    "chat",
    chat.ChatReader,
    [
        {"role": "system", "content": "You may call tools."},
        {"role": "user", "content": "Fix the mill."},
        chat_call("c1", "execute_bash", {"command": "make"}),
        chat_result("c1", "no rule\n[Command finished with exit code 2]"),
        {"role": "assistant", "content": "So\n<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>"},
        {"role": "user", "content": "EXECUTION RESULT of [execute_bash]:\nmill.c\n[Command finished with exit code 0]"},
        {"role": "assistant", "content": "<function=finish>\n</function>"},
    ],
    [chat_call("c9", "tailtool", {}), chat_result("c9", "done")],
)
CHAT_RUN = Log(
    "chat run", chat.ChatReader, CHAT.entries, CHAT.tail, {"run": "r1", "model": "m", "times": [5, 6, 7, 8]}, "messages"
)


def opencode_row(name: str, row: str, data: dict[str, Any], updated: int, **more: Any) -> dict[str, Any]:
    """A row of OpenCode's database."""
    start = 1_770_000_000_000
    times = {"time_created": start + updated, "time_updated": start + updated}
    if name == "session":
        return {"table": name, "id": row, "data": {"id": row, **data, **times}}
    return {"table": name, "id": row, "session_id": "ses_1", **times, **more, "data": data}


def opencode_tool(row: str, tool: str, status: str, updated: int, **state: Any) -> dict[str, Any]:
    """A call in OpenCode's database."""
    start = 1_770_000_000_000 + updated
    message = state.pop("message_id", "msg_2")
    session = state.pop("session_id", "ses_1")
    body = {"status": status, "input": state.pop("input", {}), "time": {"start": start, "end": start + 500}, **state}
    data = {"type": "tool", "callID": row, "tool": tool, "state": body}
    return opencode_row("part", row, data, updated, message_id=message, session_id=session)


OPENCODE = Log(
    "opencode",
    opencode.OpenCodeReader,
    [
        opencode_row("session", "ses_1", {"directory": "/home/ada/mill", "title": "t", "version": "1"}, 0),
        opencode_row("session", "ses_2", {"parent_id": "ses_1", "title": "look (@explore subagent)"}, 3),
        opencode_row("message", "msg_1", {"role": "user", "time": {"created": 1}}, 1),
        opencode_row("part", "prt_1", {"type": "text", "text": "Fix the mill."}, 1, message_id="msg_1"),
        opencode_row("message", "msg_2", {"role": "assistant", "modelID": "gpt-5", "time": {}}, 2),
        opencode_tool("prt_2", "bash", "running", 2, input={"command": "make"}),
        opencode_tool(
            "prt_2", "bash", "completed", 3, input={"command": "make"}, output="no rule", metadata={"exit": 2}
        ),
        opencode_tool("prt_3", "read", "completed", 4, output="x", input={"filePath": "/c.c"}, session_id="ses_2"),
        opencode_tool("prt_4", "task", "completed", 5, output="found", metadata={"sessionId": "ses_2"}),
        opencode_row(
            "part",
            "prt_5",
            {
                "type": "step-finish",
                "reason": "stop",
                "cost": 0,
                "tokens": {"input": 5, "output": 2, "cache": {"read": 7}},
            },
            6,
            message_id="msg_2",
        ),
        opencode_row("part", "prt_6", {"type": "compaction", "auto": True}, 7, message_id="msg_3"),
    ],
    [opencode_tool("prt_9", "tailtool", "completed", 20, output="done")],
)

OPENEVENTS = Log(
    "nooscope",
    openevents.OpenEventsReader,
    [
        {"kind": "session_start", "at": 1000.0, "session": "s1", "tool": "mill"},
        {"kind": "prompt", "at": 1001.0, "session": "s1", "characters": 12, "call": "00000000000000ff"},
        {"at": 1002, "session": "s1", "tool": "bash", "exit_code": 1, "target": "a.py"},
        {"at": "2026-03-01T10:00:00Z", "session": "s2", "tool": "grep", "outcome": "empty", "tokens": {"input": 5}},
        {"at": 1003, "session": "s2", "tool": "x", "action": "file_edit", "agent": "sub", "parent": "main"},
    ],
    [{"at": 2000, "session": "s1", "tool": "tailtool", "action": "other"}],
)
