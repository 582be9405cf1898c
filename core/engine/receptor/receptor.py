"""The receptor: from one event of the agent to what it feels and which signals fire."""

from __future__ import annotations

from collections.abc import Mapping

from mypy_extensions import mypyc_attr

from core.engine.percept import AXES, SIGNAL_AXES, AgentState, Axis, Cause, Pattern, Percept, Signal
from core.engine.receptor.commander import Commander
from core.engine.receptor.emotion import FLOW, FRUSTRATION, LONG_PROMPT, TURN_TO_TRIAL_ERROR, EmotionEngine, Explanation
from core.engine.receptor.facts import ActionFacts
from core.engine.receptor.heatmap import Heatmap
from core.engine.receptor.readings import AxisReading, ReceptorReading, Why
from core.engine.receptor.triangle import AmbientEstimator, EmotionNeuron, Field, FlowGate, MetaNeuron
from core.engine.state import Stateful, inner, rows
from core.events import Compaction, Event, Prompt, ToolUse, Turn
from core.settings.receptor import ReceptorSettings, TimeSettings


class SubjectiveTime(Stateful):
    """Count time in full up to a cap per stretch, then not at all; a long pause counts as nothing.

    A stretch lies between two acts (tool uses, prompts); events within it, such as turns of the model, share
    its cap. If the clock runs backwards, time stops until it has caught up; a clock set far back counts on
    from there.
    """

    STATE = ("at", "_room", "now", "wall", "gap", "elapsed", "silence")

    def __init__(self, settings: TimeSettings) -> None:
        self._cap = settings.cap
        self._freeze = settings.freeze
        self.at: float | None = None
        self._room = settings.cap
        self.now = 0.0
        self.wall = 0.0  # Wall seconds since the first event, without backward jumps.
        self.gap = 0.0  # Wall seconds between the last two events.
        self.elapsed = 0.0
        self.silence = False

    def update(self, at: float, act: bool) -> None:
        """Advance to an event; an act starts a new stretch."""
        last = self.at
        if last is None or at >= last or at < last - self._freeze:
            self.at = at
        gap = 0.0 if last is None or at <= last else at - last
        self.gap = gap
        self.wall += gap
        if gap > self._freeze:
            self.silence = True
            self.elapsed = 0.0
        else:
            self.silence = False
            room = self._room
            self.elapsed = elapsed = gap if gap < room else room
            self.now += elapsed
            self._room = room - elapsed
        if act:
            self._room = self._cap

    def ahead(self, at: float | None) -> tuple[float, float]:
        """Wall and subjective seconds an event at `at` would add."""
        if at is None or self.at is None or at <= self.at:
            return 0.0, 0.0
        gap = at - self.at
        return gap, 0.0 if gap > self._freeze else min(gap, self._room)


EFFECTIVE = ("success", "failure", "empty")  # Outcomes of a call that took place; other outcomes only add fatigue.


# Names of the values of `Receptor.levels`.
LEVELS = (*(f"threshold.{axis}" for axis in AXES), *(f"baseline.{axis}" for axis in AXES))


_NO_CAUSES: tuple[str, ...] = ()
_LONG_PROMPT = (LONG_PROMPT,)
_new_tuple = tuple.__new__  # Builds a named tuple without its Python-level constructor, as this runs for every event.


