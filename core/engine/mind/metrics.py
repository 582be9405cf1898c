"""One wide record per tick, with a trace id that the same run always gives."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from blake3 import blake3

from core.engine.mind.cortical import Regime, Tier
from core.engine.state import Stateful, row
from core.events import Event, ToolUse, Turn
from core.settings.mind import MetricsSettings

TickKind = Literal["gamma", "theta", "delta", "wakeup_gamma", "wakeup_theta"]


class TickRow(NamedTuple):
    """A tick as the hot path keeps it; `Metrics.record` makes the JSON line of it.

    The engine has no clock: what the agent did is timed by its log (deliberate, act), what the engine did
    is counted in things handled (predict, appraise, gate, retrieve, reflect).
    """

    tick: int
    kind: TickKind
    at: float  # Epoch seconds of the event under which the tick ran; `wall_time` in a record.
    trace: int  # Number of the theta tick whose trace this one belongs to.
    predict_work: int  # Outcomes forecast.
    appraise_work: int  # Events appraised.
    gate_work: int  # Turns placed in a tier.
    retrieve_work: int  # Past episodes compared with the moment, to recall those like it.
    deliberate_seconds: float  # Time the model took.
    act_seconds: float  # Time the tools took.
    reflect_work: int  # Rules of homeostasis looked over at a theta tick, episodes at a delta tick.
    cost: float  # US dollars since the last record, as far as prices are known.
    unpriced_turns: int
    tier: Tier
    tokens_used: int  # Of the context.
    tokens_budget: int  # Context tokens at which a compaction is due; 0 where unknown.
    accuracy_change: float
    budget_used: float
    regime: Regime
    actions: int
    memory_hits: int  # Recollections that found a past episode like the moment.
    memory_misses: int  # Recollections that found none.
    sleep_pressure: float


class Metrics(Stateful):
    """Collect what happens between ticks and close it into a row at each tick."""

    STATE = (
        "_events", "_turns", "_actions", "_retrieved", "_hits", "_misses", "_unpriced", "_forecasts", "_cost",
        "_deliberate", "_act", "_tokens", "_accuracy", "_until", "_thinking_from", "_counted", "_answered", "theta",
        row("last", TickRow),
    )  # fmt: skip

    def __init__(self, settings: MetricsSettings, seed: bytes, agent: str) -> None:
        self._gamma = settings.gamma
        self._seed = seed
        self._agent = agent
        self._tokens = 0
        self._accuracy: float | None = None
        self._until: float | None = None  # The latest time of any event; what lies before it is accounted for.
        self._thinking_from: float | None = None  # Start of the answer whose calls came before its turn.
        self._counted = 0.0  # Thinking that these calls told.
        self._answered = 0.0  # Time of the last turn that told when it was asked for.
        self.theta = 0
        self.last: TickRow | None = None
        self._clear_tallies()

    def _clear_tallies(self) -> None:
        self._events = self._turns = self._actions = self._retrieved = 0
        self._hits = self._misses = self._unpriced = self._forecasts = 0
        self._cost = self._deliberate = self._act = 0.0

    def update(self, event: Event) -> None:
        """Count one event towards the next row."""
        if type(event) is ToolUse:
            self.tool_use(event)
        elif type(event) is Turn:
            self.turn(event)
        else:
            self._events += 1
            self._until = event.at if self._until is None else max(self._until, event.at)
            self._thinking_from = None

    def tool_use(self, event: ToolUse) -> None:
        """Count one call, and the time the model took before it.

        Some logs contain an answer only after the results of its calls, so that the turn comes too late to be timed.
        """
        self._events += 1
        self._actions += 1
        at, until, duration = event.at, self._until, event.duration
        if duration is not None:
            self._act += duration
            if until is not None and at - duration > until:
                self._deliberate += at - duration - until
                self._counted += at - duration - until
                if self._thinking_from is None:
                    self._thinking_from = until
        if until is None or at > until:
            self._until = at
        outcome = event.outcome
        if outcome == "success" or outcome == "empty" or outcome == "failure":
            self._forecasts += 1

    def turn(self, event: Turn) -> float:
        """Count one answer of the model and its time, unless a call has counted it; return when it began."""
        self._events += 1
        self._turns += 1
        if event.context_tokens:
            self._tokens = event.context_tokens
        if event.cost is None:
            self._unpriced += 1
        else:
            self._cost += event.cost
        at, until, began, asked_at = event.at, self._until, self._thinking_from, event.asked
        counted, self._counted, self._thinking_from = self._counted, 0.0, None
        if asked_at is not None:
            self._deliberate += max(0.0, at - max(asked_at, self._answered) - counted)
            self._answered = max(at, self._answered)
            self._until = at if until is None else max(at, until)
            return min(asked_at, at)
        if until is None or at > until:
            self._until = at
            if until is not None:
                self._deliberate += at - until
                began = until if began is None else began
        return at if began is None or began > at else began

    def retrieved(self, compared: int, matches: int) -> None:
        """Count one recollection: how many episodes were compared, and how many were like the moment."""
        self._retrieved += compared
        if matches:
            self._hits += 1
        else:
            self._misses += 1

    def tick(
        self,
        tick: int,
        kind: TickKind,
        at: float,
        tier: Tier,
        tokens_budget: int,
        accuracy: float,
        budget_used: float,
        regime: Regime,
        sleep_pressure: float,
        reflected: int = 0,
    ) -> TickRow | None:
        """Close a row; None where gamma ticks are not wanted, and what was gathered waits for the next."""
        if kind == "theta" or kind == "wakeup_theta":
            self.theta += 1
        elif not self._gamma and kind != "delta":
            return None
        before = self._accuracy
        values = (
            tick, kind, at, self.theta, self._forecasts, self._events, self._turns, self._retrieved, self._deliberate,
            self._act, reflected, self._cost, self._unpriced, tier, self._tokens, tokens_budget,
            0.0 if before is None else accuracy - before, budget_used, regime, self._actions, self._hits, self._misses,
            sleep_pressure,
        )  # fmt: skip
        row = self.last = tuple.__new__(TickRow, values)
        self._accuracy = accuracy
        self._clear_tallies()
        return row

    def record(self, row: TickRow) -> dict[str, Any]:
        """Return the fields of a row's JSON line."""
        trace = traceparent(self._seed, row.trace, row.tick)
        first = {"agent": self._agent, "traceparent": trace, "tick": row.tick, "kind": row.kind, "wall_time": row.at}
        return first | dict(zip(row._fields[4:], row[4:], strict=True))


def traceparent(seed: bytes, theta: int, tick: int) -> str:
    """A W3C trace context: one trace a theta tick, one span a tick."""
    trace = blake3(b"trace" + theta.to_bytes(8, "little") + seed).hexdigest(length=16)
    span = blake3(b"span" + tick.to_bytes(8, "little") + seed).hexdigest(length=8)
    return f"00-{trace}-{span}-01"
