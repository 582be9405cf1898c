"""The emotion axes: value, threshold, normal level, and trend of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from core.engine.percept import AXES, Axis, spell_name
from core.engine.receptor.readings import AxisReading, Why
from core.report.formatting import fraction, span
from tui.draw.line import BUMP, Line, Mark, fit, meter, sparkline
from tui.feed.view import View
from tui.widgets.common.card import Points, curves
from tui.widgets.common.panel import Panel

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
    """Return the normal level, and the level from which the axis fires."""
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


_BESIDE = 72  # From this width on two axes stand side by side.


def axis_details(recording: Timeline | None, view: View, width: int, height: int) -> list[Line]:
    """Every axis as a block: bar, past, threshold in its terms, and what the value is made of."""
    axes = view.frame.receptor.axes
    columns = 2 if width >= _BESIDE else 1
    rows = -(-len(axes) // columns)
    room, tall = (width - 3 * (columns - 1)) // columns, max(2, height // rows)
    lines: list[Line] = []
    curves, seconds = axis_history(recording, view, axes if tall >= 6 else (), room - 21)
    tops = {axis.axis: points for axis, points in zip(axes, curves, strict=False)}
    for row in range(rows):
        here = axes[row * columns : row * columns + columns]
        blocks = [_block(view, axis, tops.get(axis.axis, []), seconds, room, tall) for axis in here]
        for number in range(tall):
            line: Line = []
            for block in blocks:
                line += ([("   ", "plain")] if line else []) + padded(block[number], room)
            lines.append(line)
    return lines


def padded(line: Line, width: int) -> Line:
    """A line brought to exactly `width` cells."""
    result: Line = []
    left = width
    for text, ink in line:
        piece = text if len(text) <= left else fit(text, left)
        result.append((piece, ink))
        left -= len(piece)
        if left <= 0:
            return result
    return [*result, (" " * left, "plain")]


def _block(view: View, axis: AxisReading, points: Points, seconds: float, width: int, tall: int) -> list[Line]:
    word = axis.axis.ljust(11)
    room = max(1, width - 21)
    lines: list[Line] = [
        [
            (word if not axis.firing else axis.axis, f"{axis.axis}-tag" if axis.firing else "strong"),
            (" " * (12 - (len(axis.axis) if axis.firing else 11)), "plain"),
            *meter(axis.value, room, axis.axis, axis_marks(axis), thin=axis.axis == AXES[-1]),
            (f" {fraction(axis.value):>4} ", "strong"),
            (trend_arrow(axis), "quiet"),
            (firing_sign(axis), axis.axis),
        ],
        _terms(axis, dict(view.frame.response.learned).get(axis.axis, 0.0), width),
    ]
    if points:
        lines.append([(fit(f"last {span(seconds)}", 12), "quiet"), (sparkline(points), f"{axis.axis}-dim")])
    blank = 1 if tall >= 5 else 0
    for why in view.why:
        if why.axis == axis.axis:
            lines += _pushes(why, view, width, tall - len(lines) - blank)
    return (lines + [[] for _ in range(tall)])[:tall]


def _terms(axis: AxisReading, learned: float, width: int) -> Line:
    """Baseline, offset and field as the sum they are, whether a bound cut it, and what was learned."""
    total = axis.baseline + axis.offset + axis.field
    bound = ", the minimum:" if total < axis.threshold else ", the maximum:"
    cut = " =" if abs(total - axis.threshold) < 0.0005 else bound
    minus = "-" if axis.field < 0 else "+"
    figures = fraction(axis.baseline), fraction(axis.offset), minus, fraction(abs(axis.field))
    words = "{} normal {} + offset {} {} field {}".format(cut, *figures)
    head = "fires at " if len(words) + 13 <= width else "at "
    if len(words) + 6 > width:
        words = "{} {} + {} {} {}".format(cut, *figures)
    line: Line = [(head, "quiet"), (fraction(axis.threshold), "threshold"), (words, "quiet")]
    if learned:
        line.append((f", learned {learned:+.2f}", "quiet"))
    return line


def _pushes(why: Why, view: View, width: int, most: int) -> Iterator[Line]:
    """Return what each kind of impulse still adds, strongest first, and how long ago it last occurred."""
    if most <= 0:
        return
    sums: dict[str, float] = {}
    times: dict[str, int] = {}
    latest: dict[str, float] = {}
    for push in why.contributions:
        sums[push.source] = sums.get(push.source, 0.0) + push.amount
        times[push.source] = times.get(push.source, 0) + 1
        latest.setdefault(push.source, push.at)
    entries = [
        (amount, spell_name(source), times[source], span(max(0.0, view.at - latest[source])))
        for source, amount in sums.items()
        if abs(amount) >= 0.0005
    ]
    if abs(why.older) >= 0.0005:
        entries.append((why.older, "all before", 0, ""))
    entries.sort(key=lambda entry: -abs(entry[0]))
    if not entries:
        yield [("nothing moves it now", "quiet")]
        return
    visible = entries if len(entries) <= most else entries[: most - 1]
    for amount, source, count, ago in visible:
        again = f" x{count}" if count > 1 else ""
        when = f"{ago} ago" if ago else ""
        pushed = f"  {'+' if amount >= 0 else '-'}{fraction(abs(amount))} "
        yield [(pushed, why.axis), (fit(source + again, max(0, width - 8 - len(when))), "plain"), (when, "quiet")]
    if len(visible) < len(entries):
        rest = sum(entry[0] for entry in entries[most - 1 :])
        more = len(entries) - len(visible)
        yield [(f"  {'+' if rest >= 0 else '-'}{fraction(abs(rest))} and {more} more kinds", "quiet")]


_NAME = 13
_WIDE = 34  # From this width on names are written out.
_CELL = 12  # Width of an axis where only a figure fits.


class EmotionAxes(Panel):
    """Five axes and the auxiliary sixth as bars with threshold and baseline."""

    TITLE: ClassVar[str] = "Emotion"
    CLICKS_ZOOM = True

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        axes = view.frame.receptor.axes
        if height < 5:
            return _grid(axes, width, height)
        if height < len(axes):
            return [_row(axis, width) for axis in loudest_axes(axes, height)]
        rows = [_row(axis, width) for axis in axes]
        spare = height - len(axes)
        if spare < len(axes):
            gap: list[Line] = [[]] if spare > 1 else []
            return rows + gap + self._history_lines(view, loudest_axes(axes, spare - len(gap)), width)
        lines: list[Line] = []
        blank: list[Line] = [[]] if height >= 3 * len(axes) - 1 else []
        for row, curve in zip(rows, self._history_lines(view, axes, width, under=True), strict=True):
            lines += [row, curve, *blank]
        return lines[:height]

    def details(self, view: View, width: int, height: int) -> list[Line]:
        return axis_details(self.recording, view, width, height)

    def _history_lines(self, view: View, axes: Sequence[AxisReading], width: int, *, under: bool = False) -> list[Line]:
        """The last while of some axes; under its own bar a name need not be said again."""
        name, tail = (_NAME, 9) if width >= _WIDE else (7, 8)
        room = max(1, width - name - tail)
        histories, seconds = axis_history(self.recording, view, axes, room)
        lines: list[Line] = []
        for axis, points in zip(axes, histories, strict=True):
            label = axis.axis if name == _NAME else SHORT[axis.axis]
            if under:
                level = fraction(axis.threshold)
                label = f"fires {level}" if name == _NAME else f"at {level}"
            span_label = f" {span(seconds)}" if points and not lines else ""
            curve = fit(sparkline(points), room), f"{axis.axis}-dim"
            lines.append([(fit(label, name), "quiet"), curve, (fit(span_label, tail), "quiet")])
        return lines


def _label(axis: AxisReading, word: str, width: int, ink: str) -> Line:
    """The name of an axis, on a ground of its own colour while it fires."""
    if axis.firing:
        return [(word, f"{axis.axis}-tag"), (" " * (width - len(word)), "plain")]
    return [(fit(word, width), ink)]


def _row(axis: AxisReading, width: int) -> Line:
    wide = width >= _WIDE
    name = _NAME if wide else 7
    ink = "quiet" if axis.axis == AXES[-1] and not axis.firing else "plain"
    figure = f" {fraction(axis.value):>4}{' ' if wide else ''}"
    room = max(1, width - name - len(figure) - 3)
    strong = "strong" if axis.firing else ink
    return [
        *_label(axis, axis.axis if wide else SHORT[axis.axis], name, ink),
        *meter(axis.value, room, axis.axis, axis_marks(axis), thin=axis.axis == AXES[-1]),
        (figure, strong),
        (trend_arrow(axis), "quiet"),
        (firing_sign(axis), axis.axis),
    ]


def _grid(axes: tuple[AxisReading, ...], width: int, height: int) -> list[Line]:
    """Several axes a line, for panels of a few lines."""
    columns = max(1, min(-(-len(axes) // max(1, height)), width // _CELL))
    loudest = loudest_axes(axes, columns * max(1, height))
    rows = -(-len(loudest) // columns)
    room = width // columns
    lines: list[Line] = [[] for _ in range(rows)]
    for number, axis in enumerate(loudest):
        lines[number % rows] += [*_row(axis, room - 2), ("  ", "plain")] if room >= 30 else _cell(axis, room)
    return lines


def _cell(axis: AxisReading, room: int) -> Line:
    return [
        *_label(axis, SHORT[axis.axis], 6, "plain"),
        (sparkline([axis.value]), axis.axis),
        (f"{fraction(axis.value):>3}"[:3], "strong" if axis.firing else "plain"),
        (fit(firing_sign(axis)[0] if axis.firing else trend_arrow(axis), max(1, room - 10)), axis.axis),
    ]
