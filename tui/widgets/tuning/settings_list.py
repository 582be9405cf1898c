"""Every setting in a list: its value on a slider, what is changed, and the rows of its tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive

from core.agents.tables import read_tables
from core.engine.governor.profile import PUBLISHED
from core.engine.response.rules import built_in
from core.errors import SettingsError
from core.events import ToolUse
from core.logs.redact.text import redact
from core.report.formatting import count, plain
from core.settings.draft import (
    FIGURES,
    OVERRIDE,
    TOOL_LIMITS,
    Drafted,
    TablePath,
    TableRow,
    shape_of,
    table_rows,
    value_text,
)
from core.settings.group import Tunable
from core.settings.layers import tunables
from core.settings.listing import ListRow, SettingGroup, SettingRow, group_of, list_rows, row_key, shape_here
from core.timeline.timeline import Timeline
from tui.draw.line import Line, clipped, fit, joined_cells
from tui.feed.messages import Latest
from tui.feed.view import View
from tui.keys import KEYS, bind
from tui.widgets.common.scroller import Scroller

_WIDE = 60  # From this width on a group says what it is about.


def _common_rows() -> tuple[ListRow, ...]:
    return tuple(SettingRow(tunables()[name], sentence) for name, sentence in COMMON.items())


def line_of(row: ListRow, drafted: Drafted | None, width: int, *, here: bool) -> Line:
    """One line; `here` is where the cursor is."""
    if isinstance(row, SettingGroup):
        return _heading(row, drafted, width, here=here)
    if isinstance(row, TableRow):
        return _cell(row, width, here=here)
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
    sentence = row.sentence if width >= _WIDE else ""
    name = fit(name, min(len(name), room))
    return [
        (name, "cursor" if here else "strong"),
        (fit(sentence, max(0, room - len(name))), "quiet"),
        (tail, "live" if changed else "quiet"),
    ]


def _entry(row: SettingRow, drafted: Drafted, width: int, *, here: bool) -> Line:
    tunable, value = row.tunable, drafted.value(row.tunable.name)
    edited = tunable.name in drafted.edits
    lead = _mark(edited=edited, other=value != tunable.default)
    label = row.label
    if "{}" in label:
        return [lead, *_sentence(label, tunable, value, width - 3, here=here, edited=edited)]
    if tunable.kind == "table":
        label = f"{'▾' if row.open else '▸'} {label}"
    return [lead, *_valued(label, tunable, value, width, 3, here=here, edited=edited)]


def _sentence(sentence: str, tunable: Tunable, value: Any, width: int, *, here: bool, edited: bool) -> Line:
    """A threshold as a sentence with its value, and a slider if there is room."""
    before, _, after = sentence.partition("{}")
    figure = value_summary(value, tunable)
    slide = max(0, min(16, width - 60))
    room = max(10, width - slide - 1)
    ink = "cursor" if here else "plain"
    text: Line = [(before, ink), (figure, "live" if edited else "cursor" if here else "strong"), (after, ink)]
    used = sum(len(piece) for piece, _ in text)
    line = clipped(text, room) if used > room else [*text, (" " * (room - used), ink)]
    return [*line, (" ", "plain"), *(slider(tunable, value, slide, edited=edited) if slide >= 6 else [])]


def _cell(row: TableRow, width: int, *, here: bool) -> Line:
    if row.state == "hint":
        return [("     ", "plain"), (fit("nothing yet; I adds a row", width - 5), "cursor" if here else "quiet")]
    indent = "  " * (1 + row.depth)
    lead, label = _mark(edited=row.edited, other=row.other), plain(row.label)
    room = width - 3 - len(indent)
    start: Line = [lead, (indent, "plain")]
    if row.state == "value" and shape_of(row.table.name).form != "list":
        return [*start, *_valued(label, row.knob, row.item, width, width - room, here=here, edited=row.edited)]
    text = "removed" if row.state == "gone" else count(len(row.item), "row") if row.state == "branch" else ""
    ink = "cursor" if here else "quiet" if row.state == "gone" else "plain"
    tail = f" {text}" if text else ""
    left = max(4, room - len(tail))
    return [*start, (fit(_short_name(label, left), left), ink), (tail, "quiet")]


def _short_name(name: str, room: int) -> str:
    """A name whose longest words are abbreviated, so that those that begin or end alike can be told apart."""
    words = re.split(r"([._ ])", name)
    while sum(map(len, words)) > room and max(map(len, words)) > 2:
        longest = max(words, key=len)
        words[words.index(longest)] = longest[:-1]
    return "".join(words)


def _mark(*, edited: bool, other: bool) -> tuple[str, str]:
    return (" ● ", "live") if edited else (" ○ " if other else "   ", "quiet")


def _valued(label: str, knob: Tunable, value: Any, width: int, used: int, *, here: bool, edited: bool) -> Line:
    """A name, a slider where there is a range, and the value, after so many cells that are taken."""
    text = value_summary(value, knob)
    slide = max(6, min(24, width // 4 - 2)) if knob.kind in ("number", "integer") else 0
    figures = max(9 if width >= 44 else 7, len(text) + 1) if slide else min(width // 2, max(9, len(text) + 1))
    room = max(6, width - used - slide - figures - 1)
    line: Line = [(fit(_short_name(label, room), room), "cursor" if here else "plain"), (" ", "plain")]
    if slide:
        line += slider(knob, value, slide, edited=edited)
    return [*line, (fit(text, figures).strip().rjust(figures), "live" if edited else "plain")]


Listing = Literal["common", "all", "changed"]  # Which settings are listed.

# The thresholds people ask for, each as a sentence with its value.
COMMON: dict[str, str] = {
    "receptor.ambient.offset.frustration": "frustration fires {} above normal",
    "receptor.ambient.offset.seeking": "seeking fires {} above normal",
    "receptor.ambient.offset.uncertainty": "uncertainty fires {} above normal",
    "receptor.ambient.offset.fatigue": "fatigue fires {} above normal",
    "receptor.ambient.offset.confidence": "confidence fires {} above normal",
    "receptor.ambient.offset.flow": "flow fires {} above normal",
    "receptor.flow.failures": "no flow while {} of the commands fail",
    "receptor.meta.stuck_frustration": "stuck: frustration above {}",
    "receptor.meta.stuck_failures": "stuck: {} failures in a row",
    "receptor.meta.deep_flow": "deep work: flow above {}",
    "receptor.commander.trial_failures": "trial and error: {} of the commands fail",
    "receptor.commander.trial_alternations": "trial and error: {} edit-run changes",
    "response.loops.repeat.times": "loop: the same call {} times in a row",
    "response.loops.repeat.rounds": "loop: a round of calls {} times",
    "response.loops.failing.times": "loop: {} failures, no good edit or check",
    "response.loops.retest.times": "loop: it fails {} times despite edits",
    "response.loops.oscillation.flips": "loop: an edit undone or redone {} times",
    "response.loops.rework.times": "loop: files edited again {} times, failing",
    "response.loops.stalled.times": "loop: {} of the last calls bring nothing new",
    "response.loops.cooldown": "the same loop is reported again after {}",
    "response.notices.idle": "an agent has stopped after {} of silence",
    "mind.wakeups.context_full.least": "the context counts as full at {}",
    "mind.sleep.threshold": "a dream is due at a sleep load of {}",
    "screen.cost.budget": "a day may cost {} (0: no limit)",
}

FIRST = next(iter(COMMON))  # Where the cursor begins.
_IN_TABLES = ("add_row", "remove_row", "whole")


class SettingsList(Scroller):
    """One row per setting; arrows change the value, enter types it."""

    TITLE: ClassVar[str] = "Settings"
    HELP: ClassVar[str] = """\
