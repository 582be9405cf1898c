"""A followed session sent on as a trace while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core import __version__
from core.engine.engine import Step
from core.engine.society import Society
from core.events import MAIN, Event, SessionStart
from core.extension.hooks import Extension
from core.extras.telemetry.sender import Collector, LiveSender
from core.extras.telemetry.spans import Tracer, resource


class LiveTrace(Extension):
    """Sends each span as it ends, from the event on that names the session."""

    name = "trace"
    layer = 2
    about = "Sends a followed session as a trace to a collector (watch --otlp)."

    def __init__(self, url: str, headers: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._collector = Collector(url, headers)
        self._say = say
        self._sender: LiveSender | None = None
        self._tracer: Tracer | None = None

    def on_event(self, event: Event, step: Step, society: Society) -> None:
        """Take in one event and what it did."""
        del society
        if isinstance(event, SessionStart) and event.agent == MAIN:
            self._finish()
            self._tracer = Tracer(event.session, event.tool)
            if self._sender is None:
                self._sender = LiveSender(self._collector, resource(event.tool, __version__), self._say)
        if self._tracer is not None and self._sender is not None:
            for span in self._tracer.take(event, step):
                self._sender.put(span)

    def on_shutdown(self, society: Society) -> None:
        """Send the agents still at work, and what waits."""
        del society
        self._finish()
        if self._sender is not None:
            self._sender.close()
            self._say(f"{self._sender.sent:,} spans sent to {self._collector.name}")

    def _finish(self) -> None:
        if self._tracer is not None and self._sender is not None:
            for span in self._tracer.close():
                self._sender.put(span)
