"""The table of events: as long as the session, made only where it is looked at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from core.events import Event
from core.report.event_words import ALL, EventFilter, sift
from core.timeline.timeline import Timeline
from tui.draw.line import Line
from tui.feed.messages import Seek
from tui.feed.view import View
from tui.widgets.common.scroller import Scroller
from tui.widgets.common.timeline_cells import GLYPHS
from tui.widgets.transcript.event_columns import EventColumns, columns_for

_AT_ONCE = 4096
"""Events sifted without a worker."""


class EventTable(Scroller):
    """One row an event; what lies after the playhead is dimmed."""

    TITLE: ClassVar[str] = "Events"
    EMPTY: ClassVar[str] = "no event to show"
    HELP: ClassVar[str] = """\
## Events

Every event of the recording. `▶` is the playhead; what comes after it is dimmed.
`✓` success, `✗` failure, `∅` empty, `⊘` rejected, `~` collateral, `…` pending.
Signs on the right are what fired with the event: `▲` signal, `■` halt, `▣` quarantine, `▽` compaction,
`◦` dream, `◇` context shift, `◆` method, `│` prompt, `~` regime, `+` sub-agent.
`enter` reads the line from the log, secrets taken out; `s` puts the playhead after the event.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", "line", id="events.read", tooltip="Read this event's line from the log"),
        Binding("s", "seek", "seek", id="events.seek", tooltip="Put the playhead after this event"),
        Binding("p", "playhead", "playhead", id="events.playhead", tooltip="To the row of the playhead"),
    ]

    HEAD: ClassVar[int] = 1

    chosen: reactive[EventFilter] = reactive(ALL)
    """What is listed."""

    @dataclass
    class Sifted(Message):
        """From a worker: the places a filter let through, up to a number of events."""

        wanted: EventFilter
        places: list[int]
        upto: int
        recording: Timeline

    @dataclass
    class Moved(Message):
        """The cursor is at another event."""

        place: int

    @dataclass
    class Read(Message):
        """The person wants to see an event's line."""

        event: Event
        place: int

    @dataclass
    class Listed(Message):
        """How many events are listed, of how many."""

        shown: int
        total: int

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._places: range | list[int] = range(0)
        self._upto = 0
        """Events the places were taken from."""
        self._cursor = -1
        self._playhead = -1
        self._sifting = False

    @property
    def place(self) -> int:
        """Place in the recording of the event under the cursor; -1 where there is none."""
        return self._cursor if self._cursor >= 0 and len(self._places) else -1

    @property
    def places(self) -> Sequence[int]:
        """Places of the events that are listed."""
        return self._places

    def count_rows(self) -> int:
        return len(self._places)

    def watch_recording(self) -> None:
        self._start_over()

    def watch_chosen(self) -> None:
        self._start_over()

    def watch_view(self, view: View | None) -> None:
        """List what came since; the cursor goes with a playhead it stands on, or one that a person moves."""
        super().watch_view(view)
        if view is not None and self.recording is not None:
            moved = self._playhead != view.index - 1
            by_hand = not view.playing and view.mode != "live"
            along = moved and (by_hand or self._cursor == self._playhead)
            self._playhead = view.index - 1
            self._take_in(view)
            if along:
                self.go(max(0, self._playhead))
        self.refresh()

    def _start_over(self) -> None:
        self._places = range(0)
        self._upto = 0
        self._sifting = False
        if self.view is not None and self.recording is not None:
            self._take_in(self.view)

    def _take_in(self, view: View) -> None:
        """List what came since."""
        recording = self.recording
        if recording is None or self._sifting:
            return
        total = min(view.total, len(recording.events))
        if total < self._upto:
            self._places, self._upto = range(0), 0
        following = self._cursor < 0 or (view.mode == "live" and self._at_end())
        if self.chosen == ALL:
            self._places = range(total)
        elif total - self._upto <= _AT_ONCE:
            marks = recording.marks.between(self._upto, total)
            found = sift(recording.events, self._upto, total, self.chosen, marks)
            if isinstance(self._places, range):
                self._places = []
            self._places += found
        else:
            self._sifting = True
            self._sift(recording, self.chosen, total)
            return
        self._upto = total
        self._settle(view, following=following)

    @work(thread=True, exclusive=True, group="sift")
    def _sift(self, recording: Timeline, wanted: EventFilter, total: int) -> None:
        places = sift(recording.events, 0, total, wanted, recording.marks.between(0, total))
        self.post_message(self.Sifted(wanted, places, total, recording))

    def on_event_table_sifted(self, message: Sifted) -> None:
        message.stop()
        if message.wanted != self.chosen or message.recording is not self.recording:
            return
        self._sifting = False
        self._places, self._upto = message.places, message.upto
        if self.view is not None:
            self._settle(self.view, following=self._cursor < 0)

    def _settle(self, view: View, *, following: bool) -> None:
        """Keep the cursor at its event, or at the end where it follows."""
        fresh = self._cursor < 0
        if following and self._places:
            self._cursor = max(0, view.index - 1) if fresh else self._places[-1]
        self.resize_rows()
        if self._places:
            row = self._row_of(self._cursor)
            if self._places[row] != self._cursor:
                self._cursor = self._places[row]
                self.post_message(self.Moved(self._cursor))
            if following or not self._in_sight(row):
                self._show(row, middle=fresh)
        self.post_message(self.Listed(len(self._places), self._upto))

    def _at_end(self) -> bool:
        return bool(self._places) and self._cursor == self._places[-1]

    def _row_of(self, place: int) -> int:
        """The row of an event, or of the nearest one that is listed."""
        return max(0, min(bisect_left(self._places, place), len(self._places) - 1))

    def _in_sight(self, row: int) -> bool:
        return self.scroll_offset.y <= row < self.scroll_offset.y + self.page

    def _show(self, row: int, *, middle: bool = False) -> None:
        top = self.scroll_offset.y
        if middle or not top - self.page < row < top + 2 * self.page:
            wanted = row - self.page // 2
        elif row < top:
            wanted = row
        elif row >= top + self.page:
            wanted = row - self.page + 1
        else:
            return
        self.scroll_to(y=max(0, wanted), animate=False, immediate=True)

    def on_resize(self) -> None:
        super().on_resize()
        if self._places:
            self._show(self._row_of(self._cursor))

    def go(self, place: int) -> None:
        """Put the cursor at an event, or at the nearest one that is listed."""
        if self._places:
            row = self._row_of(place)
            self._cursor = self._places[row]
            self._show(row)
            self.post_message(self.Moved(self._cursor))
            self.refresh()

    def action_move(self, by: int) -> None:
        if self._places:
            row = self._row_of(self._cursor) + by
            self.go(self._places[max(0, min(row, len(self._places) - 1))])

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(self._upto)

    def action_playhead(self) -> None:
        if self.view is not None:
            self.go(max(0, self.view.index - 1))

    def action_seek(self) -> None:
        if self.place >= 0:
            self.post_message(Seek(self.place + 1))

    def action_read(self) -> None:
        if self.place >= 0 and self.recording is not None:
            self.post_message(self.Read(self.recording.events[self.place], self.place))

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        row = self.scroll_offset.y + at.y - self.HEAD if at is not None and at.y >= self.HEAD else -1
        if 0 <= row < len(self._places):
            self.go(self._places[row])
            if event.chain == 2:
                self.action_read()

    def head(self, number: int, width: int) -> Line:  # noqa: ARG002
        return self._columns(width).titles()

    def _columns(self, width: int) -> EventColumns:
        view = self.view
        return columns_for(width, len(f"{self._upto:,}"), view is not None and len(view.agents) > 1)

    def row(self, number: int, width: int) -> Line:
        recording, view = self.recording, self.view
        place = self._places[number]
        if recording is None or view is None or place >= len(recording.events):
            return []
        fired = [mark for mark in recording.marks.between(place, place + 1) if mark.kind in GLYPHS]
        line = self._columns(width).line(recording.events[place], place, fired, view)
        if place == self._cursor:
            return [(text, "cursor") for text, _ in line]
        if place >= view.index:
            return [(text, "quiet") for text, _ in line]
        return line
