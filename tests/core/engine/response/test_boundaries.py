"""Thresholds and limits of the response at, below and above the value that is set."""

from __future__ import annotations

import pytest

from core.engine.response.actions import _MOST, Delegates
from core.engine.response.interventions import Advised, Adviser
from core.engine.response.response import Escalation
from core.engine.response.rules import MOST_WAKEUPS as WAKEUPS
from core.engine.response.rules import read_wakeups
from core.errors import PolicyError
from core.events import MAIN, AgentEnd, AgentStart
from core.settings.response import AdviceSettings, ResponseEscalationSettings
from tests.core.engine.response.test_advice import choose, word


@pytest.mark.parametrize(("threshold", "asked"), [(0.51, False), (0.5, True), (0.49, True)])
def test_the_person_is_asked_from_the_threshold_on(threshold: float, asked: bool) -> None:
    escalation = Escalation(ResponseEscalationSettings())
    assert (escalation.update(0.5, None, False, threshold) is not None) is asked


def test_without_any_pressure_nobody_is_asked_at_a_threshold_of_zero() -> None:
    escalation = Escalation(ResponseEscalationSettings())
    assert escalation.update(1.0, None, False, 0.0) is None
    assert escalation.update(0.75, None, False, 0.0) == 0.25


@pytest.mark.parametrize(("calm", "again"), [(0.74, False), (0.75, False), (0.76, True)])
def test_the_person_is_asked_again_only_after_pressure_fell_below_its_level(calm: float, again: bool) -> None:
    escalation = Escalation(ResponseEscalationSettings(rearm=0.5))
    assert escalation.update(0.25, None, False, 0.5)
    assert escalation.update(calm, None, False, 0.5) is None
    assert (escalation.update(0.25, None, False, 0.5) is not None) is again


@pytest.mark.parametrize(("others", "known"), [(19, True), (20, False)])
def test_so_many_sentences_are_remembered(others: int, known: bool) -> None:
    one = Adviser(AdviceSettings(kept=20))
    for text in ["first", *(f"other {number}" for number in range(others))]:
        one.record_said(Advised(f"[nooscope] {text}", "person"))
    assert (choose(one, word("first")) is None) is known


@pytest.mark.parametrize(("others", "known"), [(_MOST - 1, True), (_MOST, False)])
def test_so_many_running_sub_agents_are_remembered(others: int, known: bool) -> None:
    delegates = Delegates()
    for child in ["first", *(f"c{number}" for number in range(others))]:
        role = "tester" if child == "first" else "coder"
        delegates.update(AgentStart(at=0.0, agent=MAIN, child=child, role=role))
    delegates.update(AgentEnd(at=1.0, agent=MAIN, child="first", outcome="success"))
    assert ("tester" in {way.role for way in delegates.order(0.5, 0.0)}) is known


@pytest.mark.parametrize(("others", "known"), [(_MOST - 1, True), (_MOST, False)])
def test_so_many_roles_are_remembered(others: int, known: bool) -> None:
    delegates = Delegates()
    for role in ["first", *(f"role-{number}" for number in range(others))]:
        delegates.update(AgentStart(at=0.0, agent=MAIN, child=role, role=role))
        delegates.update(AgentEnd(at=1.0, agent=MAIN, child=role, outcome="success"))
    assert ("first" in {way.role for way in delegates.order(0.5, 0.0)}) is known


@pytest.mark.parametrize(("number", "fits"), [(WAKEUPS, True), (WAKEUPS + 1, False)])
def test_a_file_may_name_so_many_wakeups(number: int, fits: bool) -> None:
    with pytest.raises(PolicyError) as told:
        read_wakeups([{}] * number, "rules.toml")
    assert ("entries; at most" not in str(told.value)) is fits
