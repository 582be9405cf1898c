"""The program ends with its terminal, also where nobody tells it that the terminal is gone."""

from __future__ import annotations

import os
import signal
import threading

_EVERY = 2.0
"""Seconds between two looks."""


def end_with_terminal(fileno: int = 0, every: float = _EVERY) -> None:
    """Watch a terminal in a thread of its own; a parent such as make may keep its hangup from us."""
    if not os.isatty(fileno):
        return

    def look() -> None:
        pause = threading.Event()
        while os.isatty(fileno):
            pause.wait(every)
        os.kill(os.getpid(), signal.SIGHUP)

    threading.Thread(target=look, name="hangup", daemon=True).start()
