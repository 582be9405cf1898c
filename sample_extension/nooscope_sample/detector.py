"""A detector in the step: the same program or tool failing several times in a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from core.engine.society.engine import Step
from core.events import Event, ToolUse
from core.extension import Detection, StepExtension

_LIMIT = 3


class RepeatedFailure(StepExtension):
    """Counts failures in a row; what it keeps is named in STATE, so that a replay finds the same."""

    name: ClassVar[str] = "repeated-failure"
    version: ClassVar[str] = "1.0"
    about: ClassVar[str] = "Finds the same program failing three times in a row."
    STATE = ("program", "failures")

    def __init__(self) -> None:
        self.program = ""
        self.failures = 0

    def find(self, event: Event, step: Step) -> Iterable[Detection]:
        """Every third failure in a row is worth a word."""
        if not isinstance(event, ToolUse) or event.outcome not in ("success", "failure"):
            return ()
        program = event.program or event.tool
        if event.outcome == "success" or program != self.program:
            self.program, self.failures = program, 0
        if event.outcome == "success":
            return ()
        self.failures += 1
        if self.failures % _LIMIT:
            return ()
        return [Detection("row", f"{program} failed {self.failures} times in a row", weight=self.failures / 10)]
