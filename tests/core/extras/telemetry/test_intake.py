"""Telemetry of each agent, in JSON and in protobuf, as events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.registry import make_kit
from core.events import AgentEnd, AgentStart, Compaction, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.extras.telemetry import decode
from core.extras.telemetry.intake import Intake
from tests.core.extras.telemetry import packing

KIT = make_kit()
AT = 1_760_000_000.0
values: st.SearchStrategy[Any] = st.recursive(
    st.text() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=8,
)


def events(records: list[packing.Log], binary: bool, **resource: str) -> list[Event]:
    told = Intake(KIT).logs(decode.logs(packing.logs(records, binary, dict(resource)), binary))
    return [each.event for each in told]


@pytest.mark.parametrize("binary", [False, True])
def test_claude_code(binary: bool) -> None:
    common = {"session.id": "c-1", "user.id": "u"}
    use = {"tool_name": "Bash", "tool_use_id": "t1", "success": "false", "duration_ms": "1500"}
    use |= {"tool_input": '{"command": "pytest -q"}', "error": "Exit code 1"}
    records: list[packing.Log] = [
        (AT, "claude_code.user_prompt", common | {"event.name": "user_prompt", "prompt_length": "12"}),
        (
            AT + 1,
            "claude_code.api_request",
            common
            | {
                "event.name": "api_request",
                "model": "claude-opus-4-6",
                "cost_usd": "0.25",
                "input_tokens": "10",
                "output_tokens": "20",
                "cache_read_tokens": "300",
                "cache_creation_tokens": "4",
                "request_id": "r1",
            },
        ),
        (AT + 3, "claude_code.tool_result", common | use | {"event.name": "tool_result"}),
        (AT + 3, "claude_code.tool_result", common | use | {"event.name": "tool_result"}),
        (
            AT + 4,
            "claude_code.tool_decision",
            common | {"event.name": "tool_decision", "decision": "reject", "tool_name": "Write", "tool_use_id": "t2"},
        ),
        (AT + 5, "claude_code.compaction", common | {"event.name": "compaction", "trigger": "auto"}),
        (AT + 6, "claude_code.hook_registered", common | {"event.name": "hook_registered"}),
    ]
    start, prompt, turn, bash, write, compaction = events(records, binary, **{"service.name": "claude-code"})
    assert start == SessionStart(at=AT, session="c-1", tool="claude-code")
    assert prompt == Prompt(at=AT, characters=12)
    assert isinstance(turn, Turn)
    assert (turn.cost, turn.context_tokens, turn.output_tokens, turn.id) == (0.25, 314, 20, "r1")
    assert isinstance(bash, ToolUse)
    assert (bash.action, bash.program, bash.purpose) == ("shell_exec", "pytest", "test")
    assert (bash.outcome, bash.duration, bash.id) == ("failure", 1.5, "t1")
    assert isinstance(write, ToolUse) and write.outcome == "rejected" and write.action == "file_edit"
    assert compaction == Compaction(at=AT + 5, trigger="auto")


@pytest.mark.parametrize("binary", [False, True])
def test_codex(binary: bool) -> None:
    common = {"conversation.id": "x-1"}
    counts = {"input_token_count": 100, "cached_token_count": 60, "output_token_count": 7}
    records: list[packing.Log] = [
        (AT, "", common | {"event.name": "codex.conversation_starts", "model": "gpt-5"}),
        (AT + 1, "", common | {"event.name": "codex.user_prompt", "prompt_length": "5"}),
        (AT + 2, "", common | {"event.name": "codex.sse_event", "event.kind": "response.created"}),
        (AT + 3, "", common | counts | {"event.name": "codex.sse_event", "event.kind": "response.completed"}),
        (
            AT + 4,
            "",
            common
            | {
                "event.name": "codex.tool_result",
                "tool_name": "shell",
                "call_id": "k1",
                "arguments": '{"command": ["bash", "-lc", "cat src/a.py"]}',
                "output": "text of it",
                "success": "true",
                "duration_ms": 20,
            },
        ),
    ]
    start, prompt, turn, use = events(records, binary)
    assert isinstance(start, SessionStart) and (start.session, start.tool) == ("x-1", "codex")
    assert isinstance(prompt, Prompt)
    assert isinstance(turn, Turn) and (turn.input_tokens, turn.cache_read, turn.output_tokens) == (40, 60, 7)
    assert isinstance(use, ToolUse)
    assert (use.action, use.targets, use.outcome, use.size) == ("file_read", ("src/a.py",), "success", 10)


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno file\n", "failure"),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nfine\n", "success"),
        ("Chunk ID: 1\nWall time: 5 seconds\nProcess running with session ID 7\nOutput:\n...", "success"),
        ("exec_command failed for `x`: rejected by user", "rejected"),
    ],
)
def test_codex_calls_a_failed_command_a_success(output: str, outcome: str) -> None:
    told = {"conversation.id": "x", "event.name": "codex.tool_result", "tool_name": "exec_command"}
    told |= {"arguments": '{"cmd": "python3 a.py"}', "output": output, "success": "true", "agent_name": "/root"}
    _, use = events([(AT, "", told)], False)
    assert isinstance(use, ToolUse)
    assert (use.outcome, use.agent) == (outcome, "main")


@pytest.mark.parametrize("binary", [False, True])
def test_gemini(binary: bool) -> None:
    common = {"session.id": "g-1"}
    call = {"function_name": "replace", "function_args": '{"file_path": "a.py"}', "success": True}
    records: list[packing.Log] = [
        (AT, "CLI configuration loaded.", common | {"event.name": "gemini_cli.config"}),
        (AT + 1, "", common | {"event.name": "gemini_cli.agent.start", "agent_name": "helper"}),
        (AT + 2, "", common | call | {"event.name": "gemini_cli.tool_call", "duration_ms": 5}),
        (AT + 3, "", common | {"event.name": "gemini_cli.api_response", "input_token_count": 9, "model": "m"}),
        (AT + 4, "", common | {"event.name": "gemini_cli.chat_compression", "tokens_before": 9, "tokens_after": 3}),
        (AT + 5, "", common | {"event.name": "gemini_cli.agent.finish", "agent_name": "helper"}),
        (AT + 6, "", common | {"event.name": "gemini_cli.conversation_finished"}),
    ]
    found = events(records, binary)
    kinds = [SessionStart, AgentStart, ToolUse, Turn, Compaction, AgentEnd, SessionEnd]
    assert [type(event) for event in found] == kinds
    assert isinstance(found[2], ToolUse) and found[2].action == "file_edit" and found[2].targets == ("a.py",)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("inference", [False, True])
def test_spans_in_two_conventions(binary: bool, inference: bool) -> None:
    trace = "ab" * 16
    chat: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    chat |= {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 3}
    tool: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_file"}
    tool |= {"gen_ai.tool.call.arguments": '{"path": "a.py"}'}
    if inference:
        chat = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
        chat |= {"llm.token_count.prompt": 9, "llm.token_count.completion": 3}
        tool = {"openinference.span.kind": "TOOL", "tool.name": "read_file", "input.value": '{"path": "a.py"}'}
    spans: list[packing.Span] = [
        (trace, "11" * 8, "execute_tool read_file", AT + 2, AT + 3, tool, True),
        (trace, "22" * 8, "chat m", AT, AT + 1, chat, False),
    ]
    body = packing.traces(spans, binary, {"service.name": "my-agent"})
    told = Intake(KIT).spans(decode.traces(body, binary))
    start, turn, use = [each.event for each in told]
    assert {each.session for each in told} == {trace}
    assert isinstance(start, SessionStart) and start.tool == "my-agent"
    assert isinstance(turn, Turn) and (turn.model, turn.input_tokens, turn.output_tokens) == ("m", 9, 3)
    assert isinstance(use, ToolUse)
    assert (use.action, use.outcome, use.duration, use.at) == ("file_read", "failure", 1.0, AT + 3)


@pytest.mark.parametrize(
    ("operation", "actions"),
    [
        ("plan", ["plan"]),
        ("retrieval", ["search"]),
        ("search_memory", ["memory_read"]),
        *((name, ["memory_write"]) for name in ("create_memory", "update_memory", "upsert_memory", "delete_memory")),
        *((name, ["memory_write"]) for name in ("create_memory_store", "delete_memory_store")),
        *((name, []) for name in ("invoke_workflow", "invoke_agent", "create_agent", "embeddings")),
        *((name, []) for name in ("chat", "generate_content", "text_completion")),
    ],
)
def test_spans_of_plans_workflows_and_memory_are_accepted(operation: str, actions: list[str]) -> None:
    values: dict[str, Any] = {"gen_ai.operation.name": operation}
    spans: list[packing.Span] = [("ab" * 16, "11" * 8, operation, AT, AT + 2, values, False)]
    intake = Intake(KIT)
    events = [one.event for one in intake.spans(decode.traces(packing.traces(spans, False, {}), False))]
    assert intake.passed_over == 0
    uses = [event for event in events if isinstance(event, ToolUse)]
    assert [use.action for use in uses] == actions
    assert all((use.outcome, use.duration) == ("success", 2.0) for use in uses)


def _span(number: int, parent: int, operation: str, start: float, end: float, agent: str = "") -> decode.SpanRecord:
    values = {"gen_ai.operation.name": operation, "gen_ai.conversation.id": "c", "gen_ai.usage.output_tokens": 3}
    values |= {"gen_ai.agent.name": agent} if agent else {}
    return decode.SpanRecord(
        "t", f"s{number}", f"s{parent}" if parent else "", operation, start, end, values, {}, False
    )


_TRACE = [
    _span(1, 0, "invoke_agent", AT, AT + 9, "lead"),
    _span(2, 1, "chat", AT + 1, AT + 2, "lead"),
    _span(3, 1, "invoke_agent", AT + 2, AT + 7, "helper"),
    _span(4, 3, "chat", AT + 3, AT + 4, "helper"),
    _span(5, 3, "execute_tool", AT + 4, AT + 6),
    _span(6, 1, "chat", AT + 8, AT + 9, "lead"),
]


@pytest.mark.parametrize("requests", [[_TRACE], [[one] for one in sorted(_TRACE, key=lambda one: one.end)]])
def test_spans_belong_to_the_agent_around_them(requests: list[list[decode.SpanRecord]]) -> None:
    intake = Intake(KIT)
    events = [one.event for spans in requests for one in intake.spans(spans)]
    assert [type(event) for event in events] == [SessionStart, Turn, AgentStart, Turn, ToolUse, AgentEnd, Turn]
    inner = "helper" if len(requests) == 1 else "main"  # Alone, a span that names no agent has none around it.
    assert [event.agent for event in events if isinstance(event, Turn | ToolUse)] == ["main", "helper", inner, "main"]
    assert [event.child for event in events if isinstance(event, AgentStart | AgentEnd)] == ["helper", "helper"]


def test_a_sub_agent_of_which_only_the_invocation_is_logged_begins_and_ends() -> None:
    events = [one.event for one in Intake(KIT).spans([_TRACE[0], _TRACE[2]])]
    assert [(type(event), event.at) for event in events[1:]] == [(AgentStart, AT + 2), (AgentEnd, AT + 7)]


def test_what_logs_tell_spans_do_not_tell_again() -> None:
    intake = Intake(KIT)
    said = {"session.id": "s", "event.name": "claude_code.user_prompt", "prompt_length": 1}
    assert len(intake.logs(decode.logs(packing.logs([(AT, "", said)], False), False))) == 2
    span = {"session.id": "s", "gen_ai.operation.name": "chat"}
    body = packing.traces([("ab" * 16, "11" * 8, "chat", AT, AT + 1, span, False)], False)
    assert intake.spans(decode.traces(body, False)) == []
    assert intake.passed_over == 1


def test_secrets_in_names_are_redacted() -> None:
    secret = "ghp_" + "a1B2" * 9
    told = {"session.id": "s", "event.name": "claude_code.tool_result", "tool_name": secret}
    assert secret not in str(events([(AT, "", told)], False))


@given(st.dictionaries(st.text(min_size=1), values, max_size=4), st.floats(1, 2e9))
def test_both_encodings_say_the_same(told: dict[str, Any], at: float) -> None:
    record: list[packing.Log] = [(at, "body", told)]
    binary = decode.logs(packing.logs(record, True, told), True)
    plain = decode.logs(packing.logs(record, False, told), False)
    assert binary == plain
    assert binary[0].attributes == told and binary[0].resource == told


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for read in (decode.logs, decode.traces):
        for binary in (False, True):
            try:
                read(body, binary)
            except decode.Malformed as fault:
                assert str(fault)


@given(st.data())
def test_a_cut_request_is_read_or_refused(data: st.DataObject) -> None:
    told = {"session.id": "s", "event.name": "claude_code.tool_result", "a": [1, {"b": 2.5}]}
    body = packing.logs([(AT, "x", told)], True)
    place = data.draw(st.integers(0, len(body)))
    byte = data.draw(st.binary(max_size=2))
    try:
        Intake(KIT).logs(decode.logs(body[:place] + byte + body[place + len(byte) :], True))
    except decode.Malformed as fault:
        assert str(fault)


def test_nesting_is_bounded() -> None:
    value: Any = 1
    for _ in range(50):
        value = [value]
    for binary in (False, True):
        with pytest.raises(decode.Malformed, match="nested too deep"):
            decode.logs(packing.logs([(AT, "x", {"a": value})], binary), binary)
