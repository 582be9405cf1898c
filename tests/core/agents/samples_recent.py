"""Small logs of our own as Droid, both Kimis, Goose and Crush write them."""

from __future__ import annotations

import json
from typing import Any

from core.agents.crush import CrushReader
from core.agents.droid import DroidReader
from core.agents.goose import GooseReader
from core.agents.kimi import KimiReader, KimiWireReader
from tests.core.agents.reading_more import Log, iso

BEGAN = 1_770_000_000


def droid_message(number: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    """A message of Droid's in its place in the chain."""
    parent = "s1" if number == 1 else f"m{number - 1}"
    message = {"role": role, "content": list(content)}
    return {"type": "message", "id": f"m{number}", "parentId": parent, "timestamp": iso(number), "message": message}


def droid_call(name: str, tool: str, **given: Any) -> dict[str, Any]:
    """A call in an answer."""
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def droid_result(name: str, content: Any, **more: Any) -> dict[str, Any]:
    """A result in the person's name."""
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


DROID = Log(
    "droid",
    DroidReader,
    [
        {"type": "session_start", "id": "s1", "title": "Mill", "cwd": "/home/ada/mill", "version": "0.9"},
        droid_message(
            1,
            "user",
            {"type": "text", "text": "<system-reminder>be kind</system-reminder>"},
            {"type": "text", "text": "Fix the mill."},
        ),
        droid_message(2, "assistant", {"type": "thinking", "thinking": "hm"}, droid_call("c1", "Execute")),
        droid_message(3, "user", droid_result("c1", "Exit code: 2\nno rule", is_error=True)),
        droid_message(4, "assistant", droid_call("c2", "Read", file_path="/home/ada/mill/a.c")),
        droid_message(5, "user", droid_result("c2", [{"type": "text", "text": "int main;"}])),
        {"type": "todo_state", "todos": []},
        {"type": "compaction_state", "summary": "so far", "timestamp": iso(6)},
    ],
    [droid_message(8, "assistant", droid_call("c9", "tailtool")), droid_message(9, "user", droid_result("c9", "done"))],
)


def kimi(kind: str, at: float, **more: Any) -> dict[str, Any]:
    """A record of Kimi Code's."""
    return {"type": kind, **more, "time": (BEGAN + at) * 1000}


def kimi_step(kind: str, at: float, **more: Any) -> dict[str, Any]:
    """An event of its loop."""
    return kimi("context.append_loop_event", at, event={"type": kind, **more})


def kimi_usage(sent: int, written: int = 20) -> dict[str, int]:
    """What an answer took."""
    return {"inputOther": sent, "output": written, "inputCacheRead": 500, "inputCacheCreation": 0}


KIMI = Log(
    "kimi",
    KimiReader,
    [
        {"type": "metadata", "protocol_version": "1.4", "created_at": BEGAN * 1000},
        kimi("config.update", 0, cwd="/home/ada/mill", modelAlias="kimi-k2.5", profileName="agent"),
        kimi("turn.prompt", 1, input=[{"type": "text", "text": "Fix it."}], origin={"kind": "user"}),
        kimi("turn.prompt", 1, input=[{"type": "text", "text": "tick"}], origin={"kind": "system_trigger"}),
        kimi_step("step.begin", 1, uuid="u1"),
        kimi_step("tool.call", 2, toolCallId="c1", name="Bash", args={"command": "make"}),
        kimi_step("step.end", 2, uuid="u1", usage=kimi_usage(100), finishReason="tool_use"),
        kimi("usage.record", 2, model="kimi-k2.5", usage=kimi_usage(100)),
        kimi_step(
            "tool.result",
            3,
            toolCallId="c1",
            result={"output": "boom\nCommand failed with exit code: 2.", "isError": True},
        ),
        kimi_step("tool.call", 4, toolCallId="c2", name="Agent", args={"prompt": "look"}),
        kimi_step(
            "tool.result",
            9,
            toolCallId="c2",
            result={"output": "agent_id: agent-0\nactual_subagent_type: explore\nstatus: completed\n\nfine"},
        ),
        kimi("full_compaction.begin", 10, source="manual"),
        kimi("context.apply_compaction", 11, tokensBefore=900, tokensAfter=90),
    ],
    [
        kimi_step("tool.call", 20, toolCallId="c9", name="tailtool", args={}),
        kimi_step("tool.result", 21, toolCallId="c9", result={"output": "done"}),
    ],
)


def wire(kind: str, at: float, **payload: Any) -> dict[str, Any]:
    """A line of the older Kimi CLI's."""
    return {"timestamp": BEGAN + at, "message": {"type": kind, "payload": payload}}


def wire_call(name: str, tool: str, **given: Any) -> dict[str, Any]:
    """What a call holds."""
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(given)}}


def wire_result(name: str, output: str, **more: Any) -> dict[str, Any]:
    """What a result holds."""
    return {"tool_call_id": name, "return_value": {"is_error": False, "output": output, **more}}


