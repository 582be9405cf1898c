"""Readings of the mind for the screen, built only when asked for."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from core.engine.mind.clock import Clock, Resolution, Ticks, Wakeup, Wakeups
from core.engine.mind.cortical import CorticalState, MoodReading, Regime, VitalityReading
from core.engine.mind.episode import Episode
from core.engine.mind.episodes import EpisodesReading
from core.engine.mind.fabric import MindEvent
from core.engine.mind.forecast import ForecastReading
from core.engine.mind.heart import Heart, RegimeReading
from core.engine.mind.homeostasis import Correction, HomeostasisReading
from core.engine.mind.metrics import TickRow
from core.engine.mind.salience import PatternExposure, Salience
from core.engine.mind.sleep import ContextGauge, Dream, SleepPressure
from core.engine.mind.stimulus import Cause, Stimulus, StimulusKind
from core.engine.mind.tiers import Opinion, TierReading
from core.engine.values import reading_of
from core.settings.mind import MindSettings


class Thought(Struct, frozen=True, gc=False):
    """Handed on to the rooms that come after."""

    ticks: Ticks  # Ticks that came due before the event, and those it woke.
    wakeup: Wakeup | None
    stimulus: Stimulus | None  # The first that entered the salience queue.
    novelty: float  # What habituation leaves of this event's pattern; 1 where it has none.
    regime: Regime
    regime_changed: bool
    dream: Dream | None
    iframe: bool  # A full frame is asked for.
    corrections: tuple[Correction, ...]
    episode: Episode | None  # The stretch of work this event ended.
    rows: tuple[TickRow, ...]  # One for each tick that was run.
    emitted: tuple[MindEvent, ...]  # What the mind did of its own; calls and turns are mirrored on the fabric only.


class SalienceReading(Struct, frozen=True):
    """One item that has the mind's attention, and the terms of its score."""

    score: float
    arrived_with: float
    kind: StimulusKind
    cause: Cause
    what: str
    times: int  # How often its pattern is queued.
    age: float  # Subjective seconds.
    at: float
    novelty: float
    relevance: float
    urgency: float
    promoted: bool


class SleepReading(Struct, frozen=True):
    """Sleep pressure, the context that drives it, and when consolidation comes."""

    pressure: float
    accumulator: float
    threshold: float
    intensive: bool
    needed: bool
    ticks: int | None  # Theta ticks until consolidation is needed, at this load.
    minutes: float | None  # The same in minutes of work, at this rhythm.
    dream_ticks: int | None  # Theta ticks until the delta tick that brings the dream.
    context: float  # Share of the way to compaction.
    context_tokens: int
    compaction_point: int
    turns_to_compaction: int | None
    compactions: int
    compacted_at: float | None
    context_most: int = 0  # Most tokens that its window was seen to hold.


class HabituationReading(Struct, frozen=True):
    """How many patterns the mind knows, and those it is most used to."""

    patterns: int
    familiar: tuple[PatternExposure, ...]


class ClockReading(Struct, frozen=True):
    """The three rhythms."""

    gamma: int
    theta: int
    delta: int
    dropped: int
    gamma_interval: float
    theta_interval: float
    gamma_in: float
    theta_in: float
    delta_in: int  # Theta ticks to the next delta tick.
    violations: int
    slowed: float  # Factor by which the budget slows all rhythms.


class TriggerReading(Struct, frozen=True):
    """One trigger and its history."""

    name: str
    resolution: Resolution
    least: float
    refire: float
    fired: int
    fired_at: float | None


class HeartbeatStep(NamedTuple):
    """One of the nine steps of a tick, and what the mechanisms did in it."""

    step: str
    did: str


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def read_heartbeat(heart: Heart) -> tuple[HeartbeatStep, ...]:
    """Say what each step of the last tick did; empty before the first tick."""
    row = heart.metrics.last
    if row is None:
        return ()
    moved = f"{row.accuracy_change:+.2f}" if row.accuracy_change else "unchanged"
    woken = ", woken between ticks" if row.kind.startswith("wakeup") else ""
    rules = heart.homeostasis.rules()
    strays = sum(rule.straying >= rule.persistence > 0 for rule in rules)
    steps = {
        "observe": f"{_many(row.appraise_work, 'event')}, {heart.salience.waiting(heart.now)} wait for attention, "
        f"{_many(len(heart.habituation), 'pattern')} known{woken}",
        "retrieve": f"{_many(row.retrieve_work, 'episode')} compared, hits {row.memory_hits}, "
        f"misses {row.memory_misses}",
        "analyze": f"regime {row.regime}, sleep pressure {row.sleep_pressure:.0%}, "
        f"{strays} of {len(rules)} balanced signals out of bounds",
        "gate": f"{_many(row.gate_work, 'turn')} placed, tier {row.tier}, context {heart.gauge.fill:.0%} full",
        "deliberate": f"{row.deliberate_seconds:.0f} s of thinking, ${row.cost:.2f}",
        "validate": "executing" if heart.executing else "not executing: writes need a permit under guard",
        "act": f"{_many(row.actions, 'call')}, {row.act_seconds:.0f} s",
        "verify": f"{_many(row.predict_work, 'forecast')} checked, accuracy {heart.forecast.accuracy:.2f} ({moved})",
        "reflect": f"rules or episodes reviewed: {row.reflect_work}, {_many(heart.dreams.count, 'dream')} "
        f"and {_many(heart.gauge.compactions, 'compaction')} so far",
    }
    return tuple([HeartbeatStep(step, did) for step, did in steps.items()])


