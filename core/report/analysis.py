"""One saved session from its log to a summary in figures and words."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from core import events
from core.agents.registry import make_kit
from core.agents.words import WordReader, word_logs
from core.engine.percept import AXES
from core.engine.receptor.readings import FactsReading
from core.engine.response.outlook import OutlookReading
from core.engine.response.reaction import QUIET, Reaction
from core.engine.society import Society
from core.engine.society.engine import Frame, Step
from core.events import MAIN, Event, SessionStart, ToolUse
from core.logs.session import LogSession, read_session
from core.report.compaction import HotPath, Preserved, Preserver
from core.report.cost import charge_of
from core.report.outcome import OutcomeReader, SessionOutcome
from core.report.rollbacks import Rollbacks
from core.report.story import SessionStory, story
from core.report.sums import Sum
from core.settings import Settings
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import seed_of
from core.timeline.timeline import SettingsChange, apply_due_changes


class Peak(Struct, frozen=True):
    """The highest value of an axis, and when it was reached."""

    value: float
    at: float
    agent: str


class TokenSummary(Struct):
    """Tokens the models read and wrote."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    context_peak: int = 0
    context_window: int = 0
    cost: float | None = None  # US dollars of the turns with a known price; None if there is none.
    unpriced: int = 0  # Turns whose price is unknown.


class FiringSummary(Struct, frozen=True):
    """One thing that fired."""

    at: float
    agent: str
    name: str
    intensity: float


class Halt(Struct, frozen=True):
    """A moment at which the governor would have stopped the agent."""

    at: float
    agent: str
    reason: str
    step: int


class InterventionSummary(Struct, frozen=True):
    """A method that fired: when, why, and what it said."""

    at: float
    agent: str
    method: str
    mode: str
    cue: str
    state: str
    score: float
    reason: str
    text: str


class LoopRecord(Struct, frozen=True):
    """A loop when it was recognized, or when it had grown notably."""

    at: float
    agent: str
    detector: str
    count: int
    tool: str
    what: str
    began_at: float


class QuarantineSummary(Struct):
    """A period in which affect was quarantined."""

    agent: str
    began: float
    ended: float | None = None


class AgentSummary(Struct):
    """One agent's share of the session."""

    id: str
    parent: str | None = None
    role: str = ""
    events: int = 0
    tool_uses: int = 0
    failures: int = 0
    compactions: int = 0
    first: float | None = None
    last: float | None = None


class Skipped(Struct):
    """Lines that could not be read."""

    total: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    first: list[str] = field(default_factory=list)


class Summary(Struct):
    """The whole session in figures; its field names are the report's JSON keys."""

    agent: str = ""
    id: str = ""
    path: str = ""
    project: str = ""
    models: list[str] = field(default_factory=list)
    synthetic_time: bool = False
    untold: list[events.Matter] = field(default_factory=list)  # Information that logs of this kind never contain.
    started: float | None = None
    ended: float | None = None
    active: float = 0.0  # Subjective seconds of the main agent.
    events: int = 0
    tool_uses: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    actions: dict[str, int] = field(default_factory=dict)
    prompts: int = 0
    interrupts: int = 0
    rolled_back: int = 0  # Prompts that the person took back, which are not among the prompts.
    turns: int = 0
    compactions: int = 0
    compacted_at: list[float] = field(default_factory=list)
    preserved: list[Preserved] = field(default_factory=list)  # What must survive each compaction.
    # What was asked, done and failed, and how it ended, in words.
    story: SessionStory = field(default_factory=SessionStory)
    subagents: int = 0
    tokens: TokenSummary = field(default_factory=TokenSummary)
    skipped: Skipped = field(default_factory=Skipped)
    signals: dict[str, int] = field(default_factory=dict)
    firings: list[FiringSummary] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    patterns: dict[str, int] = field(default_factory=dict)
    regimes: dict[str, int] = field(default_factory=dict)
    peaks: dict[str, Peak] = field(default_factory=dict)
    shifts: int = 0
    dreams: int = 0
    sleep_peak: float = 0.0
    episodes: int = 0
    halts: list[Halt] = field(default_factory=list)
    quarantines: list[QuarantineSummary] = field(default_factory=list)
    interventions: list[InterventionSummary] = field(default_factory=list)
    methods: dict[str, int] = field(default_factory=dict)  # How often each method fired, listed above or not.
    loops: list[LoopRecord] = field(default_factory=list)
    agents: list[AgentSummary] = field(default_factory=list)
    paths: list[HotPath] = field(default_factory=list)
    facts: FactsReading | None = None  # Plain figures of what the main agent did.
    # Commits, pushes, pull requests, changed files, last tests and build.
    outcome: SessionOutcome = field(default_factory=SessionOutcome)
    outlook: OutlookReading | None = None  # Whether the session went better or worse than usual.


