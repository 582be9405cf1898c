"""Settings of the receptor: from tool uses to emotion axes and signals."""

from __future__ import annotations

from typing import Any

from core.settings.impulses import ImpulseSettings
from core.settings.trust import PERSON, PROJECT, Trust, higher, lower
from core.settings.tunable import Group, part, tunable


class TimeSettings(Group, project=PERSON):
    """How much of the wall clock the agent lives through."""

    cap: float = tunable(30.0, "Longest pause that still counts in full.", ge=1, le=120, step=1, unit="s")
    freeze: float = tunable(
        180.0, "A pause longer than this counts as no time at all.", ge=120, le=3600, step=10, unit="s"
    )


class CommanderSettings(Group, project=PERSON):
    """How behaviour is read off the windows."""

    short: float = tunable(
        300.0, "Length of the window that shows spikes.", ge=30, le=1200, step=30, unit="s"
    )
    medium: float = tunable(
        1800.0, "Length of the window that shows trends.", ge=1200, le=14400, step=60, unit="s"
    )
    most: int = tunable(2000, "Most events a window remembers.", ge=50, le=20000, step=50)
    stagnation_events: int = tunable(
        3, "With this many events or fewer there is too little to tell.", ge=0, le=20, step=1
    )
    wandering_share: float = tunable(
        0.70, "Share of reads and searches that is wandering, without edits.", ge=0, le=1, step=0.05
    )
    exploration_share: float = tunable(
        0.60, "Share of reads and searches that is exploration.", ge=0, le=1, step=0.05
    )
    implementation_share: float = tunable(
        0.50, "Share of edits and shell commands that is implementation.", ge=0, le=1, step=0.05
    )
    delegation_share: float = tunable(
        0.30, "Share of delegated work that is delegation.", ge=0, le=1, step=0.05
    )
    trial_alternations: int = tunable(
        3,
        "Changes between editing and running that make a trial loop.",
        ge=1,
        le=20,
        step=1,
        project=lower(2),
    )
    trial_failures: float = tunable(
        0.40,
        "Share of failing commands above which the loop is trial and error.",
        ge=0,
        le=1,
        step=0.05,
        project=lower(0.2),
    )
    recovery_passes: int = tunable(
        2, "Passing commands in a row that end trial and error.", ge=1, le=20, step=1
    )


def _half_life(default: float) -> Any:
    return tunable(default, "Time in which the axis falls to half.", ge=1, le=7200, step=1, unit="s")


class HalfLifeSettings(Group, project=PERSON):
    """How long each feeling lasts."""

    frustration: float = _half_life(180.0)
    seeking: float = _half_life(240.0)
    confidence: float = _half_life(120.0)
    fatigue: float = _half_life(600.0)
    flow: float = _half_life(180.0)
    uncertainty: float = _half_life(180.0)


class EmotionSettings(Group, project=PERSON):
    """How the axes rise, fall and are explained."""

    half_life: HalfLifeSettings = part(HalfLifeSettings, "How long each feeling lasts.")
    long_prompt: int = tunable(
        100,
        "A prompt longer than this tells the agent something.",
        ge=0,
        le=10000,
        step=10,
        unit="characters",
    )
    compaction_relief: float = tunable(
        0.5, "Share of fatigue that a compaction takes away.", ge=0, le=1, step=0.05
    )
    disruption_flow: float = tunable(0.3, "Least flow that a signal can disrupt.", ge=0, le=1, step=0.05)
    disruption_share: float = tunable(
        0.3, "Flow lost for each unit of the strongest signal.", ge=0, le=1, step=0.05
    )
    remembered: int = tunable(64, "Recent events that can explain a value.", ge=4, le=1000, step=4)
    trend: float = tunable(
        60.0, "How far back a trend looks.", ge=5, le=1800, step=5, unit="s", project=PROJECT
    )


def _offset(default: float, project: Trust) -> Any:
    return tunable(
        default,
        "How far above normal the axis must rise to fire.",
        ge=0,
        le=0.8,
        step=0.01,
        project=project,
    )


class OffsetSettings(Group, project=PERSON):
    """How far from normal is worth a signal."""

    frustration: float = _offset(0.20, lower(0.1))
    seeking: float = _offset(0.25, lower(0.1))
    confidence: float = _offset(0.25, higher(0.5))
    fatigue: float = _offset(0.30, lower(0.15))
    flow: float = _offset(0.20, higher(0.5))
    uncertainty: float = _offset(0.25, lower(0.1))


