"""Figures of the docs: each runs the mechanism it shows, on the default settings."""

from __future__ import annotations

from collections.abc import Callable

from bench.docs.plot import Curve, plot
from core.engine.affect.affect import Modulator
from core.engine.governor.machine import Machine
from core.engine.governor.profile import PUBLISHED, chosen
from core.engine.mind.salience import Habituation
from core.engine.mind.sleep import SleepPressure
from core.engine.percept import AXES
from core.engine.receptor import Receptor
from core.engine.receptor.emotion import EmotionEngine
from core.events import ToolUse
from core.settings import Settings

_DEFAULTS = Settings()


def fading() -> str:
    """One impulse of one on each axis, and how time lets it fade."""
    engine = EmotionEngine(_DEFAULTS.receptor.emotion, _DEFAULTS.receptor.impulse)
    engine.values = (1.0,) * 6
    seen = [(float(at), engine.ahead(float(at))) for at in range(0, 1201, 20)]
    curves = [Curve(axis, [(at, values[position]) for at, values in seen]) for position, axis in enumerate(AXES)]
    return plot("How long a feeling lasts", "seconds of work", "left of it", curves)


def looping() -> str:
    """An agent that edits and fails, edits and fails, then succeeds."""
    receptor = Receptor(_DEFAULTS.receptor)
    place = AXES.index("frustration")
    values: list[tuple[float, float]] = []
    thresholds: list[tuple[float, float]] = []
    for number in range(60):
        at, failing = 1000.0 + 15.0 * number, number < 40
        if number % 2 == 0:
            event = ToolUse(at=at, action="file_edit", tool="Edit", targets=("src/a.py",))
        else:
            event = ToolUse(at=at, action="shell_exec", tool="Bash", outcome="failure" if failing else "success")
        receptor.step(event)
        reading = receptor.read().axes[place]
        values.append((15.0 * number, reading.value))
        thresholds.append((15.0 * number, reading.threshold))
    curves = [Curve("frustration", values), Curve("its threshold", thresholds)]
    return plot("Edit, run, fail: twenty rounds, then success", "seconds", "value", curves)


def habituation() -> str:
    """Novelty of a pattern that comes again and again, then stays away for a while."""
    mechanism = Habituation(_DEFAULTS.mind.habituation)
    seen = [(float(number), mechanism.observe(b"x" * 16, number)) for number in range(60)]
    back = [(float(number), mechanism.observe(b"x" * 16, 4000 + number)) for number in range(60)]
    curves = [Curve("first time", seen), Curve("4000 ticks later", back)]
    return plot("Novelty wears off", "exposures", "novelty left", curves)


def sleep() -> str:
    """Sleep pressure with an empty, a half full and a full context."""
    curves = []
    for name, context in (("context full", 1.0), ("half full", 0.5), ("empty", 0.0)):
        pressure = SleepPressure(_DEFAULTS.mind.sleep)
        points = [(0.0, 0.0)]
        for tick in range(1, 81):
            pressure.update(context)
            points.append((float(tick), pressure.pressure))
        curves.append(Curve(name, points))
    return plot("The need to consolidate", "theta ticks", "pressure", curves)


def governor() -> str:
    """Effort of the profiles over a dozen good steps and the failures that follow, until each halts."""
    curves = []
    for name, profile in {"observing": chosen(_DEFAULTS.governor), **PUBLISHED}.items():
        machine = Machine(profile)
        points = [(0.0, machine.budgets.effort)]
        while machine.state != "HALTED" and machine.steps < 60:
            good = machine.steps < 12
            machine.step(0.5 if good else -0.5, 0.2, 0.0 if good else 0.2, 0.0 if good else 0.5)
            points.append((float(machine.steps), machine.brink[0]))
        curves.append(Curve(name, points))
    return plot("Effort: a dozen good steps, then failures, until the halt", "steps", "effort", curves)


def affect() -> str:
    """What three of the eight parameters do over the range of the field that drives them."""
    modulator = Modulator(_DEFAULTS.affect.modulation)
    shown: dict[str, list[tuple[float, float]]] = {"escalation": [], "promotion": [], "acceptance": []}
    for step in range(51):
        deviation = step / 100.0
        bent = modulator.bend((deviation, 0.0, 0.0, 0.0, deviation, deviation, 0.0), False)
        shown["escalation"].append((deviation, bent.escalation_threshold))
        shown["promotion"].append((deviation, bent.promotion_threshold))
        shown["acceptance"].append((deviation, bent.mutation_acceptance))
    curves = [Curve(name, points) for name, points in shown.items()]
    return plot("What caution bends", "deviation of caution and escalation from rest", "threshold", curves)


# By the name of the file.
FIGURES: dict[str, Callable[[], str]] = {
    "fading": fading,
    "looping": looping,
    "habituation": habituation,
    "sleep": sleep,
    "governor": governor,
    "affect": affect,
}
