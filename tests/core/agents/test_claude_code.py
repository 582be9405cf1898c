"""Claude Code's logs and their oddities."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.claude_code.reader import FORMATS, ClaudeCode
from core.engine.mind.metrics import Metrics
from core.engine.values import fingerprint
from core.events import Advice, AgentEnd, AgentStart, Compaction, Event, Prompt, SessionStart, Turn, Where
from core.logs.format import Sample
from core.settings.mind import MetricsSettings
from tests.core.agents.samples import answers, asks, claude, encoded, feed, new_kit, says, uses
from tests.core.logs.log_lines import call, line, prompt, result

_BASH = {"command": "make"}


def _read(*lines: Any, agent: str = "main") -> list[Event]:
    return feed(ClaudeCode(new_kit(), agent=agent, session="file"), lines)


def _prompts(*lines: Any) -> list[tuple[int, bool]]:
    return [(event.characters, event.interrupt) for event in _read(*lines) if isinstance(event, Prompt)]


def test_a_session_begins_with_what_its_first_line_tells() -> None:
    """Project, branch and version; a sub-agent's own log begins no session."""
    start = _read(says(0, "hello"))[0]
    assert isinstance(start, SessionStart)
    assert (start.session, start.tool, start.project) == ("s1", "claude-code", "/home/me/app")
    assert (start.branch, start.version) == ("main", "2.1.0")
    own = _read(says(0, "do this", isSidechain=True, agentId="a1"), asks(1, "c", "Bash", _BASH), agent="a1")
    assert [type(event).__name__ for event in own] == ["Turn", "ToolUse"]
    assert {event.agent for event in own} == {"a1"}


def test_a_message_over_several_lines_is_one_turn_with_its_last_usage() -> None:
    """Also when results of its first calls come in between."""
    first = asks(1, "a", "Bash", _BASH, message="m")
    second = asks(3, "b", "Bash", _BASH, message="m")
    second["message"]["usage"]["output_tokens"] = 400
    events = _read(first, answers(2, "a", "x"), second, answers(4, "b", "y"), asks(5, "c", "Bash", _BASH))
    turns = [event for event in events if isinstance(event, Turn)]
    assert [(turn.output_tokens, turn.context_tokens) for turn in turns] == [(400, 1010), (5, 1010)]
    assert turns[0].context_window == 200_000
    assert turns[0].cost is not None


def test_a_turn_tells_when_the_model_was_asked() -> None:
    """By the last line before its first one that is no answer; a result sent again asks again."""
    result = answers(3, "a", "x")
    lines = [says(0, "go"), asks(2, "a", "Bash", _BASH), result]
    again = {**result, "timestamp": answers(60, "a", "x")["timestamp"]}
    events = _read(*lines, asks(5, "b", "Bash", _BASH), again, asks(62, "c", "Bash", _BASH))
    turns = [event for event in events if isinstance(event, Turn)]
    assert [round(turn.at - turn.asked) for turn in turns if turn.asked is not None] == [2, 2, 2]
    metrics = Metrics(MetricsSettings(), b"", "main")
    for event in events:
        metrics.update(event)
    assert metrics._deliberate == 6.0


def test_the_words_behind_thoughts_belong_to_an_answer_that_ends_the_turn() -> None:
    """Each line of such an answer may say why the model stopped, the first one too."""
    lines = [asks(second, "a", "Bash", _BASH, message="m") for second in (1, 2)]
    lines[0]["message"] |= {"stop_reason": "end_turn", "content": [{"type": "thinking", "thinking": "Hm."}]}
    lines[1]["message"] |= {"stop_reason": "end_turn", "content": [{"type": "text", "text": "It works."}]}
    reader = ClaudeCode(new_kit())
    thought, said = (reader.feed(encoded(line), Where("log", 0, 9), 1) for line in lines)
    assert not any(isinstance(event, Turn) for event in thought)
    assert [(turn.stop, turn.said is not None) for turn in said if isinstance(turn, Turn)] == [("end_turn", True)]
    assert [event.stop for event in _read(lines[0]) if isinstance(event, Turn)] == ["end_turn"]


def test_what_the_program_says_itself_is_no_turn() -> None:
    """A synthetic answer, such as an error of the service, has no tokens."""
    line = asks(1, "a", "Bash", _BASH)
    line["message"] |= {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}]}
    assert not [event for event in _read(line) if isinstance(event, Turn)]