_FIRINGS = 500
# Fields of the summary that count names, the most frequent first.
_COUNTED = ("outcomes", "actions", "signals", "states", "patterns", "regimes", "methods")
_PATHS = 12
_PATHS_KEPT = 20_000


class Gatherer:
    """Collects figures step by step; `close` returns the summary."""

    def __init__(self, path: str = "") -> None:
        self.summary = Summary(path=path)
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
        self._models: dict[str, None] = {}
        self._agents: dict[str, AgentSummary] = {}
        self._quarantined: dict[str, QuarantineSummary] = {}
        self._peaks: dict[str, Peak] = {}
        self._highs = [-1.0] * len(AXES)
        self._paths: dict[str, list[int]] = {}
        self._cost = Sum()
        self._rollbacks = Rollbacks()

    def add(self, event: Event, step: Step) -> None:
        """Count one event and its step."""
        summary = self.summary
        summary.events += 1
        if not isinstance(event, SessionStart):
            if summary.started is None or event.at < summary.started:
                summary.started = event.at
            if summary.ended is None or event.at > summary.ended:
                summary.ended = event.at
        agent = self._agent(event.agent)
        agent.events += 1
        agent.first = event.at if agent.first is None else agent.first
        agent.last = event.at
        taken_back = self._rollbacks.step(event)
        summary.prompts -= taken_back
        summary.rolled_back += taken_back
        self._count(event, agent)
        self._mind(event, step)

    def _agent(self, name: str) -> AgentSummary:
        summary = self._agents.get(name)
        if summary is None:
            summary = self._agents[name] = AgentSummary(name, None if name == MAIN else MAIN)
        return summary

    def _count(self, event: Event, agent: AgentSummary) -> None:
        summary = self.summary
        match event:
            case ToolUse():
                summary.tool_uses += 1
                agent.tool_uses += 1
                agent.failures += event.outcome == "failure"
                self._counts["outcomes"][event.outcome] += 1
                self._counts["actions"][event.action] += 1
                for path in event.targets:
                    self._touch(path, event.action, event.outcome)
            case events.Turn():
                summary.turns += not event.only_ends
                self._models[event.model] = None
                self._spend(event)
            case events.Prompt():
                summary.prompts += not event.interrupt
                summary.interrupts += event.interrupt
            case events.Compaction():
                summary.compactions += 1
                agent.compactions += 1
                summary.compacted_at.append(event.at)
            case events.AgentStart():
                child = self._agent(event.child)
                child.parent, child.role = event.agent, event.role
            case SessionStart():
                summary.agent, summary.id, summary.project = event.tool, event.session, event.project
                summary.synthetic_time = event.synthetic_time
                summary.untold = list(event.untold)
            case events.AgentEnd() | events.Advice() | events.Rollback() | events.SessionEnd():
                pass

    def _touch(self, path: str, action: str, outcome: str) -> None:
        touched = self._paths.get(path)
        if touched is None:
            if len(self._paths) >= _PATHS_KEPT:
                often = sorted(self._paths.items(), key=lambda item: (-item[1][0], item[0]))
                self._paths = dict(often[: _PATHS_KEPT // 2])
            touched = self._paths[path] = [0, 0, 0]
        touched[0] += 1
        touched[1] += action in ("file_read", "memory_read")
        touched[2] += action in ("file_edit", "memory_write") and outcome in ("success", "empty")

    def _spend(self, event: events.Turn) -> None:
        tokens = self.summary.tokens
        tokens.input += event.input_tokens
        tokens.output += event.output_tokens
        tokens.cache_read += event.cache_read
        tokens.cache_write += event.cache_write
        if event.context_tokens > tokens.context_peak:
            tokens.context_peak, tokens.context_window = event.context_tokens, event.context_window
        self._cost.add(charge_of(event))
        tokens.cost = self._cost.dollars if self._cost.priced else None
        tokens.unpriced = self._cost.unpriced

    def _mind(self, event: Event, step: Step) -> None:
        summary = self.summary
        percept, thought, verdict, mood = step.percept, step.thought, step.verdict, step.mood
        if isinstance(event, ToolUse):
            self._counts["states"][percept.state] += 1
            self._counts["patterns"][percept.pattern] += 1
            self._counts["regimes"][thought.regime] += 1
        highs = self._highs
        for place, value in enumerate(percept.axes):
            if value > highs[place]:
                highs[place] = value
                self._peaks[AXES[place]] = Peak(value, event.at, event.agent)
        for signal in percept.signals:
            if signal.fresh:
                self._counts["signals"][signal.name] += 1
                if len(summary.firings) < _FIRINGS:
                    summary.firings.append(FiringSummary(event.at, event.agent, signal.name, signal.intensity))
        summary.shifts += percept.shifted
        summary.dreams += thought.dream is not None
        summary.episodes += verdict.opened
        if verdict.halted_now:
            summary.halts.append(Halt(event.at, event.agent, verdict.halted_now, verdict.step))
        if mood.entered:
            self._quarantined[event.agent] = quarantine = QuarantineSummary(event.agent, event.at)
            summary.quarantines.append(quarantine)
        elif mood.released and event.agent in self._quarantined:
            self._quarantined.pop(event.agent).ended = event.at
        if step.reaction is not QUIET:
            self._respond(step.reaction, event)
        for row in thought.rows:
            summary.sleep_peak = max(summary.sleep_peak, row.sleep_pressure)

    def _respond(self, reaction: Reaction, event: Event) -> None:
        summary = self.summary
        for firing in reaction.fired:
            self._counts["methods"][firing.method] += 1
            if len(summary.interventions) < _FIRINGS:
                fields = InterventionSummary.__struct_fields__
                summary.interventions.append(InterventionSummary(*(getattr(firing, name) for name in fields)))
        loop = reaction.loop
        if loop is not None and len(summary.loops) < _FIRINGS:
            facts = loop.detector, loop.count, loop.tool, loop.what, loop.began_at
            summary.loops.append(LoopRecord(event.at, event.agent, *facts))

    def close(self, main: Frame) -> Summary:
        """Return the summary, completed from the main agent's last frame."""
        summary = self.summary
        summary.models = [model for model in self._models if model]
        for name, counter in self._counts.items():
            setattr(summary, name, dict(counter.most_common()))
        summary.peaks = self._peaks
        summary.agents = list(self._agents.values())
        summary.subagents = sum(agent.id != MAIN for agent in summary.agents)
        often = sorted(self._paths.items(), key=lambda item: (-item[1][0], item[0]))
        summary.paths = [HotPath(path, *touched) for path, touched in often[:_PATHS]]
        summary.active = main.receptor.now
        summary.facts, summary.outlook = main.receptor.facts, main.response.outlook
        return summary


_TOLD = 50_000  # Events at the end that are described in words.
_TOGETHER = 512  # Events that each mechanism reads at once, which suits the processor's cache.


class Analysis(NamedTuple):
    """A session's summary, and one JSON line per tick if requested."""

    summary: Summary
    metrics: list[bytes]


def analyse(
    session: LogSession,
    settings: Settings,
    metrics: bool = False,
    initial: InitialState = PLAIN,
    later: Sequence[SettingsChange] = (),
    each: Callable[[Event, Step, Society], object] | None = None,
) -> Analysis:
    """Run a session through the engine from its own seed; `each` is called with every step."""
    kit = make_kit(settings.ingest)
    seeded = initial._replace(seed=seed_of(session.id))
    society = seeded.society(settings)
    changes = deque(later)
    gatherer = Gatherer(str(session.path))
    lines: list[bytes] = []
    lately: deque[Event] = deque(maxlen=_TOLD)
    preserver, policy = Preserver(), ""
    words = WordReader(word_logs(session))
    outcome = OutcomeReader(words)
    stream = read_session(session, kit, settings.ingest.lines)
    while batch := tuple(islice(stream, _TOGETHER)):
        for place, event in enumerate(batch, gatherer.summary.events):
            if changes:
                before, society = society, apply_due_changes(seeded, society, changes, place)
                policy = policy if society is before else ""
            if type(event) is events.Compaction:
                policy = policy or seeded.policy_hash(society.settings)
            preserver.before(event, society, policy)
            step = society.step(event)
            gatherer.add(event, step)
            if each is not None:
                each(event, step, society)
            if metrics and step.thought.rows:
                record = society.engine(event.agent).mind.heart.metrics.record
                lines += [msgspec.json.encode(record(row)) for row in step.thought.rows]
        for event in batch:
            outcome.add(event)
        lately += batch
    society = apply_due_changes(seeded, society, changes, gatherer.summary.events)
    summary = gatherer.close(society.frame(MAIN))
    summary.id = summary.id or session.id
    summary.agent = summary.agent or session.tool
    summary.preserved = list(preserver.kept)
    summary.story = story(tuple(lately), summary.started, words.words, notices=settings.response.notices)
    outcome.read_links(session, kit, settings.ingest.lines)
    summary.outcome = outcome.at(summary.events)
    faults = kit.diagnostics
    first = [f"{fault.file}:{fault.line}: {fault.reason}" for fault in faults.first[:20]]
    summary.skipped = Skipped(faults.total, dict(sorted(faults.counts.items())), first)
    return Analysis(summary, lines)