The common thresholds come first, as sentences; `2` lists every setting, `3` only changed ones. `●` changed here and
not yet in use, `○` differs from the built-in value. On a slider `┃` is the value and `╵` the built-in value. Left
and right change it; **Enter** lets you type a value, or expands a group.

A table expands into rows that you change like settings; there `╵` is the value without the row. A removed row stays
visible until the change is in use, so that reset can restore it.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("play.on", "nudge(1)", "change", "Increase", show=True),
        bind("play.back", "nudge(-1)", "", "Decrease"),
        bind("open", "enter", "type", "Type a value, or expand the group or table", show=True),
        bind("tune.add", "add_row", show=True),
        bind("tune.remove", "remove_row", show=True),
        bind("edit", "whole", "as text", "Edit the whole table as TOML", show=True),
    ]

    @dataclass
    class Nudged(Message):
        """A key moved a slider, of a setting or of a row of it."""

        name: str
        direction: int
        fine: bool
        row: TableRow | None = None

    @dataclass
    class Typing(Message):
        """A value is to be typed, of a setting or of a row of it."""

        name: str
        row: TableRow | None = None

    @dataclass
    class Adding(Message):
        """A row is wanted: below a path of a table, or at a place in a list."""

        name: str
        path: TablePath

    @dataclass
    class Removing(Message):
        """A row is to go."""

        row: TableRow

    @dataclass
    class Chosen(Latest):
        """The cursor came to another row."""

        row: ListRow | None

    drafted: reactive[Drafted | None] = reactive(None, repaint=False)
    words: reactive[str] = reactive("")
    listing: reactive[Listing] = reactive("common")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._opened = {group_of(FIRST)}
        self._tables: set[str] = set()
        self._rows = _common_rows()
        self._cursor = 0
        self._offering: tuple[bool, ...] = ()

    @property
    def chosen(self) -> ListRow | None:
        """What the cursor is on."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    @property
    def name_here(self) -> str:
        """The setting the cursor is on, or in whose table; blank on a heading."""
        row = self.chosen
        return "" if row is None or isinstance(row, SettingGroup) else row_key(row)[0]

    def names_here(self) -> tuple[str, ...]:
        """The settings the cursor stands for: one, or all of a group."""
        row = self.chosen
        if row is None:
            return ()
        return row.names if isinstance(row, SettingGroup) else (row_key(row)[0],)

    def show(self, name: str, path: TablePath = ()) -> None:
        """Bring a setting, or a row of its table, under the cursor."""
        self._opened.add(group_of(name))
        if name not in COMMON and self.listing == "common":
            self.listing = "all"
        if path:
            self._tables.add(name)
        self._list_again((name, path))

    def on_mount(self) -> None:
        self.call_after_refresh(self._reveal)

    def count_rows(self) -> int:
        return len(self._rows)

    def row(self, number: int, width: int) -> Line:
        return line_of(self._rows[number], self.drafted, width, here=number == self._cursor)

    def watch_drafted(self, before: Drafted | None, drafted: Drafted | None) -> None:
        opened = before is None or any(
            drafted is None or before.value(name) != drafted.value(name) for name in self._tables
        )
        rebased = before is not None and drafted is not None and before.base is not drafted.base
        if self.listing == "changed" or (self._tables and (opened or rebased)):
            self._list_again()
        else:
            self.draw_rows()
        edits = len(drafted.edits) if drafted else 0
        self.say(f"● {edits} changed" if edits else "")

    def watch_words(self) -> None:
        self._list_again()

    def watch_listing(self) -> None:
        self._list_again()

    def watch_view(self, view: View | None) -> None:
        """The view does not change what is shown here."""

    def _inside(self, table: Tunable) -> Iterable[TableRow] | None:
        if table.name not in self._tables or self.drafted is None:
            return None
        return table_rows(table, self.drafted, usual_value)

    def _list_again(self, target: tuple[str, TablePath] | None = None) -> None:
        """Make the rows, and put the cursor on the one that is wanted, or leave it where it was."""
        key = target or (row_key(self.chosen) if self.chosen is not None else ("", ()))
        if self.listing == "common" and not self.words:
            self._rows = _common_rows()
        else:
            wanted_only = self._is_changed if self.listing == "changed" else None
            self._rows = list_rows(self._opened, self.words, wanted_only, self._inside)
        last = max(0, len(self._rows) - 1)
        self._cursor = min(self._cursor, last)
        position = next((place for place, row in enumerate(self._rows) if row_key(row) == key), None)
        if position is not None:
            self._cursor = position
        elif key[1] and self._rows and row_key(self._rows[self._cursor])[0] != key[0]:
            self._cursor = max(0, self._cursor - 1)
        if (self.words or self.listing == "changed") and self.name_here != key[0]:
            self._cursor = min(1, last)
        listed = sum(isinstance(row, SettingRow) for row in self._rows)
        titles = {
            "common": "Thresholds  2 lists all settings",
            "all": "All settings  1 lists the common ones",
            "changed": f"{count(listed, 'changed setting')}",
        }
        self.border_title = (
            f"Settings  {listed} with “{plain(self.words, 20)}”" if self.words else (titles[self.listing])
        )
        self.resize_rows()
        self._reveal()

    def _is_changed(self, name: str) -> bool:
        return self.drafted is not None and self.drafted.changed(name)

    def _reveal(self) -> None:
        top = self.scroll_offset.y
        last = top + self.page - 1
        if self._cursor < top or self._cursor > last:
            self.scroll_to(y=max(0, self._cursor - self.page // 3), animate=False, immediate=True)
        self.draw_rows()
        self.post_message(self.Chosen(self.chosen))
        context = tuple(self._may(action) for action in _IN_TABLES)
        if context != self._offering:
            self._offering = context
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what is done to tables only where there is one."""
        return self._may(action) if action in _IN_TABLES else super().check_action(action, parameters)

    def _may(self, action: str) -> bool:
        row = self.chosen
        shape = shape_here(row)
        if shape is None or action == "whole":
            return shape is not None
        editable = action == "add_row" or (isinstance(row, TableRow) and row.state in ("value", "branch"))
        return editable and shape.form != "set"

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
        """Move the value; on what holds no value, open it, bring it back, or close the table around it."""
        row = self.chosen
        if isinstance(row, SettingGroup) or (isinstance(row, SettingRow) and row.tunable.kind == "table"):
            if row.open != (direction > 0):
                self._fold(row)
        elif isinstance(row, SettingRow):
            self.post_message(self.Nudged(row.tunable.name, direction, fine))
        elif isinstance(row, TableRow) and row.state == "value":
            self.post_message(self.Nudged(row.table.name, direction, fine, row))
        elif isinstance(row, TableRow) and direction > 0:
            self.action_enter()
        elif isinstance(row, TableRow):
            self._tables.discard(row.table.name)
            self._list_again((row.table.name, ()))

    def action_enter(self) -> None:
        row = self.chosen
        if isinstance(row, SettingGroup) or (isinstance(row, SettingRow) and row.tunable.kind == "table"):
            self._fold(row)
        elif isinstance(row, SettingRow) and row.tunable.kind in ("switch", "choice"):
            self.post_message(self.Nudged(row.tunable.name, 1, False))
        elif isinstance(row, SettingRow):
            self.post_message(self.Typing(row.tunable.name))
        elif isinstance(row, TableRow) and row.state in ("hint", "branch"):
            self.action_add_row()
        elif isinstance(row, TableRow) and row.knob.kind == "switch":
            self.post_message(self.Nudged(row.table.name, 1, False, row))
        elif isinstance(row, TableRow):
            self.post_message(self.Typing(row.table.name, row))

    def action_add_row(self) -> None:
        """Ask for a row: in a list after this one, in a table beside it or inside what holds rows."""
        row = self.chosen
        if isinstance(row, SettingRow):
            self.post_message(self.Adding(row.tunable.name, ()))
        elif isinstance(row, TableRow):
            path = row.path
            if shape_of(row.table.name).form == "list":
                path = (path[0] + 1,) if path and isinstance(path[0], int) else ()
            elif row.state != "branch":
                path = path[:-1]
            self.post_message(self.Adding(row.table.name, path))

    def action_remove_row(self) -> None:
        if isinstance(self.chosen, TableRow):
            self.post_message(self.Removing(self.chosen))

    def action_whole(self) -> None:
        self.post_message(self.Typing(self.name_here))

    def _fold(self, row: SettingGroup | SettingRow) -> None:
        if isinstance(row, SettingGroup):
            self._opened ^= {row.group}
        else:
            self._tables ^= {row.tunable.name}
        self._list_again(row_key(row))

    def on_click(self, event: events.Click) -> None:
        """Go to the row; a click on the current row acts like enter."""
        place = event.get_content_offset(self)
        if place is None:
            return
        number = self.scroll_offset.y + place.y
        if number == self._cursor:
            self.action_enter()
        elif number < len(self._rows):
            self._go(number)


