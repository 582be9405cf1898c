"""The reader protocol: records of a log in, events out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, ClassVar, Self

from core.events import MAIN, Event, Matter, Where

if TYPE_CHECKING:
    from core.logs.agent import Agent
    from core.logs.diagnostics import Diagnostics


ReadingMemory = Callable[..., "Iterator[Event] | None"]
"""Returns the events of a log, given the log, a kit, limits of lines and a session's id, and reads only what
it has not stored; None if it does not store this log."""


class Kit:
    """The agents and the fault counter that all readers of one run share."""

    __slots__ = ("agents", "diagnostics", "memory")

    def __init__(self, diagnostics: Diagnostics, agents: tuple[Agent, ...] = ()) -> None:
        self.diagnostics = diagnostics
        self.agents = agents
        self.memory: ReadingMemory | None = None

    def counting(self, diagnostics: Diagnostics) -> Self:
        """Return a copy with another fault counter."""
        other = copy(self)
        other.diagnostics = diagnostics
        return other


class Reader(ABC):
    """Turns one log into events, a record at a time, and never raises on what a log holds.

    A record is one line of a line log, or the whole document if a log is one document.
    Equal records give equal events, however they were cut into chunks.
    """

    name: ClassVar[str]
    """The agent's name, such as claude-code."""
    untold: ClassVar[tuple[Matter, ...]] = ()
    """The matters its logs never contain, in the order of `MATTERS`."""
    gaps: ClassVar[str] = ""
    """What else is missing or made up, in a few words for the docs."""

    def __init__(self, kit: Kit, *, agent: str = MAIN, session: str = "") -> None:
        self.kit = kit
        self.agent = agent
        """The agent whose log this is, unless the log itself says otherwise."""
        self.session = session
        """The session's id if the log does not contain it (a file's stem)."""

    @staticmethod
    def passes(record: bytes) -> bool:
        """Whether the beginning of a record shows that `feed` would ignore it.

        Called only on records that begin with `{` and end with `}`; a line end may follow.
        """
        return not record

    @abstractmethod
    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        """Return the events that this record completes; `line` counts from 1, for diagnostics."""

    def finish(self) -> list[Event]:
        """Return the events that only the log's end completes, such as calls without a result."""
        return self.pending_events()

    def pending_events(self) -> list[Event]:
        """Return what the log has begun and not ended so far, without changing anything."""
        return []


class PausingReader(Reader):
    """A reader whose state can be stored between two records and resumed by another one."""

    @abstractmethod
    def pause(self) -> bytes | None:
        """Return its state, without any content of the log; None if something is still open."""

    @abstractmethod
    def resume(self, state: bytes) -> None:
        """Resume from the state of another reader of the same log."""