KIMI_WIRE = Log(
    "kimi wire",
    KimiWireReader,
    [
        {"type": "metadata", "protocol_version": "1.1"},
        wire("TurnBegin", 0, user_input="Fix the mill."),
        wire("StepBegin", 1, n=1),
        wire("ToolCall", 2, **wire_call("c1", "Shell", command="make")),
        wire("ToolResult", 3, **wire_result("c1", "no rule", is_error=True, message="Exit code: 2")),
        wire(
            "StatusUpdate",
            3,
            token_usage={"input_other": 100, "output": 20, "input_cache_read": 500},
            context_tokens=620,
            max_context_tokens=262144,
        ),
        wire("ToolCall", 4, **wire_call("c2", "Task", prompt="look")),
        wire(
            "SubagentEvent",
            5,
            parent_tool_call_id="c2",
            agent_id="a1",
            event={"type": "ToolCall", "payload": wire_call("c3", "ReadFile", path="a.c")},
        ),
        wire(
            "SubagentEvent",
            6,
            parent_tool_call_id="c2",
            agent_id="a1",
            event={"type": "ToolResult", "payload": wire_result("c3", "int main;")},
        ),
        wire("ToolResult", 7, **wire_result("c2", "found")),
        wire("CompactionBegin", 8),
        wire("CompactionEnd", 9),
    ],
    [wire("ToolCall", 20, **wire_call("c9", "tailtool")), wire("ToolResult", 21, **wire_result("c9", "done"))],
)


def goose_message(role: str, at: float, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A line of Goose's."""
    return {"role": role, "created": BEGAN + at, "content": list(content), **more}


def goose_call(name: str, tool: str, **given: Any) -> dict[str, Any]:
    """A request in an answer."""
    value = {"name": tool, "arguments": given}
    return {"type": "toolRequest", "id": name, "toolCall": {"status": "success", "value": value}}


def goose_result(name: str, output: str, *, wrong: bool = False) -> dict[str, Any]:
    """A response in the person's name."""
    value = {"content": [{"type": "text", "text": output}], "isError": wrong}
    return {"type": "toolResponse", "id": name, "toolResult": {"status": "success", "value": value}}


HIDDEN = {"userVisible": False, "agentVisible": True}
GOOSE = Log(
    "goose",
    GooseReader,
    [
        {"working_dir": "/home/ada/mill", "description": "Mill", "message_count": 4},
        goose_message("user", 1, {"type": "text", "text": "Fix the mill."}),
        goose_message("assistant", 2, {"type": "text", "text": "Well."}, goose_call("c1", "developer__shell")),
        goose_message("user", 3, goose_result("c1", "no rule", wrong=True)),
        goose_message("assistant", 4, goose_call("c2", "developer__text_editor", command="view", path="a.c")),
        goose_message("user", 5, goose_result("c2", "int main;")),
        goose_message("assistant", 6, {"type": "text", "text": "so far"}, metadata=HIDDEN),
        goose_message("assistant", 6, {"type": "text", "text": "go on"}, metadata=HIDDEN),
    ],
    [
        goose_message("assistant", 20, goose_call("c9", "tailtool")),
        goose_message("user", 21, goose_result("c9", "done")),
    ],
)


def crush_session(name: str = "s1", **more: Any) -> dict[str, Any]:
    """A row of Crush's sessions."""
    return {
        "id": name,
        "parent_session_id": None,
        "title": "Mill",
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "cost": 0.0,
        "summary_message_id": None,
        "created_at": BEGAN,
        "updated_at": BEGAN + 30,
        **more,
    }


def crush_message(name: str, role: str, at: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A row of its messages."""
    return {
        "id": name,
        "session_id": "s1",
        "role": role,
        "model": "gpt-5" if role == "assistant" else "",
        "created_at": BEGAN + at,
        "updated_at": BEGAN + at,
        "parts": list(parts),
        **more,
    }


def part(kind: str, **data: Any) -> dict[str, Any]:
    """A part of a message."""
    return {"type": kind, "data": data}


def crush_call(name: str, tool: str, **given: Any) -> dict[str, Any]:
    """A call, its arguments in a text."""
    return part("tool_call", id=name, name=tool, input=json.dumps(given), finished=True)


def crush_result(name: str, content: str, *, wrong: bool = False) -> dict[str, Any]:
    """A result."""
    return part("tool_result", tool_call_id=name, name="", content=content, is_error=wrong)


def finish(at: int, reason: str = "tool_use") -> dict[str, Any]:
    """The end of an answer."""
    return part("finish", reason=reason, time=BEGAN + at)


CRUSH_MESSAGES = [
    crush_message("m1", "user", 1, part("text", text="Fix the mill.")),
    crush_message("m2", "assistant", 1, crush_call("c1", "bash", command="make"), finish(2)),
    crush_message("m3", "tool", 4, crush_result("c1", "no rule\nExit code 2\n\n<cwd>/home/ada/mill</cwd>")),
    crush_message("m4", "assistant", 4, crush_call("c2", "agent", prompt="look"), finish(5)),
    crush_message("k1", "user", 5, part("text", text="look"), session_id="c2"),
    crush_message("k2", "assistant", 5, crush_call("c1", "view", path="a.c"), finish(6), session_id="c2"),
    crush_message("k3", "tool", 6, crush_result("c1", "int main;"), session_id="c2"),
    crush_message("m5", "tool", 8, crush_result("c2", "found")),
    crush_message("m6", "assistant", 9, part("text", text="so far"), finish(10, "end_turn")),
]
CRUSH_SESSIONS = [
    crush_session(cost=0.25, prompt_tokens=900, summary_message_id="m6"),
    crush_session("c2", parent_session_id="s1", created_at=BEGAN + 5),
]
CRUSH = Log(
    "crush",
    CrushReader,
    [
        *({"table": "sessions", **row} for row in CRUSH_SESSIONS),
        *({"table": "messages", **row} for row in CRUSH_MESSAGES),
    ],
    [
        {"table": "messages", **crush_message("m8", "assistant", 20, crush_call("c9", "tailtool"), finish(21))},
        {"table": "messages", **crush_message("m9", "tool", 22, crush_result("c9", "done"))},
        {"table": "spent", **CRUSH_SESSIONS[0]},
    ],
)

RECENT: tuple[Log, ...] = (DROID, KIMI, KIMI_WIRE, GOOSE, CRUSH)
