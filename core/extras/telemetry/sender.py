"""Sends spans to a collector that the person named, and never to another."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import unquote, urlsplit

from core.errors import NotSent, UsageError
from core.extras.telemetry.otlp import encoded
from core.extras.telemetry.spans import Attribute, Span

BATCH = 256
"""Spans of one request at most."""
_WAITING = 20_000
"""Spans that wait to be sent at most; more are counted as lost."""
_TRIES = 4
_AGAIN = frozenset((429, 502, 503, 504))
_ANSWER = 65_536


class Collector:
    """One collector by its address; redirects are not followed."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, timeout: float = 10.0) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise UsageError(f"{url!r} is not an address to send to; write http://127.0.0.1:4318")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, port
        path = parts.path.rstrip("/")
        self._path = (path if path.endswith("/v1/traces") else f"{path}/v1/traces") + (
            f"?{parts.query}" if parts.query else ""
        )
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._timeout = timeout
        self.name = f"{parts.scheme}://{self._host}" + (f":{port}" if port else "")
        """The address without anything secret in it."""

    def send(self, body: bytes) -> None:
        """Send one request, or raise `NotSent`."""
        make = HTTPSConnection if self._secure else HTTPConnection
        connection = make(self._host, self._port, timeout=self._timeout)
        try:
            connection.request("POST", self._path, body, self._headers)
            answer = connection.getresponse()
            answer.read(_ANSWER)
        except (OSError, HTTPException) as fault:
            said = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
            raise NotSent(f"{self.name} cannot be reached: {said}", again=True) from None
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise NotSent(f"{self.name} answered {answer.status}", again=answer.status in _AGAIN)


def headers_of(text: str) -> dict[str, str]:
    """Headers as `OTEL_EXPORTER_OTLP_HEADERS` holds them: `name=value,name=value`."""
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {unquote(name.strip()): unquote(value.strip()) for name, _, value in pairs if name.strip()}


def send_all(collector: Collector, spans: Sequence[Span], resource: Mapping[str, Attribute]) -> None:
    """Send a saved session; raises `NotSent` at the first batch that does not go."""
    for first in range(0, len(spans), BATCH):
        collector.send(encoded(spans[first : first + BATCH], resource))


class LiveSender:
    """Sends from a thread of its own, so that a slow collector never holds a watch back."""

    def __init__(
        self,
        collector: Collector,
        resource: Mapping[str, Attribute],
        say: Callable[[str], None],
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._collector = collector
        self._resource = resource
        self._say = say
        self._waiting: queue.Queue[Span | None] = queue.Queue(_WAITING)
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait
        self._troubled = False
        self.sent = 0
        self.lost = 0
        self._thread = threading.Thread(target=self._run, name="otlp", daemon=True)
        self._thread.start()

    def put(self, span: Span) -> None:
        """Let a span be sent soon; one too many is counted as lost."""
        try:
            self._waiting.put_nowait(span)
        except queue.Full:
            self.lost += 1

    def close(self, timeout: float = 10.0) -> None:
        """Send what waits, then end; what a collector does not take in time is lost and said."""
        try:
            self._waiting.put(None, timeout=timeout)
        except queue.Full:
            self.lost += 1
        self._thread.join(timeout)
        self._stopped.set()
        left = self._waiting.qsize() if self._thread.is_alive() else 0
        if self.lost or left:
            self._say(f"{self.lost + left:,} spans could not be sent to {self._collector.name}")

    def _run(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            batch, ended = self._batch(first)
            self._deliver(batch)
            if ended:
                return

    def _batch(self, first: Span) -> tuple[list[Span], bool]:
        batch = [first]
        while len(batch) < BATCH:
            try:
                span = self._waiting.get_nowait()
            except queue.Empty:
                break
            if span is None:
                return batch, True
            batch.append(span)
        return batch, False

    def _deliver(self, batch: list[Span]) -> None:
        body = encoded(batch, self._resource)
        for tried in range(_TRIES):
            try:
                self._collector.send(body)
            except NotSent as fault:
                if not self._troubled:
                    self._troubled = True
                    self._say(f"{fault}; trying again" if fault.again else str(fault))
                if not fault.again or tried == _TRIES - 1:
                    break
                self._wait(0.5 * 2**tried)
            else:
                self.sent += len(batch)
                self._troubled = False
                return
        self.lost += len(batch)
