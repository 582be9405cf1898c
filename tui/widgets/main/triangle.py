"""The neuron triangle: the flow gate, the emotion neuron, the meta neuron, and what passes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from core.engine.percept import AXES, AgentState, Axis
from core.engine.receptor.readings import AxisReading, GateReading, HeldReading, MetaReading
from core.report.event_words import firing_words
from core.report.formatting import count, fraction, span
from tui.draw.line import Canvas, Line, first_fit, fit
from tui.feed.view import View
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import MAIN_AXES
from tui.widgets.main.emotion import SHORT, loudness

if TYPE_CHECKING:
    from core.timeline.timeline import Timeline


_BACK = 400  # Events back to which the newest firing is looked for.
GLOW_EVENTS = 8
GLOW_SECONDS = 30.0  # A firing glows until it is older than both, however fast the film runs.
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
    events: int  # Events since then.
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
    state: AgentState  # As the header tells it.
    heard: tuple[AxisReading, ...]  # The axes B listens to.
    fired: Fired | None

    @property
    def lit(self) -> Axis | None:
        """The axis in whose colour B is lit."""
        if self.gate.firing or not self.held:
            return None
        return max(self.held, key=lambda reading: reading.intensity).axis

    @property
    def most_bent_axis(self) -> Axis | None:
        """The axis whose threshold C bends most."""
        axis, amount = max(self.meta.field, key=lambda entry: abs(entry[1]))
        return axis if amount else None

    @property
    def glowing(self) -> Axis | None:
        """The axis that was fired a moment ago: flow by A, any other by B."""
        return self.fired.axis if self.fired is not None and self.fired.glows else None


def neurons(view: View, recording: Timeline | None) -> Neurons:
    """Gather them from the frame, and the newest firing from the recording."""
    receptor = view.frame.receptor
    heard = tuple(axis for axis in receptor.axes if axis.axis != "flow")
    fired = _newest_firing(view, recording)
    return Neurons(receptor.gate, receptor.held, receptor.meta, view.frame.story.state, heard, fired)


def _newest_firing(view: View, recording: Timeline | None) -> Fired | None:
    if recording is None:
        for name, _, fresh in view.frame.receptor.signals:
            if fresh:
                return Fired(name, MAIN_AXES[name], 0, 0.0)
        return None
    for mark in reversed(recording.marks.between(max(0, view.index - _BACK), view.index)):
        if mark.kind == "signal" and mark.agent == view.agent:
            axis = MAIN_AXES.get(mark.name, "frustration")
            return Fired(mark.name, axis, view.index - 1 - mark.place, max(0.0, view.at - mark.at))
    return None


def margin(value: float, threshold: float) -> str:
    """How far a value is above its threshold, or what it lacks."""
    over = value - threshold
    return f"{fraction(over)} above" if over >= 0 else f"{fraction(-over)} below"


def gate_line(now: Neurons) -> Line:
    """A in a line."""
    gate = now.gate
    lamp = ("●", "flow") if gate.firing else ("○", "quiet")
    effect = " mutes B" if gate.firing else ""
    return [lamp, (f" {margin(gate.value, gate.threshold)}", "strong" if gate.firing else "plain"), (effect, "flow")]


def standing_lines(now: Neurons) -> list[Line]:
    """Return B's signals, each with its value, its threshold and the events to its release."""
    if now.gate.firing:
        return [[("○ ", "quiet"), ("muted", "quiet"), (" by A", "quiet")]]
    by_axis = {axis.axis: axis for axis in now.heard}
    lines: list[Line] = []
    for reading in sorted(now.held, key=lambda reading: -reading.intensity):
        axis = by_axis[reading.axis]
        name: Line = [("○ " if axis.held else "● ", axis.axis), (f"{SHORT[axis.axis]:<6}", "strong")]
        left: Line = [(f" {axis.release}", "quiet"), (" left", "quiet")] if axis.held else []
        lines.append([*name, (f" {margin(axis.value, axis.threshold)}", "plain"), *left])
    return lines


