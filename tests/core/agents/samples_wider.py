"""Small logs of our own as the agents of `test_wider_agents` write them."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from core.agents.acp import AcpReader, GrokReader
from core.agents.atif import AtifReader, DevinReader
from core.agents.codebuddy import CodeBuddyReader
from core.agents.hermes import HermesReader
from core.agents.kiro import KiroReader
from core.agents.managed_agents import ManagedReader
from core.agents.mistral_vibe import VibeReader
from core.agents.pi import OpenClawReader
from core.agents.vscode_chat import VsCodeChatReader
from core.agents.zed import ZedReader
from core.logs.format import Reader

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress

BEGAN = 1_770_000_000


def rpc(at: int, who: str, **message: Any) -> dict[str, Any]:
    """A message as the proxy records it."""
    return {"timestamp": BEGAN + at, "from": who, "message": {"jsonrpc": "2.0", **message}}


def update(at: int, sort: str, /, **more: Any) -> dict[str, Any]:
    """A notification of the agent."""
    params = {"sessionId": "s1", "update": {"sessionUpdate": sort, **more}}
    return rpc(at, "agent", method="session/update", params=params)


OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]
ACP: list[Any] = [
    rpc(0, "client", id=1, method="session/new", params={"cwd": "/home/ada/mill", "mcpServers": []}),
    rpc(0, "agent", id=1, result={"sessionId": "s1", "models": {"currentModelId": "gpt-5"}}),
    rpc(
        1,
        "client",
        id=2,
        method="session/prompt",
        params={"sessionId": "s1", "prompt": [{"type": "text", "text": "Fix it."}]},
    ),
    update(2, "agent_message_chunk", content={"type": "text", "text": "Let me "}),
    update(2, "agent_message_chunk", content={"type": "text", "text": "look."}),
    update(3, "tool_call", toolCallId="c1", title="`make`", kind="execute", rawInput={"command": "make"}),
    update(5, "tool_call_update", toolCallId="c1", status="completed", rawOutput={"exit_code": 2, "output": "boom"}),
    update(6, "tool_call", toolCallId="c2", title="Edit a.c", kind="edit", locations=[{"path": "/home/ada/mill/a.c"}]),
    rpc(
        6,
        "agent",
        id=0,
        method="session/request_permission",
        params={"sessionId": "s1", "toolCall": {"toolCallId": "c2"}, "options": OPTIONS},
    ),
    rpc(9, "client", id=0, result={"outcome": {"outcome": "selected", "optionId": "no"}}),
    update(9, "tool_call_update", toolCallId="c2", status="failed"),
    update(10, "plan", entries=[{"content": "look", "priority": "high", "status": "pending"}]),
    update(10, "plan", entries=[{"content": "look", "priority": "high", "status": "pending"}]),
    update(11, "usage_update", used=5000, size=200000),
    update(12, "agent_message_chunk", content={"type": "text", "text": "Done."}),
    rpc(
        13,
        "agent",
        id=2,
        result={"stopReason": "end_turn", "usage": {"inputTokens": 900, "outputTokens": 40, "cachedReadTokens": 500}},
    ),
]


def grok(at: int, sort: str, /, *, own: bool = False, **more: Any) -> dict[str, Any]:
    """A line of Grok's log."""
    method = "_x.ai/session/update" if own else "session/update"
    return {
        "timestamp": BEGAN + at,
        "method": method,
        "params": {"sessionId": "g1", "update": {"sessionUpdate": sort, **more}},
    }


