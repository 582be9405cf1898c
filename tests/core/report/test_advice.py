"""What came of advice, counted beside moments at which nobody spoke."""

from __future__ import annotations

import pytest

from core.agents.calls import said_event
from core.events import Event, Prompt, ToolUse
from core.report.advice import AdviceMoment, AdviceOutcome, follow, outcomes
from core.settings import Settings
from core.timeline.initial_state import InitialState

SENTENCE = "[nooscope] Seen from outside: npm failed the same way 5 times."


def act(at: float, *, fails: bool, shape: int = 1) -> ToolUse:
    return ToolUse(
        at=at,
        id=f"t{at}",
        action="shell_exec",
        tool="Bash",
        program="npm",
        outcome="failure" if fails else "success",
        exit_code=int(fails),
        call=shape,
        shape=shape,
        result=shape if fails else int(at),
    )


def story(said: bool, after: list[ToolUse]) -> list[Event]:
    begin: list[Event] = [Prompt(at=0.0, characters=9)]
    begin += [act(float(number), fails=True) for number in range(5)]
    return [*begin, *([said_event(SENTENCE, 4.5)] if said else []), *after]


def moments(events: list[Event], within: int = 3) -> list[AdviceMoment]:
    sentences = {said_event(SENTENCE, 0.0).call: ("loop_alert", SENTENCE)}
    found = follow(events, InitialState().society(Settings()), within, sentences)
    return [moment for moment in found if moment.rule == "loop_alert"]


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize(
    ("after", "again", "acts"),
    [
        ([act(5.0, fails=True)], True, 1),
        ([act(5.0, fails=False), act(6.0, fails=False), act(7.0, fails=True)], True, 3),
        ([act(float(at), fails=False) for at in range(5, 9)], False, 3),
        ([act(float(at), fails=True, shape=at) for at in range(5, 9)], False, 3),
    ],
)
def test_the_same_trouble_came_again_or_stayed_away(said: bool, after: list[ToolUse], again: bool, acts: int) -> None:
    """Where nobody spoke the word was due with the next act, from which on it is counted."""
    first, *_ = moments(story(said, after if said else [act(4.6, fails=False, shape=9), *after]))
    assert first.said is said
    if said:
        assert (first.again, first.acts, first.sentence) == (again, acts, SENTENCE)


def test_a_word_that_was_due_and_was_said_counts_once() -> None:
    """The log tells of it only after the next act."""
    events = story(False, [act(5.0, fails=False, shape=9)])
    events += [said_event(SENTENCE, 5.5), act(6.0, fails=False, shape=8)]
    assert [moment.said for moment in moments(events)] == [True]


def test_they_are_counted_by_rule_said_and_unsaid_apart() -> None:
    def one(said: bool, acts: int, again: bool) -> AdviceMoment:
        return AdviceMoment(0.0, "main", "loop_alert", said, "x", acts, again)

    found = [one(True, 1, True), one(True, 3, False), one(True, 2, False), one(False, 3, False)]
    assert outcomes(found, 3) == [
        AdviceOutcome("loop_alert", False, 0, 1, 0),
        AdviceOutcome("loop_alert", True, 1, 1, 1),
    ]
