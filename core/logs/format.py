"""Log formats: how they are recognised, their readers, and the counter of faults."""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

from msgspec import Struct

from core.events import MAIN, Event, Matter, Where
from core.logs.lines import decoded, glued_objects
from core.logs.log_files import is_folder

if TYPE_CHECKING:
    from core.logs.discovery import Found
    from core.logs.glimpse import Titles
    from core.logs.links import LinkReader


class Diagnostic(Struct, frozen=True):
    """One thing in a log that was passed over."""

    file: str
    line: int  # 1 is the first; 0 means the whole file.
    reason: str


class Diagnostics:
    """Counts every fault by reason and stores the first few in full."""

    __slots__ = ("_kept", "counts", "first", "skipped", "skipped_in")

    def __init__(self, keep: int = 100) -> None:
        self._kept = keep
        self.counts: dict[str, int] = {}
        self.first: list[Diagnostic] = []
        # Records of kinds that no reader knows, by agent, version and kind; they are not faults.
        self.skipped: dict[tuple[str, str, str], int] = {}
        self.skipped_in: dict[tuple[str, str, str], str] = {}  # The first log of each.

    def note(self, file: str, line: int, reason: str) -> None:
        """Count one fault."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        if len(self.first) < self._kept:
            self.first.append(Diagnostic(file, line, reason))

    def skip(self, agent: str, version: str, kind: str, file: str = "") -> None:
        """Count one record of a kind that its reader does not know."""
        key = (agent, version, kind)
        self.skipped[key] = self.skipped.get(key, 0) + 1
        self.skipped_in.setdefault(key, file)

    @property
    def total(self) -> int:
        """Number of faults."""
        return sum(self.counts.values())


class Kit:
    """The agents and the fault counter that all readers of one run share."""

    __slots__ = ("agents", "diagnostics")

    def __init__(self, diagnostics: Diagnostics, agents: tuple[Agent, ...] = ()) -> None:
        self.diagnostics = diagnostics
        self.agents = agents

    def counting(self, diagnostics: Diagnostics) -> Self:
        """Return a copy with another fault counter."""
        other = copy(self)
        other.diagnostics = diagnostics
        return other


class Reader(ABC):
    """Turns one log into events, a record at a time, and never raises on any content.

    A record is one line of a line log, or the whole document if a log is one document. Equal records give
    equal events, however they were cut into chunks.
    """

    name: ClassVar[str]  # The agent's name, such as claude-code.
    untold: ClassVar[tuple[Matter, ...]] = ()  # The matters its logs never contain, in the order of `MATTERS`.
    gaps: ClassVar[str] = ""  # What else is missing or made up, in a few words for the docs.

    def __init__(self, kit: Kit, *, agent: str = MAIN, session: str = "") -> None:
        self.kit = kit
        self.agent = agent  # The agent whose log this is, unless the log itself says otherwise.
        self.session = session  # The session's id if the log does not contain it (a file's stem).

    def passes(self, record: bytes) -> bool:
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


# A printable character of ASCII as an escape, but for the quote and the backslash.
_ESCAPED = re.compile(rb"(?<!\\)((?:\\\\)*)\\u00(2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abABd-fD-F]|7[0-9a-eA-E])")

_NOWHERE = Where("")

Style = Literal["lines", "document", "folder", "database"]


class _Objects(Sequence[dict[str, Any]]):
    """The objects on lines, each decoded when it is first asked for."""

    def __init__(self, lines: list[bytes]) -> None:
        self._left = chain.from_iterable(map(_objects, lines))
        self._decoded: list[dict[str, Any]] = []

    def _until(self, most: int | None) -> list[dict[str, Any]]:
        self._decoded += islice(self._left, None if most is None else max(0, most - len(self._decoded)))
        return self._decoded

    def __len__(self) -> int:
        return len(self._until(None))

    def __bool__(self) -> bool:
        return bool(self._until(1))

    def __getitem__(self, place: Any) -> Any:
        last = place.stop if isinstance(place, slice) else place + 1
        return self._until(last if last is not None and last > 0 else None)[place]


class Sample:
    """The beginning of a log, from which its format is recognised."""

    def __init__(self, head: bytes, path: Path) -> None:
        self.head = _ESCAPED.sub(_unescaped, head) if b"\\u00" in head else head
        # The first bytes of the log, decompressed, with no letter written as an escape.
        self.path = path

    @cached_property
    def records(self) -> Sequence[dict[str, Any]]:
        """The objects on the complete lines of the head, in order; other values are left out."""
        return _Objects(self.head.split(b"\n")[:64])

    @cached_property
    def document(self) -> Any:
        """The whole head as one JSON value; None if it is not complete JSON."""
        return decoded(self.head)


class Companion(NamedTuple):
    """A further log of the same session."""

    agent: str
    path: Path
    helper: bool = False  # Whether it is a fork that the agent's program made for itself, and no sub-agent.


class Outline(NamedTuple):
    """A short look at a log that is not JSON."""

    request: str  # The first request of the person.
    last: float | None  # The latest timestamp.


class Format(NamedTuple):
    """One way in which an agent writes down what it does."""

    name: str
    style: Style
    sniff: Callable[[Sample], int]  # Returns a score for the content: 0 no, 100 certain.
    reader: type[Reader]
    # Returns the logs of a session's sub-agents, given its main log.
    companions: Callable[[Path], list[Companion]] | None = None
    links: type[LinkReader] | None = None  # Reads how records follow each other, if not each the one before it.
    titles: Titles | None = None  # Returns the title that a record gives its session.
    opening: bytes = b""  # Beginning of a log that is not JSON.
    outline: Callable[[bytes], Outline] | None = None  # Returns a short look at such a log.
    title: str = ""  # Name of this format, if an agent has several that differ in content.
    # Returns folders that may contain the sub-agents' logs outside the main log's own folder.
    beside: Callable[[Path], list[Path]] | None = None
    # The keys that lead to the session's id in a document; without them its file's name is the id.
    id_key: tuple[str, ...] = ()
    title_signs: tuple[bytes, ...] = ()  # A line with a title begins with one of these in it; without any, each may.
    spending: type[Reader] | None = None  # Reads only what was spent; after a fault the log must be read whole.


def _unescaped(match: re.Match[bytes]) -> bytes:
    return match[1] + bytes((int(match[2], 16),))


def _objects(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the object on a line, or each of several."""
    value = decoded(line) if line.lstrip().startswith(b"{") else None
    if isinstance(value, dict):
        yield value
    else:
        for part, _ in glued_objects(line, _NOWHERE):
            yield from _objects(part)


