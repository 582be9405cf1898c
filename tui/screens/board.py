"""The base of every screen but the main one: status above, timeline below, and a way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual._path import CSSPathType
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.reactive import var
from textual.widget import Widget

from core.settings.program import ScreenSettings
from core.store.bookmarks import Bookmark
from core.timeline.timeline import Timeline
from tui.draw.kept_lines import with_kept_lines
from tui.feed.messages import ScreenChanged
from tui.feed.view import View
from tui.keys import bind
from tui.widgets.common.card import Card, CardColumns
from tui.widgets.common.header import NowStrip, StatusHeader
from tui.widgets.common.key_line import KeyLine, LeftOnce
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_strip import TimelineStrip

WIDTHS: list[tuple[int, str]] = [(0, "-narrow"), (100, "-wide"), (160, "-huge")]
HEIGHTS: list[tuple[int, str]] = [(0, "-low"), (32, "-tall"), (52, "-vast")]
FLAT = 20  # Rows of a terminal below which only the essential is shown.


def classes_for(width: int, height: int) -> str:
    """Return the classes of a screen of a size, for a screen that needs them from the start."""
    sides = (width, WIDTHS), (height, HEIGHTS)
    return " ".join(max(step for step in steps if step[0] <= side)[1] for side, steps in sides)


ZOOMED = {"zoom": "all panels"}  # What the action of the keys that zoom is called while a panel is alone.


class Board(LeftOnce[None]):
    """A screen that watches the same view as the main one."""

    CSS_PATH: ClassVar[CSSPathType | None] = "board.tcss"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    ALLOW_IN_MAXIMIZED_VIEW = "KeyLine"
    HAS_TIMELINE: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [bind("back", "leave", show=True)]

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())

    def __init__(self, settings: ScreenSettings | None = None) -> None:
        super().__init__()
        with_kept_lines(self)
        self._settings = settings or ScreenSettings()

    def body(self) -> Iterable[Widget]:
        """Compose the part between status and timeline."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield StatusHeader().data_bind(Board.view)
        yield NowStrip().data_bind(Board.view)
        yield from self.body()
        if self.HAS_TIMELINE:
            strip = TimelineStrip(self._settings.gap, self._settings.series, id="timeline")
            yield strip.data_bind(Board.view, Board.recording, Board.bookmarks)
        yield KeyLine()

    def shared(self) -> Iterable[tuple[Panel, Panel]]:
        """Panels of the screen below, each with the one here that shows the same; none once it is left."""
        stack = self.app.screen_stack
        place = stack.index(self) if self in stack else 0
        below = stack[place - 1].query(TimelineStrip) if place else ()
        yield from zip(below, self.query(TimelineStrip), strict=False)

    def on_screen_resume(self) -> None:
        self.post_message(ScreenChanged())

    on_screen_suspend = on_screen_resume

    def on_mount(self) -> None:
        """Take over how the screen below is arranged."""
        for below, here in self.shared():
            here.take_look(below)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Go back, and leave the screen below arranged like this one."""
        for below, here in self.shared():
            below.take_look(here)
        return super().dismiss(result)

    def action_leave(self) -> None:
        self.dismiss()


class CardScroll(VerticalScroll, can_focus=False, inherit_bindings=False):
    """Scrolls with the arrows, and leaves all other keys to the timeline."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "scroll_up"),
        bind("row.down", "scroll_down"),
        bind("page.up", "page_up"),
        bind("page.down", "page_down"),
    ]


class CardBoard(Board):
    """A board of cards that flow into as many columns as there is room for; enter shows one alone."""

    CARDS: ClassVar[tuple[type[Card], ...]] = ()

    def cards(self) -> Sequence[Card]:
        """Make the cards, in order."""
        return [make(id=make.__name__.lower()) for make in self.CARDS]

    def body(self) -> Iterable[Widget]:
        cards = [card.data_bind(CardBoard.view, CardBoard.recording) for card in self.cards()]
        yield with_kept_lines(CardScroll(with_kept_lines(CardColumns(*cards, id="cards")), id="board"))

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        """Show a card alone, or all of them again."""
        message.stop()
        if self.maximized is None:
            message.panel.detailed = True
            self.maximize(message.panel, container=False)
            self.refresh_bindings()
        else:
            self._restore()

    @property
    def key_names(self) -> Mapping[str, str]:
        """Return what the zoom keys do while a card is alone."""
        return {} if self.maximized is None else ZOOMED

    def action_leave(self) -> None:
        if self.maximized is None:
            self.dismiss()
        else:
            self._restore()

    def _restore(self) -> None:
        for card in self.query(Card):
            card.detailed = False
        self.minimize()
        self.refresh_bindings()


class ZoomScreen(Board):
    """A panel between status and timeline; the playback keys work here too."""

    AUTO_FOCUS = "#zoomed"
    key_names: ClassVar[Mapping[str, str]] = ZOOMED  # What the keys that zoom do here.
    DEFAULT_CSS = """
    ZoomScreen #zoomed { height: 1fr; }
    """

    def __init__(self, origin: Panel, settings: ScreenSettings) -> None:
        super().__init__(settings)
        self._origin = origin  # The panel on the main screen.

    def shared(self) -> Iterable[tuple[Panel, Panel]]:
        yield from super().shared()
        yield self._origin, self.query_one("#zoomed", Panel)

    def body(self) -> Iterable[Widget]:
        panel = type(self._origin)(id="zoomed")
        panel.detailed = True
        yield panel.data_bind(Board.view, Board.recording)

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        message.stop()
        if message.panel.id == "zoomed":
            self.action_leave()
