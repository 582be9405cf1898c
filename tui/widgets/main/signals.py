"""The feed: what fired, what was done about it, and what else changed, newest first."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar, NamedTuple

from textual.binding import BindingType
from textual.events import Click
from textual.reactive import reactive

from core.report.formatting import clock, plain, span
from core.timeline.marks import Mark, MarkKind
from tui.draw.line import Line, first_fit, fit
from tui.feed.messages import Seek
from tui.feed.view import View, names_of
from tui.keys import bind
from tui.widgets.common.mark_words import MarkFilter, mark_amount, mark_glyph, mark_reason, mark_style, mark_text
from tui.widgets.common.panel import CursorPanel

KINDS: tuple[MarkKind, ...] = ("signal", "method", "halt", "quarantine", "compaction", "shift")  # What the feed holds.
_PAGE = 10
_TOLD = (36, 6)  # Width and height from which each entry has a second line.


class FeedLook(NamedTuple):
    """How the person arranged the feed."""

    everyone: bool
    chosen: Mark | None


class SignalFeed(CursorPanel):
    """A list with a cursor; enter takes the playhead to the event under it."""

    TITLE: ClassVar[str] = "Signals"
    WHEEL = 3
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "jump", "go there", "Move the playhead to this entry", show=True),
        bind("row.up", "move(-1)", "", "The newer entry"),
        bind("row.down", "move(1)", "", "The older entry"),
        bind("page.up", f"move(-{_PAGE})", "", "Ten entries up"),
        bind("page.down", f"move({_PAGE})", "", "Ten entries down"),
        bind("view", "agents", "all agents", "All agents, or only the one on screen", show=True),
        bind("alone", "zoom", show=True),
    ]

    everyone: reactive[bool] = reactive(True)  # Whether entries of all agents are shown.

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._marks_kept = MarkFilter(*KINDS)
        self._chosen: Mark | None = None  # The entry under the cursor; None follows the newest.
        self._top = 0
        self._rows = 0
        self._each = 1  # Lines of an entry.

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        stop = self._stop(view)
        self._each = 2 if width >= _TOLD[0] and height >= _TOLD[1] else 1
        self._rows = max(1, height // self._each)
        if stop == 0:
            return [[(fit("nothing fired so far", width), "quiet")]]
        cursor = self._cursor(stop)
        self._top = min(max(self._top, cursor - self._rows + 1), cursor, max(0, stop - self._rows))
        marks = self._marks_kept.kept
        lines: list[Line] = []
        for place in range(self._top, min(stop, self._top + self._rows)):
            mark = marks[stop - 1 - place]
            lines.append(self._row(mark, view, width, place == cursor))
            if self._each == 2 and self.recording is not None:
                parts = mark_reason(mark, self.recording).split(" · ")
                tries = [f"  {' · '.join(parts[:most])}" for most in range(len(parts), 0, -1)]
                lines.append([(first_fit(tries, width), "quiet")])
        return lines

    def subtitle(self, view: View) -> str:
        stop = self._stop(view)
        return "" if stop == 0 else f"{self._cursor(stop) + 1} of {stop}"

    def look(self) -> FeedLook:
        return FeedLook(self.everyone, self._chosen)

    def take(self, look: FeedLook) -> None:
        self.everyone, self._chosen = look
        self.redraw()

    def watch_everyone(self) -> None:
        self._top = 0
        self.redraw()

    def action_move(self, by: int) -> None:
        """Choose another entry."""
        if self.view is None:
            return
        stop = self._stop(self.view)
        if stop:
            place = max(0, min(stop - 1, self._cursor(stop) + by))
            self._choose(place, stop)

    def action_jump(self) -> None:
        """Take the playhead to the event of the chosen entry."""
        if self.view is None:
            return
        stop = self._stop(self.view)
        if stop:
            mark = self._marks_kept.kept[stop - 1 - self._cursor(stop)]
            self._chosen = None
            self.post_message(Seek(mark.place + 1, mark.agent))

    def action_agents(self) -> None:
        """Show all agents, or only the one on screen."""
        self.everyone = not self.everyone

    def on_blur(self) -> None:
        """Without focus, the feed shows the newest entries."""
        self._chosen = None
        super().on_blur()

    def on_click(self, event: Click) -> None:
        """Choose the entry clicked; clicked twice, go there."""
        inside = event.get_content_offset(self)
        if self.view is None or inside is None:
            return
        place = self._top + inside.y // self._each
        stop = self._stop(self.view)
        if place < stop:
            self._choose(place, stop)
            if event.chain > 1:
                self.action_jump()

    def _choose(self, place: int, stop: int) -> None:
        self._chosen = None if place == 0 else self._marks_kept.kept[stop - 1 - place]
        self.redraw()

    def _stop(self, view: View) -> int:
        """How many entries there are up to the playhead."""
        if self.recording is None:
            return 0
        return self._marks_kept.until(self.recording.marks, view.index, None if self.everyone else view.agent)

    def _cursor(self, stop: int) -> int:
        """Return the place of the chosen entry, counted from the newest."""
        if self._chosen is None:
            return 0
        marks = self._marks_kept.kept
        place = bisect_left(self._marks_kept.places, self._chosen.place, hi=stop)
        while place < stop and marks[place] is not self._chosen and marks[place].place == self._chosen.place:
            place += 1
        return max(0, stop - 1 - place)

    def _row(self, mark: Mark, view: View, width: int, under: bool) -> Line:
        at = mark.at - view.start
        when = clock(at) if width >= 30 else clock(at)[3:] if at < 3600 else clock(at)[:5]
        tail = f" {mark_amount(mark)}" if mark_amount(mark) else ""
        if self.detailed:
            ago = span(max(0.0, view.at - mark.at))
            tail = f" {mark_amount(mark):>8}{ago:>9} ago  event {mark.place + 1:>6,}"
        room = max(0, width - len(when) - 3 - len(tail))
        names = names_of(view)
        text = fit(mark_text(mark, names), room).rstrip()
        who = (
            ""
            if mark.agent == view.agent and not self.detailed
            else f" · {names.get(mark.agent, plain(mark.agent, 20))}"
        )
        who = who if len(view.agents) > 1 and len(text) + 6 <= room else ""
        if under and self.has_focus:
            return [(fit(f"{when} {mark_glyph(mark)} {fit(text + who, room)}{tail}", width), "cursor")]
        return [
            (f"{when} ", "quiet"),
            (f"{mark_glyph(mark)} ", mark_style(mark)),
            (text, "strong" if mark.kind in ("halt", "quarantine", "method") else "plain"),
            (fit(who, room - len(text)), "quiet"),
            (tail, "quiet" if self.detailed else mark_style(mark)),
        ]
