"""An agent before any of its logs is read: its formats, and where its logs are."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload

from core.logs.format import Format, Sample
from core.logs.log_files import is_folder

if TYPE_CHECKING:
    from core.logs.discovery import Found

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


def nowhere(environment: Environment, home: Path) -> list[Path]:
    """The folders of an agent that has no usual place."""
    del environment, home
    return []


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
        self._formats: tuple[Format, ...] | None = None

    def _all(self) -> tuple[Format, ...]:
        if self._formats is None:
            names = [module.partition(":") for module in self._modules]
            tables = [getattr(importlib.import_module(module), name or "FORMATS") for module, _, name in names]
            self._formats = tuple(one for formats in tables for one in formats)
        return self._formats

    @overload
    def __getitem__(self, place: int) -> Format: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Format]: ...

    def __getitem__(self, place: int | slice) -> Format | Sequence[Format]:
        return self._all()[place]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Format]:
        return iter(self._all())
