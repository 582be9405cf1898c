"""The transcript: all entries of a session as one document; only entries in sight are read."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual import events, work
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.worker import get_current_worker

from core.agents.words import NOTHING, WordReader, Words
from core.events import Event, Turn
from core.report.chrono import record_name
from core.report.event_words import ALL, TranscriptFilter, entries, holds, insert_in_order
from core.report.rollbacks import Rollbacks
from core.timeline.timeline import Timeline
from tui.draw.line import Line
from tui.feed.messages import Seek
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import GLYPHS
from tui.widgets.transcript.entry import Entry, entry_lines

Height = Callable[[int], int]  # Lines of the entry at a place.
# What stays while entries grow, as they do once their words are read: the first line in sight, the bar in the upper
# third, the bar anywhere in sight, or the end of the last entry.
Anchor = Literal["top", "third", "sight", "end"]


class Scroll:
    """Scrolls through entries, and lays out only as many as a move needs."""

    def __init__(self) -> None:
        self.places: list[int] = []  # Places of the entries that are shown, in the order they are read.
        self._rising: list[int] = []  # The same in the order of the recording.
        self._rows: dict[int, int] = {}
        self.top = 0  # Place of the entry the first line in sight belongs to.
        self.skipped = 0  # Lines of that entry above the first line in sight.

    def near(self, place: int) -> int:
        """Return the last entry at or before a place, else the first; -1 if there is none."""
        if not self._rising:
            return -1
        return self._rising[max(0, bisect_right(self._rising, place) - 1)]

    def row(self, place: int) -> int:
        """The number of the entry at a place, or of the nearest before it."""
        return self._rows.get(place, self._rows.get(self.near(place), 0))

    def clear(self) -> None:
        """Show nothing."""
        self.places, self._rising, self._rows = [], [], {}

    def extend(self, places: Iterable[int], events: Sequence[Event]) -> None:
        """Show further entries."""
        for place in places:
            before = len(self.places)
            insert_in_order(self.places, place, events)
            insort(self._rising, place)
            row = before
            while row and self.places[row] != place:
                self._rows[self.places[row]] = row
                row -= 1
            self._rows[self.places[row]] = row

    def to(self, place: int) -> None:
        """Put the first line of an entry at the top."""
        self.top, self.skipped = place, 0

    def up(self, by: int, height: Height) -> None:
        """Move the first line in sight up by a number of lines; negative moves down."""
        self.skipped -= by
        row = self.row(self.top)
        while self.skipped < 0 and row > 0:
            row -= 1
            self.top = self.places[row]
            self.skipped += height(self.top)
        while row < len(self.places) - 1 and self.skipped >= height(self.top):
            self.skipped -= height(self.top)
            row += 1
            self.top = self.places[row]
        self.skipped = max(0, self.skipped)

    def hold(self, anchor: Anchor, bar: int, lines: int, height: Height) -> None:
        """Keep the visible entries in place, with the bar at a place."""
        if anchor == "end":
            self.to_end(lines, height)
        elif anchor == "third":
            self.to(bar)
            self.up(lines // 3, height)
        elif anchor == "sight":
            self.reveal(bar, lines, height)

    def to_end(self, lines: int, height: Height) -> None:
        """Put the end of the last entry at the bottom of the page."""
        self.to(self.places[-1])
        self.up(lines - height(self.top) + 1, height)

    def reveal(self, place: int, lines: int, height: Height) -> None:
        """Bring an entry into sight with as little movement as possible."""
        first, row = self.row(self.top), self.row(place)
        if row < first or (row == first and self.skipped):
            self.to(place)
        elif row - first > lines:
            self.to(place)
            self.up(lines // 3, height)
        else:
            above = sum(height(self.places[at]) for at in range(first, row)) - self.skipped
            over = above + height(place) - lines
            if over > 0:
                self.up(-min(over, above), height)


_REMEMBERED = 1024
_FIRED = frozenset(GLYPHS) - {"prompt", "compaction", "agent"}  # Marks that say more than the entry itself.


class Entries:
    """Lays entries out; words that are not known yet are asked for once."""

    def __init__(self) -> None:
        self.whole: set[int] = set()  # Places of entries that are opened.
        self._words: OrderedDict[int, Words] = OrderedDict()
        self._laid: OrderedDict[int, tuple[tuple[object, ...], list[Line]]] = OrderedDict()
        self._asked: set[int] = set()
        self._reader = WordReader(())
        self._rollbacks = Rollbacks()

    def forget(self) -> None:
        """Another recording, or other logs."""
        self._words.clear()
        self._laid.clear()
        self._asked.clear()
        self._rollbacks = Rollbacks()

    def reader(self, view: View) -> WordReader:
        """A reader of the session's own logs; of none while words are hidden."""
        logs = view.word_logs if view.words else ()
        if self._reader.logs != logs:
            self._reader = WordReader(logs)
            self.forget()
        return self._reader

    def lay(self, recording: Timeline, place: int, view: View, width: int) -> list[Line]:
        """The lines of an entry."""
        fired = [mark for mark in recording.marks.between(place, place + 1) if mark.kind in _FIRED]
        event = recording.events[place]
        words, whole = self._words.get(place), place in self.whole
        if words is None and not self._is_readable(event):
            words = NOTHING
        self._rollbacks.grow(recording.events)
        rolled_back = self._rollbacks.is_dropped(place, view.index)
        key = (width, whole, words is None, view.words, len(fired), view.start, view.agents[0], rolled_back)
        cached = self._laid.get(place)
        if cached is not None and cached[0] == key:
            return cached[1]
        lines = entry_lines(Entry(event, words, fired, whole, rolled_back), view, width)
        self._laid[place] = key, lines
        if len(self._laid) > _REMEMBERED:
            self._laid.popitem(last=False)
        return lines

    def _is_readable(self, event: Event) -> bool:
        return self._reader.inside(event.said if isinstance(event, Turn) else event.where)

    def missing(self, recording: Timeline, places: Iterable[int]) -> list[int]:
        """Return the places whose words are neither known nor asked for, and mark them as asked for."""
        new = [place for place in places if place not in self._words and place not in self._asked]
        unread = [place for place in new if self._is_readable(recording.events[place])]
        self._asked.update(unread)
        return unread

    def take(self, words: Mapping[int, Words]) -> None:
        """Take in words that were asked for."""
        self._asked.difference_update(words)
        self._words.update(words)
        while len(self._words) > _REMEMBERED:
            self._words.popitem(last=False)


