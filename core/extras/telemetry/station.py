"""The receiver's station: telemetry becomes events, and events become logs and figures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from core import __version__
from core.agents.normalizer import AgentKit
from core.agents.open_events import OpenEventsReader
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import Refused, UsageError
from core.events import MAIN, Event, SessionStart, Where
from core.extension.hooks import Extension
from core.extras.telemetry import decode
from core.extras.telemetry.intake import Inbox, Intake, TelemetryEvent
from core.extras.telemetry.metrics import CONTENT_TYPE, MetricsPage
from core.extras.telemetry.spans import Collector, LiveSender, Tracer, resource
from core.hooks.receiver import JSON, LINES, PROTOBUF, Answer, LoopThread, Receiver, Request
from core.live.status import StatusFacts
from core.logs.format import Diagnostics
from core.logs.redact.values import redact_event
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.opening import seed_of

_MINDS = 200  # Sessions whose minds are kept for figures; the one longest silent goes first.


class Station:
    """Takes requests one at a time."""

    def __init__(
        self, kit: AgentKit, settings: Settings, inbox: Inbox, clock: Callable[[], float], *, by_session: bool = False
    ) -> None:
        self._kit = kit
        self._settings = settings
        self._inbox = inbox
        self._clock = clock
        self._intake = Intake(kit)
        self._metrics = MetricsPage(settings, by_session=by_session)
        self._minds: dict[str, Society] = {}

    def handle(self, request: Request) -> Answer:
        """Answer one request; raises `Refused`, `Malformed` or `OSError`."""
        if request.path == "/metrics":
            if request.method not in ("GET", "HEAD"):
                raise Refused(405, "use GET")
            return Answer(self._metrics.text(self._clock()).encode(), CONTENT_TYPE)
        if request.path not in ("/v1/logs", "/v1/traces", "/v1/metrics", "/events"):
            raise Refused(404, "available: /v1/logs, /v1/traces, /events and /metrics")
        if request.method != "POST":
            raise Refused(405, "use POST")
        if request.path == "/events":
            return self._events(request)
        if request.kind not in (JSON, PROTOBUF):
            raise Refused(415, f"send {JSON} or {PROTOBUF}")
        binary = request.kind == PROTOBUF
        if request.path == "/v1/logs":
            self._take(self._intake.logs(decode.logs(request.body, binary)))
        elif request.path == "/v1/traces":
            self._take(self._intake.spans(decode.traces(request.body, binary)))
        return Answer(b"", PROTOBUF) if binary else Answer()

    def _events(self, request: Request) -> Answer:
        if request.kind not in (JSON, LINES, "application/jsonl"):
            raise Refused(415, f"send {LINES}, one open event per line")
        events, faults = open_events(request.body, self._kit)
        count = self._take(events)
        answer: dict[str, Any] = {"taken": count, "passed_over": faults.total}
        if faults.total:
            answer["faults"] = [f"line {fault.line}: {fault.reason}" for fault in faults.first[:20]]
        return Answer(msgspec.json.encode(answer), JSON, 200 if count or not faults.total else 400)

    def _take(self, events: list[TelemetryEvent]) -> int:
        count = self._inbox.add(events)
        for session, tool, event in events:
            society = self._minds.pop(session, None)
            if society is None:
                society = InitialState(seed_of(session)).society(self._settings)
                if len(self._minds) >= _MINDS:
                    del self._minds[next(iter(self._minds))]
            self._minds[session] = society
            self._metrics.update(session, tool, event, society.step(event), society)
        return count


def _figures(request: Request, metrics: MetricsPage, clock: Callable[[], float]) -> Answer:
    if request.method not in ("GET", "HEAD"):
        raise Refused(405, "ask with GET")
    return Answer(metrics.text(clock()).encode(), CONTENT_TYPE)


def open_events(body: bytes, kit: AgentKit) -> tuple[list[TelemetryEvent], Diagnostics]:
    """The events of some lines and the faults of others; places named in lines are ignored."""
    faults = Diagnostics()
    reader = OpenEventsReader(kit.counting(faults))
    events: list[TelemetryEvent] = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        for event in reader.feed(line, Where(""), number):
            if not reader.session:
                faults.note("", number, "no session")
                continue
            tool = event.tool if isinstance(event, SessionStart) else ""
            events.append(TelemetryEvent(reader.session, tool, redact_event(replace(event, where=None))))
    return events, faults


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
        self._thread = LoopThread("metrics")
        try:
            self._thread.wait(self._receiver.start())
        except OSError as fault:
            self._thread.stop()
            reason = fault.strerror or fault
            raise UsageError(f"cannot listen on 127.0.0.1:{port}: {reason}; name another port") from None

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
        self._thread.wait(self._receiver.close())
        self._thread.stop()

    def _answer(self, request: Request) -> Answer:
        if request.path != "/metrics":
            raise Refused(404, "only /metrics is served")
        if request.method not in ("GET", "HEAD"):
            raise Refused(405, "use GET")
        with self._lock:
            return Answer(self._metrics.text(self._clock()).encode(), CONTENT_TYPE)


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
            self._finish_trace()
            self._tracer = Tracer(event.session, event.tool)
            if self._sender is None:
                self._sender = LiveSender(self._collector, resource(event.tool, __version__), self._say)
        if self._tracer is not None and self._sender is not None:
            for span in self._tracer.take(event, step):
                self._sender.put(span)

    def on_shutdown(self, society: Society) -> None:
        """Send the agents still at work, and what waits."""
        del society
        self._finish_trace()
        if self._sender is not None:
            self._sender.close()
            self._say(f"{self._sender.sent:,} spans sent to {self._collector.name}")

    def _finish_trace(self) -> None:
        if self._tracer is not None and self._sender is not None:
            for span in self._tracer.close():
                self._sender.put(span)
