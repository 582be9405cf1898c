"""Wakes whoever follows files when they change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from core.logs.file_events import file_changes
from core.settings.logs import FollowSettings


class Watcher:
    """A thread that does nothing but wait for file events and pass them on."""

    def __init__(self, wake: Callable[[], object], settings: FollowSettings) -> None:
        self._wake = wake
        self._settings = settings
        self._folders: list[Path] = []
        self._told = False
        self._trouble = ""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, folders: list[Path]) -> None:
        """Look at these folders from now on."""
        if folders == self._folders and self._thread is not None:
            return
        self.stop()
        self._folders = folders
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._wait, args=(folders, self._stop), name="nooscope-watch", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end by itself."""
        self._stop.set()

    def trouble(self) -> str:
        """Why there are no file events, told once."""
        said, self._trouble = self._trouble, ""
        return said

    def _tell(self, sentence: str) -> None:
        if not self._told:
            self._told, self._trouble = True, sentence

    def _wait(self, folders: list[Path], stop: threading.Event) -> None:
        while not stop.is_set():
            heard = file_changes(
                folders, stop, self._settings, recursive=False, tell=self._tell, unhurried=True
            )
            for _ in heard:
                if stop.is_set():
                    return
                self._wake()