_BATCH = 512  # Entries searched between two reports.


class Document(Panel):
    """Entries below each other; the first line in sight stays until the reader moves it."""

    TITLE: ClassVar[str] = "Transcript"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "seek", "go there", "Move the playhead to this entry", show=True),
        bind("fold", "whole", "", "Expand or collapse this entry", show=True),
        bind("view", "raw", "raw line", "Show the log line of this entry", show=True),
        bind("row.up", "move(-1)", "", "The previous entry"),
        bind("row.down", "move(1)", "", "The next entry"),
        bind("page.up", "page(-1)", "", "A page up"),
        bind("page.down", "page(1)", "", "A page down"),
        bind("play.start", "first", "", "To the first entry"),
        bind("play.end", "last", "", "To the newest entry"),
    ]

    chosen: reactive[TranscriptFilter] = reactive(ALL, repaint=False)

    @dataclass
    class Raw(Message):
        """The person wants to see the line behind an event."""

        event: Event
        place: int

    @dataclass
    class Moved(Message):
        """The bar is at another entry."""

        place: int

    @dataclass
    class Listed(Message):
        """How many entries are shown, of how many; how far a search has come, and what it could not read."""

        shown: int
        total: int
        searched: float = 1.0
        unread: int = 0

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._scroll = Scroll()
        self._upto = 0  # Events the places were taken from.
        self._cursor = -1
        self._playhead = -1
        self._anchor: Anchor = "top"
        self._entries = Entries()
        self._searching, self._unread = False, 0
        self._shown: list[int] = []  # The entry of each line in sight.

    @property
    def place(self) -> int:
        """Return the bar's place in the recording; -1 if there is none."""
        return self._cursor if self._scroll.places else -1

    @property
    def places(self) -> Sequence[int]:
        """Places of the entries that are shown."""
        return self._scroll.places

    def watch_recording(self) -> None:
        self._entries.forget()
        self._entries.whole.clear()
        self._cursor = -1
        self._start_over()

    def watch_chosen(self) -> None:
        self._start_over()

    def watch_view(self, view: View | None) -> None:
        """Take in new events; the bar moves with the playhead it is on."""
        if not self.display:
            return
        if view is not None and self.recording is not None:
            moved = self._playhead != view.index - 1
            by_hand = not view.playing and view.mode != "live"
            along = moved and self._cursor >= 0 and (by_hand or self._cursor == self._scroll.near(self._playhead))
            self._playhead = view.index - 1
            self._take_in(view)
            if along and self._anchor != "end":
                self.go(self._playhead)
        super().watch_view(view)

    def on_show(self) -> None:
        """Take in what came while it was hidden."""
        self.watch_view(self.view)

    def _start_over(self) -> None:
        self._scroll.clear()
        self._upto, self._unread, self._searching = 0, 0, False
        self._playhead = -1 if self.view is None else self.view.index - 1
        if self.view is not None and self.recording is not None:
            self._take_in(self.view)
        self.redraw()

    def _take_in(self, view: View) -> None:
        recording = self.recording
        if recording is None or self._searching:
            return
        total = min(view.total, len(recording.events))
        if total < self._upto:
            self._scroll.clear()
            self._upto = self._unread = 0
        if total > self._upto:
            places = entries(recording.events, self._upto, total, self.chosen)
            if self.chosen.text and (places or not self._upto):
                self._searching = True
                self._search(recording, self.chosen, places, total, self._entries.reader(view))
                return
            self._scroll.extend(places, recording.events)
            self._upto = total
        self._settle()

    def _settle(self) -> None:
        """Keep the place, or find a first one: the playhead's, in the middle."""
        view = self.view
        if self._scroll.places and view is not None:
            if self._cursor < 0:
                self.go(view.index - 1, middle=True)
            elif self._anchor == "end":
                self._cursor = self._scroll.places[-1]
            elif any(place != self._scroll.near(place) for place in (self._cursor, self._scroll.top)):
                self.go(self._cursor, middle=True)
        searched = self._upto / max(1, view.total) if view is not None and self._searching else 1.0
        self.post_message(self.Listed(len(self._scroll.places), self._upto, searched, self._unread))

    @work(thread=True, exclusive=True, group="search")
    def _search(
        self, recording: Timeline, narrowing: TranscriptFilter, places: list[int], total: int, reader: WordReader
    ) -> None:
        """Read the words of all these entries; report on the way."""
        worker = get_current_worker()
        for start in range(0, max(1, len(places)), _BATCH):
            some = places[start : start + _BATCH]
            matches, unread = list[int](), 0
            for place in some:
                if worker.is_cancelled:
                    return
                words = reader.words(recording.events[place])
                if holds(recording.events[place], words, narrowing.text):
                    matches.append(place)
                elif words.fault:
                    unread += 1
            upto = some[-1] + 1 if start + _BATCH < len(places) else total
            self.call_later(self._add_matches, recording, narrowing, matches, unread, (upto, total))

    def _add_matches(
        self, recording: Timeline, wanted: TranscriptFilter, places: list[int], unread: int, searched: tuple[int, int]
    ) -> None:
        """List more entries that contain what is sought."""
        if wanted == self.chosen and recording is self.recording and self._searching:
            self._scroll.extend(places, recording.events)
            self._upto, total = searched
            self._unread += unread
            self._searching = self._upto < total
            self._settle()
            self.redraw()

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        recording = self.recording
        if recording is None or not self._scroll.places:
            self._shown = []
            if self._unread:
                return [[(f"nothing found; entries that cannot be read: {self._unread:,}", "alert")]]
            notice = "searching" if self._searching else "nothing to show" if self.chosen != ALL else self.EMPTY
            return [[(notice, "quiet")]]
        self._entries.reader(view)
        self._scroll.hold(self._anchor, self._cursor, height, self._height(view, width))
        page, owners = self._page(view, width, height)
        lacking = height + self._scroll.skipped - len(page)
        if lacking > 0:
            self._scroll.up(lacking, self._height(view, width))
            page, owners = self._page(view, width, height)
        self._shown = owners[self._scroll.skipped :][:height]
        unread = self._entries.missing(recording, dict.fromkeys(owners)) if view.words else []
        if unread:
            self._fetch(unread, recording, self._entries.reader(view))
        owners = [-1, *owners][self._scroll.skipped :]
        return [
            self._marked(line, owner, width, view, first=owner != before)
            for line, owner, before in zip(page[self._scroll.skipped :][:height], self._shown, owners, strict=False)
        ]

    def _page(self, view: View, width: int, height: int) -> tuple[list[Line], list[int]]:
        """Lines from the first entry in sight on, and the entry each belongs to."""
        self._scroll.top = self._scroll.near(self._scroll.top)
        page: list[Line] = []
        owners: list[int] = []
        row = self._scroll.row(self._scroll.top)
        while row < len(self._scroll.places) and len(page) < height + self._scroll.skipped:
            place = self._scroll.places[row]
            lines = self._lay(place, view, width)
            page += lines
            owners += [place] * len(lines)
            row += 1
        self._scroll.skipped = max(0, min(self._scroll.skipped, len(page) - 1))
        return page, owners

    def _marked(self, line: Line, place: int, width: int, view: View, *, first: bool) -> Line:
        """The bar beside the entry under it; what comes after the playhead is dim."""
        bar = "▌" if line and place == self._cursor else " "
        if first and bar == " " and place == self._scroll.near(view.index - 1):
            bar = "▶"
        content: Line = line if place < view.index else [(text, "quiet") for text, _ in line]
        used = sum(cell_len(text) for text, _ in content)
        return [(bar, "live"), *content, (" " * max(0, width - 1 - used), "plain")]

    def _lay(self, place: int, view: View, width: int) -> list[Line]:
        return [] if self.recording is None else self._entries.lay(self.recording, place, view, width - 1)

    def _height(self, view: View, width: int) -> Height:
        """Lines each entry takes at a width."""
        return lambda place: len(self._lay(place, view, width))

    @work(thread=True, group="words")
    def _fetch(self, places: list[int], recording: Timeline, reader: WordReader) -> None:
        words = {place: reader.words(recording.events[place]) for place in places}
        self.call_later(self._take_words, recording, words)

    def _take_words(self, recording: Timeline, words: dict[int, Words]) -> None:
        """Lay the entries out again, keeping the bottom edge of the first one in place."""
        view, scroll, width = self.view, self._scroll, self.size.width
        if recording is not self.recording or view is None or not view.words:
            return
        before = len(self._lay(scroll.top, view, width)) if scroll.skipped else 0
        self._entries.take(words)
        if scroll.skipped and scroll.top in words:
            scroll.skipped = max(0, scroll.skipped + len(self._lay(scroll.top, view, width)) - before)
        self.redraw()

    def go(self, place: int, *, middle: bool = False) -> None:
        """Put the bar at an entry, or the nearest before it, and bring it into sight."""
        view = self.view
        if not self._scroll.places or view is None:
            return
        self._cursor = self._scroll.near(place)
        self._anchor = "third" if middle else "sight"
        if not middle:
            self._scroll.reveal(self._cursor, self.size.height, self._height(view, self.size.width))
        self.post_message(self.Moved(self._cursor))
        self.redraw()

    def action_move(self, by: int) -> None:
        """Move to the entry before or after; inside an entry longer than the page, by a few lines."""
        view = self.view
        if not self._scroll.places or view is None:
            return
        width, height = self.size
        row = self._scroll.row(self._cursor)
        rows = self._scroll.skipped + self._shown.count(self._cursor)
        at_top = self._scroll.top == self._cursor
        self._anchor = "top"
        if by > 0 and at_top and rows < len(self._lay(self._cursor, view, width)):
            self._scroll.up(-max(1, height // 3), self._height(view, width))
            self.redraw()
        elif by < 0 and at_top and self._scroll.skipped:
            self._scroll.up(min(self._scroll.skipped, max(1, height // 3)), self._height(view, width))
            self.redraw()
        elif by > 0 and row == len(self._scroll.places) - 1:
            self.action_last()
        else:
            self.go(self._scroll.places[max(0, min(row + by, len(self._scroll.places) - 1))])

    def action_page(self, by: int) -> None:
        view = self.view
        if self._scroll.places and view is not None:
            width, height = self.size
            self._anchor = "top"
            self._scroll.up(-by * max(1, height - 2), self._height(view, width))
            self.lines(view, width, height)
            cut = self._scroll.top if self._scroll.skipped else -1
            whole = [place for place in self._shown if place != cut]
            self._cursor = whole[0] if whole else self._scroll.top
            if by > 0 and self._shown and self._shown[-1] == self._scroll.places[-1]:
                self._cursor = self._scroll.places[-1]
            self.post_message(self.Moved(self._cursor))
            self.redraw()

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        if self._scroll.places:
            self.go(self._scroll.places[-1])
            self._anchor = "end"
            self.redraw()

    def action_playhead(self) -> None:
        self.go(self._playhead, middle=True)

    def action_seek(self) -> None:
        if self.place >= 0 and self.recording is not None:
            event = self.recording.events[self.place]
            self.post_message(Seek(self.place + 1, event.agent, record_name(event.where)))

    def action_whole(self) -> None:
        self._entries.whole ^= {self.place}
        self._anchor = "top"
        self.redraw()

    def action_raw(self) -> None:
        if self.place >= 0 and self.recording is not None:
            self.post_message(self.Raw(self.recording.events[self.place], self.place))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, -3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 3)

    def _wheel(self, event: events.MouseEvent, by: int) -> None:
        event.stop()
        if self._scroll.places and self.view is not None:
            self._anchor = "top"
            self._scroll.up(by, self._height(self.view, self.size.width))
            self.redraw()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is not None and at.y < len(self._shown):
            self.go(self._shown[at.y])
            if event.chain == 2:
                self.action_whole()
