"""Asked, doing, failed, said: true at every place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.agents.registry import make_kit
from core.agents.words import NOTHING, Words, telling_line, words_of
from core.events import Event, Outcome, Prompt, Rollback, ToolUse, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.report.now import LATELY, Landmarks, Teller, now_lines
from tests.core.logs import log_lines as logs


def use(at: float, outcome: str = "success", shape: int = 1, agent: str = "main") -> ToolUse:
    return ToolUse(at=at, outcome=outcome, shape=shape, tool="Bash", agent=agent)  # type: ignore[arg-type]


def told(event: Event) -> Words:
    """Words that name the event's time."""
    if isinstance(event, ToolUse):
        return Words(command=f"run {event.at:g}", output=f"fine\nError: broke at {event.at:g}\ndone")
    return Words(said=f"said {event.at:g}\nmore {event.at:g}")


EVENTS: list[Event] = [
    Prompt(at=1, characters=4),
    Turn(at=2),
    use(3, "failure"),
    use(4, "failure", shape=2),
    use(5, "failure"),
    use(6),
    Prompt(at=7, characters=4),
    use(8, "failure"),
    Prompt(at=9, characters=0, interrupt=True),
    Turn(at=10),
]


def test_an_answer_that_the_log_has_not_closed_is_told() -> None:
    marks = Landmarks(EVENTS)
    held = [Turn(at=11), Turn(at=12, agent="sub")]
    assert Teller(told).now(marks, len(EVENTS), held).said == "more 11"
    silent = Teller(lambda event: Words() if event.at == 11 else told(event))
    assert silent.now(marks, len(EVENTS), held).said == "more 10"


def test_a_call_that_fails_more_often_than_calls_are_looked_back_counts_each_time() -> None:
    events: list[Event] = [
        use(0, "failure"),
        Prompt(at=1, characters=4),
        *(use(at, "failure") for at in range(2, 2 + LATELY + 9)),
    ]
    now = Teller(told).now(Landmarks(events), len(events))
    assert (now.times, now.failures, now.calls) == (LATELY + 9, LATELY, LATELY)


@pytest.mark.parametrize(
    ("index", "asked", "doing", "failed", "times", "said", "failures"),
    [
        (0, "", "", "", 0, "", (0, 0)),
        (1, "said 1", "", "", 0, "", (0, 0)),
        (3, "said 1", "run 3", "run 3", 1, "more 2", (1, 1)),
        (5, "said 1", "run 5", "run 5", 2, "more 2", (3, 3)),
        (6, "said 1", "run 6", "run 4", 1, "more 2", (3, 4)),
        (7, "said 7", "run 6", "", 0, "more 2", (3, 4)),
        (8, "said 7", "run 8", "run 8", 1, "more 2", (4, 5)),
        (10, "said 7", "run 8", "run 8", 1, "more 10", (4, 5)),
    ],
)
def test_the_words_are_those_of_the_place(
    index: int, asked: str, doing: str, failed: str, times: int, said: str, failures: tuple[int, int]
) -> None:
    now = Teller(told).now(Landmarks(EVENTS), index)
    assert (now.asked, now.doing, now.failed, now.times, now.said) == (asked, doing, failed, times, said)
    assert (now.failures, now.calls) == failures
    assert now.error == (f"Error: broke at {now.failed_at:g}" if failed else "")


def test_a_call_without_a_result_is_what_is_being_done() -> None:
    now = Teller(told).now(Landmarks(EVENTS), 10, [use(11, "pending")])
    assert (now.doing, now.running, now.doing_at) == ("run 11", True, 11)


@pytest.mark.parametrize("outcome", ["success", "rejected"])
def test_a_call_that_was_not_let_through_is_told(outcome: Outcome) -> None:
    call = ToolUse(at=2.0, tool="publish", action="other", outcome=outcome)
    now = Teller(lambda _: NOTHING).now(Landmarks([call]), 1)
    assert now.rejected is (outcome == "rejected")
    assert now_lines(now, 3.0) == ["last    publish" + (", rejected" if now.rejected else "")]


