"""The receiver's station: telemetry becomes events, and events become logs and figures."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field

from core import __version__
from core.agents.normalizer import AgentKit
from core.agents.open_events import OpenEventsReader
from core.engine.percept import AXES
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import Refused, UsageError
from core.events import MAIN, Event, SessionStart, ToolUse, Turn, Where
from core.extension.hooks import Extension
from core.extras.telemetry import decode
from core.extras.telemetry.intake import Inbox, Intake, TelemetryEvent
from core.extras.telemetry.spans import Collector, LiveSender, Tracer, resource
from core.hooks.receiver import JSON, LINES, PROTOBUF, Answer, LoopThread, Receiver, Request
from core.live.status import Limits, StatusFacts, status_of
from core.live.status_facts import StatusTracker
from core.logs.format import Diagnostics
from core.logs.redact.values import redact_event
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.opening import seed_of

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_AGENTS = 16  # Agent programs with a label of their own; the rest are `other`.
_SESSIONS = 200  # Sessions with a label of their own, the newest, where they have any.
_KEPT = 1000  # Sessions kept at once.
Labels = tuple[tuple[str, str], ...]
Sample = tuple[Labels, float]


class _Totals(Struct):
    """Counters over all sessions of one agent program."""

    signals: Counter[str] = field(default_factory=Counter)
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0


class _Session(Struct):
    tracker: StatusTracker
    society: Society
    tool: str = ""
    state: str = "idle"
    axes: tuple[float, ...] = (0.0,) * len(AXES)
    context: float = 0.0
    sleep: float = 0.0


class MetricsPage:
    """Counts as events go by; `text` is what a scrape gets."""

    def __init__(self, settings: Settings, *, by_session: bool = False) -> None:
        self._final = settings.response.notices.final
        self._limits = Limits.of(settings)
        self._by_session = by_session
        self._sessions: dict[str, _Session] = {}
        self._totals: dict[str, _Totals] = {}
        # What is known of sessions whose logs are followed; of others only their events are.
        self.facts: dict[str, StatusFacts] = {}

    def update(self, session: str, tool: str, event: Event, step: Step, society: Society) -> None:
        """Take in one event of a session and what it did."""
        figures = self._sessions.pop(session, None)
        if figures is None:
            figures = _Session(StatusTracker(self._final), society)
            if len(self._sessions) >= _KEPT:
                del self._sessions[next(iter(self._sessions))]
        self._sessions[session] = figures
        figures.society = society
        figures.tracker.update(event, step)
        if isinstance(event, SessionStart) and event.agent == MAIN:
            tool = event.tool or tool
        figures.tool = self._bounded(tool) if tool else figures.tool or self._bounded("")
        if event.agent == MAIN:
            figures.axes, figures.state = step.percept.axes, step.percept.state
        heart = society.engine(MAIN).mind.heart
        figures.context, figures.sleep = heart.gauge.fill, heart.sleep.pressure
        self._count(self._totals.setdefault(figures.tool, _Totals()), event, step)

    def text(self, now: float) -> str:
        """Everything, as a scrape wants it."""
        return "".join(line + "\n" for family in self._families(now) for line in family.lines())

    def _bounded(self, tool: str) -> str:
        name = tool or "unknown"
        return name if name in self._totals or len(self._totals) < _AGENTS else "other"

    @staticmethod
    def _count(totals: _Totals, event: Event, step: Step) -> None:
        for signal in step.percept.signals:
            if signal.fresh:
                totals.signals[signal.name] += 1
        if isinstance(event, ToolUse):
            totals.uses[event.action, event.outcome] += 1
        elif isinstance(event, Turn):
            totals.tokens["input"] += event.input_tokens
            totals.tokens["output"] += event.output_tokens
            totals.tokens["cache_read"] += event.cache_read
            totals.tokens["cache_write"] += event.cache_write
            totals.cost += event.cost or 0.0

    def _families(self, now: float) -> Iterator[_Family]:
        of = "of each session" if self._by_session else "maximum over an agent's sessions"
        gauges: tuple[tuple[str, str, Callable[[_Session], Iterable[Sample]]], ...] = (
            ("axis", f"Emotion axis of the main agent, 0 to 1, {of}.", _axis_samples),
            ("state_info", "1 for every state that a session is in.", lambda one: [((("state", one.state),), 1.0)]),
            ("context_ratio", f"Share of the way to compaction, {of}.", lambda one: [((), one.context)]),
            ("sleep_pressure_ratio", f"Need to consolidate, 0 to 1, {of}.", lambda one: [((), one.sleep)]),
        )
        for gauge in gauges:
            yield self._gauge(*gauge)
        by_status: Counter[str] = Counter()
        for name, one in self._sessions.items():
            facts = self.facts.get(name) or one.tracker.facts(one.society)
            by_status[status_of(facts, now, self._limits).word] += 1
        statuses: list[Sample] = [((("state", word),), float(number)) for word, number in by_status.items()]
        yield _Family("sessions", "gauge", "Sessions by status.", statuses)
        yield from self._counters()

    def _gauge(self, name: str, help_: str, read: Callable[[_Session], Iterable[Sample]]) -> _Family:
        """One gauge: a sample a session where sessions have labels, else the greatest of each agent's."""
        values: dict[Labels, float] = {}
        for session, one in list(self._sessions.items())[-_SESSIONS if self._by_session else 0 :]:
            own: Labels = (("session", session),) if self._by_session else ()
            for labels, value in read(one):
                key = (*own, ("agent", one.tool), *labels)
                values[key] = max(value, values.get(key, value))
        return _Family(name, "gauge", help_, list(values.items()))

    def _counters(self) -> Iterator[_Family]:
        signals, uses, tokens, costs = (_Family(f"{name}_total", "counter", about, []) for name, about in _COUNTERS)
        for tool, one in self._totals.items():
            agent = ("agent", tool)
            signals.samples.extend(((agent, ("kind", kind)), float(n)) for kind, n in one.signals.items())
            tokens.samples.extend(((agent, ("type", kind)), float(n)) for kind, n in one.tokens.items())
            for (action, outcome), n in one.uses.items():
                uses.samples.append(((agent, ("action", action), ("outcome", outcome)), float(n)))
            costs.samples.append(((agent,), one.cost))
        yield from (signals, uses, tokens, costs)


