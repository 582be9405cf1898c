"""Hypothesis strategies: what an agent may do, as random but plausible streams of events.

Every event is spelt out of one drawn number, so that long streams stay cheap to draw and easy to shrink.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from core.events import (
    MAIN,
    Action,
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Outcome,
    Prompt,
    Purpose,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)

T = TypeVar("T")

START = 1_700_000_000.0
WINDOW = 200_000

FOLDERS = ("src", "src/loader", "src/output", "tests", "docs/guide")
PATHS = (
    "README.md",
    "/etc/hosts",
    *(f"{folder}/{name}" for folder in FOLDERS for name in ("feed.py", "runner.py", "index.md", "a.toml")),
)

GAPS = st.sampled_from(
    (0.0, 0.5, 2.0, 5.0, 5.0, 12.0, 20.0, 30.0, 31.0, 60.0, 179.0, 180.0, 181.0, 900.0, 4000.0)
) | st.floats(0.0, 200.0)
"""Seconds between two events: inside a turn, at a bound of subjective time, or a long pause."""

_OUTCOMES: dict[Action, tuple[Outcome, ...]] = {
    "shell_exec": ("success", "failure", "failure", "rejected", "collateral", "pending"),
    "file_edit": ("success", "success", "success", "failure", "rejected", "collateral"),
    "file_read": ("success", "success", "success", "failure", "rejected", "pending"),
    "search": ("success", "empty", "failure"),
    "delegation": ("success", "failure", "pending"),
    "memory_read": ("success", "empty"),
    "memory_write": ("success", "failure"),
    "plan": ("success",),
    "other": ("success", "failure"),
}
_ACTIONS: tuple[Action, ...] = (*_OUTCOMES, "shell_exec", "file_edit", "file_edit", "file_read", "search")
_TOOLS: dict[Action, str] = {
    "file_read": "Read",
    "file_edit": "Edit",
    "search": "Grep",
    "shell_exec": "Bash",
    "delegation": "Task",
    "memory_read": "recall",
    "memory_write": "remember",
    "plan": "TodoWrite",
    "other": "Mystery",
}
_PROGRAMS: tuple[tuple[str, Purpose], ...] = (
    ("pytest", "test"),
    ("make", "build"),
    ("git", "commit"),
    ("rm", "destructive"),
    ("sleep", "wait"),
    ("ls", ""),
)
_MODELS = ("", "claude-opus-4", "claude-haiku-4", "gpt-5")
_LENGTHS = (0, 12, 100, 101, 4000)
_ENDS: tuple[Outcome, ...] = ("success", "failure")


class Dice:
    """Deal small choices out of one number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def below(self, bound: int) -> int:
        """A whole number from 0 up to, without, `bound`."""
        self.left, value = divmod(self.left, bound)
        return value

    def one(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]


def _tool_use(at: float, agent: str, dice: Dice) -> ToolUse:
    action = dice.one(_ACTIONS)
    outcome = dice.one(_OUTCOMES[action])
    shell, edit = action == "shell_exec", action == "file_edit"
    program, purpose = dice.one(_PROGRAMS) if shell else ("", "")
    call = dice.below(12)
    targets: tuple[str, ...] = ()
    if edit or action in ("file_read", "search"):
        targets = tuple(dice.one(PATHS) for _ in range(dice.below(2) + (action != "search")))
    return ToolUse(
        at=at,
        agent=agent,
        id=f"t{call}",
        action=action,
        tool=_TOOLS[action],
        targets=targets,
        program=program,
        purpose=purpose,
        outcome=outcome,
        duration=dice.one((None, 0.0, 0.25, 7.5, 300.0)),
        exit_code=int(outcome == "failure") if shell and outcome in _ENDS else None,
        call=call,
        shape=call // 3,
        result=dice.below(6),
        size=dice.one((0, 80, 20_000)),
        before=dice.below(4) if edit else 0,
        after=dice.below(4) if edit else 0,
        modified=at - 3600.0 if targets and dice.below(2) else None,
    )