def test_a_command_is_shown_even_if_it_only_reads_a_file() -> None:
    call = ToolUse(at=3.0, tool="Bash", action="file_read", program="cat", targets=("README.md",))
    command = "cat README.md || true"
    assert Teller(lambda _: Words(command=command)).now(Landmarks([call]), 1).doing == command
    assert Teller(lambda _: Words()).now(Landmarks([call]), 1).doing == "README.md"


def test_a_failed_push_is_solved_by_another_push() -> None:
    failed = ToolUse(at=1, tool="Bash", action="shell_exec", program="git", shape=1, outcome="failure")
    calls = [failed, replace(failed, at=2, shape=2, outcome="success")]
    marks = Landmarks(calls)
    assert marks.failure(2, lambda _: Words(command="git push -u origin a")) == (None, 0)
    assert marks.failure(2) == (calls[0], 1)


def test_only_the_last_calls_count() -> None:
    events: list[Event] = [use(n, "failure" if n < 5 else "success") for n in range(5 + LATELY)]
    marks = Landmarks(events)
    assert marks.lately(LATELY) == (5, LATELY)
    assert marks.lately(LATELY + 4) == (1, LATELY)
    assert marks.lately(LATELY + 5) == (0, LATELY)


@given(st.lists(st.sampled_from(["p", "t", "f", "s", "r", "m", "b"]), max_size=40), st.data())
def test_any_place_is_as_if_the_rest_had_not_happened(kinds: list[str], data: st.DataObject) -> None:
    made: dict[str, Event] = {}
    events: list[Event] = []
    for at, kind in enumerate(kinds):
        made = {"p": Prompt(at=at, characters=1), "t": Turn(at=at), "f": use(at, "failure"), "s": use(at)}
        made["r"] = Rollback(at=at, turns=1)
        made["m"] = Prompt(at=at, characters=1, mode="plan")
        made["b"] = Turn(at=at, mode="bypassPermissions")
        events.append(made[kind])
    index = data.draw(st.integers(0, len(events)))
    whole, cut = Landmarks(events), Landmarks(events[:index])
    assert Teller(told).now(whole, index) == Teller(told).now(cut, index)


def test_words_are_read_once() -> None:
    asked: list[Event] = []

    def reading(event: Event) -> Words:
        asked.append(event)
        return told(event)

    teller, marks = Teller(reading), Landmarks(EVENTS)
    first = teller.now(marks, 10)
    count = len(asked)
    assert teller.now(marks, 10) == first and len(asked) == count


def test_words_come_from_the_log(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    secret = "sk-" + "ant-api03-" + "a1B2" * 12
    path.write_bytes(
        logs.prompt(1, f"fix the build\nwith {secret}")
        + logs.call(2, "a", "Bash", {"command": "make test"})
        + logs.result(3, "a", "gcc\nmain.c:3: error: no such thing\nmake: *** [all]", error=True)
    )
    kit = make_kit()
    [session] = sessions([path], kit)
    events = list(read_session(session, kit))
    now = Teller().now(Landmarks(events), len(events))
    assert (now.asked, now.doing, now.failed) == ("fix the build", "make test", "make test")
    assert now.error == "main.c:3: error: no such thing"
    [prompt] = [event for event in events if isinstance(event, Prompt)]
    assert secret not in words_of(prompt).said and "fix the build" in words_of(prompt).said
    path.unlink()
    assert words_of(prompt).said == "" and words_of(prompt).fault


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("", ""),
        ("one\ntwo", "two"),
        ("a\nTypeError: x is None\nnpm ERR! done in 3 s", "TypeError: x is None"),
        ("FAIL a.test.ts\n  expected 200, got 404\nTests: 1 failed", "FAIL a.test.ts"),
    ],
)
def test_the_telling_line(output: str, line: str) -> None:
    assert telling_line(output) == line


def test_a_call_that_the_end_of_a_log_brings_is_not_what_was_done_last() -> None:
    events: list[Event] = [Prompt(at=1, characters=4), use(30), use(2, "pending"), use(9, "pending")]
    assert Teller(told).now(Landmarks(events), 4).doing == "run 30"
    events.append(use(40, "pending"))
    assert Teller(told).now(Landmarks(events), 5).doing == "run 40"
