"""Small logs of our own in the forms other agents write, and what is needed to read them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from core.events import MAIN, Event, ToolUse, Where
from core.ingest.diagnostics import Diagnostics
from core.ingest.format import Format
from core.ingest.formats import (
    chat,
    copilot,
    gemini,
    mini_swe_agent,
    opencode,
    openevents,
    openhands,
    pi,
    swe_agent,
)
from core.ingest.models import Models
from core.ingest.normalizer import Normalizer
from core.ingest.reader import Kit, Reader

FORMATS: tuple[Format, ...] = (
    *gemini.FORMATS,
    *opencode.FORMATS,
    *pi.FORMATS,
    *swe_agent.FORMATS,
    *mini_swe_agent.FORMATS,
    *openhands.FORMATS,
    *copilot.FORMATS,
    *chat.FORMATS,
    *openevents.FORMATS,
)
_NORMALIZER = Normalizer.load()
_MODELS = Models.load()


def new_kit() -> Kit:
    """A kit with our tables and a fresh fault counter."""
    return Kit(_NORMALIZER, _MODELS, Diagnostics())


def encoded(value: Any) -> bytes:
    """A JSON value as a log writes it; bytes stand for themselves."""
    return value if isinstance(value, bytes) else json.dumps(value).encode("utf-8", "surrogatepass")


def read(
    reader: type[Reader], records: list[Any], kit: Kit | None = None, agent: str = MAIN, finish: bool = True
) -> list[Event]:
    """All events of some records, fed one after the other."""
    made = reader(kit or new_kit(), agent=agent, session="log")
    events: list[Event] = []
    offset = 0
    for line, record in enumerate(records, 1):
        data = encoded(record)
        events += made.feed(data, Where("log", offset, len(data)), line)
        offset += len(data) + 1
    return events + made.finish() if finish else events


def uses(events: list[Event]) -> list[ToolUse]:
    """The tool uses among them."""
    return [event for event in events if isinstance(event, ToolUse)]


def kinds(events: list[Event]) -> list[str]:
    """The names of the events' types."""
    return [type(event).__name__ for event in events]


@dataclass
class Log:
    """A log as a list of entries, and a last deed that must be read whatever befalls one of the others."""

    name: str
    reader: type[Reader]
    entries: list[Any]
    tail: list[Any]
    """A call of `tailtool` with its result."""
    around: dict[str, Any] | None = None
    """Of a document, what stands beside its list of entries."""
    key: str = ""
    """Of a document, the name of that list; blank where it is the document."""
    extra: dict[str, Any] = field(default_factory=dict)

    def records(self, entries: list[Any]) -> list[Any]:
        """What a reader is fed for these entries and the tail."""
        if self.around is None:
            return [*entries, *self.tail]
        listed = [
            json.loads(entry) if isinstance(entry, bytes) else entry for entry in [*entries, *self.tail]
        ]
        return [{**self.around, self.key: listed} if self.key else listed]


def iso(second: float) -> str:
    """A moment of the samples' day."""
    return f"2026-03-01T10:{int(second) // 60:02d}:{second % 60:06.3f}Z"


def gemini_call(
    name: str, tool: str = "run_shell_command", status: str = "success", **more: Any
) -> dict[str, Any]:
    """A call of Gemini's with its result."""
    output = more.pop("output", "Output: fine\nExit Code: 0")
    return {
        "id": name,
        "name": tool,
        "args": more.pop("args", {"command": "make"}),
        "status": status,
        "timestamp": iso(more.pop("at", 5.0)),
        "result": [{"functionResponse": {"id": name, "name": tool, "response": {"output": output}}}],
        **more,
    }


def gemini_answer(name: str, *calls: dict[str, Any], at: float = 4.0, tokens: Any = None) -> dict[str, Any]:
    """A message of the model."""
    told = {"input": 1000, "output": 20, "cached": 600, "thoughts": 5, "tool": 0, "total": 1025}
    return {
        "id": name,
        "type": "gemini",
        "timestamp": iso(at),
        "content": "",
        "model": "gemini-2.5-pro",
        "tokens": told if tokens is None else tokens,
        "toolCalls": list(calls),
    }


