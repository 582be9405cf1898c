"""The meaning and the range of the setting under the cursor."""

from __future__ import annotations

from typing import NamedTuple

from textual.reactive import reactive

from core.report.formatting import plain
from core.settings.draft import Drafted, value_text
from core.settings.group import Tunable
from core.settings.layers import value_of
from core.settings.listing import ListRow, SettingGroup
from tui.draw.line import Line, clipped, wrapped
from tui.feed.view import View
from tui.widgets.common.scroller import TextPage


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
        return [
            [(row.group, "strong")],
            *_lines(row.sentence, width, "plain"),
            [("enter expands or collapses it, r resets all of it", "quiet")],
        ]
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
