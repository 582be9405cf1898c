"""pi: a tree read in the order of its file."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.pi import PiReader
from core.events import Advice, Compaction, Prompt, SessionStart, Turn
from core.logs.lines import seconds
from tests.core.agents.reading_more import iso, kinds, new_kit, read, uses
from tests.core.agents.samples import feed
from tests.core.agents.samples_more import PI, PI_HEADER, pi_answer, pi_entry, pi_result
from tests.core.logs.log_lines import START, stamp


def test_the_story() -> None:
    events = read(PiReader, PI.records(PI.entries))
    assert kinds(events) == [
        *("SessionStart", "Prompt", "Turn", "ToolUse", "ToolUse", "Compaction", "ToolUse", "Turn", "ToolUse")
    ]
    start = events[0]
    assert isinstance(start, SessionStart)
    assert (start.session, start.tool, start.project, start.version) == ("s1", "pi", "/home/ada/mill", "3")
    assert [(use.tool, use.outcome, use.exit_code) for use in uses(events)[:3]] == [
        ("bash", "failure", 2),
        ("read", "success", None),
        ("bashExecution", "success", 0),
    ]
    compaction = events[5]
    assert isinstance(compaction, Compaction)
    assert compaction.tokens_before == 9


def test_branches_in_place_are_all_read() -> None:
    def branch(number: int, parent: str, name: str) -> list[dict[str, Any]]:
        call = {**pi_entry(number, pi_answer((name, "bash", {"command": "ls"}))), "parentId": parent}
        return [call, pi_entry(number + 1, pi_result(name, "bash", "x"))]

    summary = {
        "type": "branch_summary",
        "id": "b",
        "parentId": "e1",
        "timestamp": iso(4),
        "fromId": "e3",
        "summary": "s",
    }
    events = read(PiReader, [PI_HEADER, *branch(2, "e1", "c1"), summary, *branch(5, "e1", "c2")])
    assert [use.id for use in uses(events)] == ["c1", "c2"]
    assert kinds(events).count("Compaction") == 0


def test_a_sentence_of_ours_is_read_as_advice() -> None:
    entry = {"type": "custom_message", "customType": "nooscope", "display": True, "timestamp": iso(3)}
    told = {**entry, "content": "[nooscope] Seen from outside: make failed the same way 4 times."}
    other = {**entry, "customType": "other", "content": "[nooscope] not ours"}
    events = read(PiReader, [PI_HEADER, told, other, {**entry, "content": "no mark"}])
    [advice] = [event for event in events if isinstance(event, Advice)]
    assert (advice.characters, advice.at) == (len(str(told["content"])), seconds(iso(3)))
    assert kinds(events) == ["SessionStart", "Advice"]


def test_version_one_has_no_ids() -> None:
    header = {"type": "session", "id": "s1", "timestamp": iso(0), "cwd": "/w", "provider": "p", "modelId": "m"}
    plain = [{key: entry[key] for key in ("type", "timestamp", "message")} for entry in PI.entries[1:5]]
    events = read(PiReader, [header, *plain])
    assert isinstance(events[0], SessionStart)
    assert (events[0].model, events[0].version) == ("m", "1")
    assert len(uses(events)) == 2


def test_a_forked_session_names_its_parent() -> None:
    header = {**PI_HEADER, "parentSession": "/x/--w--/2026-03-01_aaaa-bbbb.jsonl"}
    (start,) = read(PiReader, [header])
    assert isinstance(start, SessionStart)
    assert start.parent == "aaaa-bbbb"


@pytest.mark.parametrize(
    ("tool", "arguments", "told", "error", "outcome", "code"),
    [
        ("bash", {"command": "make"}, "x\n\n\nCommand exited with code 2", True, "failure", 2),
        ("bash", {"command": "grep x y"}, "Command exited with code 1", True, "empty", 1),
        ("bash", {"command": "make"}, "Command timed out after 5 seconds", True, "failure", None),
        ("bash", {"command": "make"}, "half\n\n\nCommand aborted", True, "rejected", None),
        ("bash", {"command": "make"}, "fine", False, "success", 0),
        ("read", {"path": "log"}, "Command exited with code 1", False, "success", None),
        ("edit", {"path": "a"}, "no such text", True, "failure", None),
    ],
)
def test_outcomes(tool: str, arguments: Any, told: str, error: bool, outcome: str, code: int | None) -> None:
    events = read(
        PiReader, [pi_entry(1, pi_answer(("c", tool, arguments))), pi_entry(2, pi_result("c", tool, told, error))]
    )
    (use,) = uses(events)
    assert (use.outcome, use.exit_code) == (outcome, code)


def test_tokens_and_the_logs_own_cost() -> None:
    turns = [event for event in read(PiReader, [pi_entry(1, pi_answer())]) if isinstance(event, Turn)]
    (turn,) = turns
    assert (turn.input_tokens, turn.cache_read, turn.cache_write, turn.output_tokens) == (3, 900, 70, 40)
    assert (turn.context_tokens, turn.context_window, turn.cost) == (973, 200_000, 0.01)


def test_an_aborted_answer_is_a_stop_by_the_person() -> None:
    events = read(PiReader, [pi_entry(1, pi_answer(("c", "edit", {"path": "a"}), stop="aborted"))])
    assert kinds(events) == ["Turn", "ToolUse", "Prompt"]
    assert isinstance(events[2], Prompt)
    assert events[2].interrupt


def test_a_result_without_a_call_is_counted() -> None:
    kit = new_kit()
    assert uses(read(PiReader, [pi_entry(1, pi_result("nobody", "bash", "x"))], kit)) == []
    assert kit.diagnostics.counts == {"result without a call": 1}


@pytest.mark.parametrize(("header", "begins"), [(100, 50), (50, 50), (20, 20)])
def test_a_header_later_than_its_entries_does_not_begin_after_them(header: int, begins: int) -> None:
    """A branched session's header is written after the messages that were copied into it."""
    lines = [
        {"type": "session", "version": 3, "id": "s", "timestamp": stamp(header), "cwd": "/x"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "timestamp": stamp(50),
            "message": {"role": "user", "content": "go"},
        },
    ]
    events = feed(PiReader(new_kit()), lines)
    assert [(type(event).__name__, event.at - START) for event in events] == [("SessionStart", begins), ("Prompt", 50)]


def test_a_header_alone_is_a_session() -> None:
    """It begins when the header was written."""
    events = feed(PiReader(new_kit()), [{"type": "session", "id": "s", "timestamp": stamp(5), "cwd": "/x"}])
    assert [event.at - START for event in events] == [5]


@pytest.mark.parametrize(
    ("stop", "outcome"), [("error", "collateral"), ("aborted", "rejected"), ("toolUse", "pending")]
)
def test_calls_of_an_answer_that_broke_off_are_not_open(stop: str, outcome: str) -> None:
    answer = pi_answer(("c1", "edit", {"path": "a"}), ("c2", "edit", {"path": "b"}), stop=stop)
    assert [use.outcome for use in uses(read(PiReader, [PI_HEADER, pi_entry(1, answer)]))] == [outcome, outcome]


@pytest.mark.parametrize("role", [[], {"a": 1}, 5, "oracle"])
def test_a_role_that_is_no_word_we_know_costs_only_its_message(role: Any) -> None:
    kit = new_kit()
    message = pi_entry(1, {"role": role, "content": "Grind it."})
    events = read(PiReader, [PI_HEADER, message, pi_entry(2, {"role": "user", "content": "Grind it finer."})], kit)
    assert kinds(events).count("Prompt") == 1
