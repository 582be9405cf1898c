"""Figures of the sessions at work in Prometheus' text format, with few labels whatever the sessions say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from core.engine.percept import AXES
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import MAIN, Event, SessionStart, ToolUse, Turn
from core.live.status import Limits, StatusFacts, status_of
from core.live.status_facts import StatusTracker
from core.settings import Settings

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
        of = "of each session" if self._by_session else "greatest of an agent's sessions"
        yield self._gauge(
            "nooscope_axis",
            f"Emotion axis of the main agent, 0 to 1, {of}.",
            lambda one: (((("axis", axis),), one.axes[n]) for n, axis in enumerate(AXES)),
        )
        yield self._gauge(
            "nooscope_state_info",
            "1 for every state that a session is in.",
            lambda one: [((("state", one.state),), 1.0)],
        )
        yield self._gauge(
            "nooscope_context_ratio", f"Share of the way to compaction, {of}.", lambda one: [((), one.context)]
        )
        yield self._gauge(
            "nooscope_sleep_pressure_ratio", f"Need to consolidate, 0 to 1, {of}.", lambda one: [((), one.sleep)]
        )
        by_status: Counter[str] = Counter()
        for name, one in self._sessions.items():
            facts = self.facts.get(name) or one.tracker.facts(one.society)
            by_status[status_of(facts, now, self._limits).word] += 1
        yield _Family(
            "nooscope_sessions",
            "gauge",
            "Sessions by status.",
            [((("state", word),), float(number)) for word, number in by_status.items()],
        )
        yield from self._counters()

    def _gauge(self, name: str, help_: str, read: Callable[[_Session], Iterable[Sample]]) -> _Family:
        """One gauge: a sample a session where sessions have labels, else the greatest of each agent's."""
        chosen = list(self._sessions.items())
        if self._by_session:
            chosen = chosen[-_SESSIONS:]
        values: dict[Labels, float] = {}
        for session, one in chosen:
            base: Labels = (("agent", one.tool),)
            if self._by_session:
                base = (("session", session), *base)
            for labels, value in read(one):
                key = (*base, *labels)
                values[key] = max(value, values.get(key, value))
        return _Family(name, "gauge", help_, list(values.items()))

    def _counters(self) -> Iterator[_Family]:
        totals = [((("agent", tool),), one) for tool, one in self._totals.items()]
        yield _Family(
            "nooscope_signals_total",
            "counter",
            "Signals that fired.",
            [((*base, ("kind", kind)), float(n)) for base, one in totals for kind, n in one.signals.items()],
        )
        yield _Family(
            "nooscope_tool_uses_total",
            "counter",
            "Calls by action and outcome.",
            [
                ((*base, ("action", action), ("outcome", outcome)), float(n))
                for base, one in totals
                for (action, outcome), n in one.uses.items()
            ],
        )
        yield _Family(
            "nooscope_tokens_total",
            "counter",
            "Tokens the models read and wrote.",
            [((*base, ("type", kind)), float(n)) for base, one in totals for kind, n in one.tokens.items()],
        )
        yield _Family(
            "nooscope_cost_usd_total",
            "counter",
            "US dollars of the turns whose price is known.",
            [(base, one.cost) for base, one in totals],
        )


class _Family(NamedTuple):
    """One metric with all its samples."""

    name: str
    kind: str
    help: str
    samples: list[Sample]

    def lines(self) -> Iterator[str]:
        """Its lines, the samples in the order of their labels."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in sorted(self.samples):
            label_text = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels)
            yield f"{self.name}{{{label_text}}} {value:.10g}" if label_text else f"{self.name} {value:.10g}"


def _escaped(text: str) -> str:
    sound = text.encode("utf-8", "replace").decode()
    return sound.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
