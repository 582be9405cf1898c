"""What every format's reader is given, and what it gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

from core.events import MAIN, Event, Matter, Where

if TYPE_CHECKING:
    from core.logs.agent import Agent
    from core.logs.diagnostics import Diagnostics


ReadingMemory = Callable[..., "Iterator[Event] | None"]
"""Given a log, a kit, limits of lines and a session's id, gives the log's events, read only where they are
not remembered; None for a log it does not care for."""


class Kit:
    """What all readers of one run share: the agents that are known, and the fault counter."""

    __slots__ = ("agents", "diagnostics", "memory")

    def __init__(self, diagnostics: Diagnostics, agents: tuple[Agent, ...] = ()) -> None:
        self.diagnostics = diagnostics
        self.agents = agents
        self.memory: ReadingMemory | None = None

    def counting(self, diagnostics: Diagnostics) -> Self:
        """The same with another fault counter."""
        other = copy(self)
        other.diagnostics = diagnostics
        return other


class Reader(ABC):
    """Turns one log into events, a record at a time, and never raises on what a log holds.

    A record is one line of a line log, or the whole document where a log is one document.
    Equal records in, equal events out, however they were cut into chunks.
    """

    name: ClassVar[str]
    """The agent's name, such as claude-code."""
    untold: ClassVar[tuple[Matter, ...]] = ()
    """What its logs never tell, in the order of `MATTERS`."""
    gaps: ClassVar[str] = ""
    """What else is missing or made up in what they tell, in a few words for the docs."""

    def __init__(self, kit: Kit, *, agent: str = MAIN, session: str = "") -> None:
        self.kit = kit
        self.agent = agent
        """The agent whose log this is, unless the log itself says otherwise."""
        self.session = session
        """The session's id where the log does not tell it (a file's stem)."""

    @staticmethod
    def passes(record: bytes) -> bool:
        """Whether a glance at a record shows that `feed` would make nothing of it.

        Asked only of what begins with `{` and ends with `}`; a line end may follow.
        """
        return not record

    @abstractmethod
    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        """The events that this record completes; `line` counts from 1, for diagnostics."""

    @staticmethod
    def parse(record: bytes) -> Any:
        """A record decoded as far as that needs nothing but itself; never raises on what a log holds."""
        return record

    def take(self, told: Any, where: Where, line: int, out: list[Event]) -> None:
        """Add the events that a record completes, which `passes` was asked about and `parse` has decoded."""
        out += self.feed(told, where, line)

    def finish(self) -> list[Event]:
        """The events that only the log's end completes: calls that never got a result."""
        return self.held()

    def held(self) -> list[Event]:
        """What the log has begun and not ended so far; asking changes nothing."""
        return []


class PausingReader(Reader):
    """One that can be put aside between two records, and gone on with by another of its kind."""

    @abstractmethod
    def pause(self) -> bytes | None:
        """All it knows, without any content of the log; None where something is still open."""

    @abstractmethod
    def resume(self, state: bytes) -> None:
        """Go on from what another reader of the same log knew when it paused."""