def value_summary(value: Any, tunable: Tunable) -> str:
    """A value in few cells."""
    if tunable.kind == "switch":
        return "on" if value else "off"
    if tunable.kind in ("number", "integer"):
        unit = tunable.unit if len(tunable.unit) <= 2 else ""
        return f"{number_text(value, tunable.step)} {unit}".strip()
    if tunable.kind == "table":
        return _table_size(tunable.name, value)
    return plain(value_text(value)) or "none"


def _table_size(name: str, value: Any) -> str:
    """How much a table holds."""
    shape = shape_of(name)
    if shape.form == "set":
        return f"{len(value)} of {len(shape.levels[0])}"
    noun = "word" if shape.form == "list" else "row"
    return count(len(value), noun) if value else "empty"


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


# The limit a tool has where it has none of its own; the one detector that is left only asks whether.
_LIMITS: dict[str, str] = {
    "repeat": "response.loops.repeat.times",
    "failing": "response.loops.failing.times",
    "oscillation": "response.loops.oscillation.flips",
}


def suggested_keys(name: str, path: TablePath, timeline: Timeline | None) -> tuple[str, ...]:
    """Keys or words a new row below a path could have, the likeliest first."""
    levels = shape_of(name).levels
    words = levels[min(len(path), len(levels) - 1)]
    if words or path:
        return words
    maker = _OFFERS.get(name)
    return maker(timeline) if maker is not None else ()


