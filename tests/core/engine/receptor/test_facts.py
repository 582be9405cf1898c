"""Plain figures of what the agent did."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from core.engine.receptor.facts import ActionFacts
from core.events import Action, Event, Outcome, Prompt, ToolUse, Turn
from core.settings.receptor import FactSettings
from tests.core.strategies import events


def act(
    action: Action, outcome: Outcome = "success", path: str = "", call: int = 0, result: int = 0, before: int = 0
) -> ToolUse:
    targets = (path,) if path else ()
    return ToolUse(at=0.0, action=action, outcome=outcome, targets=targets, call=call, result=result, before=before)


def counted(*acts: ToolUse, **figures: int) -> ActionFacts:
    facts = ActionFacts(FactSettings.parse(figures))
    for one in acts:
        facts.update(one)
    return facts


READ, RUN = act("file_read", path="a.py"), act("shell_exec")
FAIL, EDIT = act("shell_exec", "failure", result=7), act("file_edit", path="a.py", before=1)


@pytest.mark.parametrize(
    ("acts", "name", "number"),
    [
        ((FAIL, FAIL, RUN), "failures", 2),
        ((FAIL, FAIL, RUN), "failures_in_a_row", 0),
        ((RUN, FAIL, FAIL), "failures_in_a_row", 2),
        ((FAIL, FAIL), "same_error", 1),
        ((FAIL,) * 25, "failures_recent", 20),
        ((READ, act("search"), EDIT, READ), "looks_before_edit", 2),
        ((EDIT, EDIT, FAIL), "edits_since_pass", 2),
        ((EDIT, EDIT, RUN), "edits_since_pass", 0),
        ((EDIT, READ, READ), "since_good_edit", 2),
        ((READ, EDIT), "since_good_edit", 0),
        ((READ, EDIT, EDIT), "edits_again", 1),
        ((act("file_edit", path="new.py"), EDIT), "changes", 1),
        ((READ, EDIT, RUN, FAIL), "runs_since_change", 2),
        ((READ, EDIT, RUN, FAIL), "checks", 1),
        ((EDIT, FAIL), "checks_passed", 0),
        ((EDIT, RUN), "checks_passed", 1),
        ((READ, READ), "rereads", 1),
        ((READ, EDIT, READ), "rereads", 0),
        ((act("file_edit", "failure", "a.py"),) * 3, "failed_edits_again", 2),
        ((act("file_read", "failure", "a.py"),), "failed_reads", 1),
        ((act("shell_exec", call=5, result=6),) * 3, "same_result", 2),
        ((act("shell_exec", call=5, result=6),) * 3, "stale_recent", 2),
        ((act("shell_exec", call=5, result=6), act("shell_exec", call=5, result=7)), "new_result", 1),
        ((act("plan"), RUN), "actions", 1),
        ((RUN, READ, READ), "since_run", 2),
        ((READ, RUN), "since_run", 0),
        ((FAIL, EDIT, FAIL, FAIL), "failures_since_edit", 2),
    ],
)
def test_each_figure(acts: tuple[ToolUse, ...], name: str, number: int) -> None:
    assert getattr(counted(*acts).read(), name) == number


@pytest.mark.parametrize(
    ("before", "one", "causes"),
    [
        ((), act("file_edit", "failure", "a.py"), {"failed_edit"}),
        ((), act("file_read", "failure", "a.py"), {"failed_read"}),
        ((READ, EDIT), EDIT, {"file_edit"}),
        ((READ, EDIT), RUN, {"shell_success"}),
        ((READ, EDIT), FAIL, {"shell_failure"}),
        ((act("search", call=2, result=3),), act("search", call=2, result=3), {"search_found"}),
        ((act("shell_exec", "failure", result=3),), RUN, {"shell_success"}),
        (
            (act("shell_exec", "failure", result=3),),
            act("file_edit", "failure", "a.py", result=3),
            {"failed_edit", "same_error"},
        ),
    ],
)
def test_what_an_action_stands_for(before: tuple[ToolUse, ...], one: ToolUse, causes: set[str]) -> None:
    assert set(counted(*before).update(one)) == causes


def test_words_count_with_the_next_action_and_no_more_than_three_of_a_kind() -> None:
    facts = counted()
    facts.add_phrases(Turn(at=0.0, checking=1, doubting=5))
    assert facts.update(RUN) == ("shell_success", *["words_of_doubt"] * 3)
    assert facts.update(RUN) == ("shell_success",)
    assert (facts.words_of_checking, facts.words_of_doubt) == (1, 5)


def test_names_of_prompts_and_those_that_came_up() -> None:
    facts = counted()
    facts.add_prompt(Prompt(at=0.0, characters=20, names=3))
    facts.add_prompt(Prompt(at=0.0, characters=20, names=1))
    facts.update(replace(READ, named=2))
    facts.update(replace(act("plan"), named=1))  # A plan is no action.
    assert (facts.names_asked, facts.names_seen) == (4, 2)
    reading = facts.read()
    assert (reading.names_asked, reading.names_seen) == (4, 2)


@pytest.mark.parametrize(
    ("before", "outcome", "passed"),
    [((), "success", 0), ((READ, EDIT), "success", 1), ((READ, EDIT), "empty", 1), ((READ, EDIT), "failure", 0)],
)
def test_tests_that_passed_count_from_the_first_change_on(
    before: tuple[ToolUse, ...], outcome: Outcome, passed: int
) -> None:
    facts = counted(*before, ToolUse(at=0.0, action="shell_exec", purpose="test", outcome=outcome, call=9, result=9))
    assert (facts.tests, facts.tests_passed) == (1, passed)


def test_memory_is_bounded() -> None:
    facts = counted(*[act("file_read", path=f"{n}", call=n + 1, result=n + 1) for n in range(500)], kept=16)
    assert max(len(part) for part in facts.dump() if isinstance(part, tuple)) <= 32


@settings(max_examples=60)
@given(events(max_size=60))
def test_a_loaded_dump_goes_on_as_the_original(stream: list[Event]) -> None:
    one, other = ActionFacts(FactSettings(kept=16)), ActionFacts(FactSettings(kept=16))
    uses = [event for event in stream if isinstance(event, ToolUse)]
    for use in uses[::2]:
        one.update(use)
    other.load(cbor2.loads(cbor2.dumps(one.dump())))
    assert [one.update(use) for use in uses] == [other.update(use) for use in uses]
    assert one.read() == other.read()
