"""The axes mean what they are called, in the engine and on the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import asdict

from core.engine.percept import CHANGES
from core.engine.society.engine import Engine
from core.engine.values import fingerprint
from core.events import Action, Outcome, Prompt, Purpose, ToolUse
from core.settings import Settings
from core.settings.group import fields_of
from core.settings.receptor import Impulse
from tui.cli import main

START = 1_767_261_600.0
GAPS = (5, 10, 20, 30, 60, 120)
ROUGH = {"crisis", "turbulence"}


class Act(NamedTuple):
    """One call as an agent makes it, for an event and for a line of a log."""

    action: Action
    outcome: Outcome
    tool: str
    arguments: dict[str, Any]
    answer: str

    def event(self, at: float) -> ToolUse:
        target = str(self.arguments.get("file_path", ""))
        purpose: Purpose = "test" if self.tool == "Bash" else ""
        return ToolUse(
            at=at,
            action=self.action,
            outcome=self.outcome,
            tool=self.tool,
            targets=(target,) if target else (),
            purpose=purpose,
            call=fingerprint(json.dumps(self.arguments)),
            result=fingerprint(self.answer),
        )


def edit(number: int) -> Act:
    arguments = {"file_path": "/p/src/a.py", "old_string": f"x = {number}", "new_string": f"x = {number + 1}"}
    return Act("file_edit", "success", "Edit", arguments, "The file /p/src/a.py has been updated.")


def run(*, passes: bool, command: str = "pytest -q") -> Act:
    answer = "22 passed in 1.2s" if passes else "Exit code 1\nFAILED tests/test_a.py::test_x - assert 1 == 2"
    return Act("shell_exec", "success" if passes else "failure", "Bash", {"command": command}, answer)


def read(number: int) -> Act:
    arguments = {"file_path": f"/p/part{number % 7}/file{number}.py"}
    return Act("file_read", "success", "Read", arguments, f"     1\tvalue = {number}")


def loop(acts: int, first_pass: int = 10_000) -> list[Act]:
    """Edits and test runs in turn; runs from `first_pass` on pass."""
    return [run(passes=number >= first_pass) if number % 2 else edit(number) for number in range(acts)]


READS = [read(number) for number in range(30)]
FAILURES = [run(passes=False, command=f"make target{number}") for number in range(40)]
MIXED = [
    *(read(0), read(1), edit(0), run(passes=True), read(2)),
    *(edit(1), run(passes=True), read(3), edit(2), run(passes=True)),
]


class Moment(NamedTuple):
    """The model after one act."""

    state: str
    regimes: set[str]
    """Of the mind and as the story says it."""
    signals: set[str]
    looping: bool
    frustration: float


def play(acts: Sequence[Act], gap: float) -> list[Moment]:
    engine = Engine(Settings())
    engine.step(Prompt(at=START, characters=40))
    moments = []
    for number, act in enumerate(acts, 1):
        step = engine.step(act.event(START + number * gap))
        moments.append(
            Moment(
                step.percept.state,
                {step.thought.regime, engine.story(step).regime},
                {signal.name for signal in step.percept.signals},
                engine.response.loops.current is not None,
                step.percept.axes[0],
            )
        )
    return moments


def all_signals(moments: Sequence[Moment]) -> set[str]:
    return set().union(*(moment.signals for moment in moments))


def all_regimes(moments: Sequence[Moment]) -> set[str]:
    return set().union(*(moment.regimes for moment in moments))


@pytest.mark.parametrize("gap", GAPS)
class TestEngine:
    def test_a_failing_loop_is_stuck(self, gap: float) -> None:
        moments = play(loop(40), gap)
        stuck = [moment.state == "stuck" for moment in moments]
        assert stuck.index(True) < 8 and sum(stuck) > 30
        signals = all_signals(moments)
        assert signals & {"frustration_spike", "compound_frustration_seeking"}
        assert not signals & {"confidence_sustained", "flow_active"}

    def test_reading_is_calm(self, gap: float) -> None:
        moments = play(READS, gap)
        assert max(moment.frustration for moment in moments) < 0.10
        assert not all_signals(moments) & {"frustration_spike", "compound_frustration_seeking"}
        assert all_regimes(moments) == {"calm"}

    def test_a_row_of_failures_is_stuck(self, gap: float) -> None:
        moments = play(FAILURES, gap)
        assert moments[-1].state == "stuck" and moments[-1].regimes <= ROUGH
        assert "flow_active" not in all_signals(moments)

    def test_passing_checks_end_the_trouble(self, gap: float) -> None:
        moments = play(loop(30, first_pass=16), gap)
        assert moments[15].state == "stuck"
        after = moments[17 + 6 :]
        assert not any(moment.state == "stuck" or moment.looping for moment in after)
        assert "crisis" not in all_regimes(after)

    def test_successful_work_is_never_rough(self, gap: float) -> None:
        assert not all_regimes(play(MIXED, gap)) & ROUGH


def test_the_windows_count_subjective_time() -> None:
    assert play(loop(12), 120)[-1].state == "stuck", "two minutes between acts are not stagnation"


def test_a_turn_to_trial_and_error_raises_frustration_and_is_explained() -> None:
    said = []
    engine = Engine(Settings())
    look = [read(number) if number % 5 else run(passes=True, command="git log") for number in range(45)]
    acts = [*look, *loop(14)]
    percepts = []
    for number, act in enumerate(acts, 1):
        step = engine.step(act.event(START + number * 25))
        percepts.append(step.percept)
        said += [(firing.method, firing.text) for firing in step.reaction.fired]
    meaning = CHANGES["exploration", "trial_error"]
    assert meaning == "It found something, but it is not working."
    assert meaning in {percept.change for percept in percepts}
    assert any(meaning in message for method, message in said if method == "frustration_alert"), said
    sources = {part.source for part in engine.receptor.why("frustration").contributions}
    assert "turn_to_trial_error" in sources


def test_an_axis_moves_only_for_its_own_reasons() -> None:
    impulses = Settings().receptor.impulse
    rows = {name: row for name, row in asdict(impulses).items() if isinstance(row, Impulse)}
    rises = {
        axis: {name for name, row in rows.items() if getattr(row, axis, 0.0) > 0.0}
        for axis in ("frustration", "confidence", "fatigue", "flow")
    }
    failed = {"shell_failure", "failed_edit", "failed_read", "same_error"}
    assert rises["frustration"] == {*failed, "trial_error", "turn_to_trial_error"}
    assert not rises["confidence"] & failed and not rises["flow"] & failed
    assert rises["fatigue"] == {"every_event"}
    for name, row in rows.items():
        for axis, column in fields_of(type(row)).items():
            value = getattr(row, axis)
            low, high = column.spec.ge, column.spec.le
            assert (low, high) == ((0, 1) if value > 0 else (-1, 0)), (name, axis)


def write_log(path: Path, acts: Sequence[Act], gap: float) -> Path:
    """Write the acts as Claude Code logs them."""
    records: list[dict[str, Any]] = []

    def add(kind: str, content: Any, seconds: float, **more: Any) -> None:
        moment = datetime.fromtimestamp(START + seconds, UTC).isoformat(timespec="milliseconds")
        records.append(
            {
                "type": kind,
                "uuid": f"u{len(records)}",
                "parentUuid": f"u{len(records) - 1}" if records else None,
                "sessionId": "5e55104e-0000-4000-8000-000000000000",
                "cwd": "/p",
                "version": "2.1.0",
                "timestamp": moment.replace("+00:00", "Z"),
                "message": {"role": kind, "content": content},
                **more,
            }
        )

    add("user", "Make the tests pass.", 0.0)
    for number, act in enumerate(acts, 1):
        call = {"type": "tool_use", "id": f"t{number}", "name": act.tool, "input": act.arguments}
        add("assistant", [call], number * gap - 1.0)
        failed = act.outcome == "failure"
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": act.answer, "is_error": failed}
        add("user", [answer], float(number * gap), toolUseResult=act.answer)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def analyse(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["analyze", "--json", "--plain", str(path)]) == 0
    (session,) = json.loads(capsys.readouterr().out)["sessions"]
    assert isinstance(session, dict)
    return session


@pytest.mark.parametrize("gap", GAPS)
class TestCommandLine:
    @pytest.fixture(autouse=True)
    def at_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)

    def test_a_failing_loop_is_stuck(self, gap: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        early = analyse(write_log(tmp_path / "early.jsonl", loop(8), gap), capsys)
        assert early["states"].get("stuck")
        late = analyse(write_log(tmp_path / "late.jsonl", loop(40), gap), capsys)
        assert late["tool_uses"] == 40 and late["states"]["stuck"] > 30
        assert late["signals"].keys() & {"frustration_spike", "compound_frustration_seeking"}
        assert not late["signals"].keys() & {"confidence_sustained", "flow_active"}

    def test_reading_is_calm(self, gap: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        session = analyse(write_log(tmp_path / "log.jsonl", READS, gap), capsys)
        assert session["peaks"]["frustration"]["value"] < 0.10
        assert not session["signals"].keys() & {"frustration_spike", "compound_frustration_seeking"}
        assert session["regimes"].keys() == {"calm"}

    def test_a_row_of_failures_is_stuck(self, gap: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        session = analyse(write_log(tmp_path / "log.jsonl", FAILURES, gap), capsys)
        assert session["states"]["stuck"] > 30 and session["regimes"].keys() & ROUGH
        assert "flow_active" not in session["signals"]

    def test_passing_checks_end_the_trouble(
        self, gap: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        short = analyse(write_log(tmp_path / "short.jsonl", loop(18 + 6, first_pass=16), gap), capsys)
        long = analyse(write_log(tmp_path / "long.jsonl", loop(30, first_pass=16), gap), capsys)
        for kind, name in (("states", "stuck"), ("regimes", "crisis")):
            assert short[kind].get(name) == long[kind].get(name)
        assert long["loops"] == short["loops"]

    def test_successful_work_is_never_rough(
        self, gap: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        session = analyse(write_log(tmp_path / "log.jsonl", MIXED, gap), capsys)
        assert not session["regimes"].keys() & ROUGH