class MindReading(Struct, frozen=True):
    """The whole mind at one moment."""

    at: float
    salience: tuple[SalienceReading, ...]
    queued: int
    sleep: SleepReading
    dreams: tuple[Dream, ...]
    dream_count: int
    habituation: HabituationReading
    homeostasis: HomeostasisReading
    clock: ClockReading
    triggers: tuple[TriggerReading, ...]
    deduplicated: int  # Wakeups left to a theta tick that was due anyway.
    cortical: CorticalState
    mood: MoodReading
    regime: RegimeReading
    vitality: VitalityReading
    forecast: ForecastReading
    tiers: TierReading
    opinion: Opinion
    episodes: EpisodesReading
    last_tick: TickRow | None
    confidence: float = 0.0  # What the gate goes by: confidence as affect lets it fade and come back.
    executing: bool = True  # False while it lacks the confidence to carry out.
    playbook: tuple[str, ...] = ()  # What kinds of work in this project mostly led to, with their evidence.
    heartbeat: tuple[HeartbeatStep, ...] = ()  # The nine steps of the last tick.
    recalled: tuple[str, ...] = ()  # The past episodes most like this moment, as many as affect lets be looked at.
    events: tuple[MindEvent, ...] = ()  # The last on the fabric, oldest first.
    emitted: int = 0  # How many the fabric has had.


def read_mind(
    heart: Heart, wakeups: Wakeups, recalled: list[str], settings: MindSettings, at: float | None, now: float | None
) -> MindReading:
    """Return the whole mind now, or at a later moment if no event comes; nothing changes."""
    if now is None:
        ahead = 0.0 if at is None else min(max(0.0, at - heart.at), settings.clock.live_limit)
        now = heart.now + ahead
    now = max(now, heart.now)
    clock = Clock(settings.clock)
    clock.load(heart.clock.dump())
    ticks = clock.advance(now)
    sleep = heart.sleep
    if ticks.theta:
        sleep = SleepPressure(settings.sleep)
        sleep.load(heart.sleep.dump())
    for _ in range(min(ticks.theta, settings.clock.pending)):
        sleep.update(heart.gauge.fill)
    familiar = heart.habituation.most_familiar(clock.gamma, settings.habituation.familiar)
    fired = wakeups.fired()
    return MindReading(
        at=heart.at if at is None else max(at, heart.at),
        salience=_read_salience(heart.salience, now, ticks.gamma, heart.modulation.unpromoted_decay),
        queued=heart.salience.waiting(now),
        sleep=_read_sleep(sleep, heart.gauge, clock, settings.clock.delta_every, heart.homeostasis.intensive),
        dreams=heart.dreams.past(),
        dream_count=heart.dreams.count,
        habituation=HabituationReading(len(heart.habituation), familiar),
        homeostasis=heart.homeostasis.read(),
        clock=reading_of(ClockReading, clock, dropped=heart.dropped, slowed=clock.factor),
        triggers=tuple(reading_of(TriggerReading, each, fired=times, fired_at=last) for each, last, times in fired),
        deduplicated=wakeups.deduplicated,
        cortical=heart.state,
        mood=heart.mood.read(),
        regime=heart.regime.read(),
        vitality=heart.vitality.read(),
        forecast=heart.forecast.read(),
        tiers=heart.tiers.read(),
        opinion=heart.opinion(),
        episodes=heart.episodes.read(),
        last_tick=heart.metrics.last,
        confidence=heart.confidence,
        executing=heart.executing,
        playbook=tuple([one.line() for one in heart.episodes.playbook]),
        heartbeat=read_heartbeat(heart),
        recalled=tuple(recalled),
        events=heart.fabric.recent(),
        emitted=heart.fabric.emitted,
    )


def _read_salience(salience: Salience, now: float, ticks: int, unpromoted: float) -> tuple[SalienceReading, ...]:
    """The winners of attention at a moment."""
    return tuple(
        reading_of(
            SalienceReading,
            item,
            score=score,
            arrived_with=item.score,
            kind=item.stimulus.kind,
            cause=item.stimulus.cause,
            what=item.stimulus.what,
            times=times,
            age=now - item.now,
        )
        for score, item, times in salience.top(now, ticks, unpromoted)
    )


def _read_sleep(
    sleep: SleepPressure, gauge: ContextGauge, clock: Clock, delta_every: int, intensive: bool
) -> SleepReading:
    """Pressure and its forecast."""
    context = gauge.fill
    ticks = sleep.forecast(context)
    dream_ticks = None
    if ticks is not None:
        late = max(0, ticks - clock.delta_in)
        dream_ticks = clock.delta_in + -(-late // delta_every) * delta_every
    return reading_of(
        SleepReading,
        sleep,
        intensive=intensive,
        ticks=ticks,
        minutes=None if ticks is None else ticks * clock.theta_interval / 60.0,
        dream_ticks=dream_ticks,
        context=context,
        context_tokens=gauge.tokens,
        compaction_point=gauge.point,
        turns_to_compaction=gauge.turns_left(),
        compactions=gauge.compactions,
        compacted_at=gauge.compacted_at,
        context_most=gauge.most,
    )
