"""Every setting in a list: its value on a slider, what is changed, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from core.settings import Settings
from core.settings.layers import value_of
from core.settings.tunable import Tunable
from tui.tuning.catalogue import Entry, Heading, Row, group_of, rows
from tui.tuning.draft import written
from tui.view import View
from tui.widgets.gauge import runs
from tui.widgets.panel import Line, fit
from tui.widgets.scroller import Scroller
from tui.words import plain

FIRST = "receptor.ambient.offset.frustration"
"""Where the cursor begins."""


class Drafted(NamedTuple):
    """Settings as they stand on the bench."""

    base: Settings
    edits: Mapping[str, Any]

    def value(self, name: str) -> Any:
        """What a setting would be."""
        return self.edits[name] if name in self.edits else value_of(self.base, name)


class SettingsList(Scroller):
    """A row a setting; arrows move the value, shift makes the step fine, enter types."""

    TITLE: ClassVar[str] = "Settings"
    HELP: ClassVar[str] = """\
## Settings

`●` is changed here and not yet applied, `○` differs from the built-in value. On a slider `┃` is the value,
`╵` the built-in one. Left and right move it, shift makes the step fine, enter types a value or opens a group.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "nudge(1)", "more", key_display="←→", id="tune.more", tooltip="More, on, the next"),
        Binding("left", "nudge(-1)", "less", show=False, id="tune.less", tooltip="Less, off, the one before"),
        Binding(
            "shift+right", "nudge(1, True)", "fine", show=False, id="tune.more.fine", tooltip="A bit more"
        ),
        Binding(
            "shift+left", "nudge(-1, True)", "fine", show=False, id="tune.less.fine", tooltip="A bit less"
        ),
        Binding("enter", "enter", "type", id="tune.type", tooltip="Type a value, or open the group"),
    ]

    @dataclass
    class Nudged(Message):
        """A key moved a slider."""

        name: str
        direction: int
        fine: bool

    @dataclass
    class Typing(Message):
        """A value is to be typed."""

        name: str

    @dataclass
    class Chosen(Message):
        """The cursor came to another row."""

        row: Row | None

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, SettingsList.Chosen)

    drafted: reactive[Drafted | None] = reactive(None)
    words: reactive[str] = reactive("")
    only_changed: reactive[bool] = reactive(False)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._opened = {group_of(FIRST)}
        self._rows = rows(self._opened)
        self._cursor = next(
            place
            for place, row in enumerate(self._rows)
            if isinstance(row, Entry) and row.tunable.name == FIRST
        )

    @property
    def chosen(self) -> Row | None:
        """What the cursor is on."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    @property
    def name_here(self) -> str:
        """The setting the cursor is on; blank on a heading."""
        row = self.chosen
        return row.tunable.name if isinstance(row, Entry) else ""

    def names_here(self) -> tuple[str, ...]:
        """The settings the cursor stands for: one, or all of a group."""
        row = self.chosen
        if row is None:
            return ()
        return row.names if isinstance(row, Heading) else (row.tunable.name,)

    def show(self, name: str) -> None:
        """Bring a setting under the cursor."""
        self._opened.add(group_of(name))
        self._list_anew(name)

    def on_mount(self) -> None:
        self.call_after_refresh(self._reveal)

    def count_rows(self) -> int:
        return len(self._rows)

    def row(self, number: int, width: int) -> Line:
        row = self._rows[number]
        here = number == self._cursor
        if isinstance(row, Heading):
            return self._heading(row, width, here=here)
        return self._entry(row, width, here=here)

    def _heading(self, row: Heading, width: int, *, here: bool) -> Line:
        edits = self.drafted.edits if self.drafted else {}
        changed = sum(name in edits for name in row.names)
        tail = f" {changed}●" if changed else f" {len(row.names)}"
        name = f"{'▾' if row.open else '▸'} {row.group.replace('.', ' › ')}"
        room = max(4, width - len(tail) - 1)
        ink = "cursor" if here else "strong"
        if width >= 60:
            name = fit(name, 27)
        said = row.sentence if width >= 60 else ""
        return [
            (fit(name, min(len(name), room)), ink),
            (fit(said, max(0, room - len(name))), "quiet"),
            (tail, "live" if changed else "quiet"),
        ]

    def _entry(self, row: Entry, width: int, *, here: bool) -> Line:
        drafted = self.drafted
        if drafted is None:
            return [(row.label, "quiet")]
        tunable, value = row.tunable, drafted.value(row.tunable.name)
        edited = tunable.name in drafted.edits
        other = value != tunable.default
        glyph, mark = ("●", "live") if edited else ("○" if other else " ", "quiet")
        slide = max(6, min(24, width // 4 - 2)) if tunable.kind in ("number", "integer") else 0
        said = shown(value, tunable)
        figures = (9 if width >= 44 else 7) if slide else min(width // 2, max(9, len(said) + 1))
        room = max(6, width - 3 - slide - figures - 1)
        line: Line = [
            (f" {glyph} ", mark),
            (fit(row.label, room), "cursor" if here else "plain"),
            (" ", "plain"),
        ]
        if slide:
            line += slider(tunable, value, slide, edited=edited)
        return [*line, (fit(said, figures).strip().rjust(figures), "live" if edited else "plain")]

    def watch_drafted(self) -> None:
        if self.only_changed:
            self._list_anew(self.name_here)
        else:
            self.refresh()
        edits = len(self.drafted.edits) if self.drafted else 0
        self.border_subtitle = f"● {edits} changed" if edits else ""

    def watch_words(self) -> None:
        self._list_anew(self.name_here)

    def watch_only_changed(self) -> None:
        self._list_anew(self.name_here)

    def watch_view(self, view: View | None) -> None:
        """What is seen of the session changes nothing here."""

    def _list_anew(self, name: str = "", group: str = "") -> None:
        wanted = self._is_changed if self.only_changed else None
        self._rows = rows(self._opened, self.words, wanted)
        self._cursor = min(self._cursor, max(0, len(self._rows) - 1))
        for place, row in enumerate(self._rows):
            if (isinstance(row, Entry) and row.tunable.name == name) or (
                isinstance(row, Heading) and row.group == group
            ):
                self._cursor = place
        if (self.words or self.only_changed) and self.name_here != name:
            self._cursor = min(1, max(0, len(self._rows) - 1))
        listed = sum(isinstance(row, Entry) for row in self._rows)
        narrowed = " · ".join(
            part for part in ("changed" if self.only_changed else "", plain(self.words, 20)) if part
        )
        self.border_title = f"Settings  {listed} of them · {narrowed}" if narrowed else self.TITLE
        self.resize_rows()
        self._reveal()

    def _is_changed(self, name: str) -> bool:
        drafted = self.drafted
        if drafted is None:
            return False
        return name in drafted.edits or value_of(drafted.base, name) != _default(name)

    def _reveal(self) -> None:
        top = self.scroll_offset.y
        last = top + self.page - 1
        if self._cursor < top or self._cursor > last:
            self.scroll_to(y=max(0, self._cursor - self.page // 3), animate=False, immediate=True)
        self.refresh()
        self.post_message(self.Chosen(self.chosen))

    def action_move(self, by: int) -> None:
        self._go(self._cursor + by)

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._rows) - 1)

    def _go(self, to: int) -> None:
        self._cursor = max(0, min(to, len(self._rows) - 1))
        self._reveal()

    def action_nudge(self, direction: int, fine: bool = False) -> None:
        """Move the value; on a heading, open or close the group."""
        row = self.chosen
        if isinstance(row, Entry):
            self.post_message(self.Nudged(row.tunable.name, direction, fine))
        elif isinstance(row, Heading) and row.open != (direction > 0):
            self._fold(row)

    def action_enter(self) -> None:
        row = self.chosen
        if isinstance(row, Heading):
            self._fold(row)
        elif isinstance(row, Entry) and row.tunable.kind in ("switch", "choice"):
            self.post_message(self.Nudged(row.tunable.name, 1, False))
        elif isinstance(row, Entry):
            self.post_message(self.Typing(row.tunable.name))

    def _fold(self, row: Heading) -> None:
        self._opened ^= {row.group}
        self._list_anew(group=row.group)

    def on_click(self, event: events.Click) -> None:
        """Go to the row; on the row one is on, a click acts like enter."""
        place = event.get_content_offset(self)
        if place is None:
            return
        number = self.scroll_offset.y + place.y
        if number == self._cursor:
            self.action_enter()
        elif number < len(self._rows):
            self._go(number)


def _default(name: str) -> Any:
    from core.settings.layers import tunables

    return tunables()[name].default


def shown(value: Any, tunable: Tunable) -> str:
    """A value in few cells."""
    if tunable.kind == "switch":
        return "on" if value else "off"
    if tunable.kind in ("number", "integer"):
        unit = tunable.unit if len(tunable.unit) <= 2 else ""
        return f"{figure(value, tunable.step)} {unit}".strip()
    if tunable.kind == "table":
        return f"{len(value)} {'entry' if len(value) == 1 else 'entries'}" if value else "empty"
    return plain(written(value)) or "none"


def figure(value: float, step: float | None = None) -> str:
    """A number with as many decimals as its step asks for, or as it needs."""
    if abs(value) >= 100_000:
        return f"{value / 1e6:g}M" if abs(value) >= 1e6 else f"{value / 1e3:g}k"
    said = f"{value:.4g}"
    least = len(f"{step:g}".partition(".")[2]) if step is not None and step < 1 else 0
    if len(said.partition(".")[2]) < least:
        said = f"{value:.{least}f}"
    return said.replace("0.", ".", 1) if said.startswith(("0.", "-0.")) else said


def slider(tunable: Tunable, value: float, width: int, *, edited: bool) -> Line:
    """A groove with the value and the built-in value on it."""
    cells, inks = ["─"] * width, ["track"] * width
    if tunable.low is None or tunable.high is None or tunable.high <= tunable.low:
        return runs(cells, inks)
    place = _place(tunable, value, width)
    for cell in range(place):
        cells[cell], inks[cell] = "━", "live" if edited else "baseline"
    usual = _place(tunable, float(tunable.default), width)
    if usual != place:
        cells[usual], inks[usual] = "╵", "threshold"
    cells[place], inks[place] = "┃", "live" if edited else "strong"
    return runs(cells, inks)


def _place(tunable: Tunable, value: float, width: int) -> int:
    low, high = tunable.low or 0.0, tunable.high or 1.0
    share = (value - low) / (high - low)
    return max(0, min(width - 1, round(share * (width - 1))))
