"""What widgets ask for and what the feed answers: the only way anything travels up or across threads.

Without comparing and writing out, which nobody does with a message, a class is made in half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from textual.message import Message

if TYPE_CHECKING:
    from core.live.fleet.row import FleetRow
    from core.live.hook_signs import HookBoard, PermitQuestion
    from core.report.sums import DaySpent
    from core.settings import Settings
    from core.store.bookmarks import Bookmark, Look
    from core.timeline.places import Landing
    from core.timeline.timeline import Timeline
    from tui.feed.view import View


class Latest(Message):
    """A message that replaces an earlier one of its kind that is still waiting."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


@dataclass(eq=False, repr=False)
class Seek(Latest):
    """Put the playhead after the first `to` events."""

    to: int
    agent: str = ""  # Whose mind is shown there; blank for whom the person chose.
    record: str = ""  # The record of the log that was asked for, as the trail of moves names it.
    summary: str | None = None  # The person's own summary of what lies between; blank for ours, None for none.


@dataclass(eq=False, repr=False)
class StepBy(Message):
    """Move the playhead by so many events."""

    by: int


@dataclass(eq=False, repr=False)
class SeekTime(Latest):
    """Put the playhead at a moment (epoch seconds)."""

    at: float


@dataclass(eq=False, repr=False)
class Jump(Message):
    """Move the playhead to the next or previous trouble, failure or prompt."""

    forward: bool = True
    to: Landing = "trouble"


@dataclass(eq=False, repr=False)
class GoLive(Message):
    """Put the playhead at the end and follow what comes."""


@dataclass(eq=False, repr=False)
class TogglePlay(Message):
    """Play or hold."""


@dataclass(eq=False, repr=False)
class SpeedChange(Message):
    """Play faster (1) or slower (-1)."""

    steps: int


@dataclass(eq=False, repr=False)
class SelectAgent(Message):
    """Show the mind of one agent of the session."""

    name: str


@dataclass(repr=False)
class OpenSession(Message):
    """Leave this session for another."""

    path: Path
    live: bool = True  # Follow it; a finished session opens at its end.
    session: str = ""  # Of a file with several sessions, the id of one.
    at: str = ""  # The place it is opened at; blank for its end.


@dataclass(eq=False, repr=False)
class EditFile(Message):
    """Open a file of the watched project in the person's editor."""

    path: str


@dataclass(eq=False, repr=False)
class ShowTranscript(Message):
    """Open the transcript, only what touched a path where one is named."""

    path: str = ""


@dataclass(eq=False, repr=False)
class ShowChanges(Message):
    """Ask for the changes of the session, with this file chosen."""

    path: str = ""


@dataclass(eq=False, repr=False)
class ScreenChanged(Message):
    """Another screen is in front; it may show what is going on, or not."""


@dataclass(eq=False, repr=False)
class ReadWords(Message):
    """Whether words of the log may be shown, and whether anybody looks at those of now."""

    shown: bool
    watched: bool


@dataclass(eq=False, repr=False)
class Apply(Message):
    """Let other settings hold from the newest event on; refused if the session moved on since they were tried."""

    settings: Settings
    tried: int | None = None  # Events they were tried on; None applies them whatever came since.
    done: Callable[[], None] = lambda: None  # Called by the app once they hold.


@dataclass(eq=False, repr=False)
class Applied(Message):
    """From the feed: other settings hold."""

    request: Apply


@dataclass(eq=False, repr=False)
class ShowWhatIf(Message):
    """Show the session as it would have been under other settings; None shows what happened."""

    settings: Settings | None


@dataclass(eq=False, repr=False)
class CompareSessions(Message):
    """Compare two sessions, by the paths of their logs and their ids."""

    paths: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(eq=False, repr=False)
class SetBookmark(Message):
    """Remember a place, with a person's note."""

    place: int
    note: str = ""


@dataclass(eq=False, repr=False)
class RemoveBookmark(Message):
    """Forget the bookmarks that stand at a place."""

    place: int

    name: str = ""  # Blank: after the place.
    note: str = ""  # Blank: what the agent is at there.


@dataclass(eq=False, repr=False)
class ReturnTo(Message):
    """Go back to a bookmark, once the state there was checked."""

    name: str


@dataclass(eq=False, repr=False)
class Bookmarked(Message):
    """From the feed: the session's bookmarks, in order of place."""

    bookmarks: tuple[Bookmark, ...]


@dataclass(eq=False, repr=False)
class LookedBefore(Message):
    """From the feed: how far the person had seen this session when they last left it."""

    look: Look
    new: int  # Events recorded since.


@dataclass(eq=False, repr=False)
class Changed(Message):
    """From the watcher: something may have been written."""


@dataclass(eq=False, repr=False)
class AnswerPermit(Message):
    """Answer the question that waits, where one does: once, session or deny."""

    choice: str
    question: PermitQuestion | None


class ShowsPreview(Protocol):
    """Who wants to know what a sentence would do."""

    def previewed(self, words: str, effect: tuple[str, ...]) -> None: ...


@dataclass(eq=False, repr=False)
class PreviewSteer(Message):
    """Try a sentence on the session's end, and tell what it would do."""

    words: str
    asker: ShowsPreview


@dataclass(eq=False, repr=False)
class SteerPreviewed(Message):
    """From the feed: what a sentence would do."""

    words: str
    asker: ShowsPreview
    effect: tuple[str, ...]


@dataclass(eq=False, repr=False)
class DayReckoned(Message):
    """From a worker: what all agents cost today."""

    day: DaySpent


@dataclass(eq=False, repr=False)
class OthersSeen(Latest):
    """From a thread: all recent sessions as they stand now."""

    rows: tuple[FleetRow, ...]
    now: float


@dataclass(eq=False, repr=False)
class HooksTold(Latest):
    """From the intake: what agents' hooks tell now."""

    board: HookBoard


@dataclass(eq=False, repr=False)
class Arrived(Latest):
    """From the feed: what is to be seen now."""

    view: View
    recording: Timeline | None = None
    feed: object = None  # Who posted it; a feed that was stopped may still have posted.


@dataclass(eq=False, repr=False)
class Noticed(Message):
    """From the feed: something the person should hear."""

    kind: str
    title: str
    text: str


@dataclass(eq=False, repr=False)
class Failed(Message):
    """From the feed: a sentence for the person; nothing was lost but what it names."""

    text: str
    fatal: bool = False  # There is nothing to be seen of this session.
