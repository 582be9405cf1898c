"""Messages: requests from widgets and answers from the feed, the only way up and across threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, dataclass_transform

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


@dataclass_transform(eq_default=False)
class FeedMessage(Message):
    """A message that is made from its fields.

    Without comparing and writing out, which nobody does with a message, a class is made in half the time.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False, repr=False)(cls)


class Request(FeedMessage):
    """A person's request about the session on the screen; the app hands it to the feed."""


class Move(Request):
    """A request that moves the playhead."""


class Latest(FeedMessage):
    """A message that replaces an earlier one of its kind that is still waiting."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


class Seek(Latest, Move):
    """Put the playhead after the first `to` events."""

    to: int
    agent: str = ""  # Whose mind is shown there; blank for whom the person chose.
    record: str = ""  # The record of the log that was asked for, as the trail of moves names it.
    summary: str | None = None  # The person's own summary of what lies between; blank for ours, None for none.


class StepBy(Move):
    """Move the playhead by a number of events."""

    by: int


class SeekTime(Latest, Move):
    """Put the playhead at a moment (epoch seconds)."""

    at: float


class Jump(Move):
    """Move the playhead to the next or previous trouble, failure or prompt."""

    forward: bool = True
    to: Landing = "trouble"


class GoLive(Move):
    """Put the playhead at the end and follow what comes."""


class TogglePlay(Move):
    """Play or hold."""


class SpeedChange(Request):
    """Play faster (1) or slower (-1)."""

    steps: int


class SelectAgent(Request):
    """Show the mind of one agent of the session."""

    name: str


@dataclass(repr=False)
class OpenSession(FeedMessage):
    """Leave this session for another."""

    path: Path
    live: bool = True  # Follow it; a finished session opens at its end.
    session: str = ""  # Of a file with several sessions, the id of one.
    at: str = ""  # The place it is opened at; blank for its end.
    show: str = ""  # The screen it is opened on; blank for the main one, or a finished session's recap.


class EditFile(FeedMessage):
    """Open a file of the watched project in the person's editor."""

    path: str


class ShowTranscript(FeedMessage):
    """Open the transcript; if a path is named, only what touched it."""

    path: str = ""


class ShowChanges(FeedMessage):
    """Ask for the changes of the session, with this file chosen."""

    path: str = ""


class ScreenChanged(FeedMessage):
    """Another screen is in front; it may show what is going on, or not."""


class ReadWords(FeedMessage):
    """Whether words of the log may be shown, and whether anybody looks at those of now."""

    shown: bool
    watched: bool


class Apply(Request):
    """Let other settings hold from the newest event on; refused if the session moved on since they were tried."""

    settings: Settings
    tried: int | None = None  # Events they were tried on; None applies them whatever came since.
    done: Callable[[], None] = lambda: None  # Called by the app once they hold.


class Applied(FeedMessage):
    """From the feed: other settings hold."""

    request: Apply


class ShowWhatIf(Request):
    """Show the session as it would have been under other settings; None shows what happened."""

    settings: Settings | None


class CompareSessions(FeedMessage):
    """Compare two sessions, by the paths of their logs and their ids."""

    paths: tuple[str, ...]
    ids: tuple[str, ...]


class SetBookmark(Request):
    """Remember a place, with a person's note."""

    place: int
    note: str = ""


class RemoveBookmark(Request):
    """Remove the bookmarks at a place."""

    place: int


class ReturnTo(Move):
    """Go back to a bookmark, once the state there was checked."""

    name: str


class Bookmarked(FeedMessage):
    """From the feed: the session's bookmarks, in order of place."""

    bookmarks: tuple[Bookmark, ...]


class LookedBefore(FeedMessage):
    """From the feed: how far the person had seen this session when they last left it."""

    look: Look
    new: int  # Events recorded since.


class Changed(FeedMessage):
    """From the watcher: something may have been written."""


class AnswerPermit(FeedMessage):
    """Answer the waiting question, if there is one: once, session or deny."""

    choice: str
    question: PermitQuestion | None


class PreviewSteer(Request):
    """Try a sentence on the session's end, and show what it would do."""

    words: str
    show: Callable[[str, tuple[str, ...]], object]  # Called from the feed's thread.


class DayReckoned(FeedMessage):
    """From a worker: what all agents cost today."""

    day: DaySpent


class SessionsSeen(Latest):
    """From a thread: all recent sessions and their present statuses."""

    rows: tuple[FleetRow, ...]
    now: float


class HooksTold(Latest):
    """From the hook server: the present reports of agents' hooks."""

    board: HookBoard


class Arrived(Latest):
    """From the feed: what is to be seen now."""

    view: View
    recording: Timeline | None = None
    feed: object = None  # Who posted it; a feed that was stopped may still have posted.


class Noticed(FeedMessage):
    """From the feed: something the person should hear."""

    kind: str
    title: str
    text: str


class Failed(FeedMessage):
    """From the feed: a sentence for the person; nothing was lost but what it names."""

    text: str
    fatal: bool = False  # There is nothing to be seen of this session.


# Requests that leave the agent on the screen to whom a jump or an entry led.
STAYS = (StepBy, Jump, SpeedChange, SetBookmark, RemoveBookmark, Apply)