def _goal(condition: str) -> str:
    """A goal as Claude Code writes it down: a command of its own that the agent works on at once."""
    name = "<command-name>/goal</command-name>\n <command-message>goal</command-message>"
    return f"{name}\n <command-args>{condition}</command-args>"


@pytest.mark.parametrize(
    ("line", "prompts"),
    [
        (says(1, "please"), [(6, False)]),
        (says(1, [{"type": "text", "text": "please"}]), [(6, False)]),
        (says(1, [{"type": "text", "text": "<ide_opened_file>x"}, {"type": "text", "text": "please"}]), [(6, False)]),
        (says(1, [{"type": "image", "source": {"data": "AA"}}]), [(7, False)]),
        (says(1, "[Request interrupted by user]"), [(29, True)]),
        (says(1, "<command-message>fix</command-message>"), [(38, False)]),
        (says(1, "<command-name>/clear</command-name>"), []),
        (says(1, _goal("make the tests pass")), [(125, False)]),
        (says(1, _goal("clear the cache")), [(121, False)]),
        (says(1, _goal("")), []),
        (says(1, _goal(" clear ")), []),
        (says(1, "<local-command-stdout>x</local-command-stdout>"), []),
        (says(1, "<bash-input>ls</bash-input>"), []),
        (says(1, "<task-notification>x</task-notification>"), []),
        (says(1, "please", isMeta=True), []),
        (says(1, "   "), []),
        (claude("attachment", 1, attachment={"type": "queued_command", "prompt": "wait"}), [(4, False)]),
        (
            claude("attachment", 1, attachment={"type": "queued_command", "prompt": [{"type": "text", "text": "hm"}]}),
            [(2, False)],
        ),
        (claude("attachment", 1, attachment={"type": "todo", "prompt": "wait"}), []),
        (claude("progress", 1, data={"type": "hook_progress"}), []),
    ],
)
def test_prompts(line: dict[str, Any], prompts: list[tuple[int, bool]]) -> None:
    """What the person said, and nothing the program put there."""
    assert _prompts(line) == prompts


def test_a_call_that_was_denied_with_the_persons_word_is_refused_and_advice() -> None:
    sentence = "[nooscope] stop, wrong branch"
    events = _read(asks(1, "c", "Bash", _BASH), answers(2, "c", sentence, error=True))
    (use,) = uses(events)
    (advice,) = (event for event in events if isinstance(event, Advice))
    assert (use.outcome, advice.characters, advice.call) == ("rejected", len(sentence), fingerprint(sentence))


def test_compactions() -> None:
    """A boundary and its summary are one; an older log has only the summary."""
    boundary = claude("system", 1, subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 167000})
    summary = says(2, "This session is continued", isCompactSummary=True)
    events = _read(boundary, summary, says(3, "another", isCompactSummary=True))
    found = [event for event in events if isinstance(event, Compaction)]
    assert [(event.trigger, event.tokens_before) for event in found] == [("auto", 167000), ("", 0)]
    assert not [event for event in events if isinstance(event, Prompt)]


def _function_answer(**response: str) -> dict[str, Any]:
    """A result in the form of Gemini CLI, which a fork writes into Claude Code's lines."""
    return {"callId": "c", "responseParts": {"functionResponse": {"id": "c", "response": response}}}


