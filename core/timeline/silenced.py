"""Crossings that were not heard: by the flow gate, or because the method that answers them still rested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.engine.percept import AGENT_STATES, AXES, SIGNALS, Axis
from core.engine.response.learned import NOTHING_LEARNED, cue_deltas
from core.engine.response.method import CUE_OF, Cue, Method
from core.engine.response.rules import built_in
from core.events import Event
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.recorded_marks import Mark
from core.timeline.track import Track

Column = NDArray[np.float32]
BY_FLOW = "silenced by flow"
BY_COOLDOWN = "silenced by cooldown"

_SAME = 1e-6
_FLOW = 1 << SIGNALS.index("flow_active")
_SIGNAL_OF: dict[Axis, str] = {
    "frustration": "frustration_spike",
    "seeking": "seeking_spike",
    "uncertainty": "uncertainty_spike",
    "confidence": "confidence_sustained",
    "fatigue": "fatigue_rising",
}


def silenced_by_flow(tracks: Mapping[str, Track], events: Sequence[Event]) -> list[Mark]:
    """Each rise of an axis to its threshold while the flow gate let nothing else be sent."""
    found: list[Mark] = []
    for agent, track in tracks.items():
        flows = np.bitwise_and(track.columns.column("signals").astype(np.int64), _FLOW) != 0
        if not flows.any():
            continue
        for axis, signal in _SIGNAL_OF.items():
            above = track.columns.column(f"axis.{axis}") - track.columns.column(f"threshold.{axis}")
            crossed = flows & (above >= 0.0)
            rises = np.flatnonzero(crossed & ~np.concatenate(([False], crossed[:-1])))
            for row in rises.tolist():
                place = track.indexes[row]
                found.append(
                    Mark(place, events[place].at, agent, "signal", f"{signal} {BY_FLOW}", float(above[row]))
                )
    return sorted(found)


def silenced_by_cooldown(
    tracks: Mapping[str, Track], marks: Sequence[Mark], settings: Settings, initial: InitialState
) -> list[Mark]:
    """Each fresh signal that a method would have answered, had it not fired so short a time before."""
    rules = initial.rules or built_in()
    scoring = settings.response.scoring
    deltas = cue_deltas(initial.learned or NOTHING_LEARNED, settings.response.learning)
    listening: dict[Cue, list[Method]] = {}
    for method in rules.methods:
        for cue in method.trigger.signals if method.enabled else ():
            listening.setdefault(cue, []).append(method)
    last: dict[tuple[str, str], float] = {}
    fired = {(mark.place, mark.name) for mark in marks if mark.kind in ("method", "background")}
    found: list[Mark] = []
    for mark in marks:
        if mark.kind in ("method", "background"):
            last[mark.agent, mark.name] = mark.at
        elif mark.kind == "signal" and mark.name in CUE_OF:
            cue = CUE_OF[mark.name]
            scale = 1.0 + deltas.get(cue, 0.0)
            state = _state(tracks.get(mark.agent), mark.place)
            for method in listening.get(cue, ()):
                trigger = method.trigger
                before = last.get((mark.agent, method.id))
                if before is None or (mark.place, method.id) in fired:
                    continue
                rests = mark.at - before < getattr(scoring, trigger.frequency)
                match = 1.0 if state in trigger.states else scoring.mismatch
                score = match * mark.weight * trigger.sensitivity * scale
                least = scoring.threshold if trigger.threshold is None else trigger.threshold
                if rests and score > least:
                    name = f"{method.id} {BY_COOLDOWN}"
                    found.append(Mark(mark.place, mark.at, mark.agent, "signal", name, score))
    return found


def _state(track: Track | None, place: int) -> str:
    if track is None:
        return "idle"
    code = track.columns.column("state", track.row(place), track.row(place) + 1)
    return AGENT_STATES[int(code[0])] if len(code) else "idle"


def why_unchanged(
    edits: Sequence[str],
    tracks: Mapping[str, Track],
    silenced: Sequence[Mark],
    agent: str,
    lowest: float = 0.0,
) -> list[str]:
    """Sentences that say why edits of an axis changed nothing that fired.

    `lowest` is the threshold below which no setting of an offset can bring an axis.
    """
    told: list[str] = []
    for axis in dict.fromkeys(name.rpartition(".")[2] for name in edits):
        if axis not in AXES or agent not in tracks:
            continue
        mine = [mark for mark in silenced if mark.name.startswith(axis) and mark.agent == agent]
        if mine:
            rises = "1 crossing" if len(mine) == 1 else f"{len(mine)} crossings"
            told.append(
                f"nothing changed, because flow silenced {rises} of {axis}: "
                "while the agent flows nothing else is sent"
            )
            continue
        columns = tracks[agent].columns
        values, thresholds = columns.column(f"axis.{axis}"), columns.column(f"threshold.{axis}")
        if len(values):
            told.append(f"nothing changed, because {_unmoved(axis, values, thresholds, lowest)}")
    return told


def _unmoved(axis: str, values: Column, thresholds: Column, lowest: float) -> str:
    """Why a threshold that was moved is crossed no otherwise."""
    nearest = int((values - thresholds).argmax())
    if values[nearest] >= thresholds[nearest]:
        return (
            f"{axis} crosses its threshold where it did before; the threshold lies between "
            f"{float(thresholds.min()):.2f} and {float(thresholds.max()):.2f}"
        )
    said = f"{axis} never reaches its threshold: at most {values[nearest]:.2f} of {thresholds[nearest]:.2f}"
    if thresholds[nearest] <= lowest + _SAME:
        said += f", and receptor.ambient.low lets no threshold fall below {lowest:.2f}"
    return said
