"""Every key and what each panel means, made from the bindings and panels that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual import on
from textual._path import CSSPathType
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from core.report.formatting import plain
from core.settings.screen import ScreenSettings
from tui.screens.board import Board
from tui.screens.extensions import ExtensionsScreen
from tui.screens.help_text import KeyRow, Topic, binding_names, help_lines, matching_topics, topic
from tui.screens.model import AffectScreen, GovernorScreen, MindScreen, ResponseScreen
from tui.screens.transcript import TranscriptScreen
from tui.widgets.common.entry_line import EntryLine
from tui.widgets.common.key_line import KeyLine
from tui.widgets.common.panel import Panel
from tui.widgets.common.text_page import TextPage
from tui.widgets.extensions.cards import ExtensionCard
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.passage import PassagePane

_SCREENS: dict[str, tuple[type[Board], tuple[type[Panel], ...]]] = {
    "Transcript": (TranscriptScreen, (Document, PassagePane)),
    "Model: Mind": (MindScreen, MindScreen.CARDS),
    "Model: Governor": (GovernorScreen, GovernorScreen.CARDS),
    "Model: Affect": (AffectScreen, AffectScreen.CARDS),
    "Model: Response": (ResponseScreen, ResponseScreen.CARDS),
    "Extensions": (ExtensionsScreen, (ExtensionCard,)),
}


class HelpScreen(Board):
    """A page that can be searched."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["board.tcss", "help.tcss"]
    AUTO_FOCUS = "TextPage"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", id="help.search", tooltip="Only help that contains these words"),
        Binding("question_mark", "leave", "back", show=False, id="help.leave", tooltip="Back again"),
    ]

    def __init__(self, settings: ScreenSettings | None = None) -> None:
        super().__init__(settings)
        self._topics: list[Topic] = []

    def compose(self) -> ComposeResult:
        page = TextPage(id="page")
        page.border_title = "Help"
        yield page
        yield EntryLine("key, word, panel …", enter="to the page", escape="clear", id="search")
        yield KeyLine()

    def on_mount(self) -> None:
        self._topics = list(self._gather())
        self._show("")

    def _gather(self) -> Iterator[Topic]:
        """What the person looks at, what works everywhere, then all other screens and this one.

        On the main screen most keys are the app's, so that only what has the focus goes before them.
        """
        app = type(self.app)
        known = binding_names(app) | binding_names(Screen) | binding_names(Panel)
        told: set[type] = set()
        below = self.app.screen_stack[:-1]
        first = [] if not below else self._own(below[-1], told, known, whole=len(below) > 1)
        yield from first
        everywhere = "Everywhere, but for keys named above" if first else "Everywhere"
        yield topic(everywhere, (app, Screen), self._settings.keymap, set())
        yield topic("In every panel", (Panel,), self._settings.keymap, set())
        for screen in reversed(below):
            panels = [type(part) for part in _explained(screen)]
            yield from self._screen(_title(type(screen)), type(screen), panels, told, known)
        for title, (kind, parts) in _SCREENS.items():
            yield from self._screen(f"{title} screen", kind, parts, told, known)
        yield topic("Help", (HelpScreen, TextPage), self._settings.keymap, known)

    def _own(self, screen: Screen[object], told: set[type], known: set[str], *, whole: bool) -> list[Topic]:
        """What has the focus on a screen, and around it the screen itself where that is wanted."""
        focused = screen.focused.ancestors_with_self if screen.focused is not None else []
        near = [type(part) for part in _explained(screen) if part in focused]
        found = list(self._parts(near, told, known))
        if whole:
            panels = [type(part) for part in _explained(screen)]
            found += self._screen(_title(type(screen)), type(screen), panels, told, known)
        return found

    def _screen(
        self,
        title: str,
        kind: type[DOMNode],
        panels: Iterable[type[Widget]],
        told: set[type],
        known: set[str],
    ) -> Iterator[Topic]:
        if kind not in told:
            told.add(kind)
            found = topic(title, (kind,), self._settings.keymap, known)
            if found.rows or found.text:
                yield found
        yield from self._parts(panels, told, known)

    def _parts(self, panels: Iterable[type[Widget]], told: set[type], known: set[str]) -> Iterator[Topic]:
        for panel in panels:
            if panel not in told:
                told.add(panel)
                title = getattr(panel, "TITLE", "") or _title(panel)
                found = topic(title, (panel,), self._settings.keymap, known)
                yield found if panel.can_focus or not issubclass(panel, Panel) else found._replace(rows=())

    @property
    def rows(self) -> list[KeyRow]:
        """Every key that is listed."""
        return [row for each in self._topics for row in each.rows]

    def _show(self, sought: str) -> None:
        found = matching_topics(self._topics, sought)
        page = self.query_one(TextPage)
        page.show(lambda width: help_lines(found, width))
        keys = sum(len(each.rows) for each in found)
        said = f" · “{plain(sought, 30)}”" if sought else ""
        page.border_subtitle = Content(f"{keys} keys, {len(found)} topics{said}")

    def action_search(self) -> None:
        self.add_class("-searching")
        self.query_one("#search", Input).focus()

    def action_leave(self) -> None:
        if self.has_class("-searching"):
            self.query_one("#search", Input).value = ""
            self._end_search()
        else:
            self.dismiss()

    def _end_search(self) -> None:
        self.set_class(bool(self.query_one("#search", Input).value), "-searching")
        self.query_one(TextPage).focus()

    @on(Input.Changed, "#search")
    def _sift(self, event: Input.Changed) -> None:
        self._show(event.value.strip())

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self._end_search()


def _explained(screen: Screen[object]) -> list[Widget]:
    """The parts of a screen that help tells of."""
    return [part for part in screen.query("*") if isinstance(part, Panel) or type(part).HELP]


def _title(kind: type) -> str:
    """A class's name in words: MainScreen as main screen."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip()