GROK: list[Any] = [
    grok(0, "user_message_chunk", content={"type": "text", "text": "Fix it."}),
    grok(1, "tool_call", toolCallId="c1", title="run_terminal_cmd", kind="execute", rawInput={"command": "make"}),
    grok(4, "tool_call_update", toolCallId="c1", status="completed", rawOutput={"exit_code": 1, "output": "no rule"}),
    grok(5, "subagent_spawned", own=True, subagent_id="k", child_session_id="kid", subagent_type="explore"),
    grok(9, "subagent_finished", own=True, subagent_id="k", status="completed", tool_calls=3, tokens_used=70),
    grok(10, "auto_compact_completed", own=True, tokens_before=900, tokens_after=90),
    grok(11, "agent_message_chunk", content={"type": "text", "text": "Done."}),
    grok(
        12,
        "turn_completed",
        own=True,
        stop_reason="end_turn",
        usage={"inputTokens": 100, "outputTokens": 20, "cachedReadTokens": 60, "costUsdTicks": 20_000_000},
    ),
]
KIRO: list[Any] = [
    {
        "version": "v1",
        "kind": "Prompt",
        "data": {"message_id": "1", "content": [{"kind": "text", "data": "Fix it."}], "meta": {"timestamp": BEGAN}},
    },
    {
        "version": "v1",
        "kind": "AssistantMessage",
        "data": {
            "message_id": "2",
            "content": [
                {"kind": "toolUse", "data": {"toolUseId": "c1", "name": "shell", "input": {"command": "make"}}}
            ],
        },
    },
    {
        "version": "v1",
        "kind": "ToolResults",
        "data": {
            "content": [
                {
                    "kind": "toolResult",
                    "data": {
                        "toolUseId": "c1",
                        "content": [{"kind": "json", "data": {"exit_status": "exit status: 2", "stdout": "boom"}}],
                        "status": "success",
                    },
                }
            ],
            "results": {},
        },
    },
    {
        "version": "v1",
        "kind": "AssistantMessage",
        "data": {"message_id": "3", "content": [{"kind": "text", "data": "Done."}]},
    },
]
VIBE: list[Any] = [
    {"role": "user", "content": "Fix it.", "injected": False, "message_id": "1"},
    {
        "role": "assistant",
        "content": "",
        "injected": False,
        "message_id": "2",
        "tool_calls": [{"id": "c1", "index": 0, "function": {"name": "bash", "arguments": '{"command":"make"}'}}],
    },
    {
        "role": "tool",
        "name": "bash",
        "tool_call_id": "c1",
        "content": "<tool_error>bash failed\nReturn code: 2</tool_error>",
    },
    {"role": "user", "content": "a note of the program", "injected": True},
    {"role": "assistant", "content": "Done.", "injected": False, "message_id": "3"},
]
HERMES: list[Any] = [
    {
        "role": "user",
        "content": "Fix it.",
        "tool_calls": "",
        "tool_call_id": "",
        "tool_name": "",
        "finish_reason": "",
        "timestamp": BEGAN,
    },
    {
        "role": "assistant",
        "content": "",
        "tool_calls": json.dumps([{"id": "c1", "function": {"name": "terminal", "arguments": '{"command":"make"}'}}]),
        "tool_call_id": "",
        "tool_name": "",
        "finish_reason": "tool_calls",
        "timestamp": BEGAN + 1,
    },
    {
        "role": "tool",
        "content": json.dumps({"output": "boom", "exit_code": 2, "error": None}),
        "tool_calls": "",
        "tool_call_id": "c1",
        "tool_name": "terminal",
        "finish_reason": "",
        "timestamp": BEGAN + 3,
    },
    {
        "role": "assistant",
        "content": "Done.",
        "tool_calls": "",
        "tool_call_id": "",
        "tool_name": "",
        "finish_reason": "stop",
        "timestamp": BEGAN + 4,
    },
]


def managed(at: int, kind: str, **more: Any) -> dict[str, Any]:
    """An event of a managed agent."""
    return {"id": f"sevt_{at}{kind[-4:]}", "type": kind, "processed_at": f"2026-03-01T10:00:{at:02}.000Z", **more}


