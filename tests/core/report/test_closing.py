"""How a session was left, told from its last events as from all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import MAIN, Event, Prompt, SessionEnd, ToolUse, Turn
from core.report.story import NO_WORD, Close, LastWord, last_word, next_close
from core.settings import Settings
from tests.core.strategies import events

FINAL = frozenset(Settings().response.notices.final)


def followed(stream: list[Event]) -> LastWord:
    """The same, event by event as a log is followed."""
    left = NO_WORD
    for event in stream:
        close = next_close(event, left.close, left.at, FINAL) if event.agent == MAIN else ""
        if close:
            left = LastWord(close, event.at, event)
    return left


@pytest.mark.parametrize("unanswered", [0, 1, 63, 64, 65, 300])
@pytest.mark.parametrize(
    ("last", "close"),
    [
        (Turn(at=90.0, stop="end_turn"), "done"),
        (Turn(at=90.0, stop="refusal"), "failed"),
        (Prompt(at=90.0, characters=0, interrupt=True), "stopped"),
    ],
)
def test_calls_that_the_end_of_a_log_brings_hide_no_end(last: Event, close: Close, unanswered: int) -> None:
    late: list[Event] = [
        ToolUse(at=1.0, action="shell_exec", tool="Bash", outcome="pending", call=number)
        for number in range(unanswered)
    ]
    stream = [Prompt(at=0.0, characters=9), last, *late]
    assert last_word(reversed(stream), FINAL)[:3] == followed(stream)[:3] == (close, 90.0, last)


@given(events(max_size=60), st.integers(0, 60))
def test_the_last_events_tell_what_all_of_them_do(stream: list[Event], stop: int) -> None:
    assert last_word(reversed(stream[:stop]), FINAL)[:3] == followed(stream[:stop])[:3]


def question(at: float) -> ToolUse:
    return ToolUse(at=at, action="other", tool="AskUserQuestion", outcome="pending")


def test_a_question_waits_until_a_later_prompt_is_taken_up() -> None:
    asking, run = frozenset(("AskUserQuestion",)), ToolUse(at=20.0, action="shell_exec", tool="Bash")
    first, later = Prompt(at=0.0, characters=9), Prompt(at=15.0, characters=9)
    for stream, waits in (
        ([first, run], True),
        ([first, later], True),
        ([first, later, run], False),
        ([first, later, *[run] * 100], False),
        ([first, Prompt(at=15.0, characters=0, interrupt=True)], False),
        ([first, SessionEnd(at=15.0)], False),
    ):
        left = last_word(reversed([*stream, question(11.0), question(10.0)]), FINAL)
        assert left.asks(asking) == (question(10.0) if waits else None)
        assert left.asks(frozenset()) is None