def _turn(at: float, agent: str, dice: Dice) -> Turn:
    sent, read, written = dice.below(3000), dice.below(150_000), dice.below(10_000)
    return Turn(
        at=at,
        agent=agent,
        id=f"m{sent}",
        model=dice.one(_MODELS),
        input_tokens=sent,
        output_tokens=dice.below(8000),
        cache_read=read,
        cache_write=written,
        context_tokens=sent + read + written,
        context_window=dice.one((0, WINDOW)),
        cost=dice.one((None, 0.0, 0.02, 1.5)),
    )


def _prompt(at: float, agent: str, dice: Dice) -> Prompt:
    length = dice.one(_LENGTHS)
    return Prompt(at=at, agent=agent, characters=length, call=length % 13, interrupt=dice.below(4) == 3)


def _compaction(at: float, agent: str, dice: Dice) -> Compaction:
    before = dice.below(WINDOW)
    trigger = dice.one(("auto", "manual", ""))
    return Compaction(at=at, agent=agent, trigger=trigger, tokens_before=before, tokens_after=before // 5)


def _session_start(at: float, agent: str, dice: Dice) -> SessionStart:
    return SessionStart(at=at, agent=agent, session="s-1", tool="claude-code", project="/p", model=dice.one(_MODELS))


def _session_end(at: float, agent: str, dice: Dice) -> SessionEnd:
    return SessionEnd(at=at, agent=agent, reason=dice.one(("", "exit")))


def _advice(at: float, agent: str, dice: Dice) -> Advice:
    return Advice(at=at, agent=agent, characters=dice.one(_LENGTHS), call=dice.below(5))


_MAKE: dict[str, Callable[[float, str, Dice], Event]] = {
    "tool": _tool_use,
    "turn": _turn,
    "prompt": _prompt,
    "compaction": _compaction,
    "end": _session_end,
    "start": _session_start,
    "advice": _advice,
}
_KINDS = (
    *("tool",) * 8,
    *("turn",) * 4,
    *("prompt",) * 2,
    "compaction",
    "child",
    "child_end",
    "start",
    "end",
    "advice",
)


def tool_uses(at: float = START, agent: str = MAIN) -> st.SearchStrategy[ToolUse]:
    """One tool use whose fields fit its action."""
    return st.integers(0, 2**62).map(lambda number: _tool_use(at, agent, Dice(number)))


def turns(at: float = START, agent: str = MAIN) -> st.SearchStrategy[Turn]:
    """One answer of the model, with tokens that add up."""
    return st.integers(0, 2**75).map(lambda number: _turn(at, agent, Dice(number)))


def events(
    max_size: int = 60, min_size: int = 0, agents: tuple[str, ...] = (MAIN,), backwards: bool = False
) -> st.SearchStrategy[list[Event]]:
    """A stream of events in order of time; with `backwards` the clock may also jump back."""
    gaps = GAPS | st.floats(-500.0, 0.0) if backwards else GAPS
    roll = st.tuples(gaps, st.integers(0, 2**80))
    return (
        st.integers(min_size, max_size)
        .flatmap(lambda size: st.lists(roll, min_size=size, max_size=size))
        .map(lambda rolls: _stream(rolls, agents))
    )


def _stream(rolls: list[tuple[float, int]], agents: tuple[str, ...]) -> list[Event]:
    stream: list[Event] = []
    children: list[tuple[str, str]] = []
    at = START
    for number, (gap, roll) in enumerate(rolls):
        at += gap
        dice = Dice(roll)
        kind = dice.one(_KINDS) if number else "start"
        agent = dice.one(agents)
        if kind == "child":
            children.append((agent, f"child-{number}"))
            stream.append(AgentStart(at=at, agent=agent, child=f"child-{number}", role="explorer"))
        elif kind == "child_end" and children:
            parent, child = children.pop()
            stream.append(AgentEnd(at=at, agent=parent, child=child, outcome=dice.one(_ENDS), tokens=dice.below(9)))
        else:
            stream.append(_MAKE.get(kind, _tool_use)(at, agent, dice))
    return stream
