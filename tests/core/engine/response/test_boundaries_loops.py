"""What loop detectors remember and when they speak, at, below and above each limit."""

from __future__ import annotations

from typing import Any

import pytest

from core.engine.response.loop_cycles import Failing, Oscillation
from core.engine.response.loop_stalls import Burn, Churn, Reread, Retest, Rework
from core.engine.response.loops import _SAID, LoopDetector
from core.events import Turn
from core.settings.loops import (
    BurnSettings,
    ChurnSettings,
    FailingSettings,
    LoopSettings,
    OscillationSettings,
    RereadSettings,
    RetestSettings,
    ReworkSettings,
)
from tests.core.engine.response.loop_events import edit as replaced
from tests.core.engine.response.loop_events import failure, read, shell, timed
from tests.core.engine.response.test_loops_telling import FAILS, OTHER, heard
from tests.core.engine.response.test_stalls import alone, edit


def test_another_loop_is_told_by_its_own_name() -> None:
    """The calls differ, so that neither equal nor similar calls repeat: only the failing goes on."""
    events = [failure("make", f"error {n}", shape="make") for n in range(6)]
    off = {name: {"enabled": False} for name in ("near", "storm", "churn")}
    settings = LoopSettings.model_validate({**off, "failing": {"times": 6}})
    detector = LoopDetector(settings)
    told = [detector.update(event) for event in timed(events)]
    assert [loop.detector for loop in told if loop] == ["failing"]


def test_calls_alike_are_told_only_when_they_repeat() -> None:
    tree: dict[str, Any] = {name: {"enabled": False} for name in ("exact", "failing", "churn")}
    tree |= {"near": {"single": 4}, "storm": {"times": 4}}
    alike = [failure(f"make {n}", "error", shape="make") for n in range(4)]
    assert [loop.detector for _, loop in heard(list(alike), **tree)] == ["near"]
    different = [failure(f"tool{n}", "error") for n in range(4)]
    assert [loop.detector for _, loop in heard(list(different), **tree)] == ["storm"]


@pytest.mark.parametrize(("telling", "told"), [(899, 1), (900, 1), (901, 0)])
def test_only_a_telling_result_makes_looks_alike(telling: int, told: int) -> None:
    tree: dict[str, Any] = {"near": {"telling": telling, "single": 4}}
    events = [read("a.py", "the same", f":{n}") for n in range(4)]
    assert {event.size for event in events} == {900}
    assert len([loop for _, loop in heard(list(events), **tree) if loop.detector == "near"]) == told


@pytest.mark.parametrize(("cooldown", "told"), [(49.0, [4, 9]), (50.0, [4, 9]), (51.0, [4])])
def test_a_loop_that_comes_back_is_told_again_after_its_rest(cooldown: float, told: list[int]) -> None:
    events = [event for n in range(2) for event in (*[OTHER] * 4, shell("ls", f"{n} files"))]
    assert [number for number, _ in heard(list(events), cooldown=cooldown)] == told


@pytest.mark.parametrize(("others", "known"), [(_SAID - 1, True), (_SAID, False)])
def test_so_many_loops_are_remembered_as_told(others: int, known: bool) -> None:
    detector = LoopDetector(LoopSettings())
    for name in ["first", *(f"tool {n}" for n in range(others))]:
        assert detector.exact is not None
        detector.exact.tool, detector.exact.period = name, 1
        detector._tell("exact", 0.0)
    assert (("exact", "first") in detector._said) is known


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_so_many_failing_commands_are_remembered(others: int, known: bool) -> None:
    failing = Failing(FailingSettings(kept=4, times=2))
    for name in ["first", *(f"other{n}" for n in range(others)), "first"]:
        failing.failed(failure(name, "error"), -1)
    assert (failing.count == 2) is known
    loaded = Failing(FailingSettings(kept=4, times=2))
    loaded.load(failing.dump())
    assert loaded.dump() == failing.dump()


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_so_many_edits_are_remembered(others: int, known: bool) -> None:
    one = Oscillation(OscillationSettings(kept=4))
    for name in ["a", *(f"other{n}" for n in range(others))]:
        one.update(replaced(name, "x", "y"), -1)
    one.update(replaced("a", "y", "x"), -1)
    flips = {flips for flips, _ in one._edits.values()}
    assert (1 in flips) is known


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_so_many_commands_that_were_edited_for_are_remembered(others: int, known: bool) -> None:
    retest = Retest(RetestSettings(kept=4))
    for name in ["first", *(f"other{n}" for n in range(others))]:
        retest.update(failure(name, "error"), -1)
    retest.update(edit(), -1)
    retest.update(failure("first", "error"), -1)
    assert (retest.count == 2) is known


