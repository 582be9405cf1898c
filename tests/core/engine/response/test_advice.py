"""What may be said to an agent, and when silence is better."""

from __future__ import annotations

from typing import Any

import pytest

from core.agents.calls import said_event
from core.engine.response.interventions import (
    Advised,
    Adviser,
    Intervention,
    InterventionQueue,
    sentence,
    sentence_print,
)
from core.engine.response.rules import Deliver
from core.settings.response import AdviceSettings, QueueSettings


def word(message: str = "a loop", priority: int = 200, sender: str = "loop_alert", window: Any = None) -> Intervention:
    return Intervention(1, "self_steer", window, "risk", False, message, priority, sender, 0.0, 99.0, "exploring")


def choose(adviser: Adviser, *words: Intervention, flow: bool = False, moments: Any = ()) -> Advised | None:
    return adviser.choose(words, flow=flow, moments=moments)


def adviser(**settings: Any) -> Adviser:
    return Adviser(AdviceSettings(**settings))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", ""),
        (" \n ", ""),
        ("npm failed\n 4  times", "[nooscope] npm failed 4 times"),
        ("a\x1b[31mb", "[nooscope] a [31mb"),
        ("x" * 280, "[nooscope] " + "x" * 280),
        ("x" * 281, "[nooscope] " + "x" * 279 + "…"),
    ],
)
def test_a_sentence_is_marked_short_and_on_one_line(message: str, said: str) -> None:
    assert sentence(message) == said


@pytest.mark.parametrize(
    ("level", "priority", "speaks"), [("off", 255, False), ("hint", 199, False), ("hint", 200, True), ("full", 0, True)]
)
def test_how_much_is_said(level: str, priority: int, speaks: bool) -> None:
    assert (choose(adviser(level=level), word(priority=priority)) is not None) is speaks


def test_flow_silences_all_but_the_persons_own_word() -> None:
    one = adviser()
    assert choose(one, word(), flow=True) is None
    mine = word("look at the mock", 255, "person")
    assert choose(one, word(), mine, flow=True) == Advised("[nooscope] look at the mock", "person")


def test_one_a_turn_and_none_twice() -> None:
    one = adviser(rest=1)
    first = choose(one, word("a"), word("b", 220))
    assert first == Advised("[nooscope] b", "loop_alert")
    one.record_said(first)
    one.act()
    assert choose(one, word("a")) is None
    one.turn()
    assert choose(one, word("b")) is None
    assert choose(one, word("a")) is not None


@pytest.mark.parametrize(("acts", "speaks"), [(9, False), (10, True)])
def test_a_rule_rests_after_it_spoke(acts: int, speaks: bool) -> None:
    one = adviser(rest=10)
    one.record_said(Advised("[nooscope] a", "loop_alert"))
    one.turn()
    for _ in range(acts):
        one.act()
    assert (choose(one, word("b")) is not None) is speaks
    assert choose(one, word("c", sender="halt_alert")) is not None


@pytest.mark.parametrize(("acts", "speaks"), [(19, False), (20, True)])
def test_its_rest_doubles(acts: int, speaks: bool) -> None:
    one = adviser(rest=10)
    for text in ("a", "b"):
        one.record_said(Advised(text, "loop_alert"))
    one.turn()
    for _ in range(acts):
        one.act()
    assert (choose(one, word("c")) is not None) is speaks


def test_a_window_must_be_open() -> None:
    assert choose(adviser(), word(window="dream"), moments=("decide",)) is None
    assert choose(adviser(), word(window="decide"), moments=("decide",)) is not None


def queue() -> InterventionQueue:
    made = InterventionQueue(QueueSettings())
    made.push(Deliver(kind="self_steer", priority=200), "npm failed", "loop_alert", 1.0, "stuck", 0.5)
    return made


def test_what_reached_the_agent_is_known_by_its_fingerprint() -> None:
    waiting = queue()
    told = waiting.record_said(said_event("[nooscope] npm failed", 2.0).call, 2.0, "stuck", 0.5)
    assert (told.fate, told.intervention.sender, waiting.waiting) == ("reached", "loop_alert", [])
    due = queue()
    due.drain(2.0, (), 0.5)
    told = due.record_said(sentence_print("npm failed"), 2.5, "stuck", 0.5)
    assert [one.fate for one in due.read().past] == ["reached"] and told.at == 2.5
    other = queue()
    told = other.record_said(7, 2.0, "stuck", 0.5)
    assert told.intervention.sender == "elsewhere" and len(other.waiting) == 1


def test_it_goes_on_from_a_dump() -> None:
    one = queue()
    one.record_said(sentence_print("npm failed"), 2.0, "stuck", 0.5)
    two = InterventionQueue(QueueSettings())
    two.load(one.dump())
    assert two.dump() == one.dump() and two.open == one.open != []
