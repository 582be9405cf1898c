"""What holds for the loop detectors whatever an agent does."""

from __future__ import annotations

import pickle
from typing import Any

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.response.loops import DETECTORS, LoopDetector
from core.errors import StateError
from core.events import Event
from core.settings.loops import DetectorName, LoopSettings
from tests.core.engine.response.loop_events import edit, failure, grep, poll, prompt, read, shell, timed, turn

DEEDS: tuple[Event, ...] = (
    failure("pytest", "1 failed"),
    failure("pytest", "2 failed"),
    failure("make", "error"),
    shell("ls", "a.py"),
    shell("git add .", ""),
    read("a.py", "a"),
    read("a.py", "b", "2"),
    grep("x", "No matches found", outcome="empty"),
    edit("a.py", "old", "new"),
    edit("a.py", "new", "old"),
    edit("a.py", "zzz", "y", outcome="failure", result="no match"),
    edit("b.py", "", "one"),
    edit("b.py", "", "two"),
    poll("still running"),
    turn(40_000),
    turn(100, 90_000),
    turn(),
    prompt("go on"),
)
EAGER = LoopSettings.model_validate(
    {
        "exact": {"single": 2, "rounds": 2},
        "near": {"single": 2, "rounds": 2, "edits": 2},
        "failing": {"times": 2, "kept": 4},
        "oscillation": {"flips": 1, "kept": 4},
        "burn": {"tokens": 30_000, "turns": 1, "kept": 16},
        "cooldown": 30.0,
    }
)
STREAMS = st.lists(st.sampled_from(DEEDS), max_size=60).map(timed)


def switched_off(*names: DetectorName) -> LoopSettings:
    tree: dict[str, Any] = EAGER.model_dump()
    for name in names:
        tree[name]["enabled"] = False
    return LoopSettings.model_validate(tree)


@settings(max_examples=150, deadline=None)
@given(STREAMS, STREAMS, st.booleans())
def test_a_loaded_detector_goes_on_as_the_dumped_one(
    before: list[Event], after: list[Event], eager: bool
) -> None:
    chosen = EAGER if eager else LoopSettings()
    first, second = LoopDetector(chosen), LoopDetector(chosen)
    for event in before:
        first.update(event)
    packed = cbor2.dumps(first.dump(), canonical=True)
    second.load(cbor2.loads(packed))
    assert cbor2.dumps(second.dump(), canonical=True) == packed
    assert second.current == first.current
    for event in after:
        assert second.update(event) == first.update(event)
        assert second.current == first.current
    assert second.dump() == first.dump()


@settings(max_examples=100, deadline=None)
@given(STREAMS)
def test_reading_changes_nothing_and_a_dump_is_a_copy(events: list[Event]) -> None:
    watched, alone = LoopDetector(EAGER), LoopDetector(EAGER)
    for event in events:
        kept = watched.dump()
        frozen = cbor2.dumps(kept, canonical=True)
        watched.read()
        assert watched.update(event) == alone.update(event)
        assert cbor2.dumps(kept, canonical=True) == frozen
    assert watched.dump() == alone.dump()


@settings(max_examples=100, deadline=None)
@given(STREAMS, st.sampled_from(DETECTORS))
def test_a_switched_off_detector_never_tells(events: list[Event], name: DetectorName) -> None:
    detector = LoopDetector(switched_off(name))
    for event in events:
        loop = detector.update(event)
        assert loop is None or loop.detector != name
        assert detector.current is None or detector.current.detector != name


@settings(max_examples=100, deadline=None)
@given(STREAMS)
def test_what_is_told_is_well_formed_and_current(events: list[Event]) -> None:
    detector = LoopDetector(EAGER)
    for event in events:
        loop = detector.update(event)
        if loop is not None:
            assert detector.current == loop
            assert 0.5 <= loop.intensity < 1.0
            assert loop.count >= 1
            assert loop.began_at <= event.at


def test_every_detector_tells_on_random_streams() -> None:
    """The properties above speak of something: with eager settings each detector is heard."""
    heard: set[str] = set()
    for name in DETECTORS:
        others: list[DetectorName] = [other for other in DETECTORS if other != name]
        detector = LoopDetector(switched_off(*others))
        for event in timed([deed for deed in DEEDS for _ in range(3)] + list(DEEDS) * 2):
            loop = detector.update(event)
            if loop is not None:
                heard.add(loop.detector)
    assert heard >= {"exact", "failing", "oscillation", "near", "burn"}


def test_memory_stays_bounded() -> None:
    def size_after(count: int) -> int:
        detector = LoopDetector(LoopSettings())
        for event in timed(
            deed
            for n in range(count)
            for deed in (
                turn(1000),
                failure(f"tool{n}", f"error {n}"),
                edit(f"{n}.py", f"x{n}", "", outcome="failure"),
                read(f"{n}.py", f"text {n}"),
                failure("one", f"error {n}", shape=f"one {n % 99}"),
            )
        ):
            detector.update(event)
        return len(pickle.dumps(detector.dump()))

    def edited(count: int) -> int:
        detector = LoopDetector(LoopSettings())
        for event in timed(edit(f"{n}.py", "" if n % 2 else f"x{n}", f"y{n}") for n in range(count)):
            detector.update(event)
        return len(pickle.dumps(detector.dump()))

    assert size_after(6_000) < size_after(1_500) * 1.1
    assert edited(6_000) < edited(1_500) * 1.1


def test_the_same_words_in_other_settings_are_taken_over() -> None:
    """A dump goes into detectors with other limits: shorter memories keep the newest."""
    first = LoopDetector(LoopSettings())
    for event in timed([*(failure(f"tool{n}", "error") for n in range(20)), *DEEDS]):
        first.update(event)
    second = LoopDetector(EAGER)
    second.load(first.dump())
    assert len(second.dump()["parts"]["failing"][0]) <= 4
    partial = LoopDetector(switched_off("exact", "burn"))
    partial.load(first.dump())
    assert set(partial.dump()["parts"]) == set(DETECTORS) - {"exact", "burn"}


@pytest.mark.parametrize("state", [None, {}, {"parts": {}}, {"parts": {"exact": 3}, "active": None}])
def test_a_foreign_dump_is_refused(state: Any) -> None:
    with pytest.raises(StateError):
        LoopDetector(LoopSettings()).load(state)


@pytest.mark.parametrize("name", DETECTORS)
def test_a_broken_part_of_a_dump_is_refused(name: str) -> None:
    detector = LoopDetector(LoopSettings())
    state = detector.dump()
    state["parts"][name] = (1, 2)
    with pytest.raises(StateError):
        detector.load(state)