def test_of_two_commands_that_failed_equally_often_the_last_is_told() -> None:
    retest = Retest(RetestSettings())
    for name in ("make", "pytest"):
        retest.update(failure(name, "error"), -1)
        retest.update(edit(), -1)
        retest.update(failure(name, "error"), -1)
    assert (retest.count, retest.subject) == (2, "pytest")


@pytest.mark.parametrize(("others", "known"), [(3, True), (4, False)])
def test_so_many_edited_files_are_remembered(others: int, known: bool) -> None:
    rework = Rework(ReworkSettings(kept=4))
    for name in ["first", *(f"other{n}" for n in range(others)), "first"]:
        rework.update(edit(name), -1)
    assert (rework.count == 2) is known


def test_of_two_files_edited_equally_often_the_last_is_told() -> None:
    rework = Rework(ReworkSettings())
    for name in ("a.py", "b.py", "a.py", "b.py"):
        rework.update(edit(name), -1)
    assert (rework.count, rework.subject) == (2, "b.py")


@pytest.mark.parametrize(("others", "again"), [(3, 1), (4, 0)])
def test_so_many_files_edited_since_the_prompt_are_remembered(others: int, again: int) -> None:
    churn = Churn(ChurnSettings(kept=4))
    for name in ["first", *(f"other{n}" for n in range(others)), "first"]:
        churn.update(edit(name), -1)
    assert churn._again == again


@pytest.mark.parametrize(("own", "going"), [(-1, True), (0, False), (9, True)])
def test_a_tool_that_never_counts_makes_no_churn(own: int, going: bool) -> None:
    churn = Churn(ChurnSettings(edits=2, failures=2, times=10))
    for event in (*[edit()] * 3, *[failure("make", "error")] * 2):
        churn.update(event, own)
    assert churn.going is going


@pytest.mark.parametrize(("others", "again"), [(3, 1), (4, 0)])
def test_so_many_files_read_are_remembered(others: int, again: int) -> None:
    reread = Reread(RereadSettings(kept=4))
    for name in ["first", *(f"other{n}" for n in range(others)), "first"]:
        reread.update(read(name, "text"), -1)
    assert reread.count == again


def test_what_burn_remembers_survives_a_dump_that_is_just_full() -> None:
    burn, again = Burn(BurnSettings(kept=16)), Burn(BurnSettings(kept=16))
    for number in range(16):
        burn.use(shell("ls", f"result {number}"), True)
    again.load(burn.dump())
    assert again.dump() == burn.dump()


def test_time_counts_from_an_event_at_the_very_beginning() -> None:
    burn = Burn(BurnSettings(pause=60.0))
    for at in (0.0, 10.0, 10.0):
        burn.turn(Turn(at=at, input_tokens=1))
    assert burn._seconds == 10.0


@pytest.mark.parametrize(
    ("usual", "seconds", "speed"),
    [
        ((0.0, 10.0), 1.0, 1.0),
        ((10.0, 0.0), 1.0, 1.0),
        ((10.0, 10.0), 0.0, 1.0),
        ((10.0, 10.0), 1.0, 2.0),
    ],
)
def test_without_tokens_or_time_to_compare_with_nothing_is_fast(
    usual: tuple[float, float], seconds: float, speed: float
) -> None:
    burn = Burn(BurnSettings(hurry=4.0))
    burn._usual, burn._seconds, burn.spent = usual, seconds, 2.0
    assert burn._speed() == speed


def test_a_detector_of_its_own_is_quiet_below_its_limit() -> None:
    for name, events, limit in (
        ("storm", [FAILS] * 4, 4),
        ("rework", [failure("make", "error"), *[edit()] * 4], 4),
    ):
        for times, told in ((limit - 1, True), (limit, True), (limit + 1, False)):
            detector = alone(name, times=max(2, times), **({"failures": 1} if name == "rework" else {}))
            loops = [detector.update(event) for event in timed(list(events))]
            assert any(loop is not None for loop in loops) is told
