"""The feed of firings, and the salience queue."""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Click
from textual.reactive import reactive

from core.engine.mind.readings import SalienceReading
from core.engine.mind.stimulus import StimulusKind
from core.report.formatting import clock, fraction, plain, span
from core.report.now import Now
from core.settings.mind import SalienceSettings
from core.timeline.marks import Mark, MarkKind
from tui.draw.line import Line, first_fit, fit, stack
from tui.feed.messages import Failed, Seek
from tui.feed.view import View, names_of
from tui.keys import bind
from tui.widgets.common.panel import CursorPanel, Panel
from tui.widgets.common.timeline_cells import MarkFilter, mark_amount, mark_glyph, mark_reason, mark_style, mark_text

# What the feed shows.
FEED_KINDS: tuple[MarkKind, ...] = ("signal", "method", "halt", "quarantine", "compaction", "shift")
_PAGE = 10
_TOLD = (36, 6)  # Width and height from which each entry has a second line.


class SignalFeed(CursorPanel):
    """A list with a cursor; enter takes the playhead to the event under it."""

    TITLE: ClassVar[str] = "Signals"
    LOOK = ("everyone", "_chosen")
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
        self._marks_kept = MarkFilter(*FEED_KINDS)
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

    def watch_everyone(self) -> None:
        self._top = 0
        self.redraw()

    def action_move(self, by: int) -> None:
        """Choose another entry."""
        if self.view is not None and (stop := self._stop(self.view)):
            self._choose(max(0, min(stop - 1, self._cursor(stop) + by)), stop)

    def action_jump(self) -> None:
        """Take the playhead to the event of the chosen entry."""
        if self.view is not None and (stop := self._stop(self.view)):
            mark = self._marks_kept.kept[stop - 1 - self._cursor(stop)]
            self._chosen = None
            self.post_message(Seek(mark.place + 1, mark.agent))

    def action_agents(self) -> None:
        """Show all agents, or only the one on screen."""
        if self.view is not None and len(self.view.agents) < 2:
            self.post_message(Failed("this session has only one agent so far"))
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
        named = (self.detailed or mark.agent != view.agent) and len(view.agents) > 1 and len(text) + 6 <= room
        who = f" · {names.get(mark.agent, plain(mark.agent, 20))}" if named else ""
        if under and self.has_focus:
            return [(fit(f"{when} {mark_glyph(mark)} {fit(text + who, room)}{tail}", width), "cursor")]
        return [
            (f"{when} ", "quiet"),
            (f"{mark_glyph(mark)} ", mark_style(mark)),
            (text, "strong" if mark.kind in ("halt", "quarantine", "method") else "plain"),
            (fit(who, room - len(text)), "quiet"),
            (tail, "quiet" if self.detailed else mark_style(mark)),
        ]


# Glyph, word and style of each kind.
KINDS: dict[StimulusKind, tuple[str, str, str]] = {
    "owner_message": ("›", "person", "live"),
    "policy_violation": ("■", "policy", "alert"),
    "confirmation": ("+", "success", "confidence"),
    "anomaly": ("▲", "anomaly", "frustration"),
    "trace": ("◇", "trace", "uncertainty"),
    "dream_request": ("▽", "memory", "fatigue"),
}
# Glyph, style and word of novelty, relevance and urgency.
TERMS = (("▆", "seeking", "new"), ("▄", "flow", "matters"), ("▂", "frustration", "urgent"))


_FULL = 0.4  # No weaker score fills a bar.


