"""Entries and passages of the transcript: their words, their width and what a filter lets through."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from core.agents.words import NOTHING, Words
from core.events import (
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    Rollback,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.logs.records import Passage
from core.report.event_words import ALL, TranscriptFilter, about, entries, holds, kind_of, outcome_of, touches
from tests.tui.panel_app import view_at
from tests.tui.screen_app import recording_of
from tui.draw.line import wrapped
from tui.widgets.transcript.entry import Entry, call_duration, entry_lines, passage_lines

START = 1_760_000_000.0
EVENTS: list[Event] = [
    SessionStart(at=START, session="s", tool="claude-code", project="/home/dev/api"),
    Prompt(at=START + 1, characters=42),
    Turn(at=START + 2, model="large", output_tokens=900, context_tokens=148_000),
    ToolUse(at=START + 3, action="file_read", tool="Read", targets=("src/a.py",), duration=0.04),
    ToolUse(
        at=START + 4,
        action="shell_exec",
        tool="Bash",
        program="pytest",
        purpose="test",
        outcome="failure",
        exit_code=1,
        targets=("src/sub/b.py", "src/c.py"),
        duration=12.0,
    ),
    Compaction(at=START + 5, trigger="auto", tokens_before=166_000, tokens_after=22_000),
    AgentStart(at=START + 6, child="explorer", role="Explore"),
    ToolUse(at=START + 7, agent="explorer", action="search", tool="Grep", outcome="empty"),
    AgentEnd(at=START + 8, child="explorer", tool_uses=1),
    Prompt(at=START + 9, characters=3, interrupt=True),
    SessionEnd(at=START + 10),
]


@pytest.mark.parametrize(
    ("place", "kind", "outcome", "words", "path"),
    [
        (0, "session start", "", "", "/home/dev/api"),
        (1, "prompt", "", "42 characters", ""),
        (2, "turn", "", "148.0k in, 900 out", ""),
        (3, "file read", "success", "", "src/a.py"),
        (4, "shell exec", "failure", "pytest (test) exit 1 +1", "src/sub/b.py"),
        (5, "compaction", "", "auto 166.0k → 22.0k", ""),
        (6, "agent start", "", "explorer Explore", ""),
        (7, "search", "empty", "", ""),
        (8, "agent end", "success", "explorer reports, 1 tool use", ""),
        (9, "prompt", "", "stopped the agent", ""),
        (10, "session end", "", "", ""),
    ],
)
def test_an_event_in_words(place: int, kind: str, outcome: str, words: str, path: str) -> None:
    event = EVENTS[place]
    assert (kind_of(event), outcome_of(event), about(event)) == (kind, outcome, (words, path))


def test_a_total_tells_what_was_sent_though_no_context() -> None:
    assert about(Turn(at=START, input_tokens=900, output_tokens=40, stop="total"))[0] == "900 in, 40 out"


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (ALL, [0, 1, 3, 4, 5, 6, 7, 8, 9, 10]),
        (TranscriptFilter(failed=True), [4]),
        (TranscriptFilter(prompts=True), [1, 9]),
        (TranscriptFilter(agent="explorer"), [7]),
        (TranscriptFilter(tool="Bash"), [4]),
        (TranscriptFilter(path="src"), [3, 4]),
        (TranscriptFilter(path="src/sub"), [4]),
        (TranscriptFilter(path="sr"), []),
        (TranscriptFilter(path="src", tool="Read"), [3]),
    ],
)
def test_what_a_filter_lets_through(wanted: TranscriptFilter, places: list[int]) -> None:
    assert entries(EVENTS, 0, len(EVENTS), wanted) == places
    assert entries(EVENTS, 4, len(EVENTS), wanted) == [place for place in places if place >= 4]


def test_a_search_looks_at_words_and_names() -> None:
    words = Words(command="npm test", output="Expected 200, got 404")
    assert holds(EVENTS[4], words, "GOT 404") and holds(EVENTS[4], words, "npm")
    assert holds(EVENTS[4], NOTHING, "c.py") and holds(EVENTS[4], NOTHING, "PYTEST")
    assert not holds(EVENTS[4], words, "got 405")


def test_touching_needs_whole_names() -> None:
    assert touches(EVENTS[4], "src/sub/") and not touches(EVENTS[4], "src/su") and not touches(EVENTS[1], "src")


@pytest.mark.parametrize(
    ("took", "said"), [(0.0, "0ms"), (0.25, "250ms"), (3.21, "3.2s"), (99.97, "2m"), (720, "12m"), (9000, "2h")]
)
def test_a_duration(took: float, said: str) -> None:
    assert call_duration(took) == said


def laid(event: Event, words: Words | None, width: int = 60, *, whole: bool = False) -> list[str]:
    view = replace(view_at(recording_of(EVENTS), 5), start=START)
    lines = entry_lines(Entry(event, words, (), whole), view, width)
    assert all(cell_len("".join(text for text, _ in line)) <= width for line in lines)
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def test_a_call_shows_command_end_of_output_exit_code_and_duration() -> None:
    output = "\n".join(f"line {number}" for number in range(30))
    lines = laid(EVENTS[4], Words(command="pytest -q\necho done", output=output))
    assert lines[0] == "00:00:04  Bash  ✗ failed, exit 1  12.0s"
    assert lines[1:3] == ["  $ pytest -q", "    echo done"]
    assert lines[3] == "  │ … 22 lines before; o shows all" and lines[-2] == "  │ line 29" and lines[-1] == ""
    whole = laid(EVENTS[4], Words(command="x", output=output), whole=True)
    assert "  │ line 0" in whole and not any("o shows all" in line for line in whole)


def test_a_change_has_signs_and_keeps_what_stayed() -> None:
    edit = ToolUse(at=START, action="file_edit", tool="Edit", targets=("a.py",))
    lines = laid(edit, Words(before="one\ntwo\nthree", after="one\n2\nthree", output="fine"))
    assert lines[1:] == ["    a.py", "    one", "  - two", "  + 2", "    three", ""]
    failed = laid(replace(edit, outcome="failure"), Words(after="x", output="no match"))
    assert "  │ no match" in failed


@pytest.mark.parametrize("width", [20, 40, 79, 120])
def test_entries_fit_the_width_whatever_they_hold(width: int) -> None:
    hostile = "[red]x[/] \x1b[2J\u202e 这个问题又出现了 " * 9 + "\t" + "y" * 300
    for event in EVENTS:
        for words in (None, Words(hostile, hostile, hostile, hostile + "z", hostile), Words(fault=hostile)):
            text = "\n".join(laid(event, words, width))
            assert "\x1b" not in text and "\u202e" not in text


def test_what_an_answer_sets_off_is_strong() -> None:
    turn = next(event for event in EVENTS if isinstance(event, Turn))
    lines = entry_lines(Entry(turn, Words(said="**Done:** see src/**/x")), view_at(recording_of(EVENTS), 5), 80)
    pieces = [piece for line in lines for piece in line]
    assert ("Done:", "strong") in pieces and (" see src/**/x", "plain") in pieces


def test_hidden_words_leave_shapes() -> None:
    view = replace(view_at(recording_of(EVENTS), 5), words=False)
    lines = entry_lines(Entry(EVENTS[1], Words(said="secret plan")), view, 80)
    text = "\n".join("".join(piece for piece, _ in line) for line in lines)
    assert "secret" not in text and "42 characters" in text


@pytest.mark.parametrize(
    ("passage", "first"),
    [
        (Passage(fault="gone"), "the line cannot be shown: gone"),
        (Passage(text="not json\nat all"), ""),
        (Passage(text='{"a":1,"b":{"c":"x"}}'), "b:"),
        (Passage(text='[{"a":1,"b":2}]'), "-"),
        (Passage(text='{"a":[]}'), "a: []"),
    ],
)
def test_passage_laid_out(passage: Passage, first: str) -> None:
    lines = ["".join(text for text, _ in line) for line in passage_lines(passage, 40)]
    assert lines[0].strip() == first
    assert all(len(line) <= 40 for line in lines)


def test_deep_and_long_passages_end() -> None:
    deep = Passage(text="[" * 400 + "]" * 400)
    assert len(passage_lines(deep, 40)) < 100
    long = Passage(text="\n".join(["x"] * 9000), cut=True)
    assert len(passage_lines(long, 40)) <= 5001


def test_wrapping_keeps_indent_and_words() -> None:
    assert wrapped("    one two three", 10) == ["    one", "two three"]
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("", 4) == [""]


@pytest.mark.parametrize("rolled_back", [False, True])
def test_a_prompt_that_was_taken_back_says_so(rolled_back: bool) -> None:
    recording = recording_of(EVENTS)
    view = view_at(recording, len(EVENTS))
    head = entry_lines(Entry(EVENTS[1], NOTHING, rolled_back=rolled_back), view, 100)[0]
    assert (("  rolled back", "alert") in head) is rolled_back
    back = Rollback(at=START + 11, turns=2)
    assert about(back) == ("you rolled back 2 prompts", "") and kind_of(back) == "rollback"
