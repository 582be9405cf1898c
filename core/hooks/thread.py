"""The intake in a thread of its own, beside a watch or a screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine

from core.hooks.server import IntakeServer

_PATIENCE = 10.0


class IntakeThread:
    """Serves from its start until it is closed."""

    def __init__(self, server: IntakeServer, *, take_over: bool = True) -> None:
        self._server = server
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="intake", daemon=True)
        self._thread.start()
        try:
            self._wait(server.start() if take_over else server.start_behind())
        except BaseException:
            self._stop()
            raise

    def close(self) -> None:
        """Stop serving."""
        try:
            self._wait(self._server.close())
        finally:
            self._stop()

    def _wait(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        self._loop.close()