Environment = Mapping[str, str]


class Survey(Protocol):
    """Lists the sessions below a root, for agents whose sessions are not files."""

    def __call__(self, agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
        """The sessions there; one changed within `active_within` seconds of `now` is active."""


class Location(NamedTuple):
    """Where an agent stores its sessions, and how to read their names."""

    roots: Callable[[Environment, Path], list[Path]]
    patterns: tuple[str, ...] = ()  # Patterns of the main logs, below a root.
    marks: tuple[bytes, ...] = ()  # Bytes that a log contains about once per event, without a blank after a colon.
    # Ids or totals that a log repeats, each as a group: every value of it counts once.
    once: tuple[re.Pattern[bytes], ...] = ()
    aside: bytes = b""  # Bytes at the beginning of a line that repeats other lines or logs.
    passed_over: str = ""  # Names that begin so belong to no session of their own.
    nested: str = ""  # Folder of the sub-agents' logs, below the folder named like the session.
    beside: str = ""  # Another folder for them, relative to the main log's folder; `{session}` is the session's id.
    # Returns the session's id from a log's path, if its records do not contain it.
    session: Callable[[Path], str] | None = None
    ended: bytes = b""  # Bytes in the last lines of a session that is over.
    # Names of logs in which a session goes on, with the end of its first log's name as a group.
    goes_on: re.Pattern[str] | None = None
    survey: Survey | None = None  # Lists the sessions there, if they are not files.
    elsewhere: bool = False  # Whether listed logs may be outside the roots.


class Agent(NamedTuple):
    """An agent whose logs can be read."""

    name: str  # As events name it, such as claude-code.
    title: str  # As people call it, such as Claude Code.
    formats: Sequence[Format]
    location: Location | None = None
    general: bool = False  # Its format is not specific to one agent; it is tried after all specific ones.
    tools: Path | None = None  # A table of its tools outside its folder here.
    resume: tuple[str, ...] = ()  # The command that resumes a session; `{session}` is its id, `{path}` its log.
    prompt: tuple[str, ...] = ()  # The command that sends a prompt to a session; `{text}` is the prompt.
    seen: str = "real logs"  # What its reader was tested on, such as real logs or documentation alone.
    versions: str = ""  # The versions whose logs were read; blank if logs do not contain it.
    # Its formats can be certain of a log, so they are tried first and no other has to be imported.
    certain: bool = False


def folder(environment: Environment, name: str) -> Path | None:
    """The folder that a variable of the environment names, if it names one."""
    value = environment.get(name, "").strip()
    return Path(value).expanduser() if value else None


CERTAIN = 100  # The highest score of a format; no other is tried after it.


def recognise(sample: Sample, agents: tuple[Agent, ...]) -> Format | None:
    """Return the format with the highest score, the first of equals; or None."""
    best, score = None, 0
    for agent in sorted(agents, key=lambda agent: not agent.certain):
        for one in agent.formats:
            sure = _sureness(one, sample)
            if sure >= CERTAIN:
                return one
            if sure > score:
                best, score = one, sure
    return best


def _sureness(log_format: Format, sample: Sample) -> int:
    """Return a format's score for a beginning; 0 if it raises."""
    try:
        return log_format.sniff(sample)
    except Exception:  # noqa: BLE001 a file may hold anything, and the other formats must still be asked
        return 0


def roots(agents: tuple[Agent, ...], environment: Environment, home: Path) -> list[tuple[str, Path]]:
    """Every existing folder in which an agent may write a session, with the agent's name."""
    return [
        (agent.name, root)
        for agent in agents
        if agent.location is not None
        for root in agent.location.roots(environment, home)
        if is_folder(root)
    ]


class FormatsLater(Sequence[Format]):
    """The `FORMATS` of some modules, or another name after a colon; imported by the first look at them."""

    def __init__(self, *modules: str) -> None:
        self._modules = modules

    @cached_property
    def _all(self) -> tuple[Format, ...]:
        names = [module.partition(":") for module in self._modules]
        tables = [getattr(importlib.import_module(module), name or "FORMATS") for module, _, name in names]
        return tuple(one for formats in tables for one in formats)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]

    def __len__(self) -> int:
        return len(self._all)
