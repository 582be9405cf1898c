"""What went on in a session, gathered while its events run by."""

from __future__ import annotations

from collections import Counter

from core.engine.engine import Frame, Step
from core.engine.percept import AXES
from core.engine.response import QUIET, Reaction
from core.events import (
    MAIN,
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.report.compaction import HotPath
from core.report.cost import charge_of
from core.report.summary import (
    AgentSummary,
    FiringSummary,
    Halt,
    InterventionSummary,
    LoopRecord,
    Peak,
    QuarantineSummary,
    Summary,
)
from core.report.sums import Sum

_FIRINGS = 500
_PATHS = 12
_PATHS_KEPT = 20_000


class Gatherer:
    """Counts as the steps go by; `close` gives the summary."""

    def __init__(self, path: str = "") -> None:
        self.summary = Summary(path=path)
        self._outcomes: Counter[str] = Counter()
        self._actions: Counter[str] = Counter()
        self._signals: Counter[str] = Counter()
        self._states: Counter[str] = Counter()
        self._patterns: Counter[str] = Counter()
        self._regimes: Counter[str] = Counter()
        self._methods: Counter[str] = Counter()
        self._models: dict[str, None] = {}
        self._agents: dict[str, AgentSummary] = {}
        self._quarantined: dict[str, QuarantineSummary] = {}
        self._peaks: dict[str, Peak] = {}
        self._highs = [-1.0] * len(AXES)
        self._paths: dict[str, list[int]] = {}
        self._cost = Sum()

    def add(self, event: Event, step: Step) -> None:
        """Take in one event and what it did."""
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
        self._count(event, agent)
        self._mind(event, step)

    def _agent(self, name: str) -> AgentSummary:
        found = self._agents.get(name)
        if found is None:
            found = self._agents[name] = AgentSummary(name, None if name == MAIN else MAIN)
        return found

    def _count(self, event: Event, agent: AgentSummary) -> None:
        summary = self.summary
        match event:
            case ToolUse():
                summary.tool_uses += 1
                agent.tool_uses += 1
                agent.failures += event.outcome == "failure"
                self._outcomes[event.outcome] += 1
                self._actions[event.action] += 1
                for path in event.targets:
                    self._touch(path, event.action, event.outcome)
            case Turn():
                summary.turns += not event.only_ends
                self._models[event.model] = None
                self._spend(event)
            case Prompt():
                summary.prompts += not event.interrupt
                summary.interrupts += event.interrupt
            case Compaction():
                summary.compactions += 1
                agent.compactions += 1
                summary.compacted_at.append(event.at)
            case AgentStart():
                child = self._agent(event.child)
                child.parent, child.role = event.agent, event.role
            case SessionStart():
                summary.agent, summary.id, summary.project = event.tool, event.session, event.project
                summary.synthetic_time = event.synthetic_time
                summary.untold = list(event.untold)
            case AgentEnd() | Advice() | SessionEnd():
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

    def _spend(self, event: Turn) -> None:
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
            self._states[percept.state] += 1
            self._patterns[percept.pattern] += 1
            self._regimes[thought.regime] += 1
        highs = self._highs
        for place, value in enumerate(percept.axes):
            if value > highs[place]:
                highs[place] = value
                self._peaks[AXES[place]] = Peak(value, event.at, event.agent)
        for signal in percept.signals:
            if signal.fresh:
                self._signals[signal.name] += 1
                if len(summary.firings) < _FIRINGS:
                    summary.firings.append(
                        FiringSummary(event.at, event.agent, signal.name, signal.intensity)
                    )
        summary.shifts += percept.shifted
        summary.dreams += thought.dream is not None
        summary.episodes += verdict.opened
        if verdict.halted_now:
            summary.halts.append(Halt(event.at, event.agent, verdict.halted_now, verdict.step))
        if mood.entered:
            self._quarantined[event.agent] = held = QuarantineSummary(event.agent, event.at)
            summary.quarantines.append(held)
        elif mood.released and event.agent in self._quarantined:
            self._quarantined.pop(event.agent).ended = event.at
        if step.reaction is not QUIET:
            self._respond(step.reaction, event)
        for row in thought.rows:
            summary.sleep_peak = max(summary.sleep_peak, row.sleep_pressure)

    def _respond(self, reaction: Reaction, event: Event) -> None:
        summary = self.summary
        for firing in reaction.fired:
            self._methods[firing.method] += 1
            if len(summary.interventions) < _FIRINGS:
                summary.interventions.append(
                    InterventionSummary(
                        firing.at,
                        firing.agent,
                        firing.method,
                        firing.mode,
                        firing.cue,
                        firing.state,
                        firing.score,
                        firing.reason,
                        firing.text,
                    )
                )
        loop = reaction.loop
        if loop is not None and len(summary.loops) < _FIRINGS:
            summary.loops.append(
                LoopRecord(
                    event.at, event.agent, loop.detector, loop.count, loop.tool, loop.what, loop.began_at
                )
            )

    def close(self, main: Frame) -> Summary:
        """The summary, with what only the main agent's last frame can tell."""
        summary = self.summary
        summary.models = [model for model in self._models if model]
        for name in ("outcomes", "actions", "signals", "states", "patterns", "regimes", "methods"):
            counter: Counter[str] = getattr(self, f"_{name}")
            setattr(summary, name, dict(counter.most_common()))
        summary.peaks = self._peaks
        summary.agents = list(self._agents.values())
        summary.subagents = sum(agent.id != MAIN for agent in summary.agents)
        often = sorted(self._paths.items(), key=lambda item: (-item[1][0], item[0]))
        summary.paths = [HotPath(path, *touched) for path, touched in often[:_PATHS]]
        summary.active = main.receptor.now
        summary.facts, summary.outlook = main.receptor.facts, main.response.outlook
        return summary
