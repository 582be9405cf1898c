"""Help: the keys of this screen, then the keys of every screen, then the meaning of the panels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from textual import on
from textual._path import CSSPathType
from textual.actions import parse
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.keys import format_key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from core.report.formatting import plain
from tui.draw.line import Line, fit, wrapped
from tui.keys import KEYS, bind
from tui.screens.board import Board
from tui.screens.model import AffectScreen, GovernorScreen, MindScreen, ResponseScreen
from tui.widgets.common.key_line import EntryLine, KeyLine
from tui.widgets.common.panel import Panel, TextPage
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.entry import PassagePane

_SET_OFF = re.compile(r"(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)")
STATUSES = "Statuses"  # The one topic that belongs to no screen or panel.
_NO_BREAK = "\u00a0"
_MEASURE = 96  # Widest a paragraph gets.
# Panels of other screens that are explained at the end.
_TABS = (MindScreen, GovernorScreen, AffectScreen, ResponseScreen)
_EXPLAINED: list[type[Panel]] = [Document, PassagePane, *(card for tab in _TABS for card in tab.CARDS)]


class KeyRow(NamedTuple):
    """A key, what it does here, and the id by which settings may move it."""

    keys: str
    does: str
    id: str

    def holds(self, words: Iterable[str]) -> bool:
        """Return whether the row contains every word."""
        text = f"{self.keys} {self.does} {self.id}".casefold()
        return all(word in text for word in words)


class Topic(NamedTuple):
    """A group of keys, or a panel and what it means."""

    title: str
    text: str = ""
    rows: tuple[KeyRow, ...] = ()


Part: TypeAlias = DOMNode | type[DOMNode]


def key_rows(parts: Iterable[Part], keymap: Mapping[str, str], known_ids: set[str]) -> tuple[KeyRow, ...]:
    """The keys of parts by what they do there, in the order of the key table; adds their ids to `known_ids`."""
    tooltips: dict[str, str] = {}
    for part in parts:
        for binding in _own_bindings(part):
            if binding.id in KEYS and binding.id not in known_ids:
                tooltips.setdefault(binding.id, binding.tooltip or binding.description)
    known_ids |= set(tooltips)
    return tuple(KeyRow(_keys_of(name, keymap), tooltips[name], name) for name in KEYS if name in tooltips)


def _own_bindings(part: Part) -> Iterator[Binding]:
    """Return the bindings that help describes; of a widget on the screen, those that work now."""
    merged = (part if isinstance(part, type) else type(part))._merged_bindings
    for bindings in merged.key_to_bindings.values() if merged is not None else ():
        for binding in bindings:
            _, action, parameters = parse(binding.action)
            if binding.description and (isinstance(part, type) or part.check_action(action, parameters) is not False):
                yield binding


def _keys_of(name: str, keymap: Mapping[str, str]) -> str:
    """The keys of an id, with the person's own instead of ours."""
    keys = [key.strip() for key in keymap.get(name, KEYS[name].key).split(",")]
    return ", ".join(dict.fromkeys(map(format_key, keys)))


def matching_topics(topics: Iterable[Topic], search: str) -> list[Topic]:
    """Topics with only what contains every word; a topic whose title does stays whole."""
    words = search.casefold().split()
    matches = []
    for each in topics:
        if all(word in each.title.casefold() for word in words):
            matches.append(each)
            continue
        rows = tuple(row for row in each.rows if row.holds(words))
        text = each.text if all(word in each.text.casefold() for word in words) else ""
        if rows or text:
            matches.append(Topic(each.title, text, rows))
    return matches


