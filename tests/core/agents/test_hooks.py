"""What each agent's hooks say, and the answers each of them understands."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.agents.calls import said_event, split_advice
from core.agents.claude_code.reader import ClaudeCode
from core.agents.codex.reader import Codex
from core.agents.registry import make_kit
from core.events import Advice, Prompt, ToolUse, Where
from core.hooks.agent_answers import HOOKS, HookReply, Installing, codex_rollout_exit_code

DENY = HookReply(verdict="deny", reason="no")
ASK = HookReply(verdict="ask", reason="may it?")
SAY = HookReply("[nooscope] a fact")
SENTENCE = "[nooscope] npm failed 4 times."


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "session_id": "s", "tool_name": "Bash", "tool_use_id": "t", **more}


@pytest.mark.parametrize(
    ("agent", "event", "reply", "answer"),
    [
        ("claude", "PreToolUse", DENY, {"permissionDecision": "deny", "permissionDecisionReason": "no"}),
        ("claude", "PreToolUse", ASK, {"permissionDecision": "ask", "permissionDecisionReason": "may it?"}),
        ("claude", "PreToolUse", SAY, None),
        ("claude", "PostToolBatch", SAY, {"additionalContext": SAY.context}),
        ("claude", "UserPromptSubmit", SAY, {"additionalContext": SAY.context}),
        ("claude", "PostToolUse", SAY, None),
        ("claude", "PostToolBatch", HookReply(), None),
        ("codex", "PreToolUse", ASK, {"permissionDecision": "deny", "permissionDecisionReason": "may it?"}),
        ("codex", "PostToolUse", SAY, {"additionalContext": SAY.context}),
        ("codex", "Stop", SAY, None),
        ("gemini", "AfterTool", SAY, {"additionalContext": SAY.context}),
        ("gemini", "AfterAgent", SAY, None),
    ],
)
def test_answers_in_the_form_of_one_event(
    agent: str, event: str, reply: HookReply, answer: dict[str, Any] | None
) -> None:
    hooks = HOOKS[agent]
    asked = hooks.read(call(event))
    assert asked is not None
    wanted = None if answer is None else {"hookSpecificOutput": {"hookEventName": event, **answer}}
    assert hooks.answer(asked, reply) == wanted


@pytest.mark.parametrize(
    ("agent", "event", "reply", "answer"),
    [
        ("gemini", "BeforeTool", ASK, {"decision": "deny", "reason": "may it?"}),
        ("copilot", "PreToolUse", ASK, {"permissionDecision": "ask", "permissionDecisionReason": "may it?"}),
        ("copilot", "PostToolUseFailure", SAY, {"additionalContext": SAY.context}),
        ("opencode", "PreToolUse", DENY, {"deny": "no"}),
        ("opencode", "PostToolUse", SAY, {"context": SAY.context}),
        ("pi", "PreToolUse", ASK, {"deny": "may it?"}),
    ],
)
def test_answers_of_other_forms(agent: str, event: str, reply: HookReply, answer: dict[str, Any]) -> None:
    asked = HOOKS[agent].read(call(event))
    assert asked is not None and HOOKS[agent].answer(asked, reply) == answer


@pytest.mark.parametrize("agent", list(HOOKS))
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"hook_event_name": "Stop"},
        {"hook_event_name": 7, "session_id": "s"},
        {"hook_event_name": "AfterModel", "session_id": "s"},
        {"hook_event_name": "Stop", "session_id": []},
    ],
)
def test_what_says_nothing_is_passed_over(agent: str, value: dict[str, Any]) -> None:
    assert HOOKS[agent].read(value) is None


def test_fields_of_a_wrong_type_are_left_out() -> None:
    value = call("PostToolUse", cwd=3, tool_response=[1], duration_ms="x", agent_id=None, prompt={})
    asked = HOOKS["claude"].read(value)
    assert asked is not None and (asked.project, asked.result, asked.duration, asked.agent) == ("", "", None, "main")


def test_an_observer_never_stands_before_a_copilot_call(tmp_path: Path) -> None:
    """A fault of ours there would deny it."""
    for mode, there in (("observe", False), ("advise", False), ("guard", True)):
        to = Installing({}, tmp_path, None, mode, str)  # type: ignore[arg-type]
        assert ("PreToolUse" in HOOKS["copilot"].file(to).entries["hooks"]) is there


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_the_modules_are_sound_and_silent_where_nobody_listens(agent: str, tmp_path: Path) -> None:
    values = {"FOLDER": json.dumps(str(tmp_path / "none")), "MODE": '"guard"', "DEADLINE": "150"}
    made = HOOKS[agent].file(Installing({}, tmp_path, None, "guard", values.__getitem__))
    module = tmp_path / "nooscope.mjs"
    module.write_text(made.text)
    script = tmp_path / "run.mjs"
    if agent == "opencode":
        body = """
