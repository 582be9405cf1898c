"""What is needed to read small logs in a test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from core.agents import chat as chat
from core.agents import copilot as copilot
from core.agents import gemini as gemini
from core.agents import open_events as openevents
from core.agents import opencode, openhands
from core.agents import pi as pi
from core.agents import swe_agent as swe_agent
from core.agents.models import Models
from core.agents.normalizer import AgentKit, Normalizer
from core.events import MAIN, Event, ToolUse, Where
from core.logs.format import Diagnostics, Format, Reader

FORMATS: tuple[Format, ...] = (
    *gemini.FORMATS,
    *opencode.FORMATS,
    *pi.FORMATS,
    *swe_agent.FORMATS,
    *swe_agent.MINI,
    *openhands.FORMATS,
    *copilot.FORMATS,
    *chat.FORMATS,
    *openevents.FORMATS,
)
_NORMALIZER = Normalizer.load()
_MODELS = Models.load()


def new_kit() -> AgentKit:
    """A kit with our tables and a fresh fault counter."""
    return AgentKit(_NORMALIZER, _MODELS, Diagnostics())


def encoded(value: Any) -> bytes:
    """A JSON value as a log writes it; bytes stand for themselves."""
    return value if isinstance(value, bytes) else json.dumps(value).encode("utf-8", "surrogatepass")


def read(
    reader: type[Reader], records: list[Any], kit: AgentKit | None = None, agent: str = MAIN, finish: bool = True
) -> list[Event]:
    """All events of some records, fed one after the other."""
    made = reader(kit or new_kit(), agent=agent, session="log")
    events: list[Event] = []
    offset = 0
    for line, record in enumerate(records, 1):
        data = encoded(record)
        events += made.feed(data, Where("log", offset, len(data)), line)
        offset += len(data) + 1
    return events + made.finish() if finish else events


def uses(events: list[Event]) -> list[ToolUse]:
    """The tool uses among them."""
    return [event for event in events if isinstance(event, ToolUse)]


def kinds(events: list[Event]) -> list[str]:
    """The names of the events' types."""
    return [type(event).__name__ for event in events]


@dataclass
class Log:
    """A log as a list of entries, and a last deed that must be read whatever happens to one of the others."""

    name: str
    reader: type[Reader]
    entries: list[Any]
    tail: list[Any]
    """A call of `tailtool` with its result."""
    around: dict[str, Any] | None = None
    """Of a document, what stands beside its list of entries."""
    key: str = ""
    """Of a document, the name of that list; blank where it is the document."""

    def records(self, entries: list[Any]) -> list[Any]:
        """What a reader is fed for these entries and the tail."""
        if self.around is None:
            return [*entries, *self.tail]
        listed = [json.loads(entry) if isinstance(entry, bytes) else entry for entry in [*entries, *self.tail]]
        return [{**self.around, self.key: listed} if self.key else listed]


def iso(second: float) -> str:
    """A moment of the samples' day."""
    return f"2026-03-01T10:{int(second) // 60:02d}:{second % 60:06.3f}Z"
