"""What each loop detector counts, when a loop is announced, when it ends, and that its state is complete."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.registry import make_kit
from core.engine.response.loops import DETECTORS, Loop, LoopDetector
from core.errors import StateError
from core.events import Event, Turn
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings.group import Invalid
from core.settings.response import DetectorName, LoopSettings
from core.timeline.evaluation import labelled_run, sources
from tests.core.engine.response.loop_events import edit, failure, grep, poll, prompt, read, shell, timed, turn

FAILS = failure("pytest", "1 failed")
READS = read("a.py", "a")
PASSES = shell("pytest", "3 passed", purpose="test")
FLIP: list[Event] = [edit("a.py", "x", "y"), edit("a.py", "y", "x")]
ALONE: dict[DetectorName, dict[str, Any]] = {
    name: {other: {"enabled": False} for other in DETECTORS if other != name} for name in DETECTORS
}


def failures(number: int) -> list[Event]:
    """Failures that differ from each other."""
    return [failure(f"tool{place}", f"error {place}") for place in range(number)]


def reworked(edits: int, failed: int = 2) -> list[Event]:
    """Edits of one file edited before, after some failures."""
    return [edit("a.py", "0", "1"), *failures(failed), *(edit("a.py", f"{n}", f"{n}b") for n in range(edits))]


def retested(number: int) -> list[Event]:
    """A command that fails again after each edit, each time in another way."""
    pairs = [(edit(f"{n}.py", "x", "y"), failure("make", f"error {n}")) for n in range(number)]
    return [event for pair in pairs for event in pair]


def stalled(number: int) -> list[Event]:
    """A full window of which so many calls bring nothing new."""
    news = [read(f"{n}.py", f"text {n}") for n in range(20)]
    return [*news[: 20 - number + 10], *(news[n % 10] for n in range(number))]


def unmoved(number: int, failed: int = 2) -> list[Event]:
    """An edit, then so many calls, each new, of which some fail."""
    return [edit("a.py", "0", "1"), *failures(failed), *(read(f"{n}.py", f"{n}") for n in range(number - failed))]


COUNTED: dict[DetectorName, tuple[Callable[[int], list[Event]], int]] = {
    "repeat": (lambda number: [READS] * number, 6),
    "failing": (failures, 12),
    "oscillation": (lambda number: (FLIP * 9)[: number + 1], 3),
    "retest": (retested, 8),
    "rework": (reworked, 8),
    "stalled": (stalled, 16),
    "no_progress": (unmoved, 36),
}
"""For each detector a stream that reaches a count, and the limit."""


def announced(events: list[Event], gap: float = 10.0, **tree: object) -> list[tuple[int, Loop]]:
    """Each loop announced, with the number of its event, from 1."""
    detector = LoopDetector(LoopSettings.parse(tree))
    loops = enumerate([detector.update(event) for event in timed(events, gap)], 1)
    return [(number, loop) for number, loop in loops if loop is not None]


def current_after(events: list[Event], **tree: object) -> Loop | None:
    detector = LoopDetector(LoopSettings.parse(tree), frozenset(("end_turn",)))
    for event in timed(events):
        detector.update(event)
    return detector.current


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("beside", [-1, 0, 1])
def test_a_loop_begins_at_its_limit(name: DetectorName, beside: int) -> None:
    stream, limit = COUNTED[name]
    loop = current_after(stream(limit + beside), **ALONE[name])
    assert (loop is not None) is (beside >= 0)
    if loop is not None:
        assert (loop.detector, loop.count) == (name, limit + beside)
        assert 0.5 <= loop.intensity < 1.0 and loop.what


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("repeat", [shell("ls", "other")]),
        ("failing", [edit("b.py", "x", "y")]),
        ("failing", [PASSES]),
        ("failing", [read(f"{n}.py", f"{n}") for n in range(10)]),
        ("oscillation", [read(f"{n}.py", f"{n}") for n in range(10)]),
        ("oscillation", [PASSES]),
        ("retest", [shell("make", "done")]),
        ("retest", [shell("git commit", "1 file changed", purpose="commit")]),
        ("rework", [PASSES]),
        ("rework", [edit("new.py", "", "x")]),
        ("stalled", [read("never.py", "seen")]),
        ("stalled", [edit("a.py", "p", "q")]),
        ("no_progress", [PASSES]),
        ("no_progress", [edit("b.py", "p", "q")]),
        *((name, [prompt("try something else")]) for name in DETECTORS),
        *((name, [Turn(at=0.0, stop="end_turn")]) for name in DETECTORS),
    ],
)
def test_a_loop_ends_when_its_condition_ends(name: DetectorName, end: list[Event]) -> None:
    stream, limit = COUNTED[name]
    events = stream(limit)
    assert current_after([*events, *end[:-1]], **ALONE[name]) is not None
    assert current_after([*events, *end], **ALONE[name]) is None


def test_a_loop_that_ended_by_a_passing_check_counts_from_nothing() -> None:
    assert current_after([*failures(12), PASSES, *failures(11)], **ALONE["failing"]) is None
    assert current_after([*reworked(8), PASSES, *reworked(6)], **ALONE["rework"]) is None


def test_a_new_file_settles_rework_until_something_fails_again() -> None:
    events = [*reworked(8), edit("new.py", "", "x")]
    assert current_after(events, **ALONE["rework"]) is None
    assert current_after([*events, *failures(1)], **ALONE["rework"]) is not None


@pytest.mark.parametrize("event", [poll("still running"), grep("x", "", outcome="pending")])
def test_waiting_and_open_calls_are_ignored(event: Event) -> None:
    loop = current_after([*[READS] * 6, *[event] * 9])
    assert loop is not None and loop.count == 6


def test_a_result_the_log_does_not_give_is_not_a_stall() -> None:
    assert current_after([shell(f"ls {n}") for n in range(40)], **ALONE["stalled"]) is None


def test_the_same_check_with_another_answer_is_news() -> None:
    events: list[Event] = [failure("pytest", f"{n % 2} failed", purpose="test") for n in range(40)]
    assert current_after(events, **ALONE["stalled"]) is None
    again: list[Event] = [failure("pytest", "1 failed", purpose="test")] * 40
    assert current_after(again, **ALONE["stalled"]) is not None


def test_reading_for_long_is_no_lack_of_progress() -> None:
    alone = ALONE["no_progress"]
    assert current_after(unmoved(60, failed=1), **alone) is None
    assert current_after(unmoved(60)[1:], **alone) is None, "nothing was edited"
    assert current_after([*unmoved(30), edit("b.py", "p", "q"), *unmoved(30)[1:]], **alone) is None


def test_a_loop_of_many_tools_is_announced_once() -> None:
    again: list[Event] = [read("0.py", "text 0"), grep("x", "text 1"), shell("cat 2.py", "text 2")]
    assert len(announced([*stalled(16), *again * 3], **ALONE["stalled"])) == 1
    assert len(announced([*unmoved(36), grep("x", "found"), shell("ls", "c.py")], **ALONE["no_progress"])) == 1
    assert [number for number, _ in announced(failures(30), **ALONE["failing"])] == [12, 24]


def test_rounds_of_several_calls_are_one_loop() -> None:
    rounds: list[Event] = [read("a.py", "a"), read("b.py", "b"), read("c.py", "c")] * 4
    number, loop = announced(rounds)[0]
    assert (number, loop.period, loop.count) == (12, 3, 4)
    assert loop.began_at == timed(rounds)[0].at
    assert announced(rounds, repeat={"longest": 2}) == []


def test_a_growing_loop_is_announced_each_time_it_doubled() -> None:
    loops = announced([READS] * 50, **ALONE["repeat"])
    assert [number for number, _ in loops] == [6, 12, 24, 48]
    assert [loop.intensity for _, loop in loops] == [0.5, 0.75, 0.875, 0.9375]
    assert [number for number, _ in announced([READS] * 50, growth=4.0, **ALONE["repeat"])] == [6, 24]


def test_a_loop_that_comes_back_soon_is_not_announced_again() -> None:
    rounds: list[Event] = [event for n in range(3) for event in (*[READS] * 6, shell("ls", f"{n} files"))]
    assert [number for number, _ in announced(rounds)] == [6]
    assert [number for number, _ in announced(rounds, cooldown=30.0)] == [6, 13, 20]


def test_a_prompt_in_the_same_words_comes_from_a_program() -> None:
    nudged: list[Event] = [event for _ in range(7) for event in (prompt("go on"), READS)]
    assert [number for number, _ in announced(nudged)] == [12]
    fresh: list[Event] = [event for n in range(7) for event in (prompt(f"go on {n}"), READS)]
    assert announced(fresh) == []


def test_limits_of_a_tool_and_of_a_program() -> None:
    limits = {"Bash": {"repeat": 2}, "pytest": {"repeat": 3}, "Read": {"repeat": 0, "stalled": 0}}
    assert announced([FAILS] * 3, tools=limits)[0][0] == 3
    assert announced([shell("ls", "x")] * 3, tools=limits)[0][0] == 2
    assert announced([READS] * 50, tools=limits) == []
    for tools in ({"Bash": {"exactly": 3}}, {"Bash": {"repeat": -1}}):
        with pytest.raises(Invalid):
            LoopSettings.parse({"tools": tools})


@pytest.mark.parametrize("patience", [-2, 0, 2])
def test_patience_moves_the_limit_of_repeats_and_failures(patience: int) -> None:
    for name in ("repeat", "failing"):
        stream, limit = COUNTED[name]
        detector = LoopDetector(LoopSettings.parse(ALONE[name]))
        loops = [detector.update(event, patience) is not None for event in timed(stream(limit + 2))]
        assert loops.index(True) + 1 == limit + (patience if name == "repeat" else max(0, patience))


def test_the_reading_says_how_far_each_detector_is() -> None:
    detector = LoopDetector(LoopSettings.parse({"retest": {"enabled": False}}))
    for event in timed([FAILS] * 6):
        detector.update(event)
    reading = detector.read()
    assert reading.current == detector.current is not None
    assert reading.alarms == 1
    shown = {row.name: (row.enabled, row.count, row.limit) for row in reading.detectors}
    assert shown == {
        "repeat": (True, 6, 6),
        "failing": (True, 6, 12),
        "oscillation": (True, 0, 3),
        "retest": (False, 0, 0),
        "rework": (True, 0, 8),
        "stalled": (True, 6, 16),
        "no_progress": (True, 0, 36),
    }


CALLS: tuple[Event, ...] = (
    FAILS,
    failure("make", "error"),
    shell("ls", "a.py"),
    shell("git add .", ""),
    PASSES,
    READS,
    read("a.py", "b", "2"),
    grep("x", "No matches found", outcome="empty"),
    *FLIP,
    edit("a.py", "zzz", "y", outcome="failure", result="no match"),
    edit("b.py", "", "one"),
    edit("b.py", "", "two"),
    poll("still running"),
    turn(40_000),
    prompt("go on"),
)
EAGER: dict[str, Any] = {
    "repeat": {"times": 2, "rounds": 2},
    "failing": {"times": 2},
    "oscillation": {"flips": 1, "kept": 4},
    "retest": {"times": 2, "kept": 4},
    "rework": {"times": 2, "failures": 0, "kept": 4},
    "stalled": {"times": 2, "window": 4, "kept": 16},
    "no_progress": {"times": 2, "troubles": 0, "kept": 4},
    "cooldown": 30.0,
}
STREAMS = st.lists(st.sampled_from(CALLS), max_size=60).map(timed)


def eager(*off: DetectorName) -> LoopSettings:
    return LoopSettings.parse(EAGER | {name: {"enabled": False} for name in off})


@settings(max_examples=150, deadline=None)
@given(STREAMS, STREAMS, st.booleans())
def test_a_loaded_detector_continues_like_the_dumped_one(
    before: list[Event], after: list[Event], hurried: bool
) -> None:
    chosen = eager() if hurried else LoopSettings()
    first, second = LoopDetector(chosen), LoopDetector(chosen)
    for event in before:
        first.update(event)
    packed = cbor2.dumps(first.dump(), canonical=True)
    second.load(cbor2.loads(packed))
    assert cbor2.dumps(second.dump(), canonical=True) == packed
    for event in after:
        assert second.current == first.current
        dump = second.dump()
        frozen = cbor2.dumps(dump, canonical=True)
        second.read()
        assert second.update(event) == first.update(event)
        assert cbor2.dumps(dump, canonical=True) == frozen
    assert second.dump() == first.dump()


@settings(max_examples=100, deadline=None)
@given(STREAMS, st.sampled_from(DETECTORS))
def test_an_announced_loop_is_current_and_its_detector_is_on(events: list[Event], name: DetectorName) -> None:
    detector = LoopDetector(eager(name))
    for event in events:
        loop = detector.update(event)
        if loop is not None:
            assert detector.current == loop
            assert loop.detector != name
            assert 0.5 <= loop.intensity < 1.0
            assert loop.began_at <= event.at


def test_memory_stays_bounded_and_smaller_settings_keep_the_newest() -> None:
    def after(number: int) -> LoopDetector:
        detector = LoopDetector(LoopSettings())
        for place in range(number):
            name = f"{place}.py"
            calls = (failure(f"tool{place}", name), edit(name, "", name), read(name, name), *FLIP)
            for event in timed(calls):
                detector.update(event)
        return detector

    large, small = after(3_000), after(900)
    assert len(pickle.dumps(large.dump())) < 1.1 * len(pickle.dumps(small.dump()))
    fewer = LoopDetector(eager("repeat"))
    fewer.load(large.dump())
    assert set(fewer.dump()["parts"]) == set(DETECTORS) - {"repeat"}
    assert len(pickle.dumps(fewer.dump())) < len(pickle.dumps(large.dump())) / 2


@pytest.mark.parametrize("state", [None, {}, {"parts": {}}, {"parts": {"repeat": 3}, "active": None}])
def test_a_foreign_dump_is_refused(state: Any) -> None:
    with pytest.raises(StateError):
        LoopDetector(LoopSettings()).load(state)


def has_loop(events: list[Event]) -> bool:
    detectors: dict[str, LoopDetector] = {}
    return any(detectors.setdefault(event.agent, LoopDetector(LoopSettings())).update(event) for event in events)


def test_alarms_on_labelled_runs_are_mostly_right_and_rare_on_good_ones(shared_data: Path) -> None:
    kit = make_kit()
    runs = {True: 0, False: 0}
    alarms = {True: 0, False: 0}
    for source in sources([shared_data / "labelled_runs" / "dev.jsonl.gz"]):
        run = labelled_run(source, kit)
        assert not isinstance(run, str)
        runs[run.resolved] += 1
        alarms[run.resolved] += has_loop(run.events)
    assert runs[False] > runs[True] > 400
    assert alarms[True] / runs[True] <= 0.04
    assert alarms[False] / runs[False] >= 0.2
    assert alarms[False] / (alarms[False] + alarms[True]) >= 0.96


def test_everyday_sessions_hardly_alarm(shared_data: Path) -> None:
    kit = make_kit()
    found = sessions([shared_data / "real_sessions"], kit)
    assert len(found) >= 10
    assert sum(has_loop(list(read_session(session, kit))) for session in found) <= len(found) / 10
