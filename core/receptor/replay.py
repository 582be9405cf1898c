"""The receptor over a recording, in two halves: what it is given, which is kept, and what it makes of it.

Clock, windows, causes and shifts follow from the events; only what comes after them depends on how the axes
move and from where on they count. So other settings of that half need not look at the events again.
"""

from __future__ import annotations

from typing import NamedTuple

from mypy_extensions import mypyc_attr

from core.events import Compaction, Event, Prompt, ToolUse, Turn
from core.percept import Pattern, Signal
from core.receptor.receptor import EFFECTIVE, Receptor
from core.receptor.vector import FLOW, FRUSTRATION, Vector

_LATER = tuple(f"receptor.{part}." for part in ("emotion", "impulse", "ambient", "neuron", "meta", "flow"))
_make = tuple.__new__


def only_felt(name: str) -> bool:
    """Whether a setting bears on the second half alone."""
    return name.startswith(_LATER)


class ReceptorInput(NamedTuple):
    """What one event brings to one agent before anything is felt."""

    first: bool
    """The agent begins with it, or starts again."""
    act: bool
    relief: bool
    number: int
    at: float
    now: float
    gap: float
    prompt: int
    """Characters of a prompt; they count from a length on."""
    causes: tuple[str, ...]
    felt: str
    """The pattern whose impulses count; none where a call did not take place."""
    pattern: Pattern
    failing: float
    shifted: bool
    failures: int


class RecordedInputs(Receptor):
    """The first half: nothing is felt."""

    __slots__ = ()

    def take(self, event: Event) -> ReceptorInput:
        """What an event brings."""
        first = self._events == 0
        self._events += 1
        clock, commander, facts = self._clock, self._commander, self.facts
        act, relief, shifted = True, False, False
        causes: tuple[str, ...] = ()
        prompt, effective = 0, True
        kind = type(event)
        clock.update(event.at, kind is ToolUse or kind is Prompt)
        if isinstance(event, ToolUse):
            effective = event.outcome in EFFECTIVE
            if effective:
                causes = facts.update(event)
                shifted = bool(event.targets) and self._heatmap.update(event, clock.now, "idle")
                commander.update(clock.wall, event.action, event.outcome)
            else:
                commander.slide(clock.wall)
        else:
            act, relief = isinstance(event, Prompt), isinstance(event, Compaction)
            if isinstance(event, Prompt):
                prompt = event.characters
                facts.asked(event)
            elif isinstance(event, Turn):
                facts.said(event)
            commander.slide(clock.wall)
        pattern = commander.pattern
        return _make(
            ReceptorInput,
            (
                first,
                act,
                relief,
                self._events,
                event.at,
                clock.now,
                clock.gap,
                prompt,
                causes,
                pattern if effective else "",
                pattern,
                commander.failure_rate,
                shifted,
                facts.failures_in_a_row,
            ),
        )


@mypyc_attr(allow_interpreted_subclasses=True)
class Feelings(Receptor):
    """The second half, over inputs that were kept: the same mechanisms in the same order."""

    __slots__ = ()

    def feel(self, given: ReceptorInput) -> tuple[Vector, tuple[Signal, ...]]:
        """The axes after an event, and the signals an act fires or holds."""
        _, act, relief, number, at, now, gap, prompt, causes, felt, pattern, failing, shifted, failures = (
            given
        )
        emotion, ambient = self._emotion, self._ambient
        silence = gap > self._silence
        if silence:
            ambient.freeze()
        if not act:
            if relief:
                emotion.relieve(number, at, now)
            return emotion.ahead(now), ()
        if prompt > self._long_prompt:
            causes = self.TOLD
        bounded, most = self._bounded, self._failures
        calm = 1.0
        if bounded and failing:
            calm = 1.0 - failing / most if failing < most else 0.0
        emotion.update(number, at, now, causes, felt, shifted, calm, bounded)
        values = emotion.values
        ambient.update(now, values, emotion.undisturbed)
        if shifted:
            ambient.reset()
        baseline, meta, neuron, gate = ambient.baseline, self._meta, self._neuron, self._gate
        field, flow = meta.field, values[FLOW]
        open_ = not bounded or (
            failing < most and not neuron.frustrated(values[FRUSTRATION], baseline, field)
        )
        meta.update(neuron.dominant, silence, pattern, values[FRUSTRATION], flow if open_ else 0.0, failures)
        if open_ and gate.update(flow, baseline[FLOW]):
            neuron.rest()
            return values, (_make(Signal, ("flow_active", gate.intensity, gate.fresh)),)
        gate.close()
        signals = neuron.update(values, baseline, field)
        if neuron.greatest > 0.0 and flow >= self._disruption_flow:
            emotion.disrupt(self._disruption_share * neuron.greatest)
            values = emotion.values
        return values, signals
