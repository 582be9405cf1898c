"""Many different failing commands at once."""

from __future__ import annotations

from core.engine.response.loops import LoopDetector
from core.events import ToolUse
from core.settings.loops import LoopSettings


def failed(number: int, shape: int) -> ToolUse:
    return ToolUse(
        at=float(number),
        action="shell_exec",
        tool="Bash",
        program="tool",
        outcome="failure",
        exit_code=1,
        call=shape,
        shape=shape,
        result=number + 1,
        size=300,
    )


def test_a_crowd_of_other_failures_pushes_a_failing_command_out() -> None:
    detector = LoopDetector(LoopSettings())
    found = [detector.update(failed(number, 7)) for number in range(8)]
    assert any(loop is not None for loop in found)
    for number in range(8, 200):
        detector.update(failed(number, 1000 + number))
    assert detector.read() is not None
