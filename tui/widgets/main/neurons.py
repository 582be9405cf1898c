"""What the triangle has to say: who fires, what was fired last, what acts on whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from core.percept import AgentState, Axis
from core.receptor.readings import AxisReading, GateReading, HeldReading, MetaReading
from core.report.event_words import firing_words
from core.report.formatting import count, fraction, span
from tui.draw.line import Line, first_fit
from tui.feed.view import View
from tui.widgets.common.mark_words import SIGNAL_AXES
from tui.widgets.main.axis import SHORT, loudness

if TYPE_CHECKING:
    from core.timeline.timeline import Timeline

_BACK = 400
"""Events back to which the newest firing is looked for."""
GLOW_EVENTS = 8
GLOW_SECONDS = 30.0
"""A firing glows until it is older than both, however fast the film runs."""
STATE_STYLES: dict[AgentState, str] = {
    "idle": "quiet",
    "delegating": "uncertainty",
    "stuck": "frustration",
    "deep_work": "flow",
    "exploring": "seeking",
}


class Fired(NamedTuple):
    """The newest firing of the triangle."""

    name: str
    axis: Axis
    events: int
    """Events since then."""
    seconds: float

    @property
    def glows(self) -> bool:
        """Whether it is new enough to be lit."""
        return self.events < GLOW_EVENTS or self.seconds < GLOW_SECONDS

    def words(self, room: int) -> str:
        """Such as `seeking, 3 events and 12s ago`, in fewer words where room is short."""
        name = firing_words(self.name)
        if self.events == 0 and self.seconds < GLOW_SECONDS:
            return first_fit((f"{name}, just now", f"{name} now", SHORT[self.axis]), room)
        events = count(self.events, "event")
        long_ago = f"{span(self.seconds)} ago"
        past = (f"{events} and {long_ago}", f"{events} ago") if self.events else ()
        tries = [f"{name}, {ago}" for ago in (*past, long_ago)]
        return first_fit((*tries, f"{SHORT[self.axis]}, {long_ago}", SHORT[self.axis]), room)


class Neurons(NamedTuple):
    """A, B and C at one moment."""

    gate: GateReading
    held: tuple[HeldReading, ...]
    meta: MetaReading
    state: AgentState
    """As the header tells it."""
    heard: tuple[AxisReading, ...]
    """The axes B listens to."""
    fired: Fired | None

    @property
    def lit(self) -> Axis | None:
        """The axis in whose colour B is lit."""
        if self.gate.firing or not self.held:
            return None
        return max(self.held, key=lambda held: held.intensity).axis

    @property
    def bent(self) -> Axis | None:
        """The axis whose threshold C bends most."""
        axis, amount = max(self.meta.field, key=lambda entry: abs(entry[1]))
        return axis if amount else None

    @property
    def glow_a(self) -> bool:
        """A fired a moment ago."""
        return self.fired is not None and self.fired.axis == "flow" and self.fired.glows

    @property
    def glow_b(self) -> Axis | None:
        """The axis B fired a moment ago."""
        fired = self.fired
        return fired.axis if fired is not None and fired.axis != "flow" and fired.glows else None


def neurons(view: View, recording: Timeline | None) -> Neurons:
    """Gather them from the frame, and the newest firing from the recording."""
    receptor = view.frame.receptor
    return Neurons(
        receptor.gate,
        receptor.held,
        receptor.meta,
        view.frame.story.state,
        tuple(axis for axis in receptor.axes if axis.axis != "flow"),
        _newest(view, recording),
    )


def _newest(view: View, recording: Timeline | None) -> Fired | None:
    if recording is None:
        for name, _, fresh in view.frame.receptor.signals:
            if fresh:
                return Fired(name, SIGNAL_AXES[name], 0, 0.0)
        return None
    for mark in reversed(recording.marks.between(max(0, view.index - _BACK), view.index)):
        if mark.kind == "signal" and mark.agent == view.agent:
            axis = SIGNAL_AXES.get(mark.name, "frustration")
            return Fired(mark.name, axis, view.index - 1 - mark.place, max(0.0, view.at - mark.at))
    return None


def margin(value: float, threshold: float) -> str:
    """How far a value is above its threshold, or what it lacks."""
    over = value - threshold
    return f"{fraction(over)} over" if over >= 0 else f"{fraction(-over)} short"


def gate_line(now: Neurons) -> Line:
    """A in a line."""
    gate = now.gate
    lamp = ("●", "flow") if gate.firing else ("○", "quiet")
    said = " silences B" if gate.firing else ""
    return [
        lamp,
        (f" {margin(gate.value, gate.threshold)}", "strong" if gate.firing else "plain"),
        (said, "flow"),
    ]


def standing_lines(now: Neurons) -> list[Line]:
    """What B sends, each with its value against its threshold and the events to its release."""
    if now.gate.firing:
        return [[("○ ", "quiet"), ("rests", "quiet"), (" while A fires", "quiet")]]
    by_axis = {axis.axis: axis for axis in now.heard}
    made: list[Line] = []
    for held in sorted(now.held, key=lambda held: -held.intensity):
        axis = by_axis[held.axis]
        made.append(
            [
                ("○ " if axis.held else "● ", axis.axis),
                (f"{SHORT[axis.axis]:<6}", "strong"),
                (f" {margin(axis.value, axis.threshold)}", "plain"),
                (f" {axis.release}" if axis.held else "", "quiet"),
                (" left" if axis.held else "", "quiet"),
            ]
        )
    return made


def waiting_lines(now: Neurons) -> list[Line]:
    """The two axes that are nearest to firing; all values stand in the panel of the axes."""
    quiet = sorted((axis for axis in now.heard if not axis.firing), key=loudness, reverse=True)[:2]
    return [
        [
            (f"· {SHORT[axis.axis]:<6} ", "quiet"),
            (margin(axis.value, axis.threshold), "quiet"),
        ]
        for axis in quiet
    ]


def field_pieces(now: Neurons) -> list[tuple[str, str]]:
    """What C adds to each threshold of B, where it adds anything, the most first."""
    return [
        (f"{SHORT[axis]} {'-' if amount < 0 else '+'}{fraction(abs(amount))}", axis)
        for axis, amount in sorted(now.meta.field, key=lambda entry: -abs(entry[1]))
        if amount
    ]


def rate_pieces(now: Neurons) -> list[tuple[str, str]]:
    """How often each axis led lately, most often first."""
    rates = sorted((entry for entry in now.meta.rates if entry[1]), key=lambda entry: -entry[1])
    return [(f"{SHORT[axis]} {rate:.0%}", axis) for axis, rate in rates]


def fired_line(now: Neurons, width: int) -> Line:
    """The newest firing in words."""
    fired = now.fired
    if fired is None:
        return [("nothing has fired lately", "quiet")]
    lamp = "△ " if fired.axis in ("flow", "confidence") else "▲ "
    return [(lamp, fired.axis), (fired.words(width - 2), fired.axis if fired.glows else "quiet")]
