"""The panels of every instrument: lines made once for a view, or rows of which only those in sight are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from tui.draw.kept_lines import paint_again, with_kept_lines
from tui.draw.line import Line, resolve_styles
from tui.feed.view import View
from tui.keys import bind

if TYPE_CHECKING:
    from core.timeline.timeline import Timeline


class Panel(Widget, can_focus=True):
    """A framed instrument; a subclass turns a view into lines."""

    DEFAULT_CSS = """
    Panel {
        border: round $foreground 25%;
        border-title-color: $foreground;
        border-title-style: bold;
        border-subtitle-color: $quiet;
        padding: 0 1;
        background: $background;
        &:focus { border: round $accent; border-title-color: $accent; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "zoom", "zoom", "Show this panel alone, with its details", show=True),
        bind("alone", "zoom", "", "Show this panel alone, with its details"),
    ]
    TITLE: ClassVar[str] = ""
    EMPTY: ClassVar[str] = "waiting for the first event"
    LOOK: ClassVar[tuple[str, ...]] = ()  # Attributes that hold how the person arranged it.
    # Clicked twice it is shown alone; one with rows of its own has another use for that.
    CLICKS_ZOOM: ClassVar[bool] = False

    @dataclass
    class Zoom(Message):
        """Ask for this panel on the whole screen."""

        panel: Panel

    view: reactive[View | None] = reactive(None, repaint=False)
    detailed: reactive[bool] = reactive(False)  # Shown alone, with its details.
    # Where the past is read from, never further than the view's playhead.
    recording: reactive[Timeline | None] = reactive(None)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        self._edge_only = False
        super().__init__(id=id, classes=classes)
        with_kept_lines(self, self._content)
        self.border_title = self.TITLE
        self._made: list[Line] = []
        self._strips: list[Strip] | None = None
        self._inks: dict[str, Style] | None = None
        self._base = Style.null()
        self._made_for = Size(0, 0)

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        """Return the lines to draw; at most `height` of them are seen."""
        raise NotImplementedError

    def details(self, view: View, width: int, height: int) -> list[Line]:
        """Return the lines to draw when the panel has the whole screen."""
        return self.lines(view, width, height)

    def subtitle(self, view: View) -> str | None:  # noqa: ARG002
        """Text for the lower edge, never from a log; None leaves it as it is."""
        return None

    def take_look(self, other: Panel) -> None:
        """Be arranged as another panel of the same kind."""
        for name in self.LOOK:
            setattr(self, name, getattr(other, name))
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        if self.CLICKS_ZOOM and event.chain == 2:
            self.action_zoom()

    def action_zoom(self) -> None:
        self.post_message(self.Zoom(self))

    def watch_view(self, view: View | None) -> None:  # noqa: ARG002
        self._say()
        self._follow()

    def _say(self) -> None:
        """Update the text on the lower edge."""
        text = None if self.view is None else self.subtitle(self.view)
        if text is not None:
            self.say(text)

    def say(self, words: str) -> None:
        """Put words on the lower edge, never from a log; the lines stay as they are."""
        if words != (self.border_subtitle or ""):
            self._edge_only = True
            self.border_subtitle = words
            self._edge_only = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw again; when only the lower edge changed, leave the lines as they are."""
        if self._edge_only and self._is_visible:
            left, right = self.gutter.left, self.gutter.right
            width, height = self.size
            paint_again(self, [Region(-left, height, width + left + right, 1)])
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    @property
    def _is_visible(self) -> bool:
        """It is drawn on the screen in front."""
        return self._strips is not None and self.display and self.screen.is_current

    def _follow(self) -> None:
        """Draw what changed; a hidden panel is drawn when it becomes visible."""
        size, strips = self.size, self._strips
        if strips is None or self._made_for != size or not self._is_visible:
            if strips is not None or self.display:
                self._strips = None
                self.refresh()
            return
        before = self._made
        self._build(size, strips)
        version = self._made
        changed = [
            Region(0, y, size.width, 1)
            for y in range(max(len(before), len(version)))
            if y >= len(before) or y >= len(version) or before[y] != version[y]
        ]
        if changed:
            paint_again(self, changed)

    def watch_detailed(self) -> None:
        self._strips = None

    def watch_recording(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Draw the lines again although the view is the same."""
        self._say()
        self._strips = None
        self.refresh()

    def notify_style_update(self) -> None:
        self._strips = self._inks = None
        super().notify_style_update()

    def resolved_styles(self) -> dict[str, Style]:
        """Every style on the ground of this panel."""
        return resolve_styles(self.app.theme_variables, self.background_colors[1])

    def render_line(self, y: int) -> Strip:
        size = self.size
        if self._strips is None or self._made_for != size:
            self._made = []
            self._build(size, [])
        if self._strips is not None and y < len(self._strips):
            return self._strips[y]
        return Strip.blank(size.width, self.rich_style)

    def _content(self, y: int) -> Strip:
        """Return a line as last drawn, if it was drawn for the present size."""
        strips = self._strips
        return strips[y] if strips is not None and y < len(strips) else self.render_line(y)

    def _build(self, size: Size, before: list[Strip]) -> None:
        """Make the lines, and a strip of each that is not as it was."""
        width, height = size
        if self.view is None:
            lines: list[Line] = [[(self.EMPTY, "quiet")]]
        elif self.detailed:
            lines = self.details(self.view, width, height)
        else:
            lines = self.lines(self.view, width, height)
        if self._inks is None:
            self._inks, self._base = self.resolved_styles(), self.rich_style
        inks, base, old = self._inks, self._base, self._made
        length = len(old)
        self._made = lines[:height]
        self._strips = [
            before[y] if y < length and old[y] == line else _strip(line, width, inks, base)
            for y, line in enumerate(self._made)
        ]
        self._made_for = size


