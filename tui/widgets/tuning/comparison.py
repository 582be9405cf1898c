"""The results of the bench: actual against what-if as curves, as firings by name and as figures, and a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from math import ceil
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.reactive import reactive

from core.engine.governor.machine import STATES as GOVERNOR_STATES
from core.engine.mind.cortical import REGIMES
from core.engine.percept import AGENT_STATES, AXES, PATTERNS, spell_name
from core.report.event_words import firing_words
from core.report.formatting import count, fraction
from core.settings.layers import tunables
from core.store.bookmarks import Label
from core.timeline.rerun import FIRINGS, key_of
from core.timeline.run import Track
from core.timeline.timeline import Timeline
from core.timeline.whatif import Sweep, SweepPoint, WhatIfResult, changed_series, filled_series
from tui.draw.line import Canvas, Line, fit, wrapped
from tui.feed.messages import Failed, Seek
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common import timeline_cells as strip
from tui.widgets.common.panel import CursorList, Panel
from tui.widgets.tuning.settings_list import number_text

# Kept, moved, gained, lost: the later wins a cell.
_DIFFERENCE_GLYPHS = {"=": ("·", "quiet"), "~": ("~", "threshold"), "+": ("+", "live"), "-": ("−", "alert")}
VERDICT_GLYPHS = {"right": ("✓", "live"), "wrong": ("✗", "alert"), "missed": ("?", "threshold")}
_LEAST = 4  # Rows of the lowest curve, its caption included.
_ROOMY = 8  # Rows a curve may have before another is drawn below it.


class Comparison(Panel):
    """A curve for each reading the edits touch; click to seek."""

    TITLE: ClassVar[str] = "Actual against what-if"

    compared: reactive[WhatIfResult | None] = reactive(None)
    named: reactive[str] = reactive("")  # The setting under the cursor.

    labels: reactive[tuple[Label, ...]] = reactive(())

    _window = strip.EventWindow(0, 0, 1)

    def watch_compared(self) -> None:
        self.redraw()
        self.border_subtitle = self._state()

    watch_labels = Panel.redraw

    def watch_named(self) -> None:
        if self.compared is None:
            self.redraw()

    def subtitle(self, view: View) -> str:  # noqa: ARG002
        """How far the what-if is."""
        return self._state()

    def _state(self) -> str:
        compared = self.compared
        if compared is None:
            return "nothing changed"
        if compared.complete:
            return "complete"
        return f"running {round(100 * compared.share)}%" + (" · signals complete" if compared.settled else "")

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        timeline = self.recording
        if timeline is None or not len(timeline):
            return [[("nothing recorded yet", "quiet")]]
        self._window = strip.EventWindow(0, len(timeline), width)
        judged = self._judged(width) if self.labels else None
        room = max(_LEAST, height - (2 if judged else 1))
        chosen = changed_series(timeline, self.compared, view.agent, self.named, max(1, room // _LEAST))
        chosen = filled_series(chosen, room // _ROOMY)
        lines: list[Line] = []
        for sentence in self.compared.why_unchanged(view.agent) if self.compared else ():
            lines += [[(line, "strong")] for line in wrapped(sentence, max(8, width))]
        room = max(_LEAST, room - len(lines))
        chosen = chosen[: max(1, room // _LEAST)]
        for number, series in enumerate(chosen):
            tall = room // len(chosen) + (1 if number < room % len(chosen) else 0)
            lines += self._curve(timeline, view, series, width, min(tall, 13))
        return [*lines, self._marks(timeline, view, width), *([judged] if judged else [])]

    def _curve(self, timeline: Timeline, view: View, series: str, width: int, height: int) -> list[Line]:
        ink = series.removeprefix("axis.") if series.removeprefix("axis.") in AXES else "live"
        dim = f"{ink}-dim" if ink in AXES else "quiet"
        actual = timeline.tracks.get(view.agent)
        other, done = self.compared.track(view.agent, series) if self.compared else (None, 0)
        threshold = series.replace("axis", "threshold", 1) if series.startswith("axis.") else ""
        canvas = Canvas(width, height - 1)
        head = self._window.cell(view.index)
        for row in range(height - 1):
            canvas.put(head, row, "│", "quiet")
        total = len(timeline)
        dots = strip.EventWindow(0, total, width * 2)
        lines = [
            (actual, threshold, total, "baseline", 3),
            (other, threshold, done, "threshold", 3),
            (actual, series, total, dim if other is not None else ink, 1),
            (other, series, done, ink, 1),
        ]
        rows = []
        for track, name, until, tint, every in lines:
            if track is not None and len(track) and name in track.columns.names:
                rows.append((strip.heights(track, name, dots).tolist(), until, tint, every))
        top = max(0.25, ceil(max(([max(values) for values, _, _, _ in rows]), default=1.0) * 4 - 1e-6) / 4)
        for values, until, tint, every in rows:
            _plot(canvas, values[: len(values) * until // max(1, total)], top, tint, every)
        return [self._caption(view, series, threshold, actual, other, width), *canvas.lines()]

    def _caption(
        self, view: View, series: str, threshold: str, actual: Track | None, other: Track | None, width: int
    ) -> Line:
        name = series.removeprefix("axis.").replace(".", " ").replace("_", " ")
        ink = name if name in AXES else "strong"
        pieces: Line = [(fit(name, min(22, max(11, width // 4))), ink)]
        limit = "threshold " if width >= 48 else "fires "
        for label, column in (("", series), (limit, threshold)):
            before = value_at(actual, column, view.index)
            after = value_at(other, column, view.index)
            if before is None:
                continue
            pieces.append((f" {label}{fraction(before)}", "quiet"))
            if after is not None and fraction(after) != fraction(before):
                pieces.append((f" → {fraction(after)}", "strong"))
            pieces.append((" ", "quiet"))
        return pieces

    def _marks(self, timeline: Timeline, view: View, width: int) -> Line:
        """One row of differences under the curves."""
        cells: dict[int, str] = {}
        order = "=~+-"
        compared = self.compared
        if compared is None:
            marks = [(mark.place, "=") for mark in timeline.marks.between(0, len(timeline)) if mark.kind in FIRINGS]
        else:
            marks = [(pair.actual.place, "=") for pair in compared.difference.kept]
            marks += [(place, kind) for place, kind, _ in compared.changes()]
        for place, kind in marks:
            cell = self._window.cell(place + 1)
            if order.index(kind) >= order.index(cells.get(cell, "=")):
                cells[cell] = kind
        head = self._window.cell(view.index)
        run = compared.whole if compared is not None and compared.complete else None
        shaded = strip.silenced((run or timeline).tracks.get(view.agent), self._window)
        line: Line = []
        for cell in range(width):
            empty = (strip.SHADE, "flow-dim") if shaded[cell] else (" ", "plain")
            glyph, ink = _DIFFERENCE_GLYPHS[cells[cell]] if cell in cells else empty
            if cell == head:
                glyph, ink = (glyph, "cursor") if cell in cells else ("│", "strong")
            line.append((glyph, ink))
        return line

    def _judged(self, width: int) -> Line:
        """One row of what a person said."""
        canvas = Canvas(width, 1)
        for label in self.labels:
            glyph, ink = VERDICT_GLYPHS[label.verdict]
            canvas.put(self._window.cell(label.place + 1), 0, glyph, ink)
        return canvas.lines()[0]

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is not None and self._window.stop:
            self.post_message(Seek(self._window.place(place.x)))


def value_at(track: Track | None, column: str, index: int) -> float | None:
    """A reading after the first `index` events; None where the track does not reach so far."""
    if track is None or not column or column not in track.columns.names:
        return None
    row = track.row(index - 1)
    return track.columns.value(column, row) if 0 <= row < len(track.columns) else None


def _plot(canvas: Canvas, values: list[float], top: float, ink: str, every: int) -> None:
    """A line of braille dots, two a cell across and four down; with `every` above 1, a dotted one."""
    deep = canvas.height * 4 - 1
    before: int | None = None
    for x, value in enumerate(values):
        y = round((1.0 - min(1.0, max(0.0, value) / top)) * deep)
        if every == 1:
            canvas.stroke((x / 2, (y if before is None else before) / 4), (x / 2, y / 4), ink)
        elif x % every == 0:
            canvas.stroke((x / 2, y / 4), (x / 2, y / 4), ink)
        before = y


_LABEL = 6


def sweep_lines(sweep: Sweep, width: int, height: int) -> list[Line]:
    """Bars over the range of values, the present one marked; agreement with labels as lines of its own."""
    points = sweep.points
    if not points:
        return [[("running …", "quiet")]]
    labelled = sweep.labelled > 0
    rows = max(2, height - (4 if labelled else 3))
    room = max(8, width - _LABEL)
    canvas = Canvas(width, rows + 2)
    heights = _heights(sweep)
    top = max(1, max(heights.values()))
    canvas.put(0, 0, f"{top:>{_LABEL - 1}}", "quiet")
    canvas.put(0, rows - 1, f"{0:>{_LABEL - 1}}", "quiet")
    low, high = float(points[0].value), float(points[-1].value)
    now = round(((float(sweep.present)) - low) / (high - low) * (room - 1)) if high > low else 0
    nearest = _nearest(points, low, high, room)
    for cell in range(room):
        point = nearest[cell]
        ink = "live" if cell == now else "heat-2" if sweep.moving else "heat-1"
        for row, [bar] in enumerate(strip.bar_cells([round(heights[point.value] / top * rows * 8)], rows, ink, "▁")):
            canvas.put(_LABEL + cell, row, *bar)
    if 0 <= now < room:
        canvas.put(_LABEL + now, rows, "▲", "live")
    said_low, said_high = number_text(low), number_text(high)
    canvas.put(_LABEL, rows + 1, said_low, "quiet")
    canvas.put(_LABEL + room - len(said_high), rows + 1, said_high, "quiet")
    mark = f"{number_text(float(sweep.present))} now"
    place = max(len(said_low) + 1, min(now - len(mark) // 2, room - len(said_high) - len(mark) - 1))
    if place + len(mark) < room:
        canvas.put(_LABEL + place, rows + 1, mark, "live")
    lines = canvas.lines()
    if labelled:
        lines.append(_agreement(sweep, nearest[max(0, min(now, room - 1))]))
    lines.append([(fit(_sweep_sentence(sweep), width), "quiet")])
    return lines


def _heights(sweep: Sweep) -> dict[float, int]:
    """Count the firings that change with the value, or all firings if none does."""
    moving = sweep.moving
    if not moving:
        return {point.value: point.fired for point in sweep.points}
    return {point.value: sum(point.names.get(name, 0) for name in moving) for point in sweep.points}


def _agreement(sweep: Sweep, here: SweepPoint) -> Line:
    best = max(sweep.points, key=lambda point: _f1(point))
    return [
        ("labels ", "quiet"),
        (f"precision {_share(here.score.precision)} recall {_share(here.score.recall)} now", "live"),
        (f" · best at {number_text(float(best.value))}: ", "quiet"),
        (f"{_share(best.score.precision)} and {_share(best.score.recall)}", "strong"),
    ]


def _f1(point: SweepPoint) -> float:
    precision, recall = point.score.precision or 0.0, point.score.recall or 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".removeprefix("0") if value < 1 else "1.0"


def _sweep_sentence(sweep: Sweep) -> str:
    """Describe the chart in words."""
    if len(sweep.points) > 1 and not sweep.moving:
        return f"{count(sweep.points[0].fired, sweep.what)} at every value"
    heights = _heights(sweep)
    values = sorted(heights, key=lambda value: abs(float(value) - float(sweep.present)))
    here = heights[values[0]]
    whole = next(point.fired for point in sweep.points if point.value == values[0])
    many = count(whole, sweep.what) if here == whole else f"{here} of {count(whole, sweep.what)}"
    steep = max((abs(heights[value] - here) for value in values[1:3]), default=0)
    ground = "plateau" if steep <= max(1, here // 20) else "slope" if steep <= here // 3 else "cliff"
    names = ", ".join(firing_words(name) for name in sweep.moving)
    return f"{many} now, on a {ground}: {names}"


def _nearest(points: tuple[SweepPoint, ...], low: float, high: float, room: int) -> list[SweepPoint]:
    values = (low + (high - low) * cell / max(1, room - 1) for cell in range(room))
    return [min(points, key=lambda point: abs(float(point.value) - value)) for value in values]


class SweepChart(Panel):
    """The chart of the setting under the cursor."""

    TITLE: ClassVar[str] = "Sweep"

    sweep: reactive[Sweep | None] = reactive(None)

    def watch_sweep(self, sweep: Sweep | None) -> None:
        if sweep is not None:
            unit = tunables()[sweep.name].unit
            self.border_title = f"Sweep · {sweep.name}{f' in {unit}' if unit else ''}"
        self.redraw()

    def lines(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return [] if self.sweep is None else sweep_lines(self.sweep, width, height)


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
            same, gained, lost, moved = map(len, self.compared.difference)
            counts = f"{same} same, {gained} new, {lost} lost, {moved} moved"
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
