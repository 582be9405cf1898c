"""The mechanisms that live by the tick, and what one beat of the clock does to them."""

from __future__ import annotations

from msgspec.structs import replace

from core.engine.mind import fabric
from core.engine.mind.clock import Clock, Ticks
from core.engine.mind.cortical import SEVERITY, CorticalState, Mood, Regime, Tier, Vitality, unpack
from core.engine.mind.episodes import Episodes
from core.engine.mind.forecast import Forecast
from core.engine.mind.homeostasis import SIGNAL_IDS, Correction, Homeostasis
from core.engine.mind.metrics import Metrics, TickKind, TickRow
from core.engine.mind.salience import Habituation, Salience
from core.engine.mind.sleep import ContextGauge, Dream, Dreams, Reason, SleepPressure
from core.engine.mind.tiers import Band, Opinion, Tiers
from core.engine.percept import EVEN, NEUTRAL, Composition, Modulation, Percept
from core.engine.state import KeptField, Stateful, custom, grouped, inner, row, tupled
from core.engine.values import Value
from core.events import MAIN
from core.settings.mind import MindSettings, RegimeSettings

ROUGH: tuple[Regime, ...] = ("crisis", "turbulence")


class RegimeReading(Value, frozen=True):
    """The current regime, and the candidate that may replace it."""

    regime: Regime
    candidate: Regime
    lasting: float  # Seconds for which the candidate has lasted.
    needed: float  # Seconds it must last.


class RegimeSense(Stateful):
    """Name the regime of each percept, and change to a new one only when it lasts.

    Crisis and turbulence need failures: once none of the last actions failed, they end at once, and a crisis
    also ends when enough commands in a row have passed.
    """

    STATE = ("regime", "candidate", "since", "_now")

    def __init__(self, settings: RegimeSettings) -> None:
        self._turbulence_enter = settings.turbulence_enter
        self._turbulence_leave = min(settings.turbulence_leave, settings.turbulence_enter)
        self._progress_enter = settings.progress_enter
        self._least_events = settings.least_events
        self._least_failures = settings.least_failures
        self._rise_hold = settings.rise_hold
        self._fall_hold = settings.fall_hold
        self._crisis_hold = settings.crisis_hold
        self.regime: Regime = "calm"
        self.candidate: Regime = "calm"
        self.since = 0.0
        self._now = 0.0

    def update(self, percept: Percept, loop: bool) -> bool:
        """Step with one percept and whether the agent is in a loop; return whether the regime changed."""
        now = self._now = percept.now
        regime = self.regime
        candidate = self._classify(percept, loop)
        if candidate != self.candidate:
            self.candidate = candidate
            self.since = now
        over = (regime in ROUGH and not percept.failures) or (regime == "crisis" and percept.recovered)
        if candidate == regime or (not over and now - self.since < self._hold(regime, candidate)):
            return False
        self.regime = candidate
        return True

    def _classify(self, percept: Percept, loop: bool) -> Regime:
        """Return the regime this percept alone would have."""
        rate = percept.failure_rate if percept.events >= self._least_events else 0.0
        if percept.failures:
            if not percept.recovered and (loop or _compound(percept)):
                return "crisis"
            if self.regime == "turbulence":
                turbulent = rate >= self._turbulence_leave
            else:
                turbulent = rate >= self._turbulence_enter and percept.failures >= self._least_failures
            if turbulent:
                return "turbulence"
        bound = self._turbulence_enter if self.regime == "progress" else self._progress_enter
        return "progress" if percept.pattern == "implementation" and rate <= bound else "calm"

    def _hold(self, before: Regime, after: Regime) -> float:
        if after == "crisis":
            return 0.0
        if before == "crisis":
            return self._crisis_hold
        return self._rise_hold if SEVERITY[after] > SEVERITY[before] else self._fall_hold

    def read(self) -> RegimeReading:
        """The regime and what may follow."""
        if self.candidate == self.regime:
            return RegimeReading(self.regime, self.candidate, 0.0, 0.0)
        lasting = max(0.0, self._now - self.since)
        return RegimeReading(self.regime, self.candidate, lasting, self._hold(self.regime, self.candidate))


def _compound(percept: Percept) -> bool:
    return any(signal.name == "compound_frustration_seeking" for signal in percept.signals)


_NO_AXES = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_KEPT_STATE: KeptField = custom("state", CorticalState.pack, unpack)
_PARTS = (
    "clock", "salience", "habituation", "sleep", "gauge", "dreams", "homeostasis", "state", "mood", "regime",
    "vitality", "forecast", "tiers", "episodes", "fabric", "metrics",
)  # fmt: skip


