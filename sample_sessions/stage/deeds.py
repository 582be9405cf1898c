"""What happens in a story, before any agent's format is put on it."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

MAIN = "main"

CallKind = Literal["read", "search", "find", "edit", "write", "run", "plan", "web"]


class Usage(NamedTuple):
    """Tokens of one answer."""

    fresh: int
    cached: int
    written: int
    output: int

    @property
    def context(self) -> int:
        """All the model had before it."""
        return self.fresh + self.cached + self.written


class Call(NamedTuple):
    """A tool asked for, in words every agent has its own name for."""

    kind: CallKind
    path: str = ""  # Relative to the project.
    pattern: str = ""
    command: str = ""
    old: str = ""
    new: str = ""
    steps: tuple[str, ...] = ()  # Of a plan; those done come first and begin with a tick.


class Said(NamedTuple):
    """The person speaks."""

    at: float
    agent: str
    text: str


class Stopped(NamedTuple):
    """The person interrupts."""

    at: float
    agent: str


class Answered(NamedTuple):
    """The model says something and ends its turn."""

    at: float
    agent: str
    text: str
    usage: Usage


class Used(NamedTuple):
    """A tool is asked for at one moment and answers at another."""

    at: float
    agent: str
    asked: float
    thought: str
    call: Call
    result: str
    code: int  # Of a command its exit code; of anything else 1 where it failed.
    hits: tuple[str, ...]  # Of a search the files found.
    usage: Usage
    refused: bool = False  # The person said no.


class Compacted(NamedTuple):
    """The context is summed up and cut."""

    at: float
    agent: str
    before: int
    after: int
    summary: str


class Order(NamedTuple):
    """One sub-agent that is asked for."""

    child: str
    role: str
    title: str
    task: str
    model: str


class Sent(NamedTuple):
    """Sub-agents are started, all in one answer."""

    at: float
    agent: str
    thought: str
    orders: tuple[Order, ...]
    usage: Usage


class Returned(NamedTuple):
    """A sub-agent reports back."""

    at: float
    agent: str
    child: str
    text: str
    tokens: int
    uses: int
    seconds: float


Deed: TypeAlias = Said | Stopped | Answered | Used | Compacted | Sent | Returned


class Remark(NamedTuple):
    """One narrated line: what to notice from this moment on."""

    at: float  # Seconds after the beginning.
    agent: str  # Whom to look at.
    text: str
    shows: tuple[str, ...]  # What the engine must have shown since the line before.