def waiting_lines(now: Neurons) -> list[Line]:
    """Return the two axes nearest to firing; all values are in the panel of the axes."""
    quiet = sorted((axis for axis in now.heard if not axis.firing), key=loudness, reverse=True)[:2]
    return [[(f"· {SHORT[axis.axis]:<6} ", "quiet"), (margin(axis.value, axis.threshold), "quiet")] for axis in quiet]


def field_pieces(now: Neurons) -> list[tuple[str, str]]:
    """Return the amounts that C adds to the thresholds of B, the largest first; zeros are left out."""
    field = sorted((entry for entry in now.meta.field if entry[1]), key=lambda entry: -abs(entry[1]))
    return [(f"{SHORT[axis]} {'-' if amount < 0 else '+'}{fraction(abs(amount))}", axis) for axis, amount in field]


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


_LETTERS = {axis: SHORT[axis][:1] for axis in AXES}


class NeuronTriangle(Panel):
    """Three nodes that light up, and the two edges that act."""

    TITLE: ClassVar[str] = "Neuron triangle"
    CLICKS_ZOOM = True

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        now = neurons(view, self.recording)
        if height < 6 or width < 26:
            return _listed(now, width, height)
        return _neuron_lines(now, width, min(height, 20))

    def details(self, view: View, width: int, height: int) -> list[Line]:
        now = neurons(view, self.recording)
        if width < 50 or height < 18:
            return self.lines(view, width, height)
        lines = _neuron_lines(now, width, min(20, height - 8))
        below: list[Line] = [[], *_memory(now, width), [], *_acting(now)]
        if len(lines) + len(below) > height:
            below = [line for line in below if line]
        return [*lines, *below][:height]


def _title(now: Neurons, node: str) -> tuple[str, str]:
    glow = now.glowing
    if node == "A":
        return " A flow gate ", "flow-tag" if glow == "flow" else "flow" if now.gate.firing else "strong"
    if node == "B":
        return " B emotion ", f"{glow}-tag" if glow and glow != "flow" else now.lit or "strong"
    return " C meta ", "strong"


def _state(now: Neurons) -> tuple[str, str]:
    return now.state.replace("_", " "), STATE_STYLES[now.state]


def _listed(now: Neurons, width: int, height: int) -> list[Line]:
    """One line a node, for small panels."""
    standing = standing_lines(now) or [[("○ quiet", "quiet")]]
    word, ink = _state(now)
    field = field_pieces(now)
    lines: list[Line] = [
        [("A ", "strong"), *gate_line(now)],
        [("B ", "strong"), *standing[0]],
        [("C ", "strong"), (f"◉ {word} ", ink), *_spaced(field, width - len(word) - 5)],
        fired_line(now, width),
        *([("  ", "plain"), *line] for line in [*standing[1:], *waiting_lines(now)]),
    ]
    return lines[:height]


def _spaced(pieces: list[tuple[str, str]], room: int) -> Line:
    """As many pieces as fit, a space between."""
    line: Line = []
    for text, ink in pieces:
        room -= len(text) + 1
        if room < 0:
            break
        line += [(" ", "plain"), (text, ink)]
    return line


