"""Qwen Code, Antigravity, Cursor and OpenHands lines: small logs of our own, and real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.antigravity import AntigravityReader
from core.agents.cursor import CursorReader
from core.agents.gemini import QwenReader
from core.agents.openhands import OpenHandsFolderReader
from core.agents.registry import AGENTS, make_kit
from core.events import Advice, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, Turn
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.links import links
from core.logs.session import log_events
from core.settings.program import LineSettings
from tests.core.agents.samples import feed, new_kit, stamp, uses


def of(kind: type[Event], events: list[Event]) -> list[Any]:
    return [event for event in events if type(event) is kind]


def written(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def qwen(number: int, kind: str, parts: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "q-1",
        "timestamp": stamp(number),
        "type": kind,
        "cwd": "/home/ada/mill",
        "version": "0.21.0",
        "message": {"role": "user", "parts": parts},
        **more,
    }


def qwen_call(number: int, name: str, tool: str, arguments: Any) -> dict[str, Any]:
    usage = {"promptTokenCount": 900, "cachedContentTokenCount": 600, "candidatesTokenCount": 20}
    part = {"functionCall": {"id": name, "name": tool, "args": arguments}}
    return qwen(number, "assistant", [part], model="qwen3-coder-plus", usageMetadata=usage)


def qwen_result(number: int, name: str, output: str, status: str = "success") -> dict[str, Any]:
    told = {"error" if status == "error" else "output": output}
    part = {"functionResponse": {"id": name, "name": "x", "response": told}}
    result = {"callId": name, "status": status, "resultDisplay": output}
    return qwen(number, "tool_result", [part], toolCallResult=result)


def test_advice_behind_the_output_of_a_qwen_call_is_an_event_of_its_own() -> None:
    output = "Exit Code: 2\n\n[nooscope] Seen from outside: make failed 4 times."
    events = feed(QwenReader(new_kit()), [QWEN[0], QWEN[3], qwen_result(4, "b", output, "error")])
    (advice,) = of(Advice, events)
    assert advice.characters == len(output) - len("Exit Code: 2\n\n") and events[-1] is advice


QWEN = [
    qwen(0, "user", [{"text": "mend the mill"}, {"text": "<qwen:user-prompt-submit-context>\nx"}]),
    qwen_call(1, "a", "read_file", {"path": "/home/ada/mill/a.py"}),
    qwen_result(2, "a", "text"),
    qwen_call(3, "b", "run_shell_command", {"command": "make"}),
    qwen_result(4, "b", "Output: no\nExit Code: 2"),
    qwen_call(5, "c", "edit", {"file_path": "/home/ada/mill/a.py", "old_string": "x", "new_string": "y"}),
    qwen_result(6, "c", "not found", "error"),
    qwen_call(7, "d", "run_shell_command", {"command": "rm x"}),
    qwen_result(8, "d", "cancelled", "cancelled"),
    qwen(9, "system", [], subtype="ui_telemetry"),
    qwen(10, "system", [], subtype="chat_compression", systemPayload={"info": {"originalTokenCount": 90}}),
    qwen(11, "user", [{"text": "a job is done"}], subtype="notification"),
    qwen_call(12, "e", "agent", {"subagent_type": "scout", "prompt": "look"}),
    qwen_result(13, "e", "found"),
    qwen_call(14, "f", "glob", {"pattern": "*"}),
]


def test_qwen() -> None:
    events = feed(QwenReader(new_kit()), QWEN)
    [start] = of(SessionStart, events)
    assert (start.session, start.project) == ("q-1", "/home/ada/mill")
    assert [prompt.characters for prompt in of(Prompt, events)] == [len("mend the mill")]
    assert [(use.id, use.action, use.outcome, use.exit_code) for use in uses(events)] == [
        ("a", "file_read", "success", None),
        ("b", "shell_exec", "failure", 2),
        ("c", "file_edit", "failure", None),
        ("d", "shell_exec", "rejected", None),
        ("e", "delegation", "success", None),
        ("f", "search", "pending", None),
    ]
    assert uses(events)[0].targets == ("a.py",)
    turn = of(Turn, events)[0]
    assert (turn.input_tokens, turn.cache_read, turn.output_tokens) == (300, 600, 20)
    assert [one.tokens_before for one in of(Compaction, events)] == [90]
    assert [one.role for one in of(AgentStart, events)] == ["scout"]
    assert [one.outcome for one in of(AgentEnd, events)] == ["success"]


def test_a_result_of_qwen_may_come_before_its_call() -> None:
    moved = [QWEN[0], QWEN[2], QWEN[1], *QWEN[3:]]
    found = {use.id: use.outcome for use in uses(feed(QwenReader(new_kit()), moved))}
    assert found == {use.id: use.outcome for use in uses(feed(QwenReader(new_kit()), QWEN))}


def test_qwen_is_found_with_its_sub_agents_and_its_tree(tmp_path: Path) -> None:
    project = tmp_path / ".qwen/projects/-home-ada-mill"
    path = written(project / "chats/q-1.jsonl", QWEN)
    written(project / "subagents/q-1/agent-kid.jsonl", [qwen_call(1, "k", "glob", {}), qwen_result(2, "k", "x")])
    [one] = find(AGENTS, {}, tmp_path)
    assert (one.agent, one.session, one.project) == ("qwen", "q-1", "/home/ada/mill")
    assert [file.name for file in one.paths] == ["q-1.jsonl", "agent-kid.jsonl"]
    assert one.title == "mend the mill"
    [session] = sessions([path], make_kit())
    assert [log.agent for log in session.logs] == ["main", "kid"]
    told = list(links(session.logs[0], make_kit()))
    assert [link.parent for link in told] == [None, *(f"u{number}" for number in range(14))]
    assert {link.kind for link in told} == {"prompt", "answer", "result", "system", "compaction"}


def step(number: int, kind: str, content: str = "", source: str = "MODEL", **more: Any) -> dict[str, Any]:
    return {
        "step_index": number,
        "source": source,
        "type": kind,
        "status": "DONE",
        "created_at": stamp(number),
        "content": content,
        **more,
    }


def planned(number: int, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    told = [
        {"name": name, "args": {key: json.dumps(item) for key, item in arguments.items()}} for name, arguments in calls
    ]
    return step(number, "PLANNER_RESPONSE", tool_calls=told)


ANTIGRAVITY = [
    step(0, "USER_INPUT", "<USER_REQUEST>\nmend\n</USER_REQUEST>\n<X>y</X>", "USER_EXPLICIT"),
    planned(1, ("run_command", {"CommandLine": "make"}), ("view_file", {"AbsolutePath": "/w/a.py"})),
    step(2, "VIEW_FILE", "1: x"),
    step(3, "RUN_COMMAND", "The command failed with exit code: 2\nOutput:\nno"),
    planned(4, ("replace_file_content", {"TargetFile": "/w/a.py", "TargetContent": "x"})),
    step(5, "CODE_ACTION", "no such text", status="ERROR"),
    step(6, "CHECKPOINT", "# Resuming", "SYSTEM"),
    planned(7, ("run_command", {"CommandLine": "sleep 9"})),
    step(8, "RUN_COMMAND", "", status="RUNNING"),
    step(9, "GREP_SEARCH", "No results found"),
]


def test_antigravity() -> None:
    kit = new_kit()
    events = feed(AntigravityReader(kit), ANTIGRAVITY[:9])
    assert [prompt.characters for prompt in of(Prompt, events)] == [4]
    assert [(use.tool, use.outcome, use.exit_code) for use in uses(events)] == [
        ("view_file", "success", None),
        ("run_command", "failure", 2),
        ("replace_file_content", "failure", None),
        ("run_command", "pending", None),
    ]
    assert [use.targets for use in uses(events)][:3] == [("/w/a.py",), (), ("/w/a.py",)]
    assert uses(events)[1].program == "make"
    assert len(of(Compaction, events)) == 1
    assert kit.diagnostics.total == 0


def test_a_step_of_antigravity_without_a_call_was_done_all_the_same() -> None:
    events = feed(AntigravityReader(new_kit()), [ANTIGRAVITY[0], ANTIGRAVITY[9]])
    assert [(use.tool, use.outcome) for use in uses(events)] == [("grep_search", "empty")]
    kit = new_kit()
    feed(AntigravityReader(kit), [ANTIGRAVITY[0], step(3, "GENERIC", "x")])
    assert kit.diagnostics.counts == {"result without a call": 1}


def test_an_answer_of_antigravity_is_by_the_model_that_was_chosen_last() -> None:
    chosen = "<USER_REQUEST>\nmend\n</USER_REQUEST>\nThe user changed setting `Model Selection` from {} to {}."
    first = step(0, "USER_INPUT", chosen.format("None", "Gemini 3.5 Flash (Medium)"), "USER_EXPLICIT")
    other = step(2, "USER_INPUT", chosen.format("Gemini 3.5 Flash (Medium)", "Claude 4"), "USER_EXPLICIT")
    same = step(4, "USER_INPUT", "<USER_REQUEST>\nmore\n</USER_REQUEST>", "USER_EXPLICIT")
    events = feed(AntigravityReader(new_kit()), [first, planned(1), other, planned(3), same, planned(5)])
    assert [turn.model for turn in of(Turn, events)] == ["Gemini 3.5 Flash (Medium)", "Claude 4", "Claude 4"]
    assert of(SessionStart, events)[0].untold == ("tokens", "cost")


def test_an_antigravity_conversation_is_named_by_its_folder(tmp_path: Path) -> None:
    place = tmp_path / ".gemini/antigravity/brain/c-7/.system_generated/logs/transcript.jsonl"
    written(place, ANTIGRAVITY)
    [one] = find(AGENTS, {}, tmp_path)
    assert (one.agent, one.session, one.title) == ("antigravity", "c-7", "mend")
    [session] = sessions([place], make_kit())
    assert session.id == "c-7"


CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\nmend\n</user_query>"}]}},
    {
        "role": "assistant",
        "message": {
            "content": [
                {"type": "text", "text": "[REDACTED]"},
                {"type": "tool_use", "name": "Shell", "input": {"command": "make"}},
                {"type": "tool_use", "name": "StrReplace", "input": {"path": "a.py"}},
            ]
        },
    },
]


def test_a_cursor_transcript_tells_neither_times_nor_outcomes(tmp_path: Path) -> None:
    events = feed(CursorReader(new_kit(), session="c-1"), CURSOR)
    [start] = of(SessionStart, events)
    assert start.synthetic_time
    assert [prompt.characters for prompt in of(Prompt, events)] == [4]
    assert [(use.action, use.outcome, use.duration) for use in uses(events)] == [
        ("shell_exec", "pending", None),
        ("file_edit", "pending", None),
    ]
    assert [turn.cost for turn in of(Turn, events)] == [None]
    place = tmp_path / ".cursor/projects/w/agent-transcripts/c-1"
    written(place / "c-1.jsonl", CURSOR)
    written(place / "subagents/k-1.jsonl", CURSOR)
    [one] = find(AGENTS, {}, tmp_path)
    assert (one.agent, one.session, len(one.paths), one.title) == ("cursor", "c-1", 2, "mend")
    [session] = sessions([place / "c-1.jsonl"], make_kit())
    assert [log.agent for log in session.logs] == ["main", "k-1"]


def openhands(number: int, kind: str, **more: Any) -> dict[str, Any]:
    source = more.pop("source", "environment")
    return {"id": f"e{number}", "timestamp": stamp(number)[:-1], "source": source, "kind": kind, **more}


def stats(number: int, sent: int, answered: int, read: int) -> dict[str, Any]:
    used = {"prompt_tokens": sent, "completion_tokens": answered, "cache_read_tokens": read}
    told = {"model_name": "gpt-5", "accumulated_cost": sent / 1e6, "accumulated_token_usage": used}
    value = {"usage_to_metrics": {"default": told}}
    return openhands(number, "ConversationStateUpdateEvent", key="stats", value=value)


def acted(number: int, answer: str) -> dict[str, Any]:
    action = {"command": "make", "kind": "TerminalAction"}
    return openhands(
        number,
        "ActionEvent",
        source="agent",
        action=action,
        tool_name="terminal",
        tool_call_id=f"t{number}",
        llm_response_id=answer,
    )


def observed(number: int, call: int, **seen: Any) -> dict[str, Any]:
    seen = {"content": [{"type": "text", "text": "x"}], **seen}
    return openhands(number, "ObservationEvent", tool_name="terminal", tool_call_id=f"t{call}", observation=seen)


OPENHANDS = [
    openhands(0, "MessageEvent", source="user", llm_message={"content": [{"type": "text", "text": "mend"}]}),
    stats(1, 1000, 50, 0),
    acted(2, "r1"),
    observed(3, 2, is_error=True, metadata={"exit_code": -1}),
    stats(4, 2500, 80, 900),
    stats(5, 4500, 90, 2400),
    acted(6, "r2"),
    observed(7, 6, is_error=False, metadata={"exit_code": 0}),
    acted(8, "r3"),
    observed(9, 8, is_error=False, metadata={"exit_code": -1}),
]


def test_openhands_events_as_lines(tmp_path: Path) -> None:
    events = feed(OpenHandsFolderReader(new_kit(), session="x"), OPENHANDS)
    assert [use.outcome for use in uses(events)] == ["failure", "success", "pending"]
    assert [(turn.id, turn.input_tokens, turn.cache_read, turn.output_tokens) for turn in of(Turn, events)] == [
        ("r1", 1000, 0, 50),
        ("e4", 600, 900, 30),
        ("r2", 500, 1500, 10),
        ("r3", 0, 0, 0),
    ]
    assert of(Turn, events)[0].cost == pytest.approx(0.001)
    path = written(tmp_path / "events.jsonl", OPENHANDS)
    [session] = sessions([path], make_kit())
    assert (session.tool, session.logs[0].format.style) == ("openhands", "lines")


@pytest.mark.parametrize(
    ("folder", "agent", "prompts", "calls", "failed"),
    [
        ("qwen", "qwen", 1, 1, 0),
        ("antigravity", "antigravity", 2, 8, 0),
        ("openhands-v1", "openhands", 0, 2, 2),
        ("cline-sdk", "cline", 5, 11, 0),
    ],
)
def test_real_logs(shared_data: Path, folder: str, agent: str, prompts: int, calls: int, failed: int) -> None:
    kit = make_kit()
    [session] = sessions([shared_data / "real_sessions" / folder], kit)
    assert session.tool == agent
    events = list(log_events(session.logs[0], kit, LineSettings()))
    assert len(of(Prompt, events)) == prompts
    found = uses(events)
    assert len(found) == calls
    assert sum(use.outcome == "failure" for use in found) == failed
    assert not any(use.outcome == "pending" for use in found)


def test_a_real_history_of_aider_counts_as_its_lines_do(shared_data: Path) -> None:
    [path] = (shared_data / "real_sessions" / "aider").iterdir()
    kit = make_kit()
    runs = sessions([path], kit)
    lines = path.read_text("utf-8", "replace").split("\n")
    assert 10 < len(runs) < sum(line.startswith("# aider chat started at ") for line in lines)
    events = [event for run in runs for event in log_events(run.logs[0], kit, LineSettings())]
    applied = sum(line.startswith("> Applied edit to ") for line in lines)
    assert sum(use.tool == "edit" and use.outcome == "success" for use in uses(events)) == applied
    counted = [turn for turn in of(Turn, events) if turn.output_tokens]
    assert len(counted) == sum(line.startswith("> Tokens: ") for line in lines)
    assert all(turn.said is not None for turn in counted)
    begun = sum(
        line.startswith("#### ") and not before.startswith("#### ") and "/(N)o/" not in line and line[5] != "/"
        for before, line in zip(["", *lines], lines, strict=False)
    )
    assert sum(not prompt.interrupt for prompt in of(Prompt, events)) == begun
    assert kit.diagnostics.total == 0