import { Nooscope } from "./nooscope.mjs"
const hooks = await Nooscope({ directory: "/p" })
await hooks["tool.execute.before"]({ sessionID: "s", tool: "bash", callID: "c" }, { args: {} })
const output = { output: "text", metadata: { exit: 1 } }
await hooks["tool.execute.after"]({ sessionID: "s", tool: "bash", callID: "c", args: {} }, output)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
console.log(output.output)
"""
    else:
        body = """
import start from "./nooscope.mjs"
const found = {}
start({ on: (name, act) => { found[name] = act }, sendMessage: () => console.log("spoke") })
for (const name of Object.keys(found)) await found[name]({ toolName: "bash", input: {}, content: [] }, {})
console.log("text")
"""
    script.write_text(body)
    done = subprocess.run(["node", str(script)], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "text\n"), done.stderr


def test_how_a_codex_command_ended_stands_in_its_rollout(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"

    def item(call_id: str, code: Any) -> str:
        done = {"type": "CommandExecution", "id": call_id, "exit_code": code, "status": "completed"}
        return json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": done}})

    rollout.write_text("\n".join((item("a", 2), item("b", 0), "broken item_completed c", "")))
    assert [codex_rollout_exit_code(rollout, name) for name in "abc"] == [2, 0, None]
    assert codex_rollout_exit_code(tmp_path / "none", "a") is None and codex_rollout_exit_code(tmp_path, "a") is None
    value = call("PostToolUse", tool_use_id="a", transcript_path=str(rollout), tool_response="no")
    asked = HOOKS["codex"].read(value)
    assert asked is not None and asked.failed


def claude_line(content: Any, kind: str = "hook_additional_context") -> bytes:
    part = {"type": kind, "content": content, "hookEvent": "PostToolBatch"}
    line = {
        "parentUuid": None,
        "isSidechain": False,
        "attachment": part,
        "type": "attachment",
        "uuid": "u",
        "timestamp": "2026-01-01T00:00:00Z",
        "sessionId": "s",
        "cwd": "/p",
    }
    return json.dumps(line, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (claude_line([SENTENCE]), True),
        (claude_line(["another hook", SENTENCE]), True),
        (claude_line(SENTENCE), True),
        (claude_line(["not ours [nooscope]"]), False),
        (claude_line([SENTENCE], "hook_success"), False),
        (claude_line([7]), False),
        (claude_line(None), False),
    ],
)
def test_our_words_in_a_claude_log_are_advice_and_no_prompt(line: bytes, said: bool) -> None:
    events = ClaudeCode(make_kit()).feed(line, Where("x"), 1)
    assert not any(isinstance(event, Prompt) for event in events)
    found = [event for event in events if isinstance(event, Advice)]
    assert [event.call for event in found] == ([said_event(SENTENCE, 0.0).call] if said else [])


@pytest.mark.parametrize(
    ("output", "plain", "said"),
    [
        (f"no such file\n\n{SENTENCE}", "no such file", SENTENCE),
        (f"no such file\n{SENTENCE}", f"no such file\n{SENTENCE}", ""),
        (f"a\n\n{SENTENCE}\nmore", f"a\n\n{SENTENCE}\nmore", ""),
        (SENTENCE, SENTENCE, ""),
        ("", "", ""),
    ],
)
def test_our_words_at_the_end_of_an_output_are_taken_off(output: str, plain: str, said: str) -> None:
    assert split_advice(output) == (plain, said)


def test_our_words_in_a_codex_log_come_after_the_call_they_belong_to() -> None:
    reader = Codex(make_kit())

    def line(payload: dict[str, Any], kind: str = "response_item") -> bytes:
        return json.dumps({"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}).encode()

    told = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": SENTENCE}]}
    lines = [
        line({"id": "s", "cwd": "/p"}, "session_meta"),
        line({"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": '{"cmd":"x"}'}),
        line(told),
        line({"type": "function_call_output", "call_id": "c", "output": "Exit code: 1\nOutput:\nno"}),
        line(told),
        line({**told, "content": [{"type": "input_text", "text": "something else"}]}),
        line({"type": "function_call", "call_id": "d", "name": "exec_command", "arguments": '{"cmd":"x"}'}),
        line(told),
    ]
    events = [event for number, one in enumerate(lines) for event in reader.feed(one, Where("x"), number)]
    assert [type(event) for event in events[1:]] == [ToolUse, Advice, Advice]
    assert [type(event) for event in reader.finish()] == [Advice, ToolUse]
