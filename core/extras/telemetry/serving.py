"""Figures of a followed session on `/metrics`, served from a thread beside the watch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine

from core.engine.engine import Step
from core.engine.society import Society
from core.errors import Refused, UsageError
from core.events import Event
from core.extension.hooks import Extension
from core.extras.telemetry.metrics import CONTENT_TYPE, MetricsPage
from core.hooks.receiver import Answer, Receiver, Request
from core.live.status import StatusFacts
from core.settings import Settings


class MetricsServer(Extension):
    """Counts in one thread and answers in another, never both at once."""

    name = "metrics"
    layer = 2
    about = "Serves figures of a followed session for Prometheus (watch --metrics)."

    def __init__(self, settings: Settings, port: int, clock: Callable[[], float], session: str = "") -> None:
        self._session = session
        self._metrics = MetricsPage(settings)
        self._clock = clock
        self._lock = threading.Lock()
        self._receiver = Receiver(self._answer, port=port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="metrics", daemon=True)
        self._thread.start()
        try:
            self._wait(self._receiver.start())
        except OSError as fault:
            self._stop()
            said = fault.strerror or fault
            raise UsageError(f"cannot listen on 127.0.0.1:{port}: {said}; name another port") from None

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._receiver.port

    def on_event(self, event: Event, step: Step, society: Society) -> None:
        """Take in one event and what it did."""
        with self._lock:
            self._metrics.update(self._session, "", event, step, society)

    def tell(self, facts: StatusFacts) -> None:
        """Take over what the watch knows of its session."""
        with self._lock:
            self._metrics.facts[self._session] = facts

    def on_shutdown(self, society: Society) -> None:
        """Stop serving."""
        del society
        self.close()

    def close(self) -> None:
        """Stop serving."""
        self._wait(self._receiver.close())
        self._stop()

    def _answer(self, request: Request) -> Answer:
        if request.path != "/metrics":
            raise Refused(404, "there is /metrics")
        if request.method not in ("GET", "HEAD"):
            raise Refused(405, "ask with GET")
        with self._lock:
            return Answer(self._metrics.text(self._clock()).encode(), CONTENT_TYPE)

    def _wait(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
