"""Events with percepts around them, for affect alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.engine.affect.affect import Affect
from core.engine.affect.reading import AffectStep
from core.engine.percept import Percept, Signal
from core.events import Event, ToolUse

CAP = 30.0
START = 1_700_000_000.0


def percept(
    now: float, *, shifted: bool = False, failure_rate: float = 0.0, signals: tuple[Signal, ...] = ()
) -> Percept:
    """What a receptor might say at that subjective second."""
    return Percept(
        at=START + now,
        now=now,
        elapsed=0.0,
        silence=False,
        pattern="exploration",
        medium_pattern="exploration",
        state="exploring",
        axes=(0.0,) * 6,
        signals=signals,
        shifted=shifted,
        failure_rate=failure_rate,
        events=5,
    )


def lived(events: Iterable[Event]) -> Iterator[tuple[Event, Percept, float]]:
    """Each event with a percept and a novelty that follow from it alone."""
    now = 0.0
    last: float | None = None
    for number, event in enumerate(events):
        now += 0.0 if last is None else min(CAP, max(0.0, event.at - last))
        last = event.at
        shifted = number % 11 == 10
        signals = (Signal("uncertainty_spike", 0.2, True),) if number % 17 == 16 else ()
        yield event, percept(now, shifted=shifted, signals=signals), (number * 7 % 10) / 9.0


def live(affect: Affect, events: Iterable[Event]) -> list[AffectStep]:
    """Step through a stream."""
    return [affect.step(event, seen, novelty) for event, seen, novelty in lived(events)]


def shell(at: float, good: bool, purpose: str = "test") -> ToolUse:
    """A command that passes or fails."""
    return ToolUse(
        at=START + at,
        action="shell_exec",
        tool="Bash",
        purpose=purpose,  # type: ignore[arg-type]
        outcome="success" if good else "failure",
    )


def hammer(affect: Affect, count: int, good: bool, since: float = 0.0, every: float = 5.0) -> list[AffectStep]:
    """The same outcome again and again."""
    return [
        affect.step(shell(since + step * every, good), percept(since + step * every, failure_rate=1.0 - good), 0.0)
        for step in range(1, count + 1)
    ]


def values(affect: Affect) -> dict[str, float]:
    """Every field's magnitude by name."""
    return {field.name: field.magnitude for field in affect.read().fields}
