"""A session as a trace: `invoke_agent` spans, and in them `execute_tool` and `chat`, in GenAI names."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec
from blake3 import blake3

from core import __version__
from core.engine.society.engine import Step
from core.errors import NotSent, UsageError
from core.events import MAIN, AgentEnd, AgentStart, Event, SessionEnd, SessionStart, ToolUse, Turn
from core.export.film import Privacy
from core.report.formatting import json_bytes
from core.safe_text import safe_json_bytes
from core.timeline.marks import MarkKind, Marks

Attribute: TypeAlias = str | int | float | bool | tuple[str, ...]

_TOLD: frozenset[MarkKind] = frozenset(
    ("signal", "state", "regime", "halt", "compaction", "shift", "quarantine", "method", "prompt")
)
_PROVIDERS = {
    "claude-code": "anthropic",
    "codex": "openai",
    "gemini": "gcp.gemini",
    "gemini-cli": "gcp.gemini",
    "copilot": "github.copilot",
}
_MOST_EVENTS = 512  # Span events kept for one agent's span; the oldest go first.


class SpanEvent(NamedTuple):
    """Something that happened within a span."""

    at: float
    name: str
    attributes: dict[str, Attribute]


class Span(NamedTuple):
    """One finished span."""

    trace: str
    id: str
    parent: str
    name: str
    start: float
    end: float
    attributes: dict[str, Attribute]
    events: tuple[SpanEvent, ...] = ()
    error: str = ""  # The kind of error it ended with; blank if it did not fail.
    client: bool = False  # A call to a remote service rather than work in the process.


class _Agent(msgspec.Struct):
    """The span of an agent at work."""

    id: str
    parent: str
    start: float
    end: float
    model: str = ""
    input: int = 0
    output: int = 0
    cost: float | None = None
    failed: bool = False
    events: list[SpanEvent] = []


class Tracer:
    """Makes spans of a session's events; equal events give equal ids, so sending again doubles nothing."""

    def __init__(self, session: str, tool: str = "", privacy: Privacy | None = None) -> None:
        self._privacy = privacy or Privacy()
        self._session = session
        self._tool = tool
        self._marks = Marks()
        self._place = 0
        self._agents: dict[str, _Agent] = {}
        self.trace = _stable_id("trace", session, size=16)

    def take(self, event: Event, step: Step) -> Iterator[Span]:
        """The spans that an event completes."""
        place = self._place
        self._place += 1
        self._marks.step(place, event, step)
        agent = self._agent(event.agent, event.at)
        agent.start, agent.end = min(agent.start, event.at), max(agent.end, event.at)
        span_events = [
            SpanEvent(mark.at, name, {name: self._mark_text(mark.kind, mark.name)})
            for mark in self._marks.between(place, place + 1)
            if mark.kind in _TOLD and (name := f"nooscope.{mark.kind}")
        ]
        if isinstance(event, ToolUse) and event.outcome != "pending":
            yield self._use(event, step, agent, place, tuple(span_events))
        else:
            agent.events += span_events
            del agent.events[:-_MOST_EVENTS]
        if isinstance(event, Turn):
            yield self._turn(event, agent, place)
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            self._tool = event.tool or self._tool
            agent.model = event.model or agent.model
        elif isinstance(event, AgentStart):
            self._agent(event.child, event.at, agent.id)
        elif isinstance(event, AgentEnd) and event.child in self._agents:
            child = self._agents.pop(event.child)
            child.end = max(child.end, event.at)
            child.failed = event.outcome == "failure"
            yield self._closed(event.child, child)
        elif isinstance(event, SessionEnd) and event.agent == MAIN:
            yield from self.close()

    def close(self) -> Iterator[Span]:
        """The agents still at work, as far as they came."""
        for name in reversed(list(self._agents)):
            yield self._closed(name, self._agents[name])

    def _agent(self, name: str, at: float, parent: str = "") -> _Agent:
        agent_state = self._agents.get(name)
        if agent_state is None:
            above = parent or ("" if name == MAIN else self._agent(MAIN, at).id)
            agent_state = self._agents[name] = _Agent(_stable_id("agent", self._session, name), above, at, at)
        return agent_state

    def _mark_text(self, kind: MarkKind, name: str) -> str:
        return name if self._privacy.words or kind not in ("prompt", "compaction") else kind

    def _use(self, event: ToolUse, step: Step, agent: _Agent, place: int, span_events: tuple[SpanEvent, ...]) -> Span:
        privacy = self._privacy
        tool = event.tool if privacy.words else event.action
        call = event.id if privacy.words or not event.id else _stable_id("call", event.id)
        attributes = {
            **self._common("execute_tool", event.agent),
            "gen_ai.tool.name": tool or event.action,
            "gen_ai.tool.type": "function",
            "nooscope.action": event.action,
            "nooscope.outcome": event.outcome,
            "nooscope.state": step.percept.state,
            "gen_ai.tool.call.id": call or None,
            "nooscope.targets": tuple(privacy.path(target) for target in event.targets[:16]) or None,
            "nooscope.purpose": event.purpose or None,
            "nooscope.exit_code": event.exit_code,
        }
        error = event.outcome if event.outcome in ("failure", "rejected") else ""
        start = event.at - max(0.0, event.duration or 0.0)
        span = _stable_id("use", self._session, event.agent, event.id or str(place))
        name = f"execute_tool {tool or event.action}"
        return Span(self.trace, span, agent.id, name, start, event.at, _without_unknown(attributes), span_events, error)

    def _turn(self, event: Turn, agent: _Agent, place: int) -> Span:
        privacy = self._privacy
        model = privacy.name(event.model)
        agent.input += event.input_tokens + event.cache_read + event.cache_write
        agent.output += event.output_tokens
        if event.cost is not None:
            agent.cost = (agent.cost or 0.0) + event.cost
        agent.model = event.model or agent.model
        attributes = {
            **self._common("chat", event.agent),
            "gen_ai.usage.input_tokens": event.input_tokens + event.cache_read + event.cache_write,
            "gen_ai.usage.output_tokens": event.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": event.cache_read,
            "gen_ai.usage.cache_creation.input_tokens": event.cache_write,
            "nooscope.context_tokens": event.context_tokens,
            "gen_ai.request.model": model or None,
            "gen_ai.response.model": model or None,
            "gen_ai.response.finish_reasons": (event.stop,) if event.stop and privacy.words else None,
            "nooscope.cost_usd": event.cost,
        }
        span = _stable_id("turn", self._session, event.agent, event.id or str(place))
        name = f"chat {model}".rstrip()
        return Span(self.trace, span, agent.id, name, event.at, event.at, _without_unknown(attributes), client=True)

    def _closed(self, name: str, agent: _Agent) -> Span:
        attributes = {
            **self._common("invoke_agent", name),
            "gen_ai.usage.input_tokens": agent.input,
            "gen_ai.usage.output_tokens": agent.output,
            "gen_ai.request.model": self._privacy.name(agent.model) or None,
            "nooscope.cost_usd": agent.cost,
        }
        name, error = f"invoke_agent {attributes['gen_ai.agent.name']}", "failure" if agent.failed else ""
        times, span_events = (agent.start, agent.end), tuple(agent.events)
        return Span(self.trace, agent.id, agent.parent, name, *times, _without_unknown(attributes), span_events, error)

    def _common(self, operation: str, agent: str) -> dict[str, Attribute | None]:
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": self._session if self._privacy.words else self.trace,
            "gen_ai.agent.name": self._tool if agent == MAIN and self._tool else self._privacy.agent(agent),
            "gen_ai.agent.id": self._privacy.agent(agent),
            "gen_ai.provider.name": _PROVIDERS.get(self._tool),
        }