@pytest.mark.parametrize(
    ("tool", "arguments", "answer", "outcome", "code"),
    [
        ("Bash", _BASH, {"content": "ok"}, "success", None),
        ("Bash", _BASH, {"content": ""}, "empty", None),
        ("Bash", _BASH, {"content": "Exit code 2\nboom", "error": True}, "failure", 2),
        (
            "Bash",
            _BASH,
            {"content": "The user doesn't want to proceed with this tool use.", "error": True},
            "rejected",
            None,
        ),
        (
            "Bash",
            _BASH,
            {"content": "<tool_use_error>Sibling tool call errored</tool_use_error>", "error": True},
            "collateral",
            None,
        ),
        ("Bash", _BASH, {"content": "PreToolUse:Bash hook error: no", "error": True}, "rejected", None),
        (
            "Grep",
            {"pattern": "x"},
            {"content": "Found", "toolUseResult": {"mode": "files_with_matches", "numFiles": 0}},
            "empty",
            None,
        ),
        (
            "Grep",
            {"pattern": "x"},
            {"content": "a:1", "toolUseResult": {"mode": "content", "numFiles": 0}},
            "success",
            None,
        ),
        (
            "Grep",
            {"pattern": "x"},
            {"content": "20\n\nFound 0", "toolUseResult": {"mode": "count", "numFiles": 0, "numMatches": 0}},
            "empty",
            None,
        ),
        ("Glob", {"pattern": "x"}, {"content": "No files found"}, "empty", None),
        (
            "TaskOutput",
            {"task_id": "b1"},
            {"content": "x", "toolUseResult": {"task": {"status": "running"}}},
            "pending",
            None,
        ),
        (
            "TaskOutput",
            {"task_id": "b1"},
            {"content": "x", "toolUseResult": {"task": {"status": "completed", "exitCode": 3}}},
            "failure",
            3,
        ),
        (
            "Read",
            {"file_path": "a.png"},
            {"content": [{"type": "image", "source": {"data": "A" * 50}}]},
            "success",
            None,
        ),
        ("Read", {"file_path": "a.py"}, {"content": [{"type": "text", "text": "x"}]}, "success", None),
        ("read_file", {"path": "a.py"}, {"content": _function_answer(output="x")}, "success", None),
        ("read_file", {"path": "a.py"}, {"content": _function_answer(output="")}, "empty", None),
        ("Bash", _BASH, {"content": _function_answer(output="Output: boom\nExit Code: 2")}, "failure", 2),
        (
            "Bash",
            _BASH,
            {"content": _function_answer(error="no"), "toolUseResult": {"status": "error"}},
            "failure",
            None,
        ),
        (
            "Bash",
            _BASH,
            {"content": _function_answer(output="x"), "toolUseResult": {"status": "cancelled"}},
            "rejected",
            None,
        ),
    ],
)
def test_results(tool: str, arguments: Any, answer: dict[str, Any], outcome: str, code: int | None) -> None:
    """How a call ended, by flag, text or what the tool told beside it."""
    (use,) = uses(_read(asks(1, "c", tool, arguments), answers(2, "c", **answer)))
    assert (use.outcome, use.exit_code) == (outcome, code)


def test_lines_told_twice_count_once() -> None:
    """A resumed log repeats lines."""
    log = [says(0, "go"), asks(1, "c", "Bash", _BASH), answers(2, "c", "x")]
    once = _read(*log)
    assert [type(event) for event in _read(*log, *log)] == [type(event) for event in once]
    later = _read(*log, *log, asks(9, "d", "Bash", _BASH))
    assert [use.id for use in uses(later)] == ["c", "d"]


def test_time_running_backwards_keeps_the_files_order() -> None:
    """Position is the truth."""
    events = _read(says(30, "late"), asks(5, "c", "Bash", _BASH), answers(4, "c", "x"))
    (use,) = uses(events)
    assert (events[0].at - use.at, use.duration) == (26.0, None)


def test_wrong_types_cost_their_field_only() -> None:
    """The rest of the line is read, and the fault is counted."""
    kit = new_kit()
    line = asks(1, "c", "Bash", _BASH, cwd=7, gitBranch=["x"], version=None)
    line["message"]["usage"] = {"input_tokens": "many", "output_tokens": 3}
    line["message"]["content"].insert(0, "stray")
    events = feed(ClaudeCode(kit), [line, answers(2, "c", "ok"), b"half a li", b"[1]", b"\xff\xfe{", {"type": 3}])
    assert [use.id for use in uses(events)] == ["c"]
    assert [event.output_tokens for event in events if isinstance(event, Turn)] == [3]
    assert kit.diagnostics.counts == {"field of the wrong type": 2, "not JSON": 2, "not an object": 1}


def test_a_passed_over_kind_inside_a_line_does_not_hide_the_line() -> None:
    """Only a line's own kind lets it be skipped unread."""
    arguments = {"data": {"type": "progress"}, "type": "progress", "command": "make"}
    odd = {"note": {"type": "progress", "data": {"type": "hook_progress"}}, **asks(1, "c", "Bash", arguments)}
    assert [use.id for use in uses(_read(odd, answers(2, "c", "ok")))] == ["c"]
    assert _read(claude("progress", 1, data={"type": "hook_progress"})) == []


@pytest.mark.parametrize(
    ("head", "sure"),
    [
        (says(0, "x"), 100),
        ({"type": "summary", "summary": "x", "leafUuid": "u"}, 60),
        ({"type": "message", "message": {}}, 0),
        ({"type": "user", "message": {}}, 0),
    ],
)
def test_recognised_by_content(head: dict[str, Any], sure: int) -> None:
    """Whatever the file is called."""
    assert FORMATS[0].sniff(Sample(b"// note\n" + json.dumps(head).encode(), Path("x.txt"))) == sure


