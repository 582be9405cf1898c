"""Events and logs as a busy agent would write them, the same at every run."""

from __future__ import annotations

from collections.abc import Iterator

from core.events import (
    Action,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Outcome,
    Prompt,
    Purpose,
    SessionStart,
    ToolUse,
    Turn,
)

_START = 1_760_000_000.0


class Dice:
    """A small linear congruential generator."""

    def __init__(self, seed: int = 1) -> None:
        self._state = seed

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self._state >> 33) % limit


def session(count: int, *, seed: int = 1, agents: int = 1) -> list[Event]:
    """About `count` events of one session, shared out among `agents` agents."""
    made: list[Event] = []
    for event in stream(seed, agents):
        if len(made) >= count:
            break
        made.append(event)
    return made


def stream(seed: int, agents: int) -> Iterator[Event]:
    """Events without end."""
    dice = Dice(seed)
    names = ["main", *(f"agent-{number}" for number in range(1, agents))]
    at = _START
    context = 20_000
    yield SessionStart(at=at, session=f"bench-{seed}", tool="claude-code", project="/home/dev/api", model="large")
    for name in names[1:]:
        yield AgentStart(at=at, child=name, role="worker")
    number = 0
    while True:
        agent = names[dice.below(len(names))]
        if number % 90 == 0:
            at += 20 + dice.below(200)
            yield Prompt(at=at, agent="main", characters=20 + dice.below(900), call=number + 1)
        at += 1 + dice.below(20)
        context += 300 + dice.below(1500)
        if context > 165_000:
            yield Compaction(at=at, agent=agent, trigger="auto", tokens_before=context, tokens_after=22_000)
            context = 22_000
        yield Turn(
            at=at,
            agent=agent,
            id=f"m{number}",
            model="large",
            input_tokens=5,
            output_tokens=100 + dice.below(900),
            cache_read=context - 400,
            cache_write=395,
            context_tokens=context,
            context_window=200_000,
            cost=0.02,
        )
        for _ in range(1 + dice.below(3)):
            at += 1 + dice.below(12)
            yield _tool_use(dice, number, at, agent)
            number += 1
        if number % 400 == 0 and len(names) > 1:
            child = names[1 + dice.below(len(names) - 1)]
            yield AgentEnd(at=at, child=child, tokens=30_000, tool_uses=12)
            yield AgentStart(at=at, child=child, role="worker")


def _tool_use(dice: Dice, number: int, at: float, agent: str) -> ToolUse:
    action, tool = _MIX[dice.below(len(_MIX))]
    outcome: Outcome = "success"
    program, purpose = "", ""
    targets: tuple[str, ...] = (f"src/part{dice.below(12)}/module{dice.below(30)}.py",)
    code: int | None = None
    if action == "shell_exec":
        program = ("pytest", "npm", "git", "make")[dice.below(4)]
        purpose = "test" if program == "pytest" else ""
        code = 1 if dice.below(100) < 25 + 20 * ((number // 120) % 2) else 0
        outcome = "failure" if code else "success"
        targets = ()
    elif action == "search" and dice.below(4) == 0:
        outcome = "empty"
    kind: Purpose = "test" if purpose else ""
    return ToolUse(
        at=at,
        agent=agent,
        id=f"t{number}",
        action=action,
        tool=tool,
        targets=targets,
        program=program,
        purpose=kind,
        outcome=outcome,
        duration=1.5,
        exit_code=code,
        call=dice.below(5000) + 1,
        shape=dice.below(900) + 1,
        result=dice.below(9000) + 1,
        size=dice.below(4000),
        modified=at if action == "file_edit" else None,
    )


_MIX: tuple[tuple[Action, str], ...] = (
    ("file_read", "Read"),
    ("file_read", "Read"),
    ("file_read", "Read"),
    ("search", "Grep"),
    ("search", "Glob"),
    ("file_edit", "Edit"),
    ("file_edit", "Edit"),
    ("shell_exec", "Bash"),
    ("shell_exec", "Bash"),
    ("shell_exec", "Bash"),
    ("memory_read", "Read"),
    ("plan", "TodoWrite"),
)