def _without_unknown(attributes: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    """Return the attributes that have a value."""
    return {name: value for name, value in attributes.items() if value is not None}


def resource(tool: str, version: str) -> dict[str, Any]:
    """Describe the sender: the agent's program is the service, because backends group by it."""
    return {"service.name": tool or "agent", "telemetry.sdk.name": "nooscope", "telemetry.sdk.version": version}


def _stable_id(*parts: str, size: int = 8) -> str:
    """The id of a span or trace, which depends only on what it describes."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake3(text).hexdigest(length=size)


BATCH = 256  # Spans of one request at most.
_WAITING = 20_000  # Spans that wait to be sent at most; more are counted as lost.
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
        path = parts.path.rstrip("/").removesuffix("/v1/traces")
        self._path = f"{path}/v1/traces{f'?{parts.query}' if parts.query else ''}"
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._timeout = timeout
        # The address without anything secret in it.
        self.name = f"{parts.scheme}://{self._host}" + (f":{port}" if port else "")

    def send(self, body: bytes) -> None:
        """Send one request, or raise `NotSent`."""
        make = HTTPSConnection if self._secure else HTTPConnection
        connection = make(self._host, self._port, timeout=self._timeout)
        try:
            connection.request("POST", self._path, body, self._headers)
            answer = connection.getresponse()
            answer.read(_ANSWER)
        except (OSError, HTTPException) as fault:
            reason = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
            raise NotSent(f"{self.name} cannot be reached: {reason}", again=True) from None
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise NotSent(f"{self.name} answered {answer.status}", again=answer.status in _AGAIN)


def headers_of(text: str) -> dict[str, str]:
    """Parse headers as in `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`."""
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {unquote(name.strip()): unquote(value.strip()) for name, _, value in pairs if name.strip()}


def send_all(collector: Collector, spans: Sequence[Span], resource: Mapping[str, Attribute]) -> None:
    """Send a saved session; raises `NotSent` at the first batch that does not go."""
    for first in range(0, len(spans), BATCH):
        collector.send(encoded(spans[first : first + BATCH], resource))


class LiveSender:
    """Sends from a thread of its own, so that a slow collector never delays a watch."""

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
        """Send what is queued, then end; what the collector does not accept in time is lost and reported."""
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
        """Send what waits in batches, until None ends it."""
        ended = False
        while not ended:
            batch = [self._waiting.get()]
            with contextlib.suppress(queue.Empty):
                while batch[-1] is not None and len(batch) < BATCH:
                    batch.append(self._waiting.get_nowait())
            ended = batch[-1] is None
            if spans := [span for span in batch if span is not None]:
                self._send_batch(spans)

    def _send_batch(self, batch: list[Span]) -> None:
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


_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2


def encoded(spans: Sequence[Span], resource: Mapping[str, Attribute]) -> bytes:
    """Encode one request with these spans."""
    scope = {"name": "nooscope", "version": __version__}
    scope_spans = [{"scope": scope, "spans": [_encoded_span(span) for span in spans]}]
    sender = {"attributes": _encoded_attributes(resource)}
    return safe_json_bytes(json_bytes({"resourceSpans": [{"resource": sender, "scopeSpans": scope_spans}]}))


def _encoded_span(span: Span) -> dict[str, Any]:
    attributes = span.attributes | {"error.type": span.error} if span.error else span.attributes
    encoded_span: dict[str, Any] = {
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": _CLIENT if span.client else _INTERNAL,
        "startTimeUnixNano": _nanoseconds(span.start),
        "endTimeUnixNano": _nanoseconds(span.end),
        "attributes": _encoded_attributes(attributes),
        "status": {"code": _ERROR, "message": span.error} if span.error else {"code": _OK},
    }
    if span.parent:
        encoded_span["parentSpanId"] = span.parent
    if span.events:
        encoded_span["events"] = [
            {"timeUnixNano": _nanoseconds(at), "name": name, "attributes": _encoded_attributes(attributes)}
            for at, name, attributes in span.events
        ]
    return encoded_span


def _nanoseconds(at: float) -> str:
    return str(max(0, round(at * 1_000_000)) * 1000)


def _encoded_attributes(attributes: Mapping[str, Attribute]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _encoded_value(value)} for key, value in attributes.items()]


def _encoded_value(value: Attribute) -> dict[str, Any]:
    if isinstance(value, tuple):
        return {"arrayValue": {"values": [{"stringValue": each} for each in value]}}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"intValue": str(value)}
    kinds = {bool: "boolValue", float: "doubleValue", str: "stringValue"}
    return {kinds[type(value)]: value}