MANAGED: list[Any] = [
    managed(0, "user.message", content=[{"type": "text", "text": "Fix it."}]),
    {**managed(1, "agent.tool_use", name="bash", input={"command": "make"}), "id": "sevt_c1"},
    managed(3, "agent.tool_result", tool_use_id="sevt_c1", content=[{"type": "text", "text": "boom"}], is_error=True),
    managed(4, "session.thread_created", session_thread_id="kid", agent_name="reviewer"),
    managed(5, "agent.thread_context_compacted"),
    managed(6, "span.model_request_end", model_usage={"input_tokens": 90, "output_tokens": 20}),
    managed(7, "agent.message", content=[{"type": "text", "text": "Done."}]),
    managed(8, "session.usage", usage={"list_cost": {"amount": 12.0, "currency": "USD"}}),
    managed(9, "session.status_idle", stop_reason={"type": "end_turn"}),
]
CODEBUDDY: list[Any] = [
    {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Fix it."}],
        "timestamp": BEGAN * 1000,
        "cwd": "/home/ada/mill",
        "sessionId": "b1",
        "id": "1",
    },
    {
        "type": "function_call",
        "callId": "c1",
        "name": "Bash",
        "arguments": '{"command":"make"}',
        "timestamp": BEGAN * 1000 + 1000,
        "sessionId": "b1",
    },
    {
        "type": "function_call_result",
        "callId": "c1",
        "output": {"text": "Exit code 2", "exit_code": 2},
        "timestamp": BEGAN * 1000 + 3000,
        "sessionId": "b1",
    },
    {
        "type": "message",
        "role": "assistant",
        "id": "2",
        "content": [{"type": "output_text", "text": "Done."}],
        "timestamp": BEGAN * 1000 + 4000,
        "sessionId": "b1",
        "providerData": {"model": "gpt-5", "usage": {"inputTokens": 90, "outputTokens": 20}},
    },
]
_COMMAND = {
    "kind": "toolInvocationSerialized",
    "toolId": "run_in_terminal",
    "toolCallId": "c1",
    "isConfirmed": {"type": 4},
    "isComplete": True,
    "toolSpecificData": {
        "kind": "terminal",
        "commandLine": {"original": "make"},
        "terminalCommandState": {"exitCode": 2, "duration": 1500},
        "terminalCommandOutput": {"text": "boom"},
    },
}
_DENIED = {
    "kind": "toolInvocationSerialized",
    "toolId": "copilot_createFile",
    "toolCallId": "c2",
    "isConfirmed": {"type": 0},
    "isComplete": True,
}
VSCODE: list[Any] = [
    {"kind": 0, "v": {"version": 3, "sessionId": "v1", "creationDate": BEGAN * 1000, "requests": []}},
    {
        "kind": 2,
        "k": ["requests"],
        "v": [
            {
                "requestId": "r1",
                "timestamp": BEGAN * 1000,
                "message": {"text": "Fix it."},
                "response": [],
                "modelId": "copilot/gpt-5",
            }
        ],
    },
    {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "Let me look."}, _COMMAND]},
    {"kind": 2, "k": ["requests", 0, "response"], "v": [_DENIED, {"value": "Done."}], "i": 2},
    {"kind": 1, "k": ["customTitle"], "v": "Mill"},
    {
        "kind": 1,
        "k": ["requests", 0, "result"],
        "v": {
            "timings": {"totalElapsed": 9000},
            "metadata": {
                "promptTokens": 90,
                "outputTokens": 20,
                "toolCallRounds": [
                    {"toolCalls": [{"id": "c2", "name": "create_file", "arguments": '{"filePath":"/a.c"}'}]}
                ],
            },
        },
    },
    {"kind": 1, "k": ["requests", 0, "modelState"], "v": {"value": 1, "completedAt": BEGAN * 1000 + 9000}},
]
ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "a1",
    "agent": {"name": "demo", "version": "1", "model_name": "gpt-5"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Fix it.", "timestamp": "2026-03-01T10:00:00Z"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "Look.",
            "timestamp": "2026-03-01T10:00:01Z",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "make"}},
                {"tool_call_id": "c2", "function_name": "task", "arguments": {"prompt": "look"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "boom", "extra": {"exit_code": 2}},
                    {"source_call_id": "c2", "subagent_trajectory_ref": [{"trajectory_id": "kid"}]},
                ]
            },
            "metrics": {"prompt_tokens": 900, "completion_tokens": 20, "cached_tokens": 500},
        },
    ],
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "kid",
            "agent": {"name": "explore", "version": "1"},
            "steps": [
                {"step_id": 1, "source": "agent", "message": "All is well.", "metrics": {"completion_tokens": 5}}
            ],
        }
    ],
}
DEVIN: dict[str, Any] = {
    **ATIF,
    "agent": {"name": "devin", "version": "1", "model_name": "gpt-5"},
    "steps": [
        {
            **{key: value for key, value in step.items() if key != "timestamp"},
            "metadata": {"created_at": step["timestamp"]},
        }
        for step in ATIF["steps"]
    ],
}
OPENCLAW: list[Any] = [
    {"type": "session", "id": "openclaw-1", "version": 3, "timestamp": "2026-03-01T10:00:00Z", "cwd": "/home/ada/mill"},
    {
        "type": "custom_message",
        "customType": "openclaw.runtime-context",
        "content": "context",
        "display": False,
        "id": "m0",
        "timestamp": "2026-03-01T10:00:00Z",
    },
    {
        "type": "message",
        "id": "m1",
        "parentId": "openclaw-1",
        "timestamp": "2026-03-01T10:00:01Z",
        "message": {"role": "user", "content": "Fix it."},
    },
    {
        "type": "message",
        "id": "m2",
        "parentId": "m1",
        "timestamp": "2026-03-01T10:00:02Z",
        "message": {
            "role": "assistant",
            "model": "gpt-5",
            "stopReason": "toolUse",
            "usage": {"input": 90, "output": 20},
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "make"}},
            ],
        },
    },
    {
        "type": "message",
        "id": "m3",
        "parentId": "m2",
        "timestamp": "2026-03-01T10:00:03Z",
        "message": {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "bash",
            "content": [{"type": "text", "text": "boom"}],
            "isError": True,
        },
    },
]
LOGS: dict[str, tuple[type[Reader], list[Any], tuple[int, int, int]]] = {
    "acp": (AcpReader, ACP, (3, 1, 1)),
    "grok": (GrokReader, GROK, (1, 1, 1)),
    "kiro": (KiroReader, KIRO, (1, 1, 1)),
    "mistral-vibe": (VibeReader, VIBE, (1, 1, 1)),
    "hermes": (HermesReader, HERMES, (1, 1, 1)),
    "managed-agents": (ManagedReader, MANAGED, (1, 1, 1)),
    "codebuddy": (CodeBuddyReader, CODEBUDDY, (1, 1, 1)),
    "vscode-chat": (VsCodeChatReader, VSCODE, (2, 1, 1)),
    "openclaw": (OpenClawReader, OPENCLAW, (1, 1, 1)),
}
"""Per agent: its reader, the lines, and how many calls, failures and prompts they hold."""


