"""When a loop is told, when again, when it is over, and what a person can turn."""

from __future__ import annotations

import pytest

from core.engine.response.loops import Loop, LoopDetector
from core.events import Event
from core.settings.declared import Invalid
from core.settings.loops import LoopSettings
from tests.core.engine.response.loop_events import edit, failure, poll, prompt, read, shell, timed, turn

FAILS = failure("pytest", "1 failed")
OTHER = read("a.py", "a")


def heard(events: list[Event], gap: float = 10.0, **tree: object) -> list[tuple[int, Loop]]:
    """Each loop told, with the number of its event, from 1."""
    detector = LoopDetector(LoopSettings.model_validate(tree))
    spoken = enumerate([detector.update(event) for event in timed(events, gap)], 1)
    return [(number, loop) for number, loop in spoken if loop is not None]


def test_a_growing_loop_is_told_each_time_it_doubled() -> None:
    loops = heard([FAILS] * 40)
    assert [number for number, _ in loops] == [4, 8, 16, 32]
    assert [loop.intensity for _, loop in loops] == [0.5, 0.75, 0.875, 0.9375]


def test_growth_is_a_setting() -> None:
    assert [number for number, _ in heard([FAILS] * 40, growth=4.0)] == [4, 16]


def test_a_loop_that_comes_back_soon_is_not_told_again() -> None:
    rounds: list[Event] = [event for n in range(3) for event in (*[OTHER] * 4, shell("ls", f"{n} files"))]
    assert [number for number, _ in heard(rounds)] == [4]
    assert [number for number, _ in heard(rounds, cooldown=30.0)] == [4, 9, 14]


def test_another_tool_in_a_loop_is_told_at_once() -> None:
    loops = heard([*[OTHER] * 4, *[shell("ls", "a.py")] * 4])
    assert [(number, loop.tool) for number, loop in loops] == [(4, "Read"), (8, "ls")]


def test_a_loop_began_with_its_first_call() -> None:
    events = timed([shell("ls", "x"), *[OTHER, FAILS] * 3])
    detector = LoopDetector(LoopSettings())
    loop = [detector.update(event) for event in events][-1]
    assert loop is not None
    assert loop.began_at == events[1].at


@pytest.mark.parametrize(
    ("loop", "end"),
    [
        ([FAILS] * 4, [OTHER]),
        ([failure("make", f"error {n}") for n in range(5)], [edit("a.py", "x", "y")]),
        ([failure("make", f"error {n}") for n in range(5)], [shell("make", "done")]),
        ([failure("make", f"error {n}") for n in range(5)], [read(f"{n}.py", f"{n}") for n in range(6)]),
        (
            [edit("a.py", "x", "y"), edit("a.py", "y", "x")] * 2,
            [read(f"{n}.py", f"{n}") for n in range(10)],
        ),
        ([turn(90_000)] * 12, [read("a.py", "new")]),
        ([turn(90_000)] * 12, [shell("make", "", purpose="build")]),
    ],
    ids=["another call", "an edit", "a success", "other work", "edits rest", "new result", "passing build"],
)
def test_a_loop_is_current_until_it_ends(loop: list[Event], end: list[Event]) -> None:
    detector = LoopDetector(LoopSettings())
    events = timed([*loop, *end])
    for event in events[:-1]:
        detector.update(event)
    assert detector.current is not None
    detector.update(events[-1])
    assert detector.current is None


def test_waiting_and_plans_neither_end_nor_grow_a_loop() -> None:
    detector = LoopDetector(LoopSettings())
    for event in timed([*[FAILS] * 4, *[poll("still running")] * 9]):
        detector.update(event)
    assert detector.current is not None
    assert detector.current.count == 4


def test_a_prompt_is_a_fresh_start() -> None:
    assert heard([*[FAILS] * 3, prompt("try once more"), *[FAILS] * 3]) == []
    assert [number for number, _ in heard([*[FAILS] * 3, *[FAILS] * 3])] == [4]


def test_a_prompt_in_the_same_words_is_none() -> None:
    nudged: list[Event] = [event for _ in range(5) for event in (prompt("go on"), FAILS)]
    assert [number for number, _ in heard(nudged)] == [8]


def test_a_burn_does_not_hide_a_plainer_loop() -> None:
    loops = heard([*[turn(90_000)] * 12, *[FAILS] * 4])
    assert [loop.detector for _, loop in loops] == ["burn", "exact"]


