"""Why an axis stands where it stands: the pushes that make up its value, the terms of its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.percept import AXES
from core.receptor.readings import AxisReading, Why
from core.report.formatting import fraction, span
from tui.draw.gauge import meter, sparkline
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.curves import Points
from tui.widgets.main.axis import axis_history, axis_marks, firing_sign, trend_arrow

if TYPE_CHECKING:
    from core.timeline.timeline import Timeline

_BESIDE = 72
"""From this width on two axes stand side by side."""


def axis_details(recording: Timeline | None, view: View, width: int, height: int) -> list[Line]:
    """Every axis as a block: bar, past, threshold in its terms, and what the value is made of."""
    axes = view.frame.receptor.axes
    columns = 2 if width >= _BESIDE else 1
    rows = -(-len(axes) // columns)
    room, tall = (width - 3 * (columns - 1)) // columns, max(2, height // rows)
    made: list[Line] = []
    curves, seconds = axis_history(recording, view, axes if tall >= 6 else (), room - 21)
    tops = {axis.axis: points for axis, points in zip(axes, curves, strict=False)}
    for row in range(rows):
        blocks = [
            _block(view, axis, tops.get(axis.axis, []), seconds, room, tall)
            for axis in axes[row * columns : row * columns + columns]
        ]
        for number in range(tall):
            line: Line = []
            for block in blocks:
                line += ([("   ", "plain")] if line else []) + padded(block[number], room)
            made.append(line)
    return made


def padded(line: Line, width: int) -> Line:
    """A line brought to exactly `width` cells."""
    made: Line = []
    left = width
    for text, ink in line:
        piece = text if len(text) <= left else fit(text, left)
        made.append((piece, ink))
        left -= len(piece)
        if left <= 0:
            return made
    return [*made, (" " * left, "plain")]


def _block(
    view: View, axis: AxisReading, points: Points, seconds: float, width: int, tall: int
) -> list[Line]:
    word = axis.axis.ljust(11)
    room = max(1, width - 21)
    made: list[Line] = [
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
        made.append([(fit(f"last {span(seconds)}", 12), "quiet"), (sparkline(points), f"{axis.axis}-dim")])
    blank = 1 if tall >= 5 else 0
    for why in view.why:
        if why.axis == axis.axis:
            made += _pushes(why, view, width, tall - len(made) - blank)
    return (made + [[] for _ in range(tall)])[:tall]


def _terms(axis: AxisReading, learned: float, width: int) -> Line:
    """Baseline, offset and field as the sum they are, whether a bound cut it, and what was learned."""
    total = axis.baseline + axis.offset + axis.field
    cut = (
        " =" if abs(total - axis.threshold) < 0.0005 else ", least:" if total < axis.threshold else ", most:"
    )
    minus = "-" if axis.field < 0 else "+"
    figures = fraction(axis.baseline), fraction(axis.offset), minus, fraction(abs(axis.field))
    words = "{} normal {} + offset {} {} field {}".format(cut, *figures)
    head = "fires at "
    if len(words) + 13 > width:
        head, words = "at ", "{} {} + {} {} {}".format(cut, *figures)
    said: Line = [(head, "quiet"), (fraction(axis.threshold), "threshold"), (words, "quiet")]
    if learned:
        said.append((f", learned {learned:+.2f}", "quiet"))
    return said


def _pushes(why: Why, view: View, width: int, most: int) -> list[Line]:
    """What each kind of impulse still adds, strongest first, and how long ago it last came."""
    if most <= 0:
        return []
    sums: dict[str, float] = {}
    times: dict[str, int] = {}
    latest: dict[str, float] = {}
    for push in why.contributions:
        sums[push.source] = sums.get(push.source, 0.0) + push.amount
        times[push.source] = times.get(push.source, 0) + 1
        latest.setdefault(push.source, push.at)
    entries = [
        (amount, source.replace("_", " "), times[source], span(max(0.0, view.at - latest[source])))
        for source, amount in sums.items()
        if abs(amount) >= 0.0005
    ]
    if abs(why.older) >= 0.0005:
        entries.append((why.older, "all before", 0, ""))
    entries.sort(key=lambda entry: -abs(entry[0]))
    if not entries:
        return [[("nothing is moving it", "quiet")]]
    shown = entries if len(entries) <= most else entries[: most - 1]
    made: list[Line] = []
    for amount, source, count, ago in shown:
        again = f" x{count}" if count > 1 else ""
        when = f"{ago} ago" if ago else ""
        made.append(
            [
                (f"  {'+' if amount >= 0 else '-'}{fraction(abs(amount))} ", why.axis),
                (fit(source + again, max(0, width - 8 - len(when))), "plain"),
                (when, "quiet"),
            ]
        )
    if len(shown) < len(entries):
        rest = sum(entry[0] for entry in entries[most - 1 :])
        more = len(entries) - len(shown)
        made.append([(f"  {'+' if rest >= 0 else '-'}{fraction(abs(rest))} and {more} more kinds", "quiet")])
    return made
