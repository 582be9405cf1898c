"""What the setting under the cursor means, and the line one types its value in."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.reactive import reactive, var

from core.report.formatting import plain
from core.settings.draft import MISSING, Drafted, TablePath, TableRow, item_at, shape_of, value_text
from core.settings.group import Tunable
from core.settings.layers import value_of
from core.settings.listing import ListRow, SettingGroup
from tui.draw.line import Line, clipped, wrapped
from tui.feed.view import View
from tui.widgets.common.dialog import EntryLine
from tui.widgets.common.scroller import TextPage

_MOST = 3  # Lines of words offered.


class KeyPrompt(NamedTuple):
    """A key or a word that is being typed."""

    name: str
    path: TablePath
    question: str
    offers: tuple[str, ...]
    here: str  # What stands on the line.


class DetailsContent(NamedTuple):
    """What the details panel explains."""

    drafted: Drafted | None = None
    row: ListRow | None = None
    problem: str = ""
    asked: KeyPrompt | None = None


class SettingDetails(TextPage, can_focus=False):
    """A few lines below the list."""

    DEFAULT_CSS = "SettingDetails { border: none; padding: 0 2; }"
    HELP: ClassVar[str] = "What the setting under the cursor means, and what it may be."

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


def _name_line(name: str, path: TablePath, width: int) -> Line:
    """A setting, or a row of its table, by its full name on one line."""
    steps = (name, *(str(step) for step in path if isinstance(step, str) and step))
    return [(plain(" › ".join(steps), max(8, width)), "strong")]


def _detail_lines(content: DetailsContent, width: int) -> list[Line]:
    row, problem = content.row, content.problem
    if content.asked is not None:
        return _entry_lines(content.asked, problem, width)
    if row is None:
        return [[("no setting matches these words", "quiet")]]
    if isinstance(row, SettingGroup):
        return [
            [(row.group, "strong")],
            *_lines(row.sentence, width, "plain"),
            [("enter expands or collapses it, r resets all of it", "quiet")],
        ]
    name, path = (row.table.name, row.path) if isinstance(row, TableRow) else (row.tunable.name, ())
    lines: list[Line] = [_name_line(name, path, width)]
    if problem:
        return [*lines, *_lines(f"✗ {plain(problem)}", width, "alert")]
    if isinstance(row, TableRow):
        return [*lines, *_lines(_sentence(row), width, "plain"), *_lines(_row(row, content.drafted), width, "quiet")]
    tunable = row.tunable
    lines += _lines(tunable.sentence, width, "plain")
    if tunable.kind == "table":
        what = "collapses" if row.open else "expands"
        return [*lines, *_lines(f"enter {what} its rows, E edits it as TOML", width, "quiet")]
    unit = f" {tunable.unit}" if tunable.unit else ""
    lines += _lines(f"{_standing(tunable, content.drafted)} · {tunable.allowed()}{unit}", width, "quiet")
    return lines


def _entry_lines(prompt: KeyPrompt, problem: str, width: int) -> list[Line]:
    """What is to be typed, why it was refused, and the words it could be."""
    lines: list[Line] = [_name_line(prompt.name, prompt.path, width)]
    lines += _lines(f"✗ {plain(problem)}" if problem else prompt.question, width, "alert" if problem else "plain")
    return [*lines, *_words_that_fit(prompt.offers, prompt.here, width)]


def _words_that_fit(words: tuple[str, ...], here: str, width: int) -> list[Line]:
    """As many words as there is room for, from the one on the line on, and how many more there are."""
    first = words.index(here) if here in words else 0
    lines: list[Line] = [[]]
    used = 0
    for number, each in enumerate(words[first:]):
        word = plain(each, max(8, width - 6))
        more = f"+{len(words) - number}" if number + first + 1 < len(words) or first else ""
        last = len(lines) == _MOST
        if used and used + cell_len(word) + (len(more) + 2 if last else 0) > width:
            if last:
                return [*lines[:-1], [*lines[-1], (more, "quiet")]]
            lines.append([])
            used = 0
        lines[-1] += [(word, "cursor" if each == here else "quiet"), ("  ", "plain")]
        used += cell_len(word) + 2
    return lines


def _sentence(cell: TableRow) -> str:
    return cell.leaf.sentence or cell.table.sentence


def _row(cell: TableRow, drafted: Drafted | None) -> str:
    """What may be done with a row."""
    form = shape_of(cell.table.name).form
    if cell.state == "hint":
        return "I adds a row, E edits all of it as TOML"
    if cell.state == "gone":
        return "removed; r or enter restores it"
    if cell.state == "branch":
        return "I adds a row to it, D removes all of it"
    if form == "list":
        return "enter changes it, D removes it, I adds one after it"
    if form == "set":
        return f"{_row_values(cell, drafted)} · on or off"
    unit = f" {cell.leaf.unit}" if cell.leaf.unit else ""
    return f"{_row_values(cell, drafted)} · {cell.leaf.allowed()}{unit}"


def _row_values(cell: TableRow, drafted: Drafted | None) -> str:
    """What a row is built-in, without it, and in force."""
    versions: list[tuple[str, Any]] = [("built-in", cell.table.default)]
    if drafted is not None:
        versions.append(("in force", value_of(drafted.base, cell.table.name)))
    if shape_of(cell.table.name).form == "set":
        states = [(word, "on" if cell.label in table else "off") for word, table in versions]
        return " · ".join(f"{word} {now}" for word, now in states)
    items = [(word, item_at(table, cell.path)) for word, table in versions]
    states = [(word, plain(value_text(item), 30)) for word, item in items if item is not MISSING]
    if items[0][1] is MISSING and cell.knob.kind in ("number", "integer"):
        states.insert(0, ("without it", plain(value_text(cell.knob.default), 30)))
    return " · ".join(f"{word} {now}" for word, now in states) or "not built-in"


def _lines(text: str, width: int, ink: str) -> list[Line]:
    return [[(line, ink)] for line in wrapped(text, max(8, width))]


def _standing(tunable: Tunable, drafted: Drafted | None) -> str:
    text = f"built-in {plain(value_text(tunable.default), 40) or 'empty'}"
    if drafted is not None:
        force = value_of(drafted.base, tunable.name)
        if force != tunable.default:
            text += f" · in force {plain(value_text(force), 40) or 'empty'}"
    return text


class TypeLine(EntryLine):
    """An input that offers words: what was typed narrows them, arrows go through them."""

    offers: var[tuple[str, ...]] = var(())  # Words that could be meant.

    def __init__(self, *, id: str | None = None) -> None:
        self._stem = ""
        self._given: str | None = None
        super().__init__(enter="take it", escape="close", select_on_focus=True, id=id)

    @property
    def fitting(self) -> tuple[str, ...]:
        """Of the words offered those that go with what was typed, those that begin so first."""
        stem = self._stem.strip().casefold()
        matches = [word for word in self.offers if word.casefold().startswith(stem)]
        return (*matches, *(word for word in self.offers if stem in word.casefold() and word not in matches))

    def ask(self, hint: str, value: str = "", offers: tuple[str, ...] = ()) -> None:
        """Ask another question."""
        self.placeholder, self.offers = hint, offers
        self._stem, self._given = "", None
        self.value = value
        self.focus()
        self.refresh_bindings()

    def watch_value(self, value: str) -> None:
        """Tell what the person typed from a suggestion that was filled in."""
        if value != self._given:
            self._stem, self._given = value, None

    def offer(self, by: int) -> None:
        """Put the next word that fits on the line."""
        words = self.fitting
        if words:
            at = words.index(self.value) + by if self.value in words else 0 if by > 0 else -1
            self._give(words[at % len(words)])

    def _give(self, word: str) -> None:
        self._given = word
        self.value = word
        self.cursor_position = len(word)
