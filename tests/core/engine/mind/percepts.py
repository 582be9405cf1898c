"""Percepts and event streams for the mind's tests, without a receptor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.engine.percept import AgentState, Pattern, Percept, Signal, SignalName
from core.events import Event, Prompt, Purpose, ToolUse, Turn

START = 1_700_000_000.0
GATE = 180.0


def percept(
    at: float = START,
    now: float = 0.0,
    *,
    elapsed: float = 0.0,
    pattern: Pattern = "exploration",
    state: AgentState = "exploring",
    axes: tuple[float, float, float, float, float, float] = (0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    signal: SignalName | None = None,
    shifted: bool = False,
    failure_rate: float = 0.0,
    events: int = 10,
    failures: int = 1,
    recovered: bool = False,
) -> Percept:
    """One percept, calm unless said otherwise."""
    return Percept(
        at=at,
        now=now,
        elapsed=elapsed,
        silence=elapsed == 0.0 and now > 0.0,
        pattern=pattern,
        medium_pattern=pattern,
        state=state,
        axes=axes,
        signals=() if signal is None else (Signal(signal, 0.2, fresh=True),),
        shifted=shifted,
        failure_rate=failure_rate,
        events=events,
        failures=failures,
        recovered=recovered,
    )


def perceive(events: Iterable[Event], gate: float = GATE) -> Iterator[tuple[Event, Percept]]:
    """Give each event a percept: silence freezes time, failures among the last ten calls set the rate."""
    last: float | None = None
    now = 0.0
    calls: list[bool] = []
    for number, event in enumerate(events):
        gap = 0.0 if last is None else max(0.0, event.at - last)
        elapsed = gap if gap <= gate else 0.0
        last = event.at
        now += elapsed
        if isinstance(event, ToolUse):
            calls = [*calls[-9:], event.outcome == "failure"]
        rate = sum(calls) / len(calls) if calls else 0.0
        yield (
            event,
            percept(
                event.at,
                now,
                elapsed=elapsed,
                pattern="trial_error" if rate > 0.4 else "implementation",
                axes=(rate, 0.1, 1.0 - rate, 0.1, 0.3, 0.1),
                signal="compound_frustration_seeking" if rate > 0.8 else None,
                shifted=number % 97 == 96,
                failure_rate=rate,
            ),
        )


def shell(
    at: float = START,
    program: str = "pytest",
    outcome: str = "success",
    *,
    purpose: Purpose = "",
    call: int = 0,
    result: int = 0,
) -> ToolUse:
    """A shell command."""
    return ToolUse(
        at=at,
        action="shell_exec",
        tool="Bash",
        program=program,
        purpose=purpose,
        outcome=outcome,  # type: ignore[arg-type]
        call=call,
        result=result,
    )


def working_day(count: int) -> Iterator[Event]:
    """A plausible stream: prompts, turns, reads, edits, test runs that fail and pass, a filling context."""
    at, context = START, 20_000
    for number in range(count):
        at += (1.5, 4.0, 9.0, 2.5, 20.0)[number % 5]
        if number % 400 == 399:
            at += 4000.0
        beat = number % 40
        if beat == 0:
            yield Prompt(at=at, characters=40 + number % 300)
        elif beat % 3 == 1:
            context = context + 900 if context < 160_000 else 30_000
            yield Turn(
                at=at,
                model="claude-opus-4",
                input_tokens=40,
                output_tokens=350,
                cache_read=context - 900,
                cache_write=900,
                context_tokens=context,
                context_window=200_000,
                cost=0.001,
            )
        elif beat in (11, 23, 35):
            failed = (number // 40) % 3 != 0
            yield shell(at, "pytest", "failure" if failed else "success", purpose="test", call=7, result=number)
        elif beat in (8, 20, 29):
            path = f"src/part{number // 40 % 30}/file{number % 7}.py"
            yield ToolUse(at=at, action="file_edit", tool="Edit", targets=(path,), call=number, result=1)
        else:
            path = f"src/part{number // 40 % 50}/file{number % 11}.py"
            yield ToolUse(at=at, action="file_read", tool="Read", targets=(path,), call=number, result=number)