def _axis_samples(one: _Session) -> Iterator[Sample]:
    return (((("axis", axis),), value) for axis, value in zip(AXES, one.axes, strict=True))


_COUNTERS = (
    ("signals", "Signals that fired."),
    ("tool_uses", "Calls by action and outcome."),
    ("tokens", "Tokens the models read and wrote."),
    ("cost_usd", "US dollars of the turns whose price is known."),
)


class _Family(NamedTuple):
    """One metric with all its samples, by its name after `nooscope_`."""

    name: str
    kind: str
    help: str
    samples: list[Sample]

    def lines(self) -> Iterator[str]:
        """Its lines, the samples in the order of their labels."""
        full_name = f"nooscope_{self.name}"
        yield f"# HELP {full_name} {self.help}"
        yield f"# TYPE {full_name} {self.kind}"
        for labels, value in sorted(self.samples):
            label_text = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels)
            yield f"{full_name}{{{label_text}}} {value:.10g}" if label_text else f"{full_name} {value:.10g}"


def _escaped(text: str) -> str:
    sound = text.encode("utf-8", "replace").decode()
    return sound.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


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
            return _figures(request, self._metrics, self._clock)
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
        raise Refused(405, "use GET")
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
            events.append(
                TelemetryEvent(reader.session, tool, redact_event(msgspec.structs.replace(event, where=None)))
            )
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
        with self._lock:
            return _figures(request, self._metrics, self._clock)


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
