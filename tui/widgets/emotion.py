"""The emotion axes: where each stands, where it would fire, what is normal, where it is going."""

from __future__ import annotations

from typing import ClassVar

from core.receptor.readings import AxisReading
from tui.view import View
from tui.widgets.panel import Line, Panel, bar, fit
from tui.words import fraction

_NAME = 12


class EmotionAxes(Panel):
    """Five axes and the auxiliary sixth as bars with threshold and baseline."""

    TITLE: ClassVar[str] = "Emotion"
    HELP: ClassVar[str] = """\
## Emotion

Each axis is a value from 0 to 1 that impulses raise and time lets fade.
`╎` is the threshold at which a signal fires, `·` the baseline: what is normal for this agent.
`●` fires, `○` is held although below the threshold, `▲` `▼` rising or falling.
Enter shows which events make up each value.
"""

    def lines(self, view: View, width: int, height: int) -> list[Line]:
        axes = view.frame.receptor.axes
        return [self._axis(axis, width) for axis in axes[: max(1, height)]]

    def _axis(self, axis: AxisReading, width: int) -> Line:
        room = max(4, width - _NAME - 9)
        line: Line = [(fit(axis.axis, _NAME), "strong" if axis.firing else "plain")]
        line += _gauge(axis, room)
        line.append((f" {fraction(axis.value):>4} ", "strong" if axis.firing else "plain"))
        glyph = ("○" if axis.held else "●") if axis.firing else " "
        line.append((glyph, "alert" if axis.firing else "quiet"))
        trend = "▲" if axis.trend > 0.02 else "▼" if axis.trend < -0.02 else " "
        line.append((f" {trend}", "quiet"))
        return line


def _gauge(axis: AxisReading, room: int) -> Line:
    """The bar with the two marks laid over it."""
    cells = list(bar(axis.value, room))
    inks = [axis.axis if cell != " " else "quiet" for cell in cells]
    for value, glyph, ink in ((axis.baseline, "·", "baseline"), (axis.threshold, "╎", "threshold")):
        place = min(room - 1, int(value * room))
        if cells[place] == " " or glyph == "╎":
            cells[place], inks[place] = glyph, ink
    line: Line = []
    for cell, ink in zip(cells, inks, strict=True):
        if line and line[-1][1] == ink:
            line[-1] = (line[-1][0] + cell, ink)
        else:
            line.append((cell, ink))
    return line
