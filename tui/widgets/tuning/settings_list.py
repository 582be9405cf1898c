"""Every setting in a list, with its value on a slider, and the details of the chosen one."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive

from core.report.formatting import count, plain
from core.settings.draft import Drafted, ListRow, SettingGroup, SettingRow, group_of, list_rows, row_key, value_text
from core.settings.group import Tunable
from core.settings.layers import tunables, value_of
from tui.draw.line import Line, clipped, fit, joined_cells, wrapped
from tui.feed.messages import Latest
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.panel import CursorList, TextPage

_WIDE = 60  # From this width on a group says what it is about.


def _common_rows() -> tuple[ListRow, ...]:
    return tuple(SettingRow(tunables()[name], sentence) for name, sentence in COMMON.items())


def line_of(row: ListRow, drafted: Drafted | None, width: int, *, here: bool) -> Line:
    """One line; `here` is where the cursor is."""
    if isinstance(row, SettingGroup):
        return _heading(row, drafted, width, here=here)
    if drafted is None:
        return [(row.label, "quiet")]
    return _entry(row, drafted, width, here=here)


def _heading(row: SettingGroup, drafted: Drafted | None, width: int, *, here: bool) -> Line:
    edits = drafted.edits if drafted else {}
    changed = sum(name in edits for name in row.names)
    tail = f" {changed}●" if changed else f" {len(row.names)}"
    name = f"{'▾' if row.open else '▸'} {row.group.replace('.', ' › ')}"
    room = max(4, width - len(tail))
    if width >= _WIDE:
        name = fit(name, 27)
    name = fit(name, min(len(name), room))
    sentence = fit(row.sentence if width >= _WIDE else "", max(0, room - len(name)))
    return [(name, "cursor" if here else "strong"), (sentence, "quiet"), (tail, "live" if changed else "quiet")]


def _entry(row: SettingRow, drafted: Drafted, width: int, *, here: bool) -> Line:
    tunable, value = row.tunable, drafted.value(row.tunable.name)
    edited = tunable.name in drafted.edits
    lead = _mark(edited=edited, other=value != tunable.default)
    label = row.label
    if "{}" in label:
        sentence = _sentence(label, tunable, value, width - 2, here=here, edited=edited)
        return [(lead[0].strip().ljust(2), lead[1]), *sentence]
    return [lead, *_valued(label, tunable, value, width, here=here, edited=edited)]


def _sentence(sentence: str, tunable: Tunable, value: Any, width: int, *, here: bool, edited: bool) -> Line:
    """A threshold as a sentence with its value, and a slider if there is room."""
    before, _, after = sentence.partition("{}")
    figure = f"{100 * value:.0f}" if after.startswith("%") else value_summary(value, tunable)
    slide = max(0, min(16, width - 60))
    room = max(10, width - slide - 1 if slide else width)
    ink = "cursor" if here else "plain"
    text: Line = [(before, ink), (figure, "cursor" if here else "live" if edited else "strong"), (after, ink)]
    used = sum(len(piece) for piece, _ in text)
    line = clipped(text, room) if used > room else [*text, (" " * (room - used), ink)]
    return [*line, (" ", "plain"), *slider(tunable, value, slide, edited=edited)] if slide else line


def _short_name(name: str, room: int) -> str:
    """Abbreviate the longest words of a name, so that names with equal beginnings or ends can be told apart."""
    words = re.split(r"([._ ])", name)
    while sum(map(len, words)) > room and max(map(len, words)) > 2:
        longest = max(words, key=len)
        words[words.index(longest)] = longest[:-1]
    return "".join(words)


def _mark(*, edited: bool, other: bool) -> tuple[str, str]:
    return (" ● ", "live") if edited else (" ○ " if other else "   ", "quiet")


def _valued(label: str, knob: Tunable, value: Any, width: int, *, here: bool, edited: bool) -> Line:
    """Return a name, a slider if there is a range, and the value."""
    text = value_summary(value, knob)
    slide = max(6, min(24, width // 4 - 2)) if knob.kind in ("number", "integer") else 0
    figures = max(9 if width >= 44 else 7, len(text) + 1) if slide else min(width // 2, max(9, len(text) + 1))
    room = max(6, width - 3 - slide - figures - 1)  # after the mark
    line: Line = [(fit(_short_name(label, room), room), "cursor" if here else "plain"), (" ", "plain")]
    if slide:
        line += slider(knob, value, slide, edited=edited)
    return [*line, (fit(text, figures).strip().rjust(figures), "live" if edited else "plain")]


Listing = Literal["common", "all", "changed"]  # Which settings are listed.

# The thresholds people ask for, each as a sentence with its value.
COMMON: dict[str, str] = tomllib.loads(Path(__file__).with_name("first_page.toml").read_text("utf-8"))
FIRST = next(iter(COMMON))  # Where the cursor begins.


class SettingsList(CursorList):
    """One row per setting; arrows change the value, enter types it."""

    TITLE: ClassVar[str] = "Settings"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("play.on", "nudge(1)", "change", "Increase", show=True),
        bind("play.back", "nudge(-1)", "", "Decrease"),
        bind("open", "enter", "type", "Type a value, or expand the group", show=True),
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
    class Chosen(Latest):
        """The cursor moved to another row."""

        row: ListRow | None

    drafted: reactive[Drafted | None] = reactive(None, repaint=False)
    words: reactive[str] = reactive("")
    listing: reactive[Listing] = reactive("common")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._opened = {group_of(FIRST)}
        self._rows = _common_rows()

    @property
    def chosen(self) -> ListRow | None:
        """Return what the cursor is on."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    @property
    def name_here(self) -> str:
        """The setting the cursor is on; blank on a heading."""
        row = self.chosen
        return row.tunable.name if isinstance(row, SettingRow) else ""

    def names_here(self) -> tuple[str, ...]:
        """Return the settings under the cursor: one, or all of a group."""
        row = self.chosen
        if row is None:
            return ()
        return row.names if isinstance(row, SettingGroup) else (row.tunable.name,)

    def show(self, name: str) -> None:
        """Bring a setting under the cursor."""
        self._opened.add(group_of(name))
        if name not in COMMON and self.listing == "common":
            self.listing = "all"
        self._list_again(name)

    def on_mount(self) -> None:
        self.call_after_refresh(self.reveal)

    def count_rows(self) -> int:
        return len(self._rows)

    def row(self, number: int, width: int) -> Line:
        return line_of(self._rows[number], self.drafted, width, here=number == self.cursor)

    def watch_drafted(self, drafted: Drafted | None) -> None:
        if self.listing == "changed":
            self._list_again()
        else:
            self.draw_rows()
        edits = len(drafted.edits) if drafted else 0
        self.say(f"● {edits} changed" if edits else "")

    def watch_words(self) -> None:
        self._list_again()

    watch_listing = watch_words

    def watch_view(self, view: View | None) -> None:
        """The view does not change what is shown here."""

    def _list_again(self, target: str = "") -> None:
        """Make the rows, and put the cursor on the wanted one, or leave it."""
        key = target or (row_key(self.chosen) if self.chosen is not None else "")
        if self.listing == "common" and not self.words:
            self._rows = _common_rows()
        else:
            wanted_only = self._is_changed if self.listing == "changed" else None
            self._rows = list_rows(self._opened, self.words, wanted_only)
        last = max(0, len(self._rows) - 1)
        self.cursor = min(self.cursor, last)
        position = next((place for place, row in enumerate(self._rows) if row_key(row) == key), None)
        if position is not None:
            self.cursor = position
        if (self.words or self.listing == "changed") and self.name_here != key:
            self.cursor = min(1, last)
        listed = sum(isinstance(row, SettingRow) for row in self._rows)
        titles = {
            "common": "Thresholds  2 lists all settings",
            "all": "All settings  1 lists common ones",
            "changed": f"{count(listed, 'changed setting')}",
        }
        matching = f"Settings  {listed} with “{plain(self.words, 20)}”"
        self.border_title = matching if self.words else titles[self.listing]
        self.resize_rows()
        self.reveal()

    def _is_changed(self, name: str) -> bool:
        return self.drafted is not None and self.drafted.changed(name)

    def moved(self) -> None:
        self.post_message(self.Chosen(self.chosen))

    def action_nudge(self, direction: int, fine: bool = False) -> None:
        """Move the value; open or close a group."""
        row = self.chosen
        if isinstance(row, SettingRow):
            self.post_message(self.Nudged(row.tunable.name, direction, fine))
        elif isinstance(row, SettingGroup) and row.open != (direction > 0):
            self._fold(row)

    def action_enter(self) -> None:
        row = self.chosen
        if isinstance(row, SettingGroup):
            self._fold(row)
        elif isinstance(row, SettingRow) and row.tunable.kind in ("switch", "choice"):
            self.post_message(self.Nudged(row.tunable.name, 1, False))
        elif isinstance(row, SettingRow):
            self.post_message(self.Typing(row.tunable.name))

    def _fold(self, row: SettingGroup) -> None:
        self._opened ^= {row.group}
        self._list_again(row.group)

    def on_click(self, event: events.Click) -> None:
        """Go to the row; a click on the current row acts like enter."""
        place = event.get_content_offset(self)
        if place is None:
            return
        number = self.scroll_offset.y + place.y
        if number == self.cursor:
            self.action_enter()
        elif number < len(self._rows):
            self.go(number)


