"""What the governor is told of a tool use, and why."""

from __future__ import annotations

import cbor2
import pytest
from msgspec.structs import replace

from core.engine.governor.governor import Governor, Inputs
from core.engine.percept import Pattern
from core.errors import StateError
from core.events import Action, Outcome, Purpose, SessionStart, ToolUse
from core.settings.governor import GovernorSettings, InputSettings
from tests.core.engine.governor.events import call, feed


@pytest.fixture
def inputs() -> Inputs:
    """Inputs of a first prompt."""
    return Inputs(InputSettings())


@pytest.mark.parametrize(
    ("action", "outcome", "purpose", "reward", "cause"),
    [
        ("shell_exec", "success", "test", 1.0, "tests passed"),
        ("shell_exec", "success", "build", 1.0, "build passed"),
        ("shell_exec", "success", "commit", 1.0, "committed"),
        ("file_edit", "success", "", 0.5, "edit succeeded"),
        ("memory_write", "success", "", 0.5, "edit succeeded"),
        ("shell_exec", "success", "", 0.4, "command ran"),
        ("shell_exec", "empty", "", 0.4, "command ran"),
        ("delegation", "success", "", 0.4, "sub-agent returned"),
        ("file_read", "success", "", 0.3, "found something"),
        ("search", "success", "", 0.3, "found something"),
        ("plan", "success", "", 0.1, "took a note"),
        ("other", "success", "", 0.1, "took a note"),
        ("shell_exec", "success", "wait", 0.05, "waited"),
        ("shell_exec", "failure", "", -0.5, "failed"),
        ("shell_exec", "failure", "test", -0.5, "failed"),
        ("shell_exec", "failure", "wait", -0.5, "failed"),
        ("search", "empty", "", -0.1, "found nothing"),
        ("file_edit", "rejected", "", -0.2, "was refused"),
    ],
)
def test_reward_follows_outcome_and_progress(
    inputs: Inputs, action: Action, outcome: Outcome, purpose: Purpose, reward: float, cause: str
) -> None:
    derived = inputs.derive(call(1, action, outcome, purpose), 0.5, "exploration", 0.0)
    assert derived[0] == reward
    assert inputs.read()[0] == ("reward", reward, cause)


def test_success_while_implementing_counts_more(inputs: Inputs) -> None:
    patterns: tuple[Pattern, Pattern] = ("exploration", "implementation")
    plain, building = (
        inputs.derive(call(number, "file_edit"), 0.5, pattern, 0.0)[0] for number, pattern in enumerate(patterns, 1)
    )
    assert building == plain + 0.1


@pytest.mark.parametrize(("novelty", "cause"), [(1.0, "new of its kind"), (0.5, "seen before"), (0.1, "well known")])
def test_novelty_is_handed_through(inputs: Inputs, novelty: float, cause: str) -> None:
    assert inputs.derive(call(1), novelty, "exploration", 0.0)[1] == novelty
    assert inputs.read()[1] == ("novelty", novelty, cause)


def test_the_same_call_with_the_same_result_is_a_loop(inputs: Inputs) -> None:
    seen = [inputs.derive(call(1), 0.5, "exploration", 0.0) for _ in range(6)]
    assert [signals[2] for signals in seen] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    assert [signals[0] for signals in seen] == [0.4] + [-0.2] * 5
    assert [signals[3] for signals in seen] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    assert inputs.read()[2].cause == "same call and result x6"


@pytest.mark.parametrize(
    ("action", "shape", "urgency"), [("search", 7, 0.25), ("shell_exec", 7, 0.25), ("file_edit", 7, 0.0)]
)
def test_near_duplicates_loop_unless_they_write(inputs: Inputs, action: Action, shape: int, urgency: float) -> None:
    inputs.derive(call(1, action, shape=shape, result=9), 0.5, "exploration", 0.0)
    assert inputs.derive(call(2, action, shape=shape, result=9), 0.5, "exploration", 0.0)[2] == urgency


@pytest.mark.parametrize("results", [(1, 2, 3), (0, 0, 0)])
def test_other_or_blank_results_are_no_loop(inputs: Inputs, results: tuple[int, ...]) -> None:
    for result in results:
        assert inputs.derive(call(1, result=result), 0.5, "exploration", 0.0)[2] == 0.0


def test_waiting_is_no_loop(inputs: Inputs) -> None:
    for _ in range(20):
        signals = inputs.derive(call(1, purpose="wait"), 0.5, "exploration", 0.0)
        assert signals == (0.05, 0.5, 0.0, 0.0, 0.0)