GEMINI_HEADER = {
    "sessionId": "s1",
    "projectHash": "ab",
    "startTime": iso(0),
    "lastUpdated": iso(0),
    "kind": "main",
}
GEMINI = Log(
    "gemini",
    gemini.GeminiReader,
    [
        GEMINI_HEADER,
        {"id": "m1", "type": "user", "timestamp": iso(1), "content": [{"text": "Please repair the gate."}]},
        gemini_answer("m2", gemini_call("c1", status="executing")),
        {"$set": {"lastUpdated": iso(5)}},
        gemini_answer("m2", gemini_call("c1")),
        {"$rewindTo": "m2"},
        {
            "$set": {
                "messages": [gemini_answer("m3", gemini_call("c2", "read_file", args={"file_path": "a.py"}))]
            }
        },
        {"id": "m4", "type": "info", "timestamp": iso(9), "content": "Request cancelled."},
    ],
    [gemini_answer("m9", gemini_call("c9", "tailtool", args={}, at=20), at=19)],
)


def pi_entry(number: int, message: dict[str, Any]) -> dict[str, Any]:
    """A message of pi in its place in the tree."""
    parent = None if number == 1 else f"e{number - 1}"
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": parent,
        "timestamp": iso(number),
        "message": message,
    }


def pi_answer(*calls: tuple[str, str, Any], stop: str = "toolUse") -> dict[str, Any]:
    """An answer of pi's model with calls of (id, tool, arguments)."""
    return {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": i, "name": n, "arguments": a} for i, n, a in calls],
        "model": "claude-sonnet-4-5",
        "stopReason": stop,
        "usage": {"input": 3, "output": 40, "cacheRead": 900, "cacheWrite": 70, "cost": {"total": 0.01}},
    }


def pi_result(call: str, tool: str, told: str, error: bool = False) -> dict[str, Any]:
    """A result in pi's form."""
    content = [{"type": "text", "text": told}]
    return {"role": "toolResult", "toolCallId": call, "toolName": tool, "isError": error, "content": content}


PI_HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": iso(0), "cwd": "/home/ada/mill"}
PI = Log(
    "pi",
    pi.PiReader,
    [
        PI_HEADER,
        pi_entry(1, {"role": "user", "content": "Grind it finer."}),
        pi_entry(2, pi_answer(("c1", "bash", {"command": "make test"}), ("c2", "read", {"path": "mill.c"}))),
        pi_entry(3, pi_result("c1", "bash", "stones broke\n\n\nCommand exited with code 2", True)),
        pi_entry(4, pi_result("c2", "read", "int main")),
        {
            "type": "compaction",
            "id": "k",
            "parentId": "e4",
            "timestamp": iso(5),
            "summary": "s",
            "tokensBefore": 9,
        },
        {"type": "model_change", "timestamp": iso(5), "modelId": "m"},
        pi_entry(
            6, {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "cancelled": False}
        ),
    ],
    [pi_entry(8, pi_answer(("c9", "tailtool", {}))), pi_entry(9, pi_result("c9", "tailtool", "done"))],
)


def copilot_event(number: int, kind: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An event of the Copilot CLI."""
    return {
        "type": kind,
        "data": data,
        "id": f"e{number}",
        "timestamp": iso(number),
        "parentId": f"e{number - 1}",
        **more,
    }


def copilot_call(number: int, name: str, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
    """The start of a call."""
    data = {"toolCallId": name, "toolName": tool, "arguments": arguments}
    return copilot_event(number, "tool.execution_start", data, **more)


def copilot_result(number: int, name: str, told: str, ok: bool = True, **more: Any) -> dict[str, Any]:
    """The end of a call."""
    data = {"toolCallId": name, "success": ok, "result": {"content": told}}
    return copilot_event(number, "tool.execution_complete", data, **more)


COPILOT_START = copilot_event(
    0,
    "session.start",
    {
        "sessionId": "s1",
        "producer": "copilot-agent",
        "copilotVersion": "1.0",
        "context": {"cwd": "/home/ada/mill", "branch": "main"},
    },
)
COPILOT = Log(
    "copilot-cli",
    copilot.CopilotReader,
    [
        COPILOT_START,
        copilot_event(1, "user.message", {"content": "Oil the wheel."}),
        copilot_event(2, "assistant.message", {"messageId": "m1", "outputTokens": 50, "model": "gpt-5"}),
        copilot_call(3, "t1", "task", {"prompt": "look"}),
        copilot_event(4, "subagent.started", {"toolCallId": "t1", "agentName": "explore"}, agentId="a1"),
        copilot_call(5, "t2", "bash", {"command": "ls"}, agentId="a1"),
        copilot_result(6, "t2", "wheel.c\n<exited with exit code 0>", agentId="a1"),
        copilot_event(7, "subagent.completed", {"toolCallId": "t1", "totalTokens": 9}, agentId="a1"),
        copilot_result(8, "t1", "it squeaks"),
        copilot_event(9, "session.compaction_complete", {"success": True, "preCompactionTokens": 7}),
    ],
    [copilot_call(20, "t9", "tailtool", {}), copilot_result(21, "t9", "done")],
)

SWE_AGENT = Log(
    "swe-agent",
    swe_agent.SweAgentReader,
    [
        {"action": "open mill.py 10\n", "observation": "[File: /repo/mill.py]", "execution_time": 0.5},
        {"action": "edit 1:2\nx = 1\nend_of_edit\n", "observation": "introduced new syntax error(s)"},
        {"action": "python mill.py", "observation": "Traceback (most recent call last):\n  boom"},
        {"action": "rm mill.tmp", "observation": ""},
        {"action": "", "observation": "what?"},
    ],
    [{"action": "tailtool now", "observation": "done"}],
    {
        "environment": "e",
        "history": [{"role": "user", "content": "Fix the mill.", "agent": "main"}],
        "info": {},
    },
    "trajectory",
)


def mini_answer(command: str, at: int) -> dict[str, Any]:
    """An answer of mini-swe-agent's model."""
    usage = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60}}
    response = {"id": f"g{at}", "model": "m", "created": 1_770_000_000 + at, "usage": usage}
    return {
        "role": "assistant",
        "content": f"I try.\n\n```bash\n{command}\n```",
        "extra": {"response": response},
    }