class SalienceQueue(Panel):
    """The live queue, strongest first."""

    TITLE: ClassVar[str] = "Salience"
    CLICKS_ZOOM = True

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        mind = view.frame.mind
        items = mind.salience
        if not items:
            return [[(fit("nothing needs attention", width), "quiet")]]
        settings, top = self._settings(view), _scale(items)
        lines_each = max(1, min(3, height // len(items))) if width >= 34 else 1
        lines: list[Line] = []
        for item in items:
            lines += [_row(item, view, settings, width, top), _sum_line(item, settings, width), []][:lines_each]
        more = mind.queued - sum(item.times for item in items)
        if more > 0 and len(lines) < height:
            lines.append([(fit(f"{more} more waiting", width), "quiet")])
        return lines

    def details(self, view: View, width: int, height: int) -> list[Line]:
        mind = view.frame.mind
        if not mind.salience:
            return self.lines(view, width, height)
        settings, top = self._settings(view), _scale(mind.salience)
        lines: list[Line] = []
        for item in mind.salience:
            lines += [_row(item, view, settings, width, top), _sum_line(item, settings, width)]
            lines += [_fate(item, view, settings), []]
        more = mind.queued - sum(item.times for item in mind.salience)
        rest = f", {more} of them not shown" if more > 0 else ""
        lines.append([(f"{mind.queued} waiting{rest}", "quiet")])
        return lines[:height]

    def subtitle(self, view: View) -> str:  # noqa: ARG002
        return " ".join(f"{glyph} {word}" for glyph, _, word in TERMS)

    def _settings(self, view: View) -> SalienceSettings:
        """Return the settings in force at the playhead."""
        if self.recording is None:
            return _DEFAULT
        versions = [change.settings for change in self.recording.changes if change.after <= view.index]
        return versions[-1].mind.salience if versions else _DEFAULT


_DEFAULT = SalienceSettings()


def _terms(item: SalienceReading, settings: SalienceSettings) -> tuple[float, float, float]:
    novelty, relevance = item.novelty * settings.novelty_weight, item.relevance * settings.relevance_weight
    return novelty, relevance, item.urgency * settings.urgency_weight


def _row(item: SalienceReading, view: View, settings: SalienceSettings, width: int, top: float) -> Line:
    glyph, word, ink = KINDS[item.kind]
    room = 3 if width < 28 else 4 if width < 44 else 8 if width < 52 else min(30, width // 5)
    left = item.score / item.arrived_with / top if item.arrived_with else 0.0
    parts = [(term * left, mark, colour) for term, (mark, colour, _) in zip(_terms(item, settings), TERMS, strict=True)]
    parts.append((max(0.0, item.arrived_with - item.score) / top, "▁", "quiet"))
    age = span(item.age)
    tail = f" {age.split()[0]:>3}"
    if width >= 64:
        tail = f" {age:>7}  {span(max(0.0, settings.expiry - item.age)):>7} left"
    times = f" +{item.times - 1}" if item.times > 1 else ""
    kind = f" {glyph} " + (fit(word, 8) if width >= 52 else "")
    what = width - 4 - room - len(kind) - len(times) - len(tail)
    return [
        (f"{fraction(item.score):<4}", "strong" if item.promoted else "quiet"),
        *stack(parts, room),
        (kind, ink),
        (fit(_what(item, view.now), max(0, what)), "plain"),
        (times, "strong"),
        (tail, "quiet"),
    ]


def _what(item: SalienceReading, now: Now) -> str:
    """Return the stimulus's subject, in the log's words if the strip shows the same event."""
    if item.kind == "owner_message" and item.at == now.asked_at and now.asked:
        return f"you: “{plain(now.asked)}”"
    if item.kind == "anomaly" and item.at == now.failed_at and now.failed:
        return f"failed: {plain(now.failed)}"
    return plain(item.what)


def _scale(items: tuple[SalienceReading, ...]) -> float:
    """The score that fills a bar: the greatest any of them came with."""
    return max(_FULL, *(item.arrived_with for item in items))


def _sum_line(item: SalienceReading, settings: SalienceSettings, width: int) -> Line:
    """The three terms as the sum they are."""
    wide = width >= 60
    line: Line = [("    " if wide else "  ", "plain")]
    for number, (amount, (_, ink, word)) in enumerate(zip(_terms(item, settings), TERMS, strict=True)):
        line.append(((" + " if wide else "  ") if number else "", "quiet"))
        line.append((f"{word} ", "quiet"))
        line.append((fraction(amount), ink))
    if wide:
        line.append((f" = {fraction(item.arrived_with)}, now {fraction(item.score)}", "quiet"))
    return line


def _fate(item: SalienceReading, view: View, settings: SalienceSettings) -> Line:
    """Where it comes from and when it goes."""
    rest = span(max(0.0, settings.expiry - item.age))
    promoted = "promoted" if item.promoted else "not promoted"
    came = f"arrived at {clock(item.at - view.start)}"
    return [("    ", "plain"), (f"{item.cause}, {came}, {promoted}, dropped in {rest}", "quiet")]