def _orders() -> list[bytes]:
    """A session with two answered calls, an old sub-agent told inline, and a compaction."""
    side = {"isSidechain": True}
    return [
        prompt(1, parentUuid=None),
        call(2, "a", parentUuid="u1"),
        result(3, "a", "no", error=True, parentUuid="u2"),
        call(4, "t", "Task", {"prompt": "look", "subagent_type": "Explore"}, parentUuid="u3"),
        prompt(5, "look", parentUuid=None, **side),
        call(6, "b", "Grep", {"pattern": "x"}, parentUuid="u5", **side),
        result(7, "b", "found", parentUuid="u6", **side),
        result(8, "t", "seen", parentUuid="u4"),
        line(9, type="system", subtype="compact_boundary", parentUuid=None, compactMetadata={"preTokens": 9}),
        line(10, type="user", isCompactSummary=True, message={"role": "user", "content": "so far"}, parentUuid="u9"),
        prompt(11, "more", parentUuid="u10"),
        call(12, "c", parentUuid="u11"),
        result(13, "c", parentUuid="u12"),
    ]


def _counts(lines: list[bytes]) -> tuple[object, ...]:
    kit = new_kit()
    events = feed(ClaudeCode(kit, session="file"), lines)
    done = sorted((use.id, use.agent, use.outcome) for use in uses(events))
    kinds = Counter(type(event).__name__ for event in events)
    children = sorted(event.child for event in events if isinstance(event, AgentStart | AgentEnd))
    return done, kinds, children, kit.diagnostics.total


@given(st.data())
def test_the_order_of_lines_loses_nothing(data: st.DataObject) -> None:
    """A result before its call, a child before its parent: the same counts, and nothing left open."""
    lines = _orders()
    wanted = _counts(lines)
    for _ in range(data.draw(st.integers(1, 3))):
        moved = lines.pop(data.draw(st.integers(1, len(lines) - 1)))
        lines.insert(data.draw(st.integers(1, len(lines))), moved)
    assert _counts(lines) == wanted


@pytest.mark.parametrize(("between", "joined"), [(20, True), (62, True), (63, True), (64, False), (80, False)])
def test_a_result_waits_for_its_call_for_a_stretch(between: int, joined: bool) -> None:
    """Then the log is at fault, and the call stays open."""
    kit = new_kit()
    lines = [prompt(0), result(1, "a"), *(prompt(2 + n) for n in range(between)), call(500, "a")]
    (use,) = uses(feed(ClaudeCode(kit, session="file"), lines))
    assert use.outcome == ("success" if joined else "pending")
    assert kit.diagnostics.total == (0 if joined else 1)


@pytest.mark.parametrize(
    ("kept", "dollars"),
    [
        (None, 6.25),
        ({"ephemeral_1h_input_tokens": 0}, 6.25),
        ({"ephemeral_5m_input_tokens": 600_000, "ephemeral_1h_input_tokens": 400_000}, 0.6 * 6.25 + 0.4 * 10),
        ({"ephemeral_1h_input_tokens": 1_000_000}, 10.0),
        ({"ephemeral_1h_input_tokens": None}, 6.25),
    ],
)
def test_what_is_cached_for_an_hour_costs_more(kept: dict[str, Any] | None, dollars: float) -> None:
    """Twice what is sent; for five minutes a quarter more."""
    usage = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 1_000_000}
    message = {"id": "m", "model": "claude-opus-4-8", "content": [], "usage": {**usage, "cache_creation": kept}}
    events = feed(ClaudeCode(new_kit(), session="file"), [line(1, type="assistant", message=message)])
    (turn,) = (event for event in events if isinstance(event, Turn))
    assert turn.cost == pytest.approx(dollars) and turn.cache_write == 1_000_000


@pytest.mark.parametrize(
    ("part", "after", "stop"),
    [
        ({"type": "text", "text": "It works."}, None, ""),
        ({"type": "text", "text": "It works."}, "turn_duration", "end_turn"),
        ({"type": "text", "text": "It works."}, "stop_hook_summary", "end_turn"),
        ({"type": "thinking", "thinking": "Hm."}, None, "wordless"),
    ],
)
def test_whether_an_answer_that_tells_no_reason_ended_the_turn(
    part: dict[str, str], after: str | None, stop: str
) -> None:
    """Thoughts alone are no answer; a line that sums the turn up tells that it is over."""
    answer = asks(1, "a", "Bash", _BASH, message="m")
    answer["message"] |= {"stop_reason": None, "content": [part]}
    events = _read(answer, *([claude("system", 2, subtype=after)] if after else []))
    assert [event.stop for event in events if isinstance(event, Turn)] == [stop]