def mini_result(code: int, output: str) -> dict[str, Any]:
    """What the shell gave back."""
    said = f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"
    return {"role": "user", "content": said}


MINI = Log(
    "mini-swe-agent",
    mini_swe_agent.MiniSweAgentReader,
    [
        {"role": "system", "content": "You may use a shell."},
        {"role": "user", "content": "Fix the mill."},
        mini_answer("ls", 1),
        mini_result(0, "mill.py"),
        mini_answer("python mill.py", 2),
        mini_result(1, "boom"),
        {"role": "assistant", "content": "no command"},
        {"role": "user", "content": "Please always provide EXACTLY ONE action"},
    ],
    [mini_answer("tailtool", 9), mini_result(0, "done")],
    {
        "info": {"mini_version": "1.15", "config": {"environment": {"cwd": "/repo"}}},
        "trajectory_format": "mini-swe-agent-1",
    },
    "messages",
)


def openhands_action(
    number: int, action: str, arguments: dict[str, Any], source: str = "agent"
) -> dict[str, Any]:
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
    openhands.OpenHandsFolderReader,
    [
        openhands_file(
            1, "MessageEvent", llm_message={"role": "user", "content": [{"type": "text", "text": "Go."}]}
        ),
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
        {
            "role": "assistant",
            "content": "So\n<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>",
        },
        {
            "role": "user",
            "content": "EXECUTION RESULT of [execute_bash]:\nmill.c\n[Command finished with exit code 0]",
        },
        {"role": "assistant", "content": "<function=finish>\n</function>"},
    ],
    [chat_call("c9", "tailtool", {}), chat_result("c9", "done")],
)
CHAT_RUN = Log(
    "chat run",
    chat.ChatReader,
    CHAT.entries,
    CHAT.tail,
    {"run": "r1", "model": "m", "times": [5, 6, 7, 8]},
    "messages",
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
    body = {
        "status": status,
        "input": state.pop("input", {}),
        "time": {"start": start, "end": start + 500},
        **state,
    }
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
        opencode_tool(
            "prt_3", "read", "completed", 4, output="x", input={"filePath": "/c.c"}, session_id="ses_2"
        ),
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
        {
            "at": "2026-03-01T10:00:00Z",
            "session": "s2",
            "tool": "grep",
            "outcome": "empty",
            "tokens": {"input": 5},
        },
        {"at": 1003, "session": "s2", "tool": "x", "action": "file_edit", "agent": "sub", "parent": "main"},
    ],
    [{"at": 2000, "session": "s1", "tool": "tailtool", "action": "other"}],
)

LOGS: tuple[Log, ...] = (
    *(GEMINI, PI, COPILOT, SWE_AGENT, MINI, OPENHANDS, OPENHANDS_FOLDER),
    *(CHAT, CHAT_RUN, OPENCODE, OPENEVENTS),
)
