"""Policies: what a file may say, and what is said when it may not."""

from __future__ import annotations

from typing import Any

import pytest

from core.engine.affect.affect import Affect
from core.engine.affect.policy import BUILT_IN, parse_policy
from core.errors import PolicyError
from core.settings.affect import AffectSettings
from core.settings.group import walk_tunables

SETTINGS = AffectSettings()


def test_built_in_is_the_settings() -> None:
    assert BUILT_IN.over(SETTINGS) == SETTINGS
    assert parse_policy({}, "empty") == BUILT_IN
    assert Affect(SETTINGS).read().policy == "built-in"


def test_a_named_part_is_the_policys_and_the_rest_the_settings() -> None:
    mine = AffectSettings.parse(
        {"fields": {"cooperation": {"rest": 0.6}, "persistence": {"rest": 0.6}}, "quarantine": {"enter": 0.5}}
    )
    policy = parse_policy({"name": "strict", "fields": {"persistence": {"floor": 0.2}}}, "strict.toml")
    bound = policy.over(mine)
    assert bound.fields.cooperation.rest == 0.6
    assert bound.fields.persistence.rest == 0.5
    assert bound.fields.persistence.floor == 0.2
    assert bound.fields.persistence.time_constant == 1800
    assert bound.quarantine.enter == 0.5
    assert Affect(mine, policy).read().policy == "strict"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"quarantine": {"enter": 9}}, ["quarantine.enter is 9", "a number from 0.045 to 2"]),
        ({"quarantine": {"enter": "high"}}, ["quarantine.enter is 'high'", "a number from"]),
        ({"quarantine": 3}, ["quarantine is 3", "window, enter or release"]),
        ({"quarantine": {"exit": 1}}, ["quarantine.exit is unknown", "window, enter or release"]),
        ({"fields": {"joy": {}}}, ["fields.joy is unknown", "risk_sensitivity"]),
        ({"fields": {"escalation": {"ceiling": 0.2}}}, ["fields.escalation.ceiling is 0.2", "0.75 to 1"]),
        ({"fields": {"escalation": {"inherits": "maybe"}}}, ["fields.escalation.inherits", "one of inherited"]),
        ({"fields": {"escalation": {"triggers": ["joy"]}}}, ["fields.escalation.triggers", "a list of failure"]),
        ({"fields": {"escalation": {"authority": "me"}}}, ["fields.escalation.authority", "parent", "broadcast"]),
        ({"contagion": {"tree": 1.0}}, ["contagion.tree is 1", "from 0 to 0.95"]),
        ({"noise": {"amplitude": float("nan")}}, ["noise.amplitude is nan", "from 0 to 0.05"]),
        ({"inheritance": {"depth": 1.5}}, ["inheritance.depth is 1.5", "a whole number from 0 to 32"]),
        ({"name": ""}, ["name is ''", "1 to 80 characters"]),
        ({"moods": 1}, ["moods is unknown", "fields"]),
        ([], ["a policy is a table"]),
    ],
)
def test_errors_name_the_field_and_what_it_may_be(data: Any, words: list[str]) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(data, "mine.toml")
    message = str(caught.value)
    assert message.startswith("mine.toml: ")
    for word in words:
        assert word in message


def test_every_error_is_told_at_once() -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy({"quarantine": {"enter": 9}, "stability": {"band": 9}}, "two.toml")
    assert len(str(caught.value).splitlines()) == 2


GOVERNED = [
    entry
    for entry in walk_tunables(AffectSettings)
    if entry.low is not None and entry.name.split(".")[0] not in ("observation", "lineage", "society")
]


@pytest.mark.parametrize("entry", GOVERNED, ids=lambda entry: entry.name)
def test_every_figure_of_a_policy_is_bounded(entry: Any) -> None:
    for beyond in (entry.low - 1, entry.high + 1):
        data: Any = beyond
        for word in reversed(entry.name.split(".")):
            data = {word: data}
        with pytest.raises(PolicyError, match=entry.name):
            parse_policy(data, "x")
