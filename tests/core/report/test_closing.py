"""How a session was left, told from its last events as from all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import MAIN, Event, Prompt, ToolUse, Turn
from core.report.closing import NO_WORD, Close, LastWord, last_word, next_close
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
    assert last_word(reversed(stream), FINAL) == followed(stream) == LastWord(close, 90.0, last)


@given(events(max_size=60), st.integers(0, 60))
def test_the_last_events_tell_what_all_of_them_do(stream: list[Event], stop: int) -> None:
    assert last_word(reversed(stream[:stop]), FINAL) == followed(stream[:stop])
