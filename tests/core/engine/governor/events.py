"""Events for the governor's tests."""

from __future__ import annotations

from typing import NamedTuple

from core.engine.governor.governor import Governor, Verdict
from core.engine.percept import Pattern
from core.events import Action, Event, Outcome, Prompt, Purpose, ToolUse


def call(
    number: int,
    action: Action = "shell_exec",
    outcome: Outcome = "success",
    purpose: Purpose = "",
    result: int | None = None,
    shape: int | None = None,
    at: float = 0.0,
) -> ToolUse:
    """One tool use; equal numbers are equal calls."""
    return ToolUse(
        at=at,
        action=action,
        outcome=outcome,
        purpose=purpose,
        call=number,
        shape=number if shape is None else shape,
        result=number if result is None else result,
    )


def prompt(at: float = 0.0, interrupt: bool = False) -> Prompt:
    """The person speaks, or stops the agent."""
    return Prompt(at=at, characters=20, interrupt=interrupt)


class Heard(NamedTuple):
    """One event as the engine hands it to the governor."""

    event: Event
    novelty: float = 0.3
    elapsed: float = 5.0
    pattern: Pattern = "exploration"
    failure_rate: float = 0.0

    def to(self, governor: Governor) -> Verdict:
        """Step a governor with it."""
        return governor.step(
            self.event, novelty=self.novelty, elapsed=self.elapsed, pattern=self.pattern, failure_rate=self.failure_rate
        )


def feed(governor: Governor, *events: Event) -> list[Verdict]:
    """Step a governor through events, all heard alike."""
    return [Heard(event).to(governor) for event in events]
