"""Lines of the list of settings: a group, a setting, a row of a table."""

from __future__ import annotations

import re
from typing import Any

from core.report.formatting import count, plain
from core.settings.draft import Drafted
from core.settings.listing import ListRow, SettingGroup, SettingRow
from core.settings.table_rows import TableRow
from core.settings.table_values import shape_of
from core.settings.tunable import Tunable
from tui.draw.line import Line, fit
from tui.widgets.tuning.value_bar import slider, value_summary

_WIDE = 60
"""From this width on a group says what it is about."""


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
    said = row.sentence if width >= _WIDE else ""
    name = fit(name, min(len(name), room))
    return [
        (name, "cursor" if here else "strong"),
        (fit(said, max(0, room - len(name))), "quiet"),
        (tail, "live" if changed else "quiet"),
    ]


def _entry(row: SettingRow, drafted: Drafted, width: int, *, here: bool) -> Line:
    tunable, value = row.tunable, drafted.value(row.tunable.name)
    edited = tunable.name in drafted.edits
    lead = _mark(edited=edited, other=value != tunable.default)
    label = row.label
    if tunable.kind == "table":
        label = f"{'▾' if row.open else '▸'} {label}"
    return [lead, *_valued(label, tunable, value, width, 3, here=here, edited=edited)]


def _cell(row: TableRow, width: int, *, here: bool) -> Line:
    if row.state == "hint":
        return [
            ("     ", "plain"),
            (fit("nothing yet; i adds a row", width - 5), "cursor" if here else "quiet"),
        ]
    indent = "  " * (1 + row.depth)
    lead, label = _mark(edited=row.edited, other=row.other), plain(row.label)
    room = width - 3 - len(indent)
    start: Line = [lead, (indent, "plain")]
    if row.state == "value" and shape_of(row.table.name).form != "list":
        return [
            *start,
            *_valued(label, row.knob, row.item, width, width - room, here=here, edited=row.edited),
        ]
    said = "removed" if row.state == "gone" else count(len(row.item), "row") if row.state == "branch" else ""
    ink = "cursor" if here else "quiet" if row.state == "gone" else "plain"
    tail = f" {said}" if said else ""
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


def _valued(
    label: str, knob: Tunable, value: Any, width: int, taken: int, *, here: bool, edited: bool
) -> Line:
    """A name, a slider where there is a range, and the value, after so many cells that are taken."""
    said = value_summary(value, knob)
    slide = max(6, min(24, width // 4 - 2)) if knob.kind in ("number", "integer") else 0
    figures = max(9 if width >= 44 else 7, len(said) + 1) if slide else min(width // 2, max(9, len(said) + 1))
    room = max(6, width - taken - slide - figures - 1)
    line: Line = [(fit(_short_name(label, room), room), "cursor" if here else "plain"), (" ", "plain")]
    if slide:
        line += slider(knob, value, slide, edited=edited)
    return [*line, (fit(said, figures).strip().rjust(figures), "live" if edited else "plain")]