@mypyc_attr(allow_interpreted_subclasses=True)
class Receptor(Stateful):
    """Turn what an agent does into axes and signals, without ever acting on it.

    Acts are tool uses and prompts: they add fatigue and the impulses of the short window's pattern, and only
    they make the neurons fire or release. Other events only advance time; a compaction also reduces fatigue.
    Hours worked are hours of subjective time, so a pause overnight adds no fatigue. While the failure rate of
    the short window is at its limit, there is neither flow nor deep work.
    """

    NAMED = True
    STATE = (
        "_events", inner("_clock"), inner("_commander"), inner("_emotion"), inner("_ambient"), inner("_gate"),
        inner("_neuron"), inner("_meta"), inner("heatmap"), inner("facts"), rows("_signals", Signal),
    )  # fmt: skip

    def __init__(self, settings: ReceptorSettings) -> None:
        self._clock = SubjectiveTime(settings.time)
        self._commander = Commander(settings.commander)
        self._emotion = EmotionEngine(settings.emotion, settings.impulse)
        self._ambient = AmbientEstimator(settings.ambient)
        self._gate = FlowGate(settings.ambient)
        self._neuron = EmotionNeuron(settings.neuron, settings.ambient)
        self._meta = MetaNeuron(settings.meta)
        self.heatmap = Heatmap(settings.heatmap)
        self._failures = settings.flow.failures
        self.facts = ActionFacts(settings.facts)  # Plain counts of what the agent did.
        self._storm = settings.meta.stuck_failures
        self._long_prompt = settings.emotion.long_prompt
        self._disruption_flow = settings.emotion.disruption_flow
        self._disruption_share = settings.emotion.disruption_share
        self._silence = settings.ambient.silence
        self._events = 0
        self._signals: tuple[Signal, ...] = ()

    def seed(self, prior: Mapping[Axis, float], thresholds: Mapping[Axis, float] | None = None) -> None:
        """Start with the baselines of earlier sessions and with C's shifts of B's thresholds there."""
        self._ambient.seed(prior)
        if thresholds:
            neutral = dict(zip(AXES, self._neuron.thresholds(self._ambient.baseline, Field()), strict=True))
            self._meta.seed({axis: level - neutral[axis] for axis, level in thresholds.items()})

    def remind(self, patterns: Mapping[Pattern, float]) -> None:
        """Set the usual shares of patterns in earlier sessions, for comparison."""
        self._commander.usual = tuple(patterns.items())

    @property
    def failure_rate(self) -> float:
        """Share of shell commands in the short window that failed."""
        return self._commander.failure_rate

    @property
    def storm(self) -> bool:
        """Return whether enough actions in a row have failed that the agent is stuck, whatever the axes say."""
        return 0 < self._storm <= self.facts.failures_in_a_row

    def step(self, event: Event) -> Percept:
        """Run one event through the receptor."""
        self._events += 1
        clock = self._clock
        if type(event) is ToolUse:
            clock.update(event.at, True)
            action, outcome = event.action, event.outcome
            if outcome not in EFFECTIVE:
                self._commander.slide(clock.now)
                return self._feel(event.at, _NO_CAUSES, "", False)
            causes = self.facts.update(event)
            shifted = bool(event.targets) and self.heatmap.update(event, clock.now, self._meta.state)
            self._commander.update(clock.now, action, outcome)
            if self._commander.turned:
                causes = (*causes, TURN_TO_TRIAL_ERROR)
            return self._feel(event.at, causes, self._commander.pattern, shifted)
        if type(event) is Prompt:
            self.facts.add_prompt(event)
            clock.update(event.at, True)
            self._commander.slide(clock.now)
            causes = _LONG_PROMPT if event.characters > self._long_prompt else _NO_CAUSES
            return self._feel(event.at, causes, self._commander.pattern, False)
        if type(event) is Turn:
            self.facts.add_phrases(event)
        clock.update(event.at, False)
        self._commander.slide(clock.now)
        if clock.gap > self._silence:
            self._ambient.freeze()
        if type(event) is Compaction:
            self._emotion.relieve(self._events, event.at, clock.now)
        return self._after_time(event.at)

    def _feel(self, at: float, causes: tuple[str, ...], pattern: str, shifted: bool) -> Percept:
        """Run impulses, baseline, then C, A and B."""
        clock, commander, emotion = self._clock, self._commander, self._emotion
        ambient, meta, gate, neuron = self._ambient, self._meta, self._gate, self._neuron
        silence = clock.gap > self._silence
        failing = commander.failure_rate
        calm = 1.0 - failing / self._failures if failing < self._failures else 0.0
        emotion.update(self._events, at, clock.now, causes, pattern, shifted, calm)
        values = emotion.values
        if silence:
            ambient.freeze()
        ambient.update(clock.now, values, emotion.undisturbed)
        if shifted:
            ambient.reset()
        baseline = ambient.baseline
        flow, frustration, facts = values[FLOW], values[FRUSTRATION], self.facts
        open_ = failing < self._failures and not neuron.frustrated(frustration, baseline, meta.field)
        open_flow = flow if open_ else 0.0
        meta.update(neuron.dominant, silence, commander.pattern, frustration, open_flow, facts.failures_in_a_row)
        failures = facts.failures_recent
        signals: tuple[Signal, ...]
        if open_ and gate.update(flow, baseline[FLOW]):
            neuron.rest()
            signals = (_new_tuple(Signal, ("flow_active", gate.intensity, gate.fresh)),)
        else:
            gate.close()
            signals = neuron.update(values, baseline, meta.field, failures > 0)
            if neuron.greatest > 0.0 and flow >= self._disruption_flow:
                emotion.disrupt(self._disruption_share * neuron.greatest)
                values = emotion.values
        self._signals = signals
        return Percept(
            at, clock.now, clock.elapsed, clock.silence, commander.pattern, commander.medium_pattern, meta.state,
            values, signals, shifted, commander.failure_rate, commander.events, failures, commander.recovered,
        )  # fmt: skip

    def _after_time(self, at: float) -> Percept:
        """Return the percept of an event that is not an act: only time has passed."""
        clock, commander = self._clock, self._commander
        rate = commander.failure_rate
        signals = self._signals
        return Percept(
            at, clock.now, clock.elapsed, clock.silence, commander.pattern, commander.medium_pattern,
            "idle" if clock.gap > self._silence else self._state(rate), self._emotion.ahead(clock.now),
            signals if not signals else self._active_signals(rate), False, rate, commander.events,
            self.facts.failures_recent, commander.recovered,
        )  # fmt: skip

    def _state(self, rate: float) -> AgentState:
        """Return the state of the last act; deep work ends once the window shows failures."""
        state = self._meta.state
        return "exploring" if state == "deep_work" and not self._flows(rate) else state

    def _flows(self, rate: float) -> bool:
        """Return whether this failure rate allows flow."""
        return rate < self._failures

    def _active_signals(self, rate: float) -> tuple[Signal, ...]:
        """Return the signals of the last act as not fresh; flow ends once the window shows failures."""
        signals = self._signals
        if not self._flows(rate) and signals and signals[0].name == "flow_active":
            return ()
        for signal in signals:
            if signal.fresh:
                return tuple([Signal(name, intensity, False) for name, intensity, _ in signals])
        return signals

    def why(self, axis: Axis, at: float | None = None) -> Why:
        """Return the impulses that make up the value of an axis."""
        return self._emotion.why(axis, self._clock.now + self._clock.ahead(at)[1])

    def causes(self, signal: str) -> tuple[Cause, ...]:
        """Return what moved the axes of a signal most; one cause for each axis of a compound signal."""
        axes, now = SIGNAL_AXES[signal], self._clock.now
        if len(axes) == 1:
            return self._emotion.causes(axes[0], now)
        return tuple([self._emotion.causes(axis, now)[0] for axis in axes])

    def explain(self, at: float | None = None) -> Explanation:
        """Return the explanation of all axes, computed when it is read."""
        return Explanation(self._emotion, self._clock.now + self._clock.ahead(at)[1])

    def read(self, at: float | None = None) -> ReceptorReading:
        """Return all readings; with a later `at`, as they will be if nothing happens until then."""
        clock = self._clock
        gap, elapsed = clock.ahead(at)
        now, wall = clock.now + elapsed, clock.wall + gap
        values, trend = self._emotion.ahead(now), self._emotion.trend(now)
        idle = clock.at is None or gap > self._silence
        behaviour = self._commander.read(now)
        rate = behaviour.short.failure_rate
        flowing = self._gate.firing and self._flows(rate)
        return ReceptorReading(
            at=(clock.at or 0.0) + gap,
            now=now,
            wall=wall,
            events=self._events,
            idle=idle,
            axes=tuple(self._axis(axis, values[axis], trend[axis], flowing) for axis in range(len(AXES))),
            gate=self._gate.read(values[FLOW], self._ambient.baseline[FLOW], flowing),
            held=self._neuron.read(),
            signals=self._signals if gap == 0.0 and self._flows(rate) else self._active_signals(rate),
            meta=self._meta.read("idle" if idle else self._state(rate)),
            behaviour=behaviour,
            heatmap=self.heatmap.read(now),
            shifts=self.heatmap.shifts,
            facts=self.facts.read(),
        )

    def _axis(self, axis: int, value: float, trend: float, flowing: bool) -> AxisReading:
        threshold, baseline, offset, field = self._neuron.terms(axis, self._ambient.baseline, self._meta.field)
        release = self._neuron.release(axis)
        firing = flowing if axis == FLOW else release > 0
        return AxisReading(
            axis=AXES[axis],
            value=value,
            threshold=threshold,
            baseline=baseline,
            offset=offset,
            field=field,
            trend=trend,
            firing=firing,
            held=firing and value < threshold,
            release=release,
        )

    def levels(self) -> tuple[float, ...]:
        """Return the thresholds, then the baselines, each in the order of AXES, for the curves."""
        baseline = self._ambient.baseline
        return self._neuron.thresholds(baseline, self._meta.field) + tuple(baseline)
