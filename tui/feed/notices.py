"""How notices of a live session reach the person: on the screen, and through the terminal it is drawn on."""

from __future__ import annotations

import io
import os
import select
import signal
import termios
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import PurePath
from types import FrameType
from typing import Any

from textual.app import App

from core.live.notices import Notifier, ShownNotice, installed_channels
from core.report.formatting import folder_name, plain
from core.settings import Settings
from tui.feed.messages import Noticed
from tui.feed.view import Subject, View

_FAULTS = 3  # Faults of the settings that are told one by one.
_READ = 20.0  # Seconds in which they can be read.


def tell_faults(app: App[Any], faults: Sequence[str]) -> None:
    """Say in one notice what is wrong with the settings: standard error is hidden behind the screen."""
    if faults:
        more = len(faults) - _FAULTS
        rest = [f"and {more} more: nooscope settings lists them"] if more > 0 else []
        message = "\n".join([*faults[:_FAULTS], *rest])
        app.notify(message, title="Settings", severity="warning", timeout=_READ, markup=False)


class Terminal(io.StringIO):
    """The terminal the screen is drawn on, for bells and desktop notices."""

    def __init__(self, app: App[Any]) -> None:
        super().__init__()
        self._app = app

    def write(self, text: str) -> int:
        """Hand it to the driver, which alone may write there."""
        driver = self._app._driver
        if driver is not None and not self._app.is_headless:
            driver.write(text)
        return len(text)


def notifier_of(app: App[Any], settings: Settings) -> Notifier:
    """Ways to reach the person who looks at the application; a finished turn is not a toast."""

    def show(notice: ShownNotice) -> None:
        if notice.kind != "done":
            app.post_message(Noticed(notice.kind, notice.title.capitalize(), f"{notice.glyph} {notice.text}"))

    channels, _ = installed_channels()
    return Notifier(settings.response.notices, Terminal(app), show, installed=channels)


class TerminalTitle:
    """The terminal's title: it says while the session on the screen needs the person."""

    def __init__(self, app: App[Any], usual: str) -> None:
        self._terminal = Terminal(app)
        self._usual = self._shown = usual

    def show(self, view: View | None) -> None:
        """Show a notice, unless it is shown already."""
        needed = view is not None and view.status is not None and view.status.needs_you
        name = terminal_title(view.subject) if view is not None and needed else self._usual
        if name != self._shown:
            self._shown = name
            self._terminal.write(f"\x1b]2;{name}\x07")


def terminal_title(subject: Subject) -> str:
    """The terminal's title while a session needs the person."""
    name = folder_name(subject.project) or PurePath(subject.path).stem
    return plain(f"▲ needs you: {name} · nooscope", 80)


_EVERY = 0.5  # Seconds between two looks at the terminal.
_GRACE = 1.2  # Seconds a screen may take to end by itself.
_RESET = b"\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u"


def end_with_terminal(fileno: int = 0, every: float = _EVERY, grace: float = _GRACE) -> None:
    """End with the terminal, and soon after SIGTERM or SIGHUP even if the terminal no longer reads.

    A parent such as make or nohup may keep the hangup from us. A terminal that does not read makes the screen wait
    for ever in the middle of a write, where it notices no signal that another thread got: it is woken to look.
    """
    if not os.isatty(fileno):
        return
    before = termios.tcgetattr(fileno)
    asked = signal.getsignal(signal.SIGTERM)
    ending = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        if not ending.is_set():
            ending.set()
            arguments = (fileno, before, number, grace)
            threading.Thread(target=_end_at_last, args=arguments, name="last-end", daemon=True).start()
        if callable(asked):
            asked(number, frame)

    def look() -> None:
        pause, main = threading.Event(), threading.main_thread().ident
        while os.isatty(fileno):
            pause.wait(every)
            if main is not None and not select.select((), (fileno,), (), 0.0)[1]:
                signal.pthread_kill(main, signal.SIGURG)
        os.kill(os.getpid(), signal.SIGHUP)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    signal.signal(signal.SIGURG, lambda *_: None)
    threading.Thread(target=look, name="hangup", daemon=True).start()


def _end_at_last(fileno: int, before: list[Any], number: int, grace: float) -> None:
    """End the process after a time of grace, and give the terminal back as far as it takes it."""
    threading.Event().wait(grace)
    with suppress(termios.error, OSError):
        termios.tcsetattr(fileno, termios.TCSANOW, before)
        if select.select((), (fileno,), (), 0.0)[1]:
            os.write(fileno, _RESET)
    os._exit(128 + number)
