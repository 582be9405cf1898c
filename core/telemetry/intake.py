"""From telemetry to events: Claude Code's, Codex's and Gemini's own, and the GenAI conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from core.agents.loose import text
from core.agents.reader import AgentKit
from core.events import Event, SessionStart
from core.logs.event_redaction import clean, cleaned
from core.telemetry.decode import LogRecord, SpanRecord
from core.telemetry.mapping import INFERENCE, LOGS, SPANS, Session

_TOOLS = {"claude_code": "claude-code", "codex": "codex", "gemini_cli": "gemini"}
_SESSION = ("session.id", "conversation.id", "gen_ai.conversation.id")
_KEPT = 2000
"""Sessions remembered at once."""


class TelemetryEvent(NamedTuple):
    """An event and the session it belongs to."""

    session: str
    tool: str
    event: Event


class Intake:
    """Makes events of records; equal records in equal order give equal events."""

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._sessions: dict[str, Session] = {}
        self.passed_over = 0
        """Records that tell nothing an event holds."""

    def logs(self, records: Iterable[LogRecord]) -> list[TelemetryEvent]:
        """The events of log records."""
        found: list[TelemetryEvent] = []
        for record in records:
            prefix, _, name = record.name.partition(".")
            if prefix not in _TOOLS:
                service = text(record.resource.get("service.name"))
                prefix, name = ("claude_code" if "claude" in service else "", record.name)
            session = _session_of(record.attributes, record.resource)
            read = LOGS.get((prefix, name))
            if read is None or not session or record.at <= 0:
                self.passed_over += 1
                continue
            self._add(found, session, _TOOLS[prefix], record.at, True, read, record.attributes, record.at)
        return found

    def spans(self, records: Iterable[SpanRecord]) -> list[TelemetryEvent]:
        """The events of spans in the GenAI or OpenInference conventions."""
        found: list[TelemetryEvent] = []
        for span in sorted(records, key=lambda one: one.end):
            told = span.attributes
            operation = text(told.get("gen_ai.operation.name")) or INFERENCE.get(
                text(told.get("openinference.span.kind")), ""
            )
            read = SPANS.get(operation)
            session = _session_of(told, span.resource) or span.trace
            known = self._sessions.get(session)
            if read is None or not session or span.end <= 0 or (known is not None and known.by_logs):
                self.passed_over += 1
                continue
            tool = text(span.resource.get("service.name")) or "genai"
            self._add(found, session, tool, span.start or span.end, False, read, span, span.end)
        return found

    def _add(
        self,
        found: list[TelemetryEvent],
        name: str,
        tool: str,
        began: float,
        by_logs: bool,
        read: Callable[[Session, AgentKit, Any, float], list[Event]],
        record: Any,
        at: float,
    ) -> None:
        session = self._sessions.pop(name, None)
        events: list[Event] = []
        if session is None:
            session = Session(self._kit, tool)
            events.append(SessionStart(at=began, session=name, tool=tool))
            if len(self._sessions) >= _KEPT:
                del self._sessions[next(iter(self._sessions))]
        self._sessions[name] = session
        session.by_logs = session.by_logs or by_logs
        events += read(session, self._kit, record, at)
        found += [TelemetryEvent(name, session.tool, clean(event)) for event in events]


def _session_of(attributes: dict[str, Any], resource: dict[str, Any]) -> str:
    named = (text(place.get(key)) for place in (attributes, resource) for key in _SESSION)
    return cleaned(next((name for name in named if name), ""))
