"""What is done with a request: telemetry becomes events, events become logs and figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from core.agents.normalizer import AgentKit
from core.agents.open_events import OpenEventsReader
from core.engine.society import Society
from core.errors import Refused
from core.events import SessionStart, Where
from core.extras.telemetry import decode
from core.extras.telemetry.inbox import Inbox
from core.extras.telemetry.intake import Intake, TelemetryEvent
from core.extras.telemetry.metrics import CONTENT_TYPE, MetricsPage
from core.hooks.receiver import JSON, LINES, PROTOBUF, Answer, Request
from core.logs.format import Diagnostics
from core.logs.redact.values import redact_event
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.opening import seed_of

_MINDS = 200
"""Sessions whose minds are kept for figures; the one longest silent goes first."""


class Station:
    """Takes requests one at a time."""

    def __init__(
        self,
        kit: AgentKit,
        settings: Settings,
        inbox: Inbox,
        clock: Callable[[], float],
        *,
        by_session: bool = False,
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
                raise Refused(405, "ask with GET")
            return Answer(self._metrics.text(self._clock()).encode(), CONTENT_TYPE)
        if request.path not in ("/v1/logs", "/v1/traces", "/v1/metrics", "/events"):
            raise Refused(404, "there are /v1/logs, /v1/traces, /events and /metrics")
        if request.method != "POST":
            raise Refused(405, "send with POST")
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
            raise Refused(415, f"send {LINES}, one open event a line")
        told, faults = open_events(request.body, self._kit)
        taken = self._take(told)
        answer: dict[str, Any] = {"taken": taken, "passed_over": faults.total}
        if faults.total:
            answer["faults"] = [f"line {fault.line}: {fault.reason}" for fault in faults.first[:20]]
        return Answer(msgspec.json.encode(answer), JSON, 200 if taken or not faults.total else 400)

    def _take(self, told: list[TelemetryEvent]) -> int:
        taken = self._inbox.add(told)
        for session, tool, event in told:
            society = self._minds.pop(session, None)
            if society is None:
                society = InitialState(seed_of(session)).society(self._settings)
                if len(self._minds) >= _MINDS:
                    del self._minds[next(iter(self._minds))]
            self._minds[session] = society
            self._metrics.update(session, tool, event, society.step(event), society)
        return taken


def open_events(body: bytes, kit: AgentKit) -> tuple[list[TelemetryEvent], Diagnostics]:
    """The events of some lines, and what was wrong with others; where a line stands is not believed."""
    faults = Diagnostics()
    reader = OpenEventsReader(kit.counting(faults))
    told: list[TelemetryEvent] = []
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        for event in reader.feed(line, Where(""), number):
            if not reader.session:
                faults.note("", number, "no session")
                continue
            tool = event.tool if isinstance(event, SessionStart) else ""
            told.append(TelemetryEvent(reader.session, tool, redact_event(replace(event, where=None))))
    return told, faults
