"""Asks for a place in the recording."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Label

from core.errors import NooscopeError
from core.timeline.places import parse_place
from core.timeline.timeline import Timeline
from tui.feed.messages import Seek
from tui.widgets.common.leaving import Dialog


class GotoScreen(Dialog[str]):
    """A line to type a time or an event's number into; gives back what was typed."""

    DEFAULT_CSS = """
    GotoScreen {
        align: center middle;
        & > Vertical {
            width: 60; max-width: 90%; height: auto; padding: 0 1;
            border: round $accent; border-title-color: $accent; background: $surface;
        }
        & Label { color: $quiet; width: 100%; }
        & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('')", "cancel", id="goto.leave", tooltip="Stay where you are"),
    ]

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Go to"
            yield Input(placeholder="120, -1, 50%, 00:41:12, 41m, 2026-01-31T12:40")
            yield Label("an event's number, a share, a time since the start, or a date and time (UTC)")
            yield Label("enter goes there, esc stays here")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value.strip())


def go_to(app: App[Any], timeline: Timeline, spoken: str) -> None:
    """Move the playhead to a place as a person writes it; say what is wrong where there is none such."""
    if not len(timeline):
        return
    try:
        share = float(spoken[:-1]) / 100 if spoken.endswith("%") else None
        to = parse_place(timeline, spoken) if share is None else round(share * len(timeline))
    except (NooscopeError, ValueError) as error:
        app.notify(str(error), severity="warning", markup=False)
    else:
        app.post_message(Seek(to))