def value_summary(value: Any, tunable: Tunable) -> str:
    """A value in few cells."""
    if tunable.kind == "switch":
        return "on" if value else "off"
    if tunable.kind in ("number", "integer"):
        unit = tunable.unit if len(tunable.unit) <= 2 else ""
        return f"{number_text(value, tunable.step)} {unit}".strip()
    if tunable.kind == "table":
        return count(len(value), "item") if value else "empty"
    return plain(value_text(value)) or "none"


def number_text(value: float, step: float | None = None) -> str:
    """A number with as many decimals as its step asks for, or as it needs; nothing is 0."""
    if not value:
        return "0"
    if abs(value) >= 10_000:
        return f"{value / 1e6:g}M" if abs(value) >= 1e6 else f"{value / 1e3:g}k"
    text = f"{value:.4g}"
    least = len(f"{step:g}".partition(".")[2]) if step is not None and step < 1 else 0
    if len(text.partition(".")[2]) < least:
        text = f"{value:.{least}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def slider(tunable: Tunable, value: float, width: int, *, edited: bool) -> Line:
    """A slider with the value and the built-in value on it."""
    cells, inks = ["─"] * width, ["track"] * width
    if tunable.low is None or tunable.high is None or tunable.high <= tunable.low:
        return joined_cells(cells, inks)
    place = _place(tunable, value, width)
    for cell in range(place):
        cells[cell], inks[cell] = "━", "live" if edited else "baseline"
    usual = _place(tunable, float(tunable.default), width)
    if usual != place:
        cells[usual], inks[usual] = "╵", "threshold"
    cells[place], inks[place] = "┃", "live" if edited else "strong"
    return joined_cells(cells, inks)


