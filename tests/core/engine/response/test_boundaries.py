"""Thresholds and limits of the response at, below and above the value that is set."""

from __future__ import annotations

import pytest

from core.engine.response.actions import _MOST, Delegates
from core.engine.response.advice import Advised, Adviser
from core.engine.response.loop_cycles import Cycle, Oscillation
from core.engine.response.loop_stalls import Burn
from core.engine.response.response import Escalation
from core.engine.response.rules import MOST_WAKEUPS as WAKEUPS
from core.engine.response.rules import read_wakeups
from core.errors import PolicyError
from core.events import MAIN, AgentEnd, AgentStart, Turn
from core.settings.advice import AdviceSettings
from core.settings.loops import BurnSettings, ExactSettings, OscillationSettings
from core.settings.response import ResponseEscalationSettings
from tests.core.engine.response.loop_events import shell, use
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


def burnt(turns: int, tokens: int) -> Burn:
    """So many turns of so many tokens each, all for nothing."""
    burn = Burn(BurnSettings(hurry=1.0, turns=4, tokens=10_000))
    burn.use(shell("ls", "first"), True)
    for at in range(turns):
        burn.turn(Turn(at=float(at), model="m", input_tokens=tokens))
        burn.use(shell("ls", "first"), True)
    return burn


@pytest.mark.parametrize(("turns", "burning"), [(3, False), (4, True), (5, True)])
def test_tokens_burn_from_so_many_turns_on(turns: int, burning: bool) -> None:
    assert burnt(turns, 50_000).burning is burning


@pytest.mark.parametrize(("tokens", "burning"), [(2_499, False), (2_500, True), (2_501, True)])
def test_tokens_burn_from_the_limit_on(tokens: int, burning: bool) -> None:
    assert burnt(4, tokens).burning is burning


@pytest.mark.parametrize(("others", "known"), [(15, True), (16, False)])
def test_so_many_results_are_remembered(others: int, known: bool) -> None:
    burn = Burn(BurnSettings(kept=16))
    for number in range(others + 1):
        burn.use(shell("ls", f"result {number}"), True)
    burn.turn(Turn(at=9.0, model="m", input_tokens=1))
    burn.use(shell("ls", "result 0"), True)
    assert bool(burn.turns) is known


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_so_many_written_files_are_remembered(others: int, known: bool) -> None:
    one = Oscillation(OscillationSettings(kept=4))
    for name in ["a", *(f"other-{number}" for number in range(others))]:
        one.update(use("Write", name, action="file_edit", targets=(name,), after=1), -1)
    one.update(use("Write", "a", action="file_edit", targets=("a",), after=2), -1)
    assert bool(one.dump()[0]) is known


@pytest.mark.parametrize("calls", [7, 8, 12])
def test_the_shortest_round_that_explains_the_calls_is_told(calls: int) -> None:
    cycle = Cycle(ExactSettings(single=4, rounds=2))
    for _ in range(calls):
        cycle.update((1, 1, ()), shell("ls", "same"), True, -1)
    assert cycle.period == 1


@pytest.mark.parametrize(("others", "known"), [(19, True), (20, False)])
def test_so_many_sentences_are_remembered(others: int, known: bool) -> None:
    one = Adviser(AdviceSettings(kept=20))
    for text in ["first", *(f"other {number}" for number in range(others))]:
        one.said(Advised(f"[nooscope] {text}", "person"))
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
    assert ("of them; there may be" not in str(told.value)) is fits
