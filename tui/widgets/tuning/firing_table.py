"""The firings under both settings, by name, and the mind at the playhead under both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import ClassVar

from textual.binding import BindingType
from textual.reactive import reactive

from core.engine.governor.machine import STATES as GOVERNOR_STATES
from core.engine.mind.cortical import REGIMES
from core.engine.percept import AGENT_STATES, AXES, PATTERNS, spell_name
from core.report.event_words import firing_words
from core.report.formatting import fraction
from core.timeline.rerun import FIRINGS, key_of
from core.timeline.run import Track
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIfResult
from tui.draw.line import Line, fit
from tui.feed.messages import Failed, Seek
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.panel import CursorList, Panel
from tui.widgets.tuning.comparison import value_at

_NAME = 18  # Cells of a name, and of the gap behind the last figure.
Counted = tuple[str, int, int, int, int]


class FiringTable(CursorList):
    """A row for each signal, method and halt; enter jumps to its next difference."""

    TITLE: ClassVar[str] = "What would have fired"
    EMPTY: ClassVar[str] = "nothing fired"
    HEAD: ClassVar[int] = 1
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "jump", "go there", "To the next difference of this row", show=True)
    ]

    compared: reactive[WhatIfResult | None] = reactive(None, repaint=False)

    _listed: Sequence[Counted] = ()
    _listed_for: object = None

    def watch_view(self, view: View | None) -> None:
        if view is not None and self.compared is None and self._listed_for != view.total:
            self.watch_recording()

    def watch_recording(self) -> None:
        if self.compared is not None:
            table: list[Counted] = [(name, *row) for name, row in self.compared.difference.table().items()]
            table.sort(key=lambda row: (-(row[2] + row[3] + row[4]), row[0]))
            self._listed, self._listed_for = [*table, *_unheard(self.compared)], None
        else:
            self._listed = _actual(self.recording)
            self._listed_for = len(self.recording) if self.recording is not None else 0
        self.cursor = min(self.cursor, max(0, len(self._listed) - 1))
        counts = ""
        if self.compared:
            kept, gained, lost, moved = map(len, self.compared.difference)
            counts = f"{kept} same, {gained} new, {lost} lost, {moved} moved"
        self.say(counts)
        self.resize_rows()

    watch_compared = watch_recording

    def count_rows(self) -> int:
        return len(self._listed)

    def head(self, number: int, width: int) -> Line:  # noqa: ARG002
        name, rooms = _rooms(width)
        return [(fit("", name), "quiet"), ("".join(word.rjust(room) for word, room in rooms.items()), "quiet")]

    def row(self, number: int, width: int) -> Line:
        name_room, rooms = _rooms(width)
        name, same, gained, lost, moved = self._listed[number]
        here = number == self.cursor and self.has_focus
        actual, other = same + lost + moved, same + gained + moved
        changed = bool(gained or lost or moved)
        cells = {
            "before": (f"{actual}", "plain"),
            "after": (f"{other}", "strong" if other != actual else "plain"),
            "same": (f"{same}", "quiet"),
            "new": (_signed("+", gained), "live" if gained else "quiet"),
            "lost": (_signed("−", lost), "alert" if lost else "quiet"),
            "moved": (_signed("~", moved), "threshold" if moved else "quiet"),
        }
        return [
            (fit(_row_words(name), name_room), "cursor" if here else "plain" if changed else "quiet"),
            *((cells[word][0].rjust(room), cells[word][1]) for word, room in rooms.items()),
        ]

    def action_jump(self) -> None:
        """To the next difference of the row after the playhead, around the end."""
        view, compared = self.view, self.compared
        if view is None or compared is None or not self._listed:
            return
        name = self._listed[self.cursor][0]
        places = [place for place, _, mark in compared.changes() if key_of(mark) == name]
        places += _unheard_places(compared, name)
        if not places:
            self.post_message(Failed(f"{_row_words(name)} fires as before"))
            return
        later = [place for place in places if place + 1 > view.index]
        self.post_message(Seek((later or places)[0] + 1))


def _unheard(compared: WhatIfResult) -> list[Counted]:
    """Crossings that are not heard, then methods whose words differ."""
    rows = [] if compared.silenced is None else compared.silenced.table().items()
    counts = Counter(change.mark.name for change in compared.texts or ())
    return [
        *((f"░ {name}", *row) for name, row in rows),
        *((f"≠ {name} has a different text", 0, 0, 0, number) for name, number in sorted(counts.items())),
    ]


def _unheard_places(compared: WhatIfResult, row: str) -> list[int]:
    """Where the crossings or the words of a row are."""
    if row.startswith("≠"):
        name = row.removeprefix("≠ ").removesuffix(" has a different text")
        return [change.mark.place for change in compared.texts or () if change.mark.name == name]
    silenced = compared.silenced
    if silenced is None or not row.startswith("░"):
        return []
    marks = [*silenced.gained, *silenced.lost, *(pair.other for pair in silenced.moved + silenced.kept)]
    return sorted(mark.place for mark in marks if f"░ {mark.name}" == row)


def _row_words(name: str) -> str:
    """A row's name in words, behind the sign it may begin with."""
    sign = name[:2] if name[:2] in ("░ ", "≠ ") else ""
    return f"{sign}{firing_words(name.removeprefix(sign))}"