class HelpScreen(Board):
    """A page that narrows as you type."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["board.tcss", "help.tcss"]
    AUTO_FOCUS = "#search"
    IS_HELP: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "scroll(-1)", "scroll", show=True),
        bind("row.down", "scroll(1)"),
        bind("page.up", "scroll(-10)"),
        bind("page.down", "scroll(10)"),
        bind("back", "leave", "", "Clear the filter, or close help", show=True),
    ]

    _topics: Sequence[Topic] = ()

    def compose(self) -> ComposeResult:
        page = TextPage(id="page")
        page.can_focus = False
        page.border_title = "Help"
        yield EntryLine("type to filter: a key, a word, a panel", enter="", id="search")
        yield page
        yield KeyLine()

    def on_mount(self) -> None:
        self._topics = list(self._gather())
        self._show("")

    def _gather(self) -> Iterator[Topic]:
        below: Screen[Any] | None = self.app.screen_stack[-2] if len(self.app.screen_stack) > 1 else None
        known_ids: set[str] = set()
        keymap = self._settings.keymap
        panels: list[type[Widget]] = []
        if below is not None:
            focused = below.focused.ancestors_with_self if below.focused is not None else [below]
            parts = [node for node in focused if node is not self.app]
            yield Topic("On this screen", rows=key_rows(parts, keymap, known_ids))
            near = [part for part in _explained(below) if part in focused]
            panels = [type(part) for part in (*near, *_explained(below))]
        yield Topic("Everywhere", rows=key_rows((self.app,), keymap, known_ids))
        yield Topic("The ten statuses", topic_texts()[STATUSES])
        for panel in dict.fromkeys((*panels, *_EXPLAINED)):
            if words := explanation(panel):
                yield Topic(getattr(panel, "TITLE", "") or _title(panel), words)

    @property
    def rows(self) -> list[KeyRow]:
        """Every key that is listed."""
        return [row for each in self._topics for row in each.rows]

    def _show(self, search: str) -> None:
        topics = matching_topics(self._topics, search)
        page = self.query_one(TextPage)
        page.show(lambda width: help_lines(topics, width))
        keys = sum(len(each.rows) for each in topics)
        quoted = f" · “{plain(search, 30)}”" if search else ""
        page.border_subtitle = Content(f"{keys} keys, {len(topics)} topics{quoted}")

    def action_scroll(self, by: int) -> None:
        page = self.query_one(TextPage)
        page.scroll_relative(y=by if abs(by) == 1 else by // 10 * page.page, animate=False)

    def action_leave(self) -> None:
        box = self.query_one("#search", Input)
        if box.value:
            box.value = ""
        else:
            self.dismiss()

    @on(Input.Changed, "#search")
    def _filter(self, event: Input.Changed) -> None:
        """Narrow the page; the key that opened help closes it again."""
        if event.value == "?":
            self.dismiss()
        else:
            self._show(event.value.strip())


def _explained(screen: Screen[Any]) -> list[Widget]:
    """The parts of a screen that have an explanation."""
    return [part for part in screen.query("*") if explanation(type(part))]


@cache
def topic_texts() -> dict[str, str]:
    """Return the explanations of screens and panels, by the names of their classes."""
    text = Path(__file__).with_name("help_topics.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("\n## ")[1:])
    return {name: words.strip() for name, _, words in parts}


def explanation(kind: type[Widget]) -> str:
    """Return what a screen or panel means; the panel of an extension says it itself."""
    own = (kind.HELP or "").strip()
    return own or next((topic_texts()[each.__name__] for each in kind.__mro__ if each.__name__ in topic_texts()), "")


def _title(kind: type) -> str:
    """Return a class name in words: `MainScreen` as `main screen`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip()


def help_lines(topics: Iterable[Topic], width: int) -> list[Line]:
    """Lay out topics."""
    lines: list[Line] = []
    for each in topics:
        lines += [[], [(each.title.upper(), "live")]] if lines else [[(each.title.upper(), "live")]]
        lines += _prose(each.text, width)
        if each.text and each.rows:
            lines.append([])
        lines += [line for row in each.rows for line in _key_lines(row, width)]
    return lines or [[("no key or explanation contains this; esc clears the filter", "quiet")]]


def _key_lines(row: KeyRow, width: int) -> Iterator[Line]:
    """A key and what it does, over as many lines as needed."""
    keys, name = 12, 20 if width >= 70 else 0
    room = max(8, min(_MEASURE, width - keys - name - 1))
    for number, piece in enumerate(wrapped(row.does, room)):
        key, id_ = ("", "") if number else (row.keys, row.id)
        yield [(fit(key, keys - 1) + " ", "strong"), (fit(piece, room) + " ", "plain"), (fit(id_, name), "quiet")]


def _prose(text: str, width: int) -> list[Line]:
    """Lay out paragraphs and lists; headings are left out."""
    lines: list[Line] = []
    for block in _blocks(text):
        if not block:
            lines += [[]] if lines else []
            continue
        bullet = block.startswith("* ")
        room = min(_MEASURE, max(20, width)) - 2 * bullet
        for number, line in enumerate(_wrapped_paragraph(block.removeprefix("* "), room)):
            lead: Line = [("• " if number == 0 else "  ", "quiet")] if bullet else []
            lines.append([*lead, *line])
    return lines


def _blocks(text: str) -> list[str]:
    """Return paragraphs and list items, each on one line; an empty one is a blank line."""
    blocks: list[str] = []
    for line in text.splitlines():
        words = line.strip()
        if words.startswith("#"):
            continue
        if not words or words.startswith("* ") or not blocks or not blocks[-1]:
            blocks.append(words)
        else:
            blocks[-1] += f" {words}"
    return blocks[1:] if blocks and not blocks[0] else blocks


def _wrapped_paragraph(text: str, width: int) -> Iterator[Line]:
    """Wrap one paragraph, each piece in its style; what is set off stays on one line."""
    unbroken = _SET_OFF.sub(lambda piece: piece[0].replace(" ", _NO_BREAK), text)
    for line in wrapped(unbroken, width):
        pieces = filter(None, _SET_OFF.split(line))
        yield [
            (_unmarked(piece).replace(_NO_BREAK, " "), "strong") if _SET_OFF.fullmatch(piece) else (piece, "plain")
            for piece in pieces
        ]


def _unmarked(piece: str) -> str:
    """Remove the marks around a piece of text."""
    marks = 2 if piece.startswith("**") else 1
    return piece[marks:-marks]