def _place(tunable: Tunable, value: float, width: int) -> int:
    low, high = tunable.low or 0.0, tunable.high or 1.0
    share = (value - low) / (high - low)
    return max(0, min(width - 1, round(share * (width - 1))))


class DetailsContent(NamedTuple):
    """The setting the details panel explains."""

    drafted: Drafted | None = None
    row: ListRow | None = None
    problem: str = ""


class SettingDetails(TextPage, can_focus=False):
    """A few lines below the list."""

    DEFAULT_CSS = "SettingDetails { border: none; padding: 0 2; }"

    said: reactive[DetailsContent] = reactive(DetailsContent(), repaint=False)

    def watch_said(self, content: DetailsContent) -> None:
        self.show(lambda width: _detail_lines(content, width))

    def row(self, number: int, width: int) -> Line:
        """A line; the last in sight ends with an ellipsis where more would follow."""
        line = super().row(number, width)
        if number + 1 == self.page < self.count_rows():
            return clipped([*line, (" " * width, "plain")], min(width, sum(len(text) for text, _ in line) + 2))
        return line

    def watch_view(self, view: View | None) -> None:
        """The view does not change what is shown here."""


def _detail_lines(content: DetailsContent, width: int) -> list[Line]:
    row, problem = content.row, content.problem
    if row is None:
        return [[("no setting matches these words", "quiet")]]
    if isinstance(row, SettingGroup):
        hint = "enter expands or collapses it, r resets all of it"
        return [[(row.group, "strong")], *_lines(row.sentence, width, "plain"), [(hint, "quiet")]]
    tunable = row.tunable
    lines: list[Line] = [[(plain(tunable.name, max(8, width)), "strong")]]
    if problem:
        return [*lines, *_lines(f"✗ {plain(problem)}", width, "alert")]
    unit = f" {tunable.unit}" if tunable.unit else ""
    allowed = "enter edits it as TOML" if tunable.kind == "table" else f"{tunable.allowed()}{unit}"
    lines += _lines(tunable.sentence, width, "plain")
    return [*lines, *_lines(f"{_standing(tunable, content.drafted)} · {allowed}", width, "quiet")]


def _lines(text: str, width: int, ink: str) -> list[Line]:
    return [[(line, ink)] for line in wrapped(text, max(8, width))]


def _standing(tunable: Tunable, drafted: Drafted | None) -> str:
    text = f"built-in {plain(value_text(tunable.default), 40) or 'empty'}"
    if drafted is not None:
        force = value_of(drafted.base, tunable.name)
        if force != tunable.default:
            text += f" · in force {plain(value_text(force), 40) or 'empty'}"
    return text
