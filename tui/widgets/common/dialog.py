"""Input lines and dialogs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, Label

from core.report.formatting import plain
from tui.keys import bind


class EntryLine(Input):
    """An input whose keys are named after what they do on its screen."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("open", "submit", "accept", "Accept what you typed", show=True)]

    def __init__(
        self,
        placeholder: str = "",
        *,
        enter: str,
        escape: str = "",
        select_on_focus: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(placeholder=placeholder, select_on_focus=select_on_focus, id=id)
        self._enter, self._escape = enter, escape

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave up and down to the screen: one line does not scroll."""
        return action not in ("scroll_up", "scroll_down") and super().check_action(action, parameters)

    @property
    def key_names(self) -> Mapping[str, str]:
        """Return the meaning of its keys, by id; escape belongs to the screen."""
        return {"open": self._enter, **({"back": self._escape} if self._escape else {})}


class LeftOnce(Screen[ScreenResultType]):
    """A screen that closes only itself, never the one on top of it."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the screen if it is on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Dialog(ModalScreen[ScreenResultType], LeftOnce[ScreenResultType]):
    """A question over the screen below."""


class Box(Dialog[ScreenResultType]):
    """A dialog in a frame: a title, a few lines, perhaps a line to type in."""

    DEFAULT_CSS = """
    Box {
        align: center middle;
        & > Vertical {
            width: 76; max-width: 94%; height: auto; max-height: 90%; padding: 0 1;
            border: round $accent; border-title-color: $accent; border-title-style: bold;
            border-subtitle-color: $quiet; background: $surface;
        }
        & Label { color: $quiet; width: 100%; }
        & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [bind("back", "dismiss(None)", "cancel", "Cancel", show=True)]


class ConfirmScreen(Box[bool]):
    """Asks whether to do something; Enter does it."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("open", "dismiss(True)", "yes", "Do it", show=True)]

    def __init__(self, title: str, *lines: str) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            for line in filter(None, self._lines):
                yield Label(Content(plain(line, 300)))
