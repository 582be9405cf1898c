"""Rule files: added to, bent, and refused with a sentence one can act on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.engine.percept import AGENT_STATES
from core.engine.response.rules import BUILT_IN, CUES, RuleSet, add_rules, built_in, fill
from core.engine.response.tables import RECEPTOR_RULES
from core.errors import PolicyError

MINE: dict[str, Any] = {
    "id": "mine",
    "type": "status_notify",
    "mode": "notify",
    "trigger": {"signals": ["fatigue_rising"], "states": "any", "sensitivity": 0.5},
}


def add(*methods: Any, base: RuleSet | None = None) -> RuleSet:
    return add_rules(base or built_in(), json.dumps({"methods": list(methods)}).encode(), "file.json")


def test_a_new_method_is_added_and_long_names_and_any_are_understood() -> None:
    rules = add(MINE, {**MINE, "id": "all", "trigger": {**MINE["trigger"], "signals": "any"}})
    mine, everything = rules.methods[-2:]
    assert mine.trigger.signals == ("fatigue",)
    assert mine.trigger.states == AGENT_STATES
    assert everything.trigger.signals == CUES
    assert rules.origins["mine"] == "file.json"
    assert rules.origins["engram_probe"] == BUILT_IN


def test_a_known_method_is_bent_only_where_the_file_speaks() -> None:
    before = built_in().method("frustration_alert")
    rules = add({"id": "frustration_alert", "trigger": {"sensitivity": 0.2}, "mode": "background"})
    after = rules.method("frustration_alert")
    assert before is not None and after is not None
    assert (after.trigger.sensitivity, after.mode) == (0.2, "background")
    assert after.trigger.signals == before.trigger.signals
    assert after.action == before.action
    assert [method.id for method in rules.methods] == [method.id for method in built_in().methods]
    assert rules.origins["frustration_alert"] == "file.json"


def test_our_own_methods_are_what_a_check_of_their_file_gives() -> None:
    assert add_rules(RuleSet((), {}), RECEPTOR_RULES, BUILT_IN) == built_in()


def test_the_last_file_wins() -> None:
    first = add({"id": "frustration_alert", "enabled": False})
    second = add({"id": "frustration_alert", "enabled": True}, base=first)
    method = second.method("frustration_alert")
    assert method is not None and method.enabled


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({**MINE, "mode": "loud"}, 'methods[0] (mine): mode is "loud"; it must be auto, notify, background'),
        (
            {**MINE, "trigger": {**MINE["trigger"], "sensitivity": 7}},
            "trigger.sensitivity is 7; it must be a number from 0 to 1",
        ),
        (
            {**MINE, "trigger": {**MINE["trigger"], "signals": ["joy"]}},
            'trigger.signals is "joy"; it must be a list of any or compound, frustration',
        ),
        (
            {**MINE, "trigger": {**MINE["trigger"], "states": ["flow"]}},
            'trigger.states is "flow"; it must be a list of any or idle',
        ),
        (
            {**MINE, "trigger": {**MINE["trigger"], "frequency": "often"}},
            'trigger.frequency is "often"; it must be low, medium, high',
        ),
        ({**MINE, "colour": "red"}, "colour is unknown; available: id, type, mode, trigger, action, enabled"),
        ({"id": "mine"}, "trigger is missing; it must be a table with signals, states"),
        ({**MINE, "id": "Mine!"}, "id is "),
        ({**MINE, "action": {"say": "{secret}"}}, "braces may name cue, state"),
        (
            {**MINE, "action": {"deliver": {"window": "night"}}},
            'action.deliver.window is "night"; it must be decide, reflect, curator, dream',
        ),
        ({**MINE, "trigger": {**MINE["trigger"], "signals": ["flow_active"]}}, "trigger.signals"),
        (3, "methods[0]: must be a table with an id"),
    ],
)
def test_a_fault_names_file_method_field_and_what_is_allowed(entry: Any, sentence: str) -> None:
    with pytest.raises(PolicyError) as refused:
        add(entry)
    assert str(refused.value).startswith("file.json: methods[0]")
    assert sentence in str(refused.value)


def test_each_field_is_named_once_and_all_faults_at_once() -> None:
    with pytest.raises(PolicyError) as refused:
        add({**MINE, "mode": "loud", "trigger": {**MINE["trigger"], "signals": ["joy", "grief"]}}, 7)
    lines = str(refused.value).splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"methods": [}', "file.json:1: is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "methods: missing"),
        (b'{"methods": {}}', "methods: must be a list"),
        (b'{"methods": [], "more": 1}', "more: unknown; available: methods"),
    ],
)
def test_what_is_no_rule_file_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(PolicyError, match=words.replace("[", r"\[")):
        add_rules(built_in(), content, "file.json")


def test_an_id_may_stand_once_in_a_file() -> None:
    with pytest.raises(PolicyError, match=r"the id is already used by methods\[0\]"):
        add(MINE, MINE)


def test_sentences_are_filled_and_nothing_else_is_run() -> None:
    assert fill("{state}: {value} {unknown}", {"state": "stuck", "value": "0.71"}) == "stuck: 0.71"