def _rooms(width: int) -> tuple[int, dict[str, int]]:
    """Room of a name, and of each figure there is room for."""
    least = 9 if width >= 90 else 5 if width >= 50 else 1
    rooms = {word: max(least, len(word) + 1) for word in ("before", "after", "same", "new", "lost", "moved")}
    for word in ("same", "before", "moved"):
        if width - sum(rooms.values()) < _NAME:
            del rooms[word]
    return max(8, width - sum(rooms.values()) - 1), rooms


def _signed(sign: str, number: int) -> str:
    return f"{sign}{number}" if number else "0"


def _actual(timeline: Timeline | None) -> list[Counted]:
    if timeline is None:
        return []
    marks = timeline.marks.between(0, len(timeline))
    counts = Counter(key_of(mark) for mark in marks if mark.kind in FIRINGS)
    return [(name, number, 0, 0, 0) for name, number in sorted(counts.items())]


_NAMED = {"state": AGENT_STATES, "pattern": PATTERNS, "regime": REGIMES, "governor": GOVERNOR_STATES}
_STORY = ("state", "regime", "governor")  # Figures that all screens report in the words of one story.
_FIGURES = (
    *("state", "pattern", "regime", "governor", *(f"axis.{axis}" for axis in AXES)),
    *("sleep", "context", "accuracy", "volatility"),
)


class Figures(Panel):
    """The mind at the playhead: what it was, and what it would have been."""

    TITLE: ClassVar[str] = "At the playhead"

    compared: reactive[WhatIfResult | None] = reactive(None)

    watch_compared = Panel.redraw

    def subtitle(self, view: View) -> str:
        return f"event {view.index:,} of {view.total:,}"

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        actual = self.recording.tracks.get(view.agent) if self.recording is not None else None
        columns = max(1, width // 31)
        each = width // columns
        cells = [self._cell(actual, name, view, each) for name in _FIGURES]
        rows = -(-len(cells) // columns)
        return [list(chain.from_iterable(cells[row::rows])) for row in range(min(rows, height))]

    def _cell(self, actual: Track | None, name: str, view: View, width: int) -> Line:
        before = value_at(actual, name, view.index)
        other, done = self.compared.track(view.agent, name) if self.compared is not None else (None, 0)
        after = value_at(other, name, view.index) if done >= view.index else None
        label = fit(name.removeprefix("axis."), 12)
        first = _figure_text(name, before)
        changed = after is not None and _figure_text(name, after) != first
        if name in _STORY and not changed and before is not None:
            first = spell_name(getattr(view.frame.story, name)).lower()  # The word of the other screens.
        if self.compared is None:
            return [(label, "quiet"), (fit(first, width - 12), "plain")]
        second = f" → {_figure_text(name, after)} " if changed else " =" if after is not None else " → …"
        rest = fit(second, max(0, width - 12 - len(first)))
        return [(label, "quiet"), (first, "plain"), (rest, "strong" if changed else "quiet")]


def _figure_text(name: str, value: float | None) -> str:
    if value is None:
        return "…"
    names = _NAMED.get(name)
    return spell_name(names[int(value)]).lower() if names else fraction(value)