def test_a_request_that_is_tried_again_is_no_answer() -> None:
    """However often it is, it is told once; what comes after it goes on as ever."""
    said = asks(1, "a", "Bash", _BASH, message="m")
    said["message"] |= {"stop_reason": None, "content": [{"type": "text", "text": "I wait for it."}]}
    lines = [said, *(claude("system", second, subtype="api_error") for second in (5, 6, 8))]
    turns = [event for event in _read(*lines) if isinstance(event, Turn)]
    assert [(turn.stop, turn.only_ends) for turn in turns] == [("", False), ("retry", True)]
    later = [*lines, asks(9, "b", "Bash", _BASH), claude("system", 12, subtype="api_error")]
    turns = [event for event in _read(*later) if isinstance(event, Turn)]
    assert [turn.stop for turn in turns] == ["", "retry", "wordless", "retry"]


@pytest.mark.parametrize(
    ("fields", "prompts"),
    [
        ({"promptSource": "typed"}, 1),
        ({"promptSource": "queued"}, 1),
        ({"promptSource": "sdk", "origin": {"kind": "human"}}, 1),
        ({"promptSource": "system"}, 0),
        ({"origin": {"kind": "task-notification"}}, 0),
        ({}, 1),
    ],
)
def test_a_prompt_of_a_program_is_not_the_persons(fields: dict[str, Any], prompts: int) -> None:
    assert len(_prompts(says(0, "do this", **fields))) == prompts


@pytest.mark.parametrize(("mode", "prompts"), [("prompt", 1), ("task-notification", 0), (None, 1)])
def test_only_a_queued_prompt_is_a_prompt(mode: str | None, prompts: int) -> None:
    queued = {"type": "queued_command", "prompt": "and this", **({"commandMode": mode} if mode else {})}
    assert len(_prompts(claude("attachment", 1, attachment=queued))) == prompts


@pytest.mark.parametrize("kind", ["user-rejected", "permission-rule"])
def test_a_denied_call_is_rejected(kind: str) -> None:
    (use,) = uses(_read(asks(0, "c", "Bash", _BASH), answers(1, "c", "no", error=True, toolDenialKind=kind)))
    assert use.outcome == "rejected"


def test_web_searches_are_part_of_the_cost() -> None:
    usage = {"input_tokens": 100, "output_tokens": 10, "server_tool_use": {"web_search_requests": 3}}
    message = {"id": "m", "role": "assistant", "model": "claude-opus-4-8", "content": [], "usage": usage}
    (turn,) = [one for one in _read(claude("assistant", 0, message=message)) if isinstance(one, Turn)]
    plain = new_kit().models.cost("claude-opus-4-8", 100, 10)
    assert plain is not None and turn.cost == pytest.approx(plain + 0.03)
    unknown = new_kit().models.turn(0.0, model="gemini-2.5-pro", input_tokens=100, searches=1)
    assert unknown.cost is None


def test_new_kinds_of_lines_are_counted_and_known_ones_are_not() -> None:
    reader = ClaudeCode(new_kit(), session="file")
    feed(
        reader,
        [
            says(0, "hello"),
            *({"type": kind, "sessionId": "s1"} for kind in ("mode", "pr-link", "permission-mode", "telepathy")),
            *({"type": kind, "sessionId": "s1"} for kind in ("api-request", "api-request-blob", "cost-state")),
            claude("system", 1, subtype="turn_duration"),
            claude("system", 2, subtype="levitation"),
            claude("attachment", 3, attachment={"type": "hook_success"}),
            claude("attachment", 4, attachment={"type": "skills_delta"}),
            claude("attachment", 4, attachment={"type": "prompt_snapshot", "systemPrompt": []}),
            claude("attachment", 5, attachment={"type": "crystal_ball"}),
        ],
    )
    assert list(reader.kit.diagnostics.skipped) == [
        ("claude-code", "2.1.0", kind) for kind in ("telepathy", "system/levitation", "attachment/crystal_ball")
    ]
