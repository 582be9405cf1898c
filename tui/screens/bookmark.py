"""Asks for a note before a bookmark is set, and whether before one is removed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Label

from core.report.formatting import plain
from core.store.bookmarks import Bookmark
from tui.feed.messages import RemoveBookmark, SetBookmark
from tui.keys import bind
from tui.widgets.common.leaving import Dialog

_BOX = """
    align: center middle;
    & > Vertical {
        width: 60; max-width: 90%; height: auto; padding: 0 1;
        border: round $accent; border-title-color: $accent; background: $surface;
    }
    & Label { color: $quiet; width: 100%; }
    & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
"""


class NoteScreen(Dialog[str | None]):
    """A line for the note; gives it back, or None where no bookmark is wanted."""

    DEFAULT_CSS = f"NoteScreen {{ {_BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "dismiss(None)", "cancel", "Cancel", show=True),
    ]

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"Bookmark at event {self._place:,}"
            yield Input(placeholder="a note, a name: and a note, or nothing", max_length=300)
            yield Label("enter sets it, esc sets none")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value.strip())


class RemovalScreen(Dialog[bool | None]):
    """Whether the bookmark that stands here should go."""

    DEFAULT_CSS = f"RemovalScreen {{ {_BOX} }}"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "dismiss(True)", "remove", "Remove the bookmark", show=True),
        bind("back", "dismiss(False)", "keep", "Keep the bookmark", show=True),
    ]

    def __init__(self, bookmark: Bookmark) -> None:
        super().__init__()
        self._bookmark = bookmark

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = "Remove this bookmark?"
            yield Label(Content(plain(self._bookmark.name, 56)))
            if self._bookmark.note:
                yield Label(Content(plain(self._bookmark.note, 300)))
            yield Label("enter removes it, esc keeps it")


def ask_bookmark(app: App[Any], place: int, bookmarks: Sequence[Bookmark]) -> None:
    """Ask for a note and set a bookmark; where one stands, ask whether it should go."""
    standing = next((mark for mark in bookmarks if mark.place == place), None)
    if standing is None:
        app.push_screen(NoteScreen(place), partial(_set, app, place))
    else:
        app.push_screen(RemovalScreen(standing), partial(_remove, app, place))


def _set(app: App[Any], place: int, note: str | None) -> None:
    if note is not None:
        app.post_message(SetBookmark(place, note))


def _remove(app: App[Any], place: int, agreed: bool | None) -> None:
    if agreed:
        app.post_message(RemoveBookmark(place))