def test_limits_of_a_tool_and_of_a_program() -> None:
    assert [
        number
        for number, _ in heard(
            [FAILS] * 12, tools={"pytest": {"exact": 6, "failing": 0, "near": 0, "storm": 0}}
        )
    ] == [
        6,
        12,
    ]
    silent = {"Bash": {"exact": 0, "near": 0, "failing": 0, "storm": 0, "churn": 0}}
    assert heard([FAILS] * 50, tools=silent) == []
    assert [number for number, _ in heard([OTHER] * 4, tools=silent)] == [4]
    assert [number for number, _ in heard([OTHER] * 4, tools={"Read": {"exact": 2}})] == [2, 4]
    swapping = [edit("a.py", "x", "y"), edit("a.py", "y", "x")]
    assert [number for number, _ in heard([*swapping], tools={"Edit": {"oscillation": 1}})] == [2]
    assert heard([*swapping * 9], tools={"Edit": {"oscillation": 0, "exact": 0, "near": 0}}) == []
    spending: list[Event] = [
        e for n in range(20) for e in (turn(90_000), failure(f"x {n}", f"{n}", shape=f"{n}"))
    ]
    assert heard(spending)
    assert heard(spending, tools={"Bash": {"burn": 0, "storm": 0, "churn": 0}}) == []


def test_a_program_goes_before_its_tool() -> None:
    tools = {"Bash": {"exact": 2}, "pytest": {"exact": 3}}
    assert heard([FAILS] * 3, tools=tools)[0][0] == 3
    assert heard([shell("ls", "x")] * 3, tools=tools)[0][0] == 2


def test_a_longer_limit_for_one_call_is_not_undercut_by_pairs() -> None:
    assert heard([OTHER] * 9, exact={"single": 10}, near={"single": 10}) == []
    assert heard([OTHER] * 10, exact={"single": 10}, near={"single": 20})[0][0] == 10


def test_the_longest_round_is_a_setting() -> None:
    rounds: list[Event] = [read("a.py", "a"), read("b.py", "b"), read("c.py", "c")] * 3
    assert heard(rounds)
    assert heard(rounds, exact={"longest": 2}, near={"longest": 2}) == []


def test_spending_faster_than_usual_is_told_sooner() -> None:
    calm: list[Event] = [event for n in range(20) for event in (turn(5_000), read("a.py", f"{n}", str(n)))]
    burning: list[Event] = [turn(25_000)] * 20
    settings = LoopSettings()

    def told_after(before: list[Event]) -> int:
        detector = LoopDetector(settings)
        events = timed([*before, *burning])
        return next(n for n, event in enumerate(events) if detector.update(event)) - len(before)

    assert told_after(calm) < told_after([])


def test_tokens_from_the_cache_weigh_less() -> None:
    assert heard([turn(cached=90_000)] * 20) == []
    assert heard([turn(cached=90_000)] * 20, burn={"cached": 1.0})


def test_the_reading_says_how_near_each_detector_is() -> None:
    detector = LoopDetector(LoopSettings.model_validate({"near": {"enabled": False}}))
    for event in timed([*[FAILS] * 4, turn(1_000), turn(2_000)]):
        detector.update(event)
    reading = detector.read()
    assert reading.current == detector.current
    assert reading.current is not None
    assert reading.told == 1
    shown: dict[str, tuple[bool, int, int]] = {
        each.name: (each.enabled, each.count, each.limit) for each in reading.detectors
    }
    new = ("retest", "rework", "churn", "storm", "reread", "gave_up", "waiting")
    assert {name: shown.pop(name) for name in new} == {
        "retest": (True, 1, 10),
        "rework": (True, 0, 10),
        "churn": (True, 4, 17),
        "storm": (True, 4, 10),
        "reread": (True, 0, 13),
        "gave_up": (True, 4, 3),
        "waiting": (True, 0, 240),
    }
    assert shown == {
        "exact": (True, 4, 4),
        "failing": (True, 4, 5),
        "oscillation": (True, 0, 3),
        "near": (False, 0, 0),
        "burn": (True, 1_000, 400_000),
    }


def test_an_unknown_detector_or_limit_is_refused() -> None:
    for tools in ({"Bash": {"exactly": 3}}, {"Bash": {"exact": -1}}):
        with pytest.raises(Invalid):
            LoopSettings.model_validate({"tools": tools})
