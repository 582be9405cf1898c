"""Getting nowhere without making the same call again."""

from __future__ import annotations

from collections.abc import Sequence

import cbor2
import pytest

from core.engine.response.loops import Loop, LoopDetector
from core.events import Event, Outcome, Prompt, Purpose, ToolUse, Turn
from core.settings.loops import LoopSettings

STALLS = ("retest", "rework", "churn", "storm", "reread", "gave_up", "waiting")
OFF = {name: {"enabled": False} for name in ("exact", "near", "failing", "oscillation", "burn")}


def alone(name: str, **figures: int) -> LoopDetector:
    """Only one detector, with figures of its own."""
    others = {other: {"enabled": False} for other in STALLS if other != name}
    settings = LoopSettings.model_validate({**OFF, **others, name: figures})
    return LoopDetector(settings, frozenset(("end_turn",)))


def edit(path: str = "src/a.py") -> ToolUse:
    return ToolUse(at=0.0, action="file_edit", tool="Edit", targets=(path,))


def run(outcome: Outcome = "failure", result: int = 7, purpose: Purpose = "test") -> ToolUse:
    return ToolUse(
        at=0.0,
        action="shell_exec",
        tool="Bash",
        program="npm",
        outcome=outcome,
        result=result,
        shape=5,
        purpose=purpose,
    )


def look(result: int = 3) -> ToolUse:
    return ToolUse(at=0.0, action="file_read", tool="Read", targets=("src/a.py",), result=result)


END = Turn(at=0.0, stop="end_turn")
STORIES: dict[str, tuple[int, Sequence[Event], str]] = {
    "retest": (4, [run(), edit()], "npm failed 4 times, 3 edits between, same error"),
    "rework": (
        4,
        [run(), edit()],
        "a.py edited 4 times, 4 failures and no test or build passed between",
    ),
    "churn": (5, [run(), look()], "5 failures without a check that passed"),
    "storm": (8, [run()], "8 calls in a row failed"),
    "reread": (5, [look()], "files read again 5 times, nothing edited or run between, last Read on a.py"),
    "waiting": (6, [run("success", 9, "wait")], "waited 6 times with npm, nothing changed"),
}


@pytest.mark.parametrize("name", STORIES)
def test_each_is_told_as_a_fact_and_not_one_call_before(name: str) -> None:
    limit, story, fact = STORIES[name]
    detector = alone(name, times=limit)
    told: list[Loop | None] = []
    for _ in range(limit + 1):
        told += [detector.update(event) for event in story]
    heard = [loop for loop in told if loop is not None]
    assert heard[0].what == fact
    assert (heard[0].detector, heard[0].count) == (name, limit)
    sooner = alone(name, times=limit + 1)
    first = told.index(heard[0])
    events = [event for _ in range(limit + 1) for event in story][: first + 1]
    assert [sooner.update(event) for event in events] == [None] * (first + 1)


@pytest.mark.parametrize(
    ("name", "relief"),
    [
        ("retest", run("success")),
        ("rework", run("success")),
        ("storm", look()),
        ("reread", edit()),
        ("waiting", run("success", 10, "wait")),
    ],
)
def test_what_goes_well_is_a_fresh_start(name: str, relief: ToolUse) -> None:
    limit, story, _ = STORIES[name]
    detector = alone(name, times=limit)
    events = [*list(story) * (limit - 1), relief, *list(story) * (limit - 1)]
    assert [detector.update(event) for event in events] == [None] * len(events)


@pytest.mark.parametrize(("edits", "failures", "told"), [(4, 2, True), (3, 2, False), (4, 1, False)])
def test_editing_again_counts_only_beside_failures(edits: int, failures: int, told: bool) -> None:
    detector = alone("churn", times=9, edits=3, failures=2)
    events = [*[run()] * failures, *[edit()] * edits]
    heard = [loop for event in events if (loop := detector.update(event)) is not None]
    assert [loop.what for loop in heard] == (
        ["2 failures and 3 re-edits without a check that passed"] if told else []
    )


def test_other_tools_failing_do_not_tell_it_again() -> None:
    detector = alone("churn", times=3)
    events = [ToolUse(at=0.0, action="other", tool=f"tool{n % 3}", outcome="failure") for n in range(5)]
    assert [detector.update(event) is not None for event in events] == [False, False, True, False, False]


def test_a_prompt_ends_the_count() -> None:
    detector = alone("churn", times=3)
    events: list[Event] = [run(), run(), Prompt(at=0.0, characters=5, call=1), run(), run()]
    assert [detector.update(event) for event in events] == [None] * 5


def test_giving_up_is_a_final_answer_after_failures() -> None:
    detector = alone("gave_up", times=3)
    for event in (run(), edit(), run()):
        assert detector.update(event) is None
    assert detector.update(END) is None
    assert detector.update(run()) is None
    told = detector.update(END)
    assert told is not None
    assert told.what == "ended after 3 failures with nothing run that passed since"


def test_who_passes_in_the_end_did_not_give_up() -> None:
    detector = alone("gave_up", times=3)
    for event in (run(), run(), run(), run("success")):
        detector.update(event)
    assert detector.update(END) is None


def test_a_file_shown_again_is_not_read_again() -> None:
    detector = alone("reread", times=2)
    assert [detector.update(look(number)) for number in range(1, 20)] == [None] * 19


@pytest.mark.parametrize("name", [*STORIES, "gave_up"])
@pytest.mark.parametrize("cut", [0, 1, 3, 6])
def test_a_loaded_dump_goes_on_as_the_original(name: str, cut: int) -> None:
    events: list[Event] = [
        edit(),
        run(),
        look(),
        look(),
        run("success", 9, "wait"),
        run("success", 9, "wait"),
        run(),
        END,
    ] * 3
    one, other = alone(name, times=2), alone(name, times=2)
    for event in events[:cut]:
        one.update(event)
    other.load(cbor2.loads(cbor2.dumps(one.dump())))
    for event in events[cut:]:
        assert one.update(event) == other.update(event)
    assert one.dump() == other.dump()


@pytest.mark.parametrize("name", STORIES)
def test_each_has_a_switch(name: str) -> None:
    limit, story, _ = STORIES[name]
    settings = LoopSettings.model_validate({**OFF, **{each: {"enabled": False} for each in STALLS}})
    detector = LoopDetector(settings)
    assert all(detector.update(event) is None for _ in range(limit + 2) for event in story)
