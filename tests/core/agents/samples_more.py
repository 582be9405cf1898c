"""Small logs of our own as Gemini, pi, Copilot and the SWE agents write them, and the list of all."""

from __future__ import annotations

from typing import Any

from core.agents import copilot as copilot
from core.agents import gemini as gemini
from core.agents import pi as pi
from core.agents import swe_agent as swe_agent
from tests.core.agents.reading_more import Log, iso
from tests.core.agents.samples_recent import RECENT
from tests.core.agents.samples_rest import CHAT, CHAT_RUN, OPENCODE, OPENEVENTS, OPENHANDS, OPENHANDS_FOLDER


def gemini_call(name: str, tool: str = "run_shell_command", status: str = "success", **more: Any) -> dict[str, Any]:
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


GEMINI_HEADER = {"sessionId": "s1", "projectHash": "ab", "startTime": iso(0), "lastUpdated": iso(0), "kind": "main"}
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
        {"$set": {"messages": [gemini_answer("m3", gemini_call("c2", "read_file", args={"file_path": "a.py"}))]}},
        {"id": "m4", "type": "info", "timestamp": iso(9), "content": "Request cancelled."},
    ],
    [gemini_answer("m9", gemini_call("c9", "tailtool", args={}, at=20), at=19)],
)


def pi_entry(number: int, message: dict[str, Any]) -> dict[str, Any]:
    """A message of pi in its place in the tree."""
    parent = None if number == 1 else f"e{number - 1}"
    return {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": iso(number), "message": message}


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
        {"type": "compaction", "id": "k", "parentId": "e4", "timestamp": iso(5), "summary": "s", "tokensBefore": 9},
        {"type": "model_change", "timestamp": iso(5), "modelId": "m"},
        pi_entry(6, {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "cancelled": False}),
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
    {"environment": "e", "history": [{"role": "user", "content": "Fix the mill.", "agent": "main"}], "info": {}},
    "trajectory",
)


def mini_answer(command: str, at: int) -> dict[str, Any]:
    """An answer of mini-swe-agent's model."""
    usage = {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60}}
    response = {"id": f"g{at}", "model": "m", "created": 1_770_000_000 + at, "usage": usage}
    return {"role": "assistant", "content": f"I try.\n\n```bash\n{command}\n```", "extra": {"response": response}}


def mini_result(code: int, output: str) -> dict[str, Any]:
    """What the shell gave back."""
    said = f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"
    return {"role": "user", "content": said}


MINI = Log(
    "mini-swe-agent",
    swe_agent.MiniSweAgentReader,
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


LOGS: tuple[Log, ...] = (
    *(GEMINI, PI, COPILOT, SWE_AGENT, MINI, OPENHANDS, OPENHANDS_FOLDER),
    *(CHAT, CHAT_RUN, OPENCODE, OPENEVENTS),
    *RECENT,
)