def test_a_repeat_is_forgotten_beyond_the_window() -> None:
    inputs = Inputs(InputSettings(loop_window=3))
    for number in (1, 2, 3, 4, 1):
        assert inputs.derive(call(number), 0.5, "exploration", 0.0)[2] == 0.0


def test_difficulty_follows_the_failure_streak(inputs: Inputs) -> None:
    outcomes: list[Outcome] = ["failure", "failure", "rejected", "failure", "success", "failure"]
    seen = [
        inputs.derive(call(number, outcome=outcome), 0.5, "trial_error", 0.0)[3]
        for number, outcome in enumerate(outcomes, 1)
    ]
    assert seen == [0.25, 0.5, 0.5, 0.75, 0.0, 0.25]
    assert inputs.read()[3].cause == "1 in a row without progress"


def test_a_bad_window_is_difficult_even_without_a_streak(inputs: Inputs) -> None:
    assert inputs.derive(call(1), 0.5, "trial_error", 0.8)[3] == pytest.approx(0.4)
    assert inputs.read()[3].cause == "80% of commands failed"


@pytest.mark.parametrize(("gap", "urgency"), [(-1.0, 0.0), (0.0, 0.3), (60.0, 0.15), (540.0, 0.03)])
def test_prompts_in_quick_succession_press(inputs: Inputs, gap: float, urgency: float) -> None:
    inputs.open(gap)
    assert inputs.derive(call(1), 0.5, "exploration", 0.0)[2] == pytest.approx(urgency)


def test_an_interruption_presses_until_the_next_prompt(inputs: Inputs) -> None:
    inputs.interrupt()
    assert inputs.derive(call(1), 0.5, "exploration", 0.0)[2] == pytest.approx(0.2)
    assert inputs.read()[2].cause == "interrupted x1"
    inputs.open(-1.0)
    assert inputs.derive(call(2), 0.5, "exploration", 0.0)[2] == 0.0


def test_loaded_inputs_go_on_as_the_dumped_ones(inputs: Inputs) -> None:
    largest = (1 << 64) - 1
    inputs.open(12.5)
    inputs.interrupt()
    for number in (1, largest, 1, 3):
        inputs.derive(call(number, outcome="failure"), 0.5, "exploration", 0.25)
    other = Inputs(InputSettings())
    other.load(cbor2.loads(cbor2.dumps(inputs.dump(), canonical=True)))
    assert other.dump() == inputs.dump()
    assert other.read() == inputs.read()
    for number in (largest, 3, 9):
        one, two = (it.derive(call(number), 0.1, "exploration", 0.5) for it in (inputs, other))
        assert one == two
    assert other.dump() == inputs.dump()


def test_foreign_inputs_are_refused(inputs: Inputs) -> None:
    with pytest.raises(StateError):
        inputs.load((1, 2, 3))


@pytest.mark.parametrize(
    ("event", "danger"),
    [
        (call(1, purpose="destructive"), 1.0),
        (call(1, purpose="destructive", outcome="rejected"), 0.0),
        (replace(call(1), program="sudo"), 0.5),
        (replace(call(1, "file_edit"), targets=("/etc/hosts",)), 0.3),
        (replace(call(1, "file_edit"), targets=("src/a.py", "~/.profile")), 0.3),
        (replace(call(1, "file_edit"), targets=("src/a.py",)), 0.0),
        (replace(call(1, "file_read"), targets=("/etc/hosts",)), 0.0),
    ],
)
def test_danger_is_what_destroys_needs_rights_or_leaves_the_project(
    inputs: Inputs, event: ToolUse, danger: float
) -> None:
    assert inputs.derive(event, 0.5, "exploration", 0.0)[4] == danger
    assert inputs.read()[4].value == danger


def test_without_a_project_no_path_is_outside_of_it() -> None:
    governor = Governor(GovernorSettings())
    edit = replace(call(1, "file_edit"), targets=("/work/app/main.py",))
    for project, danger in (("", 0.0), ("/work/other", 0.3)):
        feed(governor, SessionStart(at=0.0, session="s", tool="x", project=project), edit)
        assert governor.read().inputs[4].value == danger
    feed(governor, SessionStart(at=0.0, session="s", tool="x"))
    other = Governor(GovernorSettings())
    other.load(governor.dump())
    feed(other, edit)
    assert other.read().inputs[4].cause == "nothing dangerous"