def _neuron_lines(now: Neurons, width: int, height: int) -> list[Line]:
    """The three nodes, and the edges between them."""
    canvas = Canvas(width, height)
    middle = width // 2
    head = 1 if height < 8 else 2
    base = head + max(2, min(4, height - head - 5), min(8, height - head - 8))
    name, ink = _title(now, "A")
    lamp = f"{'●' if now.gate.firing else '○'} {margin(now.gate.value, now.gate.threshold)}"
    value_ink = "flow" if now.gate.firing else "plain"
    if head == 1:
        end = canvas.put(middle - (len(name) + len(lamp)) // 2, 0, name, ink)
        canvas.put(end + 1, 0, lamp, value_ink)
    else:
        canvas.put(middle - len(name) // 2, 0, name, ink)
        canvas.put(middle - len(lamp) // 2, 1, lamp, value_ink)
    start, end_b, end_c = (middle - 4.5, float(head)), (5.0, base - 0.3), (width - 4.5, base - 0.3)
    _edge(canvas, start, end_b, "flow" if now.gate.firing else "")
    _edge(canvas, (middle + 4.5, float(head)), end_c, "")
    if now.gate.firing:
        _mutes(canvas, start, end_b)
    name, ink = _title(now, "B")
    end = canvas.put(0, base, name, ink)
    name, ink = _title(now, "C")
    canvas.put(width - len(name), base, name, ink)
    most_bent_axis, room = now.most_bent_axis, width - end - len(name) - 2
    canvas.put(end + 1, base, ("◀" + "━" * (room - 1)) if most_bent_axis else "┄" * room, most_bent_axis or "quiet")
    _columns(canvas, now, base + 1)
    return canvas.lines()


def _columns(canvas: Canvas, now: Neurons, top: int) -> None:
    """Under B what it hears, under C its state, its field and its hit rates; last the newest firing."""
    width, last = canvas.width, canvas.height - 1
    word, ink = _state(now)
    right: Line = [(f"◉ {word}", ink), *field_pieces(now)]
    if canvas.height - top - len(right) > 2:
        right += [("last 20", "quiet"), *rate_pieces(now)] if rate_pieces(now) else []
    left = standing_lines(now) or [[("○ quiet", "quiet")]]
    left += waiting_lines(now)
    for number in range(max(1, last - top)):
        text, ink = right[number] if number < len(right) else ("", "plain")
        canvas.put(width - len(text) - 1, top + number, text, ink)
        if number < len(left):
            canvas.lay(1, top + number, left[number], width - len(text) - 4)
    if last > top:
        canvas.lay(1, last, fired_line(now, width - 2), width - 1)


def _edge(canvas: Canvas, start: tuple[float, float], end: tuple[float, float], ink: str) -> None:
    """A full line where something acts, a faint one where not."""
    canvas.stroke(start, end, ink or "quiet", 1 if ink else 3)


def _mutes(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Say what the edge from A does, on its first line with room to the left of it."""
    slope = (end[0] - start[0]) / (end[1] - start[1])
    for row in range(int(start[1]), int(end[1]) + 1):
        reach = int(start[0] + slope * (min(row + 1.0, end[1]) - start[1]))
        if (reach >= len("mutes ") and row > start[1]) or reach > 2 * len("mutes "):
            canvas.put(reach - len("mutes "), row, "mutes", "flow")
            return


def _memory(now: Neurons, width: int) -> list[Line]:
    """C's memory: the strongest axis of each of the last events, oldest first."""
    line: Line = [("last 20      ", "quiet")]
    for axis in now.meta.buffer[-max(1, width - 30) :]:
        line.append((_LETTERS[axis], axis) if axis else ("·", "quiet"))
    rates: Line = [(fit("share", 13), "quiet")]
    for axis, rate in now.meta.rates:
        rates += [(f"{SHORT[axis]} ", "quiet"), (f"{rate:.0%}  ", axis if rate else "quiet")]
    field: Line = [(fit("field", 13), "quiet")]
    for axis, amount in now.meta.field:
        field += [(f"{SHORT[axis]} ", "quiet"), (f"{amount:+.2f}  ", axis if amount else "quiet")]
    return [line, rates, field]


def _acting(now: Neurons) -> list[Line]:
    """Say what acts on what, in sentences."""
    gate = now.gate
    below = f"A does not fire: flow is {max(0.0, gate.threshold - gate.value):.2f} below its threshold."
    lines: list[Line] = [[("A fires, so B is muted." if gate.firing else below, "plain")]]
    for axis, amount in now.meta.field:
        if amount:
            how = "lowers" if amount < 0 else "raises"
            lines.append([(f"C {how} the threshold of {axis} by {abs(amount):.2f}.", "plain")])
    return lines if len(lines) > 1 else [*lines, [("C does not change B's thresholds.", "plain")]]