class CursorPanel(Panel):
    """A panel with a cursor of its own, which the wheel moves and only the focus shows."""

    WHEEL: ClassVar[int] = 1  # Rows the wheel moves it by.

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        raise NotImplementedError

    on_focus = on_blur = Panel.redraw

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(self.WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-self.WHEEL)


def _strip(line: Line, width: int, inks: dict[str, Style], base: Style) -> Strip:
    segments = [Segment(text, inks[ink]) for text, ink in line if text]
    short = width - sum([cell_len(text) for text, _ in line])
    if short < 0:
        return Strip(segments).adjust_cell_length(width, base)
    if short:
        segments.append(Segment(" " * short, base))
    return Strip(segments, width)


class Scroller(Panel, ScrollView, inherit_bindings=False):
    """Rows asked for one by one; a subclass says how many there are and what is in each."""

    DEFAULT_CSS = """
    Scroller {
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-background: $background; scrollbar-background-hover: $panel;
        scrollbar-color: $quiet; scrollbar-color-hover: $accent;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.up", "move(-1)"),
        bind("row.down", "move(1)"),
        bind("page.up", "page(-1)", "", "A page up"),
        bind("page.down", "page(1)", "", "A page down"),
        bind("play.start", "first", "", "To the first row"),
        bind("play.end", "last", "", "To the last row"),
    ]

    HEAD: ClassVar[int] = 0  # Lines at the top that stay.

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._inks: dict[str, Style] = {}
        self._drawn: dict[int, Line] = {}  # The lines as they were drawn last.

    def count_rows(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row(self, number: int, width: int) -> Line:
        """One row."""
        raise NotImplementedError

    def head(self, number: int, width: int) -> Line:
        """One of the lines at the top that stay."""
        raise NotImplementedError

    def resize_rows(self) -> None:
        """Count the rows again and draw them."""
        size = Size(self.scrollable_content_region.width, self.count_rows() + self.HEAD)
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh()
        else:
            self.draw_rows()

    @property
    def _is_visible(self) -> bool:
        return bool(self._drawn) and self.display and self.is_attached and self.screen.is_current

    def draw_rows(self) -> None:
        """Draw those rows in sight again that are not as they were; the frame around them stays."""
        if not self._is_visible:
            self.refresh()
            return
        width, height = self.scrollable_content_region.size
        previous = self._drawn
        changed = [Region(0, y, width, 1) for y in range(height) if previous.get(y) != self._line(y, width)]
        if changed:
            paint_again(self, changed)

    def on_resize(self) -> None:
        self.resize_rows()

    def notify_style_update(self) -> None:
        self._inks = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        line = self._drawn[y] = self._line(y, width)
        inks = self._inks = self._inks or self.resolved_styles()
        marked = bool(line) and line[-1][1] == "cursor"
        return _strip(line, width, inks, inks["cursor"] if marked else self.rich_style)

    def _line(self, y: int, width: int) -> Line:
        """Return the content of a line of the panel."""
        if y < self.HEAD:
            return self.head(y, width)
        number = self.scroll_offset.y + y - self.HEAD
        if number < self.count_rows():
            return self.row(number, width)
        return [(self.EMPTY, "quiet")] if number == 0 else []

    @property
    def page(self) -> int:
        """Rows in sight."""
        return max(1, self.scrollable_content_region.height - self.HEAD)

    def action_move(self, by: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.page - 1))

    def action_first(self) -> None:
        self.scroll_to(y=0, animate=False)

    def action_last(self) -> None:
        self.scroll_to(y=self.count_rows(), animate=False)


class CursorList(Scroller):
    """Rows with a cursor that stays in sight."""

    cursor = 0

    def moved(self) -> None:
        """React to the cursor's move to a row."""

    def reveal(self) -> None:
        """Bring the cursor into sight."""
        if not 0 <= self.cursor - self.scroll_offset.y < self.page:
            self.scroll_to(y=max(0, self.cursor - self.page // 3), animate=False, immediate=True)
        self.draw_rows()
        self.moved()

    def go(self, to: int) -> None:
        """Put the cursor on a row."""
        self.cursor = max(0, min(to, self.count_rows() - 1))
        self.reveal()

    def action_move(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_first(self) -> None:
        self.go(0)

    def action_last(self) -> None:
        self.go(self.count_rows() - 1)


TextLayout: TypeAlias = Callable[[int], Iterable[Line]]  # Lays a text out for a width.


class TextPage(Scroller):
    """A page of text given as something that can lay itself out."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._maker: TextLayout = lambda _: ()
        self._laid: list[Line] = []
        self._laid_for = -1

    def show(self, maker: TextLayout, *, top: bool = True) -> None:
        """Lay out another text, from its top or where the reader was."""
        self._maker = maker
        self._laid_for = -1
        self.resize_rows()
        if top:
            self.scroll_to(y=0, animate=False, immediate=True)

    def count_rows(self) -> int:
        width = self.scrollable_content_region.width
        if width != self._laid_for:
            self._laid = list(self._maker(width)) if width > 0 else []
            self._laid_for = width
        return len(self._laid)

    def row(self, number: int, width: int) -> Line:  # noqa: ARG002
        return self._laid[number]
