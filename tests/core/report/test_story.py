"""A stretch in words: asked, done, failed and how it was solved, ended."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.words import Words
from core.events import Action, Event, Outcome, Prompt, SessionEnd, ToolUse, Turn
from core.report.story import SessionStory, story, troubles


def use(
    at: float, action: Action = "shell_exec", outcome: Outcome = "success", tool: str = "Bash", **more: Any
) -> ToolUse:
    return ToolUse(at=at, agent="main", action=action, tool=tool, outcome=outcome, **more)


def prompt(at: float, **more: Any) -> Prompt:
    return Prompt(at=at, agent="main", characters=12, **more)


def turn(at: float) -> Turn:
    return Turn(at=at, agent="main", stop="end_turn")


def read(event: Event) -> Words:
    """Words made by hand instead of read from a log."""
    if isinstance(event, Prompt):
        return Words(said="migrate the billing \x1b[31mservice\nplease")
    if isinstance(event, Turn):
        return Words(said="First line.\nTwo tests still fail.")
    return Words(command="npm test", output="FAIL billing.spec.ts: expected 200, got 404\n")


def test_every_question_is_answered() -> None:
    events: list[Event] = [
        prompt(0),
        use(10, outcome="failure", purpose="test", program="npm", shape=1),
        use(20, outcome="failure", purpose="test", program="npm", shape=1),
        use(30, "file_edit", targets=("src/mock.ts",)),
        use(40, purpose="test", program="npm", shape=1),
        turn(50),
    ]
    told = story(events, read=read)
    assert told.asked[0].startswith("0:00 “migrate the billing") and "\x1b" not in told.asked[0]
    assert told.done[0] == "4 calls: 1 edit, 3 commands"
    assert told.done[1] == "edited src/mock.ts"
    assert told.done[2] == "tests passed once, tests failed 2 times"
    assert told.failed[0] == "0:10 Bash npm test, 2 times: FAIL billing.spec.ts: expected 200, got 404"
    assert told.failed[1] == "  worked at 0:40 after edits of src/mock.ts"
    assert told.ended == ("0:50 with part of the work done", "it said “Two tests still fail.”")
    assert [line[:8].strip() for line in told.lines() if line[:8].strip()] == ["asked", "done", "failed", "ended"]


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (prompt(9), "with your prompt, not answered yet"),
        (use(9, outcome="failure"), "Bash npm test, which failed"),
        (use(9, outcome="pending"), "without a result yet"),
        (use(9), "which succeeded"),
        (use(9, outcome="rejected"), "which was rejected"),
        (use(9, outcome="collateral"), "which was cancelled with another"),
        (SessionEnd(at=9, agent="main"), "the session is over"),
        (Prompt(at=9, characters=9, interrupt=True), "when you stopped it"),
        (Turn(at=9, stop="error"), "with an error or a refusal that ended its turn"),
        (Turn(at=9, stop="refusal"), "with an error or a refusal that ended its turn"),
        (Turn(at=9, stop="end_turn"), "with an answer"),
        (Turn(at=9), "this log does not mark the end of a turn"),
        (Turn(at=9, stop="max_tokens"), "with an answer that was cut off"),
        (Turn(at=9, stop="tool_use"), "in the middle of its work"),
        (use(9, "other", tool="AskUserQuestion", outcome="pending"), "with a question to you, not answered"),
        (use(9, "other", tool="AskUserQuestion"), "which succeeded"),
    ],
)
def test_how_it_ended(last: Event, words: str) -> None:
    assert words in story([prompt(0), last], read=read).ended[0]


def test_a_question_waits_whatever_was_called_with_it() -> None:
    question = use(9, "other", tool="AskUserQuestion", outcome="pending")
    answered: list[Event] = [prompt(0), use(11), Turn(at=9), question]
    open_too: list[Event] = [prompt(0), Turn(at=9), question, use(9, outcome="pending")]
    for events in (answered, open_too):
        assert story(events, read=read).ended[0].startswith("0:09 with a question to you")


def test_a_turn_told_after_its_calls_were_answered_is_no_answer() -> None:
    """Claude Code tells of a turn once another begins; a log that stops in between ends with an old one."""
    cut: list[Event] = [prompt(0), use(20), Turn(at=10)]
    assert story(cut, read=read).ended[0] == "0:20 with Bash npm test, which succeeded, in the middle of its work"
    answered: list[Event] = [*cut, Turn(at=30)]
    assert story(answered, read=read).ended[0].startswith("0:30 with part of the work done")


def test_a_call_given_up_long_ago_is_not_the_end() -> None:
    events: list[Event] = [prompt(0), use(10), Turn(at=90, stop="end_turn"), use(40, outcome="pending")]
    assert story(events, read=read).ended[0] == "1:30 with part of the work done"


def test_another_command_that_works_is_named() -> None:
    """Checks by the same program count as tries of one thing, though they may be different commands."""
    events = [
        use(1, outcome="failure", purpose="build", program="make", call=1),
        use(2, purpose="build", program="make", call=2),
    ]
    assert story(events, read=read).failed[1] == "  Bash npm test worked at 0:01 with no edit in between"


def test_a_push_that_works_with_other_words_solves_the_push_that_failed() -> None:
    commands = {1: "git push", 2: "git push --set-upstream origin a", 3: "git pull"}
    failed, other, pull = (
        use(at, outcome="failure" if at == 1 else "success", program="git", shape=at) for at in commands
    )

    def read_command(event: Event) -> Words:
        return Words(command=commands[int(event.at)])

    assert [trouble.solved for trouble in troubles([failed, other], read_command)] == [1]
    assert [trouble.solved for trouble in troubles([failed, pull], read_command)] == [None]


def test_what_works_without_a_word_has_worked() -> None:
    events = [
        use(1, outcome="failure", purpose="build", program="tsc"),
        use(2, "file_edit", targets=("src/a.ts",)),
        use(3, outcome="empty", purpose="build", program="tsc"),
        use(4, "search", outcome="failure", shape=5),
        use(5, "search", outcome="empty", shape=5),
    ]
    failed = story(events, read=read).failed
    assert "  worked at 0:02 after edits of src/a.ts" in failed
    assert "  never succeeded afterwards" in failed


@pytest.mark.parametrize(("prompts", "more"), [(6, False), (7, True)])
def test_many_prompts_are_cut_in_the_middle(prompts: int, more: bool) -> None:
    asked = story([prompt(float(at)) for at in range(prompts)], read=read).asked
    assert any("more" in line for line in asked) is more
    assert asked[0].startswith("0:00") and asked[-1].startswith(f"0:0{prompts - 1}")


def test_what_never_worked_again_comes_first_and_nothing_is_told_of_nothing() -> None:
    events = [use(1, outcome="failure", shape=1), use(2, shape=1), use(3, outcome="failure", shape=2)]
    failed = story(events, read=read).failed
    assert failed[0].startswith("0:02") and failed[1] == "  never succeeded afterwards"
    assert failed[3] == "  worked at 0:01 with no edit in between"
    assert story([]) == SessionStory()
    assert story([turn(1)], read=read).failed == ("no call failed",)


def test_what_has_no_outcome_is_no_pass_and_no_all_clear() -> None:
    told = story([prompt(0), use(10, outcome="pending", purpose="test", program="npm"), turn(20)], read=read)
    assert told.done[1] == "tests ran without a result once"
    assert told.failed == ("no failure in the log; 1 call without a result",)
    assert story([prompt(0), use(10), turn(20)], read=read).failed == ("no call failed",)


@pytest.mark.parametrize(
    ("outcome", "words"), [("rejected", "test was refused once"), ("collateral", "test did not run once")]
)
def test_a_check_that_did_not_run_did_not_pass(outcome: Outcome, words: str) -> None:
    assert story([prompt(0), use(10, outcome=outcome, purpose="test")], read=read).done[1] == words


def test_a_short_story_leaves_out_failures_first_and_says_so() -> None:
    told = SessionStory(("a" * 40,), ("b" * 40,), ("c" * 40, "  never succeeded afterwards", "d" * 100), ("e" * 40,))
    whole = told.lines()
    assert told.within(200) == whole
    short = told.within(74)
    assert short[2:4] == whole[2:4] and short[-1] == whole[-1]
    assert short[4].strip() == "… more failures are left out; --tokens 148 shows more …"
    shorter = told.within(60)
    assert shorter[2:] == ["failed  … failures are left out; --tokens 120 shows more …", whole[-1]]
    assert told.within(12) == [whole[0], "… 3 lines are left out; --tokens 24 shows more …"]
