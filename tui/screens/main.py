"""The observatory: every instrument at one glance."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.events import Key, ScreenResume
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Static

from core.events import MAIN
from core.settings.program import ScreenSettings
from core.store.bookmarks import Bookmark
from core.timeline.timeline import Timeline
from tui.draw.kept_lines import paint_again, with_kept_lines
from tui.feed.messages import ScreenChanged, SelectAgent, ShowTranscript
from tui.feed.view import View
from tui.keys import bind
from tui.screens.board import FLAT, HEIGHTS, WIDTHS, classes_for
from tui.widgets.common.header import NowStrip, StatusHeader
from tui.widgets.common.key_line import KeyLine
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_strip import TimelineStrip
from tui.widgets.main.context import ContextPanel
from tui.widgets.main.emotion import EmotionAxes
from tui.widgets.main.paths import PathTree
from tui.widgets.main.signals import SalienceQueue, SignalFeed
from tui.widgets.main.triangle import NeuronTriangle
from tui.widgets.transcript.document import Document

# In the order of their keys.
PANELS: dict[str, Callable[..., Panel]] = {
    "emotion": EmotionAxes,
    "triangle": NeuronTriangle,
    "paths": PathTree,
    "context": ContextPanel,
    "salience": SalienceQueue,
    "signals": SignalFeed,
}

ASIDE = ("paths", "context", "salience")  # Panels that share one place on a small terminal.

_HELD = 0.5  # Seconds after which empty panels are painted where the first events have not come.


# What is pointed at in the first session a person opens.
CAPTIONS = (
    "above  status: what it does, if it needs you, what failed",
    "1      axes: how the work goes; │ is where an axis fires",
    "0      timeline: ← → step, n next problem, space plays",
)


class Captions(Static):
    """Three lines for the first session; any key closes them."""

    DEFAULT_CSS = "Captions { height: 3; padding: 0 1; background: $primary 20%; color: $foreground; }"


class MainScreen(Screen[None]):
    """Six panels, the timeline below, the status above; on a vast terminal the transcript beside them."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            bind(f"part.{number}", f"panel({number})", name, f"Focus the {name} panel")
            for number, name in enumerate(PANELS, 1)
        ),
        bind("part.0", "panel(0)"),
        bind("back", "unfocus", "leave", "Leave the panel"),
    ]

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)
    bookmarks: var[tuple[Bookmark, ...]] = var(())
    # Which of the panels that share a place is seen where there is room for one.
    aside: var[str] = var(ASIDE[0], init=False)

    def __init__(self, settings: ScreenSettings, *, awaited: bool = False, size: tuple[int, int] | None = None) -> None:
        super().__init__(classes=None if size is None else classes_for(*size))
        with_kept_lines(self)
        self._settings = settings
        self._held = awaited  # Nothing is painted yet: a session is being opened, and empty panels would only delay it.

    def compose(self) -> ComposeResult:
        yield StatusHeader().data_bind(MainScreen.view)
        yield NowStrip().data_bind(MainScreen.view)
        with with_kept_lines(Horizontal(id="middle")):
            with with_kept_lines(Container(id="panels")):
                for number, (name, make) in enumerate(PANELS.items(), 1):
                    panel = make(id=name, classes="-aside" if name in ASIDE[1:] else None)
                    panel.border_title = f"{number} {panel.TITLE}"
                    yield panel.data_bind(MainScreen.view, MainScreen.recording)
            document = Document(id="transcript")
            document.border_title = f"7 {document.TITLE}"
            yield document.data_bind(MainScreen.view, MainScreen.recording)
        strip = TimelineStrip(self._settings.gap, self._settings.series, id="timeline")
        yield strip.data_bind(MainScreen.view, MainScreen.recording, MainScreen.bookmarks)
        yield KeyLine()

    def on_mount(self) -> None:
        if self._held:
            self.set_timer(_HELD, self._paint)

    def watch_view(self, view: View | None) -> None:
        if view is not None:
            self._paint()

    def _paint(self) -> None:
        if self._held:
            self._held = False
            paint_again(self, [self.region])

    def _compositor_refresh(self) -> None:
        if self._held:
            self._dirty_widgets.clear()
        else:
            super()._compositor_refresh()

    def on_screen_resume(self, event: ScreenResume) -> None:
        if self._held:
            event.refresh_styles = False  # all widgets have just been styled as they were mounted
        self.post_message(ScreenChanged())

    def on_screen_suspend(self) -> None:
        self.post_message(ScreenChanged())

    def on_resize(self) -> None:
        """Name the panels hidden behind the visible one, where some are."""
        hidden = self.has_class("-narrow") and self.has_class("-low")
        self.set_class(self.size.height < FLAT, "-flat")
        for panel in self.query(Panel):
            if panel.id in ASIDE:
                number = list(PANELS).index(panel.id) + 1
                others = "  ".join(f"{list(PANELS).index(name) + 1} {name}" for name in ASIDE if name != panel.id)
                panel.border_title = f"{number} {panel.id.title()}  ({others})" if hidden else f"{number} {panel.TITLE}"

    def watch_aside(self) -> None:
        for name in ASIDE:
            for panel in self.query(f"#{name}"):
                panel.set_class(name != self.aside, "-aside")

    def action_panel(self, number: int) -> None:
        """Focus a panel, and show it where another hides it."""
        name = list(PANELS)[number - 1] if number else "timeline"
        if name in ASIDE:
            self.aside = name
        panel = self.query_one(f"#{name}")
        self.set_focus(panel)
        self.call_after_refresh(panel.scroll_visible, animate=False)

    def action_transcript(self) -> None:
        """Focus the transcript beside the panels; if there is no room for it, open its screen."""
        document = self.query_one("#transcript", Document)
        if document.display:
            self.set_focus(document)
        else:
            self.post_message(ShowTranscript(""))

    def on_document_raw(self, message: Document.Raw) -> None:
        """The line behind an entry has its place on the transcript's own screen."""
        message.stop()
        self.post_message(ShowTranscript(""))

    def action_unfocus(self) -> None:
        """Close the captions, else leave the panel, the bench beside or the sub-agent; else the app shows the fleet."""
        if captions := self.query(Captions):
            captions.remove()
            return
        if self.focused is None:
            if self.query(".-side"):
                self.leave_beside()
            elif self.view is not None and self.view.agent != MAIN:
                self.post_message(SelectAgent(MAIN))
            else:
                raise SkipAction
        self.set_focus(None)

    def show_captions(self) -> None:
        """Point at status, axes and timeline."""
        self.mount(Captions("\n".join(CAPTIONS), markup=False), before="#middle")

    def on_key(self, event: Key) -> None:
        """Close the captions with the first key; escape does nothing else."""
        if event.key != "escape":
            self.query(Captions).remove()

    @work
    async def leave_beside(self) -> None:
        """Close the bench beside the panels."""
        await self.query(".-side").remove()
        self.set_focus(None)
        self.query_one(KeyLine).update_keys()

    def on_panel_zoom(self, message: Panel.Zoom) -> None:
        from tui.screens.board import ZoomScreen

        if message.panel.id in PANELS:
            message.stop()
            zoom = ZoomScreen(message.panel, self._settings)
            self.app.push_screen(zoom.data_bind(MainScreen.view, MainScreen.recording, MainScreen.bookmarks))
