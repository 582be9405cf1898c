"""The panel every instrument is built on: lines made once when the view changes, drawn by the line API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
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
    # Clicked twice it is shown alone; one with rows of its own has another use for that.
    CLICKS_ZOOM: ClassVar[bool] = False

    class Zoom(Message):
        """Ask for this panel on the whole screen."""

        def __init__(self, panel: Panel) -> None:
            super().__init__()
            self.panel = panel

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

    def look(self) -> Any:
        """How the person arranged it, for another panel of the same kind."""
        return None

    def take(self, look: Any) -> None:
        """Be arranged as another panel of the same kind."""

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

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()

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
