"""Screens that are left once, however often a key is pressed before they are gone."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen, ScreenResultType


class LeftOnce(Screen[ScreenResultType]):
    """A screen that takes only itself away: what is on top by then stays."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Go back to the screen below, where this one is on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Dialog(ModalScreen[ScreenResultType], LeftOnce[ScreenResultType]):
    """A question over the screen below."""