class AmbientSettings(Group, project=PERSON):
    """What is normal for this agent."""

    time_constant: float = tunable(
        600.0, "How slowly the baseline follows.", ge=30, le=7200, step=30, unit="s"
    )
    silence: float = tunable(
        180.0,
        "A pause longer than this freezes the baseline and starts a new one.",
        ge=30,
        le=3600,
        step=10,
        unit="s",
    )
    low: float = tunable(0.25, "No threshold lies below this.", ge=0, le=0.5, step=0.01)
    high: float = tunable(0.85, "No threshold lies above this.", ge=0.5, le=1, step=0.01)
    ignore_below: float = tunable(
        0.05, "Values under this do not move the baseline, fatigue excepted.", ge=0, le=0.5, step=0.01
    )
    offset: OffsetSettings = part(OffsetSettings, "How far from normal is worth a signal.")


class FlowSettings(Group, project=PERSON):
    """What keeps flow from being claimed while things fail."""

    failures: float = tunable(
        0.40,
        "Share of failing commands from which on nothing flows.",
        ge=0.05,
        le=1,
        step=0.05,
    )


class FactSettings(Group, project=PERSON):
    """How far back the plain figures look."""

    recent: int = tunable(10, "Actions among which stale results and edits are counted.", ge=3, le=50, step=1)
    failing: int = tunable(20, "Actions among which failures are counted.", ge=3, le=100, step=1)
    kept: int = tunable(256, "Calls, results, errors and files remembered, of each.", ge=16, le=4096, step=16)


class NeuronSettings(Group, project=PERSON):
    """How a signal is held."""

    hold: int = tunable(3, "Events in a row below the threshold that release a signal.", ge=1, le=20, step=1)


class MetaSettings(Group, project=PERSON):
    """How the meta neuron bends the thresholds of the others."""

    buffer: int = tunable(20, "Firings it looks back on.", ge=4, le=200, step=1)
    danger: float = tunable(
        0.5, "Share of frustrated events above which the place is dangerous.", ge=0.4, le=1, step=0.05
    )
    safe: float = tunable(0.2, "Share of frustrated events below which it is safe.", ge=0, le=0.4, step=0.05)
    step: float = tunable(0.03, "How far a threshold moves with one event.", ge=0, le=0.2, step=0.01)
    bound: float = tunable(0.15, "How far a threshold may be moved at most.", ge=0, le=0.5, step=0.01)
    stuck_frustration: float = tunable(
        0.25, "Frustration above which trial and error is being stuck.", ge=0, le=1, step=0.05
    )
    stuck_failures: int = tunable(
        6, "Failures in a row, of any kind, that are being stuck; 0 for never.", ge=0, le=100, step=1
    )
    deep_flow: float = tunable(0.15, "Flow above which implementation is deep work.", ge=0, le=1, step=0.05)


class HeatmapSettings(Group, project=PERSON):
    """Where the work is."""

    fade: float = tunable(
        7200.0, "Work time in which a visit fades to about a third.", ge=60, le=86400, step=60, unit="s"
    )
    top: int = tunable(5, "Hottest paths that make up the context.", ge=2, le=20, step=1)
    shift: float = tunable(
        0.5, "Share of new hot paths above which the context has shifted.", ge=0, le=0.95, step=0.05
    )
    leaves: int = tunable(512, "Most paths remembered; the coldest are forgotten.", ge=32, le=20000, step=32)
    targets: int = tunable(32, "Most paths of one tool use that are looked at.", ge=1, le=1000, step=1)
    shown: int = tunable(40, "Hottest paths the tree shows.", ge=5, le=500, step=5, project=PROJECT)


class ReceptorSettings(Group, project=PERSON):
    """From tool uses to emotion axes and signals."""

    time: TimeSettings = part(TimeSettings, "How much of the wall clock the agent lives through.")
    commander: CommanderSettings = part(CommanderSettings, "How behaviour is read off the windows.")
    emotion: EmotionSettings = part(EmotionSettings, "How the axes rise, fall and are explained.")
    impulse: ImpulseSettings = part(ImpulseSettings, "What every kind of event adds to the axes.")
    ambient: AmbientSettings = part(AmbientSettings, "What is normal for this agent.")
    flow: FlowSettings = part(FlowSettings, "What keeps flow from being claimed while things fail.")
    facts: FactSettings = part(FactSettings, "How far back the plain figures look.")
    neuron: NeuronSettings = part(NeuronSettings, "How a signal is held.")
    meta: MetaSettings = part(MetaSettings, "How the meta neuron bends thresholds.")
    heatmap: HeatmapSettings = part(HeatmapSettings, "Where the work is.")
