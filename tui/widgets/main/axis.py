"""One axis of emotion in glyphs: where it is going, whether it fires, its two marks, its past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.engine.percept import AXES, Axis
from core.engine.receptor.readings import AxisReading
from tui.draw.gauge import BUMP, Mark
from tui.feed.view import View
from tui.widgets.common.card import Points, curves

if TYPE_CHECKING:
    from core.timeline.timeline import Timeline

SHORT: dict[Axis, str] = {
    "frustration": "frust",
    "seeking": "seek",
    "confidence": "conf",
    "fatigue": "fatig",
    "flow": "flow",
    "uncertainty": "uncert",
}
WINDOW = 1800.0  # Seconds of the past that a curve shows.
_STEADY = 0.02


def loudness(axis: AxisReading) -> tuple[bool, float]:
    """How much an axis asks to be seen."""
    return axis.firing, axis.value - axis.threshold


def loudest_axes(axes: Sequence[AxisReading], count: int) -> list[AxisReading]:
    """The axes that must be seen where not all can be, in their own order; the sixth only if it fires."""
    ranked = sorted(axes, key=lambda axis: (axis.firing, axis.axis != AXES[-1], loudness(axis)), reverse=True)
    names = {axis.axis for axis in ranked[: max(0, count)]}
    return [axis for axis in axes if axis.axis in names]


def firing_sign(axis: AxisReading) -> str:
    """Whether it fires or is held, and for how many events."""
    if not axis.firing:
        return "  "
    return f"○{min(axis.release, 9) or ' '}" if axis.held else "● "


def trend_arrow(axis: AxisReading) -> str:
    """Where it is going."""
    return "▲" if axis.trend > _STEADY else "▼" if axis.trend < -_STEADY else " "


def axis_marks(axis: AxisReading) -> tuple[Mark, Mark]:
    """What is normal, and from where on it fires."""
    return (axis.threshold, "│", "threshold"), (axis.baseline, BUMP, "baseline")


def axis_history(
    recording: Timeline | None, view: View, axes: Sequence[AxisReading], room: int
) -> tuple[list[Points], float]:
    """For each axis a curve that ends with the value shown, and how many seconds they cover."""
    track = None if recording is None else recording.tracks.get(view.agent)
    if track is None or room <= 0:
        return [[] for _ in axes], 0.0
    until = max(0.0, view.at - track.origin)
    seconds = min(WINDOW, max(60.0, until))
    stop = track.row(view.index - 1) + 1
    history = curves(track, [f"axis.{axis.axis}" for axis in axes], stop, until - seconds, until, room)
    for points, axis in zip(history, axes, strict=True):
        points[-1] = axis.value
    return history, seconds