def usual_value(name: str, path: TablePath, drafted: Drafted) -> Any:
    """What would hold without a row, which is what a new row begins with; None where nothing is known."""
    key = str(path[-1])
    if name == OVERRIDE:
        profile = PUBLISHED.get(drafted.value("governor.profile"))
        return getattr(profile, key) if profile is not None else drafted.value(FIGURES + key)
    if name == TOOL_LIMITS:
        limit = _LIMITS.get(key)
        return drafted.value(limit) if limit else 0
    return None


def _tools(timeline: Timeline | None) -> tuple[str, ...]:
    """Tools and programs of this session, the most used first, then all we know."""
    counted: Counter[str] = Counter()
    for event in timeline.events if timeline is not None else ():
        if isinstance(event, ToolUse):
            counted[event.tool] += 1
            counted[event.program] += 1
    used = [name for name, _ in counted.most_common() if name and plain(redact(name)) == name]
    return tuple(dict.fromkeys((*used, *_our_tools())))


@cache
def _our_tools() -> tuple[str, ...]:
    try:
        tables = read_tables()
    except SettingsError:
        return ()
    return tuple(name for tools in tables.tools.values() for name in tools.names if " " not in name)


def _rule_names(timeline: Timeline | None) -> tuple[str, ...]:  # noqa: ARG001
    return (*(method.id for method in built_in().methods), "done")


def _key_ids(timeline: Timeline | None) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(KEYS)


_OFFERS: dict[str, Callable[[Timeline | None], tuple[str, ...]]] = {
    TOOL_LIMITS: _tools,
    "response.notices.asking": _tools,
    "response.notices.muted": _rule_names,
    "screen.keymap": _key_ids,
}
