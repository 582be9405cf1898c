"""Conditions of a person's own that wake the mind: read from the rule file, named where wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.engine.response.rules import add_foreign_rules, add_rules, built_in
from core.engine.society import Society
from core.errors import PolicyError
from core.events import MAIN, Event, Prompt, ToolUse
from core.settings import Settings
from core.timeline.initial_state import InitialState

RULE = {"id": "make_fails", "causes": ["failure", "streak", "repeat"], "like": "make failed*", "refire": 60}


def content(*wakeups: Any) -> bytes:
    return json.dumps({"wakeups": list(wakeups)}).encode()


def failing(program: str, at: float) -> Event:
    return ToolUse(at=at, action="shell_exec", tool="Bash", program=program, outcome="failure")


def woken(society: Society, event: Event) -> str:
    wakeup = society.step(event).thought.wakeup
    return wakeup.trigger if wakeup else ""


def test_a_rule_of_ones_own_wakes_the_mind() -> None:
    rules = add_rules(built_in(), content(RULE), "own")
    assert rules.methods == built_in().methods
    society = Society(Settings(), rules=rules)
    society.step(Prompt(at=0.0, characters=10))
    assert woken(society, failing("npm", 40.0)) == ""
    assert woken(society, failing("make", 50.0)) == "make_fails"
    assert woken(society, failing("make", 109.0)) == ""
    assert woken(society, failing("make", 111.0)) in ("make_fails", "failure_burst")
    named = [trigger.name for trigger in society.frame(MAIN).mind.triggers]
    assert named[-1] == "make_fails" and len(named) == 9
    plain = Society(Settings())
    plain.step(Prompt(at=0.0, characters=10))
    assert [woken(plain, failing("make", at)) for at in (50.0, 60.0)] == ["", ""]


def test_a_wakeup_near_a_theta_tick_is_left_to_it() -> None:
    rules = add_rules(built_in(), content({**RULE, "resolution": "gamma"}), "own")
    society = Society(Settings(), rules=rules)
    society.step(Prompt(at=0.0, characters=10))
    assert woken(society, failing("make", 25.0)) == ""
    assert society.frame(MAIN).mind.deduplicated == 1


def test_the_replay_is_given_the_same_rules() -> None:
    initial = InitialState(rules=add_rules(built_in(), content(RULE), "own"))
    assert InitialState.from_content(initial.content()) == initial


@pytest.mark.parametrize(
    ("wakeups", "said"),
    [
        ({"id": "x"}, "wakeups: must be a list"),
        ([{"id": "x", "causes": ["rain"]}], "causes is invalid; it must be a list of prompt"),
        ([{"id": "x", "causes": []}], "causes"),
        ([{"causes": ["prompt"]}], "id is missing"),
        ([{"id": "x", "causes": ["prompt"], "loud": 1}], "loud is unknown; available: id, causes"),
        ([{"id": "x", "causes": ["prompt"], "refire": -1}], "refire is invalid; it must be seconds"),
        ([{"id": "owner_message", "causes": ["prompt"]}], "this id is already in use"),
        ([RULE, RULE], "this id is already in use"),
        (["x"], "must be a table"),
        ([RULE] * 65, "at most 64 are allowed"),
    ],
)
def test_a_fault_is_named_with_what_is_allowed(wakeups: Any, said: str) -> None:
    with pytest.raises(PolicyError, match="own: wakeups") as caught:
        add_rules(built_in(), json.dumps({"wakeups": wakeups}).encode(), "own")
    assert said in str(caught.value)


def test_a_project_may_not_wake_the_mind() -> None:
    rules, refused = add_foreign_rules(built_in(), content(RULE), "project")
    assert rules.wakeups == () and "only your own rules" in refused[0]
