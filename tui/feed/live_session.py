"""What the application hands to a live session: its past, and ways to reach the person."""

from __future__ import annotations

import io
import time
from typing import Protocol

from textual.driver import Driver
from textual.message import Message

from core.live.live_session import Heritage
from core.live.notices import Told
from core.settings import Settings
from core.timeline.initial_state import Beginning
from tui.feed.messages import Noticed

_TITLES = {"needs_you": "Needs you", "risk": "Risk", "done": "Done"}


class LiveApp(Protocol):
    """What a live session needs of the application it is shown in."""

    settings: Settings
    _driver: Driver | None

    @property
    def is_headless(self) -> bool: ...

    def post_message(self, message: Message) -> bool: ...


class Terminal(io.StringIO):
    """The terminal the screen is drawn on, for bells and desktop notices."""

    def __init__(self, app: LiveApp) -> None:
        super().__init__()
        self._app = app

    def write(self, text: str) -> int:
        """Hand it to the driver, which alone may write there."""
        driver = self._app._driver
        if driver is not None and not self._app.is_headless:
            driver.write(text)
        return len(text)


def inherit(app: LiveApp, beginning: Beginning) -> Heritage:
    """The heritage of the session that is about to be shown live."""

    def show(told: Told) -> None:
        app.post_message(Noticed(told.kind, _TITLES.get(told.kind, told.kind), told.line))

    return Heritage(
        app.settings,
        beginning=beginning,
        use=app.settings.response.prior.enabled,
        app=show,
        stream=Terminal(app),
        wall=time.time,
    )