class Heart(Stateful):
    """Everything that beats, and what the beats of one step left behind.

    Of ticks that come due together only the last few are run; the others count as time, and as dropped.
    """

    NAMED = True
    STATE = (
        *[_KEPT_STATE if part == "state" else inner(part) for part in _PARTS],
        grouped(
            "moment",
            "at",
            "now",
            tupled("_axes"),
            "urgency",
            "confidence",
            "executing",
            row("modulation", Modulation),
            row("composition", Composition),
        ),
        grouped("counts", "_serial", "dropped", "_due_told", "band"),
    )

    def __init__(self, settings: MindSettings, seed: bytes = b"", agent: str = MAIN) -> None:
        self.clock = Clock(settings.clock)
        self.salience = Salience(settings.salience)
        self.habituation = Habituation(settings.habituation)
        self.sleep = SleepPressure(settings.sleep)
        self.gauge = ContextGauge(settings.context)
        self.dreams = Dreams(settings.dreams)
        self.homeostasis = Homeostasis(settings.homeostasis)
        self.state = CorticalState()
        self.mood = Mood(settings.cortical.mood)
        self.regime = RegimeSense(settings.cortical.regime)
        self.vitality = Vitality(settings.cortical.vitality)
        self.forecast = Forecast(settings.forecast)
        self.tiers = Tiers(settings.tiers)
        self.episodes = Episodes(settings.episodes)
        self.fabric = fabric.Fabric(settings.fabric)
        self.metrics = Metrics(settings.metrics, seed, agent)
        self._pending = settings.clock.pending
        self._axes = _NO_AXES
        self.modulation = NEUTRAL
        self.composition = EVEN
        self.confidence = 0.0  # Felt confidence as affect lets it fade and come back; what the gate goes by.
        self._pace = settings.tiers.confidence_pace
        execution = settings.execution
        self._execution = (execution.failing, execution.least, execution.failures, execution.leave, execution.resume)
        self.executing = True  # False while the agent lacks the confidence to carry out, and only thinks.
        self._serial = 0
        self._due_told = False
        self.band: Band = self.tiers.band
        self.now = 0.0
        self.at = 0.0
        self.urgency = 0.0  # The greatest since the last gamma tick.
        self.dropped = 0
        self.rows: tuple[TickRow, ...] = ()
        self.news: tuple[fabric.MindEvent, ...] = ()
        self.corrections: tuple[Correction, ...] = ()
        self.dreamt: Dream | None = None
        self.sleep.set_mode(self.homeostasis.intensive)

    def begin(self, at: float, percept: Percept, modulation: Modulation, composition: Composition) -> None:
        """Start a step: take the moment's readings, leave the last step's behind."""
        self.at = at
        self.now = percept.now
        axes = self._axes = percept.axes
        self.modulation = modulation
        self.composition = composition
        _, _, confidence, _, _, _ = axes
        gap = confidence - self.confidence
        if gap:
            pace = self._pace * (composition[1] if gap > 0.0 else composition[0])
            self.confidence += gap if pace > 1.0 else pace * gap
        self.rows = ()
        self.news = ()
        rate, least, failures, leave, resume = self._execution
        failing = percept.failure_rate >= rate and percept.events >= least and percept.failures >= failures
        if self.executing:
            if failing and self.confidence < leave:
                self._set_executing(False)
        elif not failing or self.confidence >= resume:
            self._set_executing(True)
        self.corrections = ()
        self.dreamt = None

    def write_environment(self, regime: Regime) -> None:
        """Replace the regime that all mechanisms read."""
        self.state = replace(self.state, regime=regime)

    def write_inference(self, budget_remaining: float, tier: Tier) -> None:
        """Replace the budget left and the tier in use."""
        self.state = replace(self.state, budget_remaining=budget_remaining, tier=tier)

    def _set_executing(self, executing: bool) -> None:
        self.executing = executing
        self.emit(fabric.ModeChanged(self.at, executing))

    def emit(self, event: fabric.MindEvent) -> None:
        """Put an event of the mind's own on the fabric and in this step's news."""
        self.fabric.emit(event)
        self.news = (*self.news, event)

    def beat(self, ticks: Ticks, woken: bool = False) -> None:
        """Run ticks: perception first, then thought, then consolidation."""
        if ticks.gamma:
            self._gamma(ticks.gamma, "wakeup_gamma" if woken else "gamma")
        if ticks.theta:
            self._drop_ticks(ticks.theta - self._pending)
            for _ in range(min(ticks.theta, self._pending)):
                self._theta("wakeup_theta" if woken else "theta")
        if ticks.delta:
            self._delta()

    def _drop_ticks(self, ticks: int) -> None:
        if ticks > 0:
            self.dropped += ticks
            self.fabric.emit(fabric.TicksDropped(self.at, ticks))

    def _gamma(self, count: int, kind: TickKind) -> None:
        mood, now = self.mood, self.now
        self.salience.tick(count, self.modulation.unpromoted_decay, now)
        self.habituation.tick(self.clock.gamma)
        self._drop_ticks(count - self._pending)
        for _ in range(min(count, self._pending)):
            mood.tick(now, self._axes, self.urgency)
            self._record(kind, 0)
        pleasure, arousal, dominance, emotion = mood.pleasure, mood.arousal, mood.dominance, mood.emotion
        self.state = replace(self.state, pleasure=pleasure, arousal=arousal, dominance=dominance, emotion=emotion)
        self.episodes.sample(self.state)
        self.urgency = 0.0

    def _theta(self, kind: TickKind) -> None:
        vitality, at = self.vitality, self.at
        trend, accuracy = self.forecast.trend, self.forecast.accuracy
        if trend != self.state.trend:
            self.fabric.emit(fabric.AccuracyTurned(at, trend, accuracy))
        phase = vitality.phase
        if vitality.update(self.state.budget_remaining, accuracy):
            self.emit(fabric.PhaseChanged(at, phase, vitality.phase))
        economic, composite, phase = vitality.economic, vitality.composite, vitality.phase
        state = self.state = replace(
            self.state, accuracy=accuracy, trend=trend, economic=economic, composite=composite, phase=phase
        )
        self.sleep.update(self.gauge.fill)
        for correction in self.homeostasis.update(vitality.economic, state.accuracy, state.pleasure):
            self.corrections = (*self.corrections, correction)
            signal, deviation, knob, value = correction
            self.emit(fabric.Regulated(at, signal, deviation, knob, value))
        self.sleep.set_mode(self.homeostasis.intensive)
        self._record(kind, len(SIGNAL_IDS))
        self.emit(fabric.Ticked(at, self.clock.theta, kind, state.tier, self.tiers.total_money))
        self.emit(fabric.AffectUpdated(at, state.pleasure, state.arousal, state.dominance, state.emotion))
        self.emit(fabric.VitalityUpdated(at, vitality.economic, vitality.epistemic, vitality.composite))
        if self.homeostasis.intensive and self.sleep.needed:
            self.dream("pressure")
        if self.sleep.needed and not self._due_told:
            self._due_told = True
            load = self.gauge.fill
            self.emit(fabric.SleepDue(at, self.sleep.pressure, self.sleep.threshold, load))

    def _delta(self) -> None:
        ended = self.episodes.delta(self.at, self.state, self.clock.gamma)
        looked_over = 0
        if ended is not None:
            looked_over = 1
            self.emit(fabric.EpisodeEnded(self.at, ended.number, ended.regime, ended.outcome, ended.ended_by))
        if self.sleep.needed:
            looked_over = len(self.episodes.history)
            self.dream("pressure")
        self._record("delta", looked_over)
        self.emit(fabric.Ticked(self.at, self.clock.delta, "delta", self.state.tier, self.tiers.total_money))

    def dream(self, reason: Reason) -> Dream:
        """Consolidate, and start sleep pressure again."""
        moment = self.at, self.now, self.clock.gamma
        dream = self.dreams.run(moment, reason, self.sleep.pressure, self.episodes, self.salience, self.habituation)
        self.sleep.reset()
        self._due_told = False
        self.dreamt = dream
        collected = dream.expired + dream.forgotten
        self.emit(fabric.Dreamt(self.at, dream.compressed, collected, dream.rebalanced, reason))
        self.emit(fabric.SnapshotAsked(self.at, self.clock.gamma, "dream"))
        return dream

    def opinion(self) -> Opinion:
        """Which tier this moment would deserve."""
        state = self.state
        return self.tiers.opinion(
            self.forecast.surprise, self.confidence, state.composite, state.arousal, self.homeostasis.tier_bias
        )

    def _record(self, kind: TickKind, reflected: int) -> None:
        serial = self._serial = self._serial + 1
        state, used = self.state, 1.0 - self.state.budget_remaining
        accuracy, pressure = state.accuracy, self.sleep.pressure
        row = self.metrics.tick(
            serial, kind, self.at, state.tier, self.gauge.point, accuracy, used, state.regime, pressure, reflected
        )
        if row is not None:
            self.rows = (*self.rows, row)

    def restored(self) -> None:
        """Clear what the step before the dump produced."""
        self.sleep.set_mode(self.homeostasis.intensive)
        self.rows, self.news, self.corrections, self.dreamt = (), (), (), None