ZED_THREAD: dict[str, Any] = {
    "version": "0.3.0",
    "model": {"provider": "anthropic", "model": "claude-sonnet-4-5"},
    "cumulative_token_usage": {"input_tokens": 90, "output_tokens": 20},
    "messages": [
        {"User": {"id": "u1", "content": [{"Text": "Fix it."}]}},
        {
            "Agent": {
                "content": [
                    {"Text": "Look."},
                    {"ToolUse": {"id": "c1", "name": "terminal", "input": {"command": "make"}}},
                ],
                "tool_results": {"c1": {"tool_use_id": "c1", "is_error": True, "content": [{"Text": "boom"}]}},
            }
        },
        {"Compaction": {"Summary": "so far"}},
        {
            "Agent": {
                "content": [{"ToolUse": {"id": "c2", "name": "read_file", "input": {"path": "a.c"}}}],
                "tool_results": {},
            }
        },
    ],
}


def zed_database(path: Path) -> None:
    """A thread of Zed, compressed as it stores them."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE threads (id TEXT, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)")
        row = ("z1", "Mill", "2026-03-01T10:00:00Z", "zstd", compress(json.dumps(ZED_THREAD).encode()))
        database.execute("INSERT INTO threads VALUES (?, ?, ?, ?, ?)", row)


_COLUMNS = "role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason"


def hermes_database(path: Path) -> None:
    """Hermes' database with a coding session, and a chat that is none."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE sessions (id, source, model, started_at, input_tokens, output_tokens, title)")
        database.execute(f"CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, {_COLUMNS}, active)")
        database.execute("INSERT INTO sessions VALUES ('h1', 'cli', 'gpt-5', ?, 90, 20, 'Mill')", (BEGAN,))
        database.execute("INSERT INTO sessions VALUES ('h2', 'telegram', 'gpt-5', ?, 0, 0, '')", (BEGAN,))
        insert = f"INSERT INTO messages (session_id, {_COLUMNS}, active) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
        for row in HERMES:
            database.execute(insert, ("h1", *(row[name] for name in _COLUMNS.split(", ")), 1))
        database.execute("INSERT INTO messages (session_id, role, content, active) VALUES ('h1', 'user', 'undone', 0)")


def kiro_database(path: Path) -> None:
    """A conversation of Kiro's older CLI."""
    turns = [
        {
            "user": {"content": {"Prompt": {"prompt": "Fix it."}}, "timestamp": "2026-03-01T10:00:00Z"},
            "assistant": {
                "ToolUse": {
                    "message_id": "m1",
                    "content": "",
                    "tool_uses": [{"id": "c1", "name": "execute_bash", "args": {"command": "make"}}],
                }
            },
        },
        {
            "user": {
                "content": {
                    "ToolUseResults": {
                        "tool_use_results": [{"tool_use_id": "c1", "status": "Error", "content": [{"Text": "boom"}]}]
                    }
                },
                "timestamp": "2026-03-01T10:00:05Z",
            },
            "assistant": {"Response": {"message_id": "m2", "content": "Done."}},
        },
    ]
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE conversations_v2 (key, conversation_id, value, created_at, updated_at)")
        value = json.dumps({"history": turns})
        database.execute("INSERT INTO conversations_v2 VALUES ('/home/ada/mill', 'k1', ?, 1, 2)", (value,))


def openclaw_database(path: Path) -> None:
    """OpenClaw's database, whose rows are its lines."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE session_windows (session_id, session_key)")
        database.execute("CREATE TABLE transcript_events (session_id, seq, event_json, created_at)")
        rows = [("openclaw-1", number, json.dumps(line), BEGAN * 1000) for number, line in enumerate(OPENCLAW)]
        database.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", rows)


DATABASES = {
    "zed": (zed_database, (2, 1, 1)),
    "hermes": (hermes_database, (1, 1, 1)),
    "kiro": (kiro_database, (1, 1, 1)),
    "openclaw": (openclaw_database, (1, 1, 1)),
}
"""Per agent: what writes its database, and how many calls, failures and prompts it holds."""
DOCUMENTS: dict[str, tuple[type[Reader], list[Any]]] = {
    "atif": (AtifReader, [ATIF]),
    "devin": (DevinReader, [DEVIN]),
    "zed": (ZedReader, [{"id": "z1", "created_at": "2026-03-01T10:00:00Z", "thread": ZED_THREAD}]),
}
"""Readers whose records are whole sessions."""
