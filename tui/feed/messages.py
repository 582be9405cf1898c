"""What widgets ask for and what the feed answers: the only way anything travels up or across threads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from core.timeline.marks import ALERTS, MarkKind

if TYPE_CHECKING:
    from core.settings import Settings
    from core.store.bookmarks import Bookmark
    from core.timeline.timeline import Timeline
    from tui.feed.view import View


@dataclass
class Seek(Message):
    """Put the playhead after the first `to` events."""

    to: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Seek)


@dataclass
class StepBy(Message):
    """Move the playhead by so many events."""

    by: int


@dataclass
class SeekTime(Message):
    """Put the playhead at a moment (epoch seconds)."""

    at: float

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SeekTime)


@dataclass
class JumpMark(Message):
    """Move the playhead to the next or previous mark of these kinds."""

    forward: bool = True
    kinds: Collection[MarkKind] = field(default=ALERTS)


@dataclass
class GoLive(Message):
    """Put the playhead at the end and follow what comes."""


@dataclass
class TogglePlay(Message):
    """Play or hold."""


@dataclass
class SpeedChange(Message):
    """Play faster (1) or slower (-1)."""

    steps: int


@dataclass
class SelectAgent(Message):
    """Show the mind of one agent of the session."""

    name: str


@dataclass
class OpenSession(Message):
    """Leave this session for another."""

    path: Path
    live: bool = True
    """Follow it; False plays it from the start."""
    session: str = ""
    """Of a file with several sessions, the id of one."""


@dataclass
class ShowEvents(Message):
    """Open the list of events, those that touched a path where one is named."""

    path: str = ""


@dataclass
class Apply(Message):
    """Let other settings hold from the newest event on."""

    settings: Settings


@dataclass
class ToggleBookmark(Message):
    """Remember the playhead, or forget the bookmark that stands there."""

    name: str = ""
    """Blank: after the place."""
    note: str = ""
    """Blank: what the agent is at there."""


@dataclass
class ReturnTo(Message):
    """Go back to a bookmark, once the state there was checked."""

    name: str


@dataclass
class Bookmarked(Message):
    """From the feed: the session's bookmarks, in order of place."""

    bookmarks: tuple[Bookmark, ...]


@dataclass
class Changed(Message):
    """From the watcher: something may have been written."""


@dataclass
class Arrived(Message):
    """From the feed: what is to be seen now."""

    view: View
    recording: Timeline | None = None

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Arrived)


@dataclass
class Noticed(Message):
    """From the feed: something the person should hear."""

    kind: str
    title: str
    text: str


@dataclass
class Failed(Message):
    """From the feed: a sentence for the person; nothing was lost but what it names."""

    text: str
    fatal: bool = False
    """There is nothing to be seen of this session."""
