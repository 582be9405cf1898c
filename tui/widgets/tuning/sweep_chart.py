"""Firings against the value of one setting: a flat curve means little risk, a steep one much."""

from __future__ import annotations

from typing import ClassVar

from textual.reactive import reactive

from core.report.event_words import firing_words
from core.report.formatting import count
from core.settings.layers import tunables
from core.timeline.sweep import Sweep, SweepPoint
from tui.draw.gauge import Canvas
from tui.draw.line import Line, fit
from tui.feed.view import View
from tui.widgets.common.panel import Panel
from tui.widgets.common.timeline_cells import bar_cells
from tui.widgets.tuning.settings_list import number_text

_LABEL = 6


def sweep_lines(sweep: Sweep, width: int, height: int) -> list[Line]:
    """Bars over the range of values, the present one marked; agreement with labels as lines of its own."""
    points = sweep.points
    if not points:
        return [[("running …", "quiet")]]
    labelled = sweep.labelled > 0
    rows = max(2, height - (4 if labelled else 3))
    room = max(8, width - _LABEL)
    canvas = Canvas(width, rows + 2)
    heights = _heights(sweep)
    top = max(1, max(heights.values()))
    canvas.put(0, 0, f"{top:>{_LABEL - 1}}", "quiet")
    canvas.put(0, rows - 1, f"{0:>{_LABEL - 1}}", "quiet")
    low, high = float(points[0].value), float(points[-1].value)
    now = _cell(float(sweep.present), low, high, room)
    nearest = _nearest(points, low, high, room)
    for cell in range(room):
        point = nearest[cell]
        ink = "live" if cell == now else "heat-2" if sweep.moving else "heat-1"
        for row, [bar] in enumerate(bar_cells([round(heights[point.value] / top * rows * 8)], rows, ink, "▁")):
            canvas.put(_LABEL + cell, row, *bar)
    if 0 <= now < room:
        canvas.put(_LABEL + now, rows, "▲", "live")
    said_low, said_high = number_text(low), number_text(high)
    canvas.put(_LABEL, rows + 1, said_low, "quiet")
    canvas.put(_LABEL + room - len(said_high), rows + 1, said_high, "quiet")
    mark = f"{number_text(float(sweep.present))} now"
    place = max(len(said_low) + 1, min(now - len(mark) // 2, room - len(said_high) - len(mark) - 1))
    if place + len(mark) < room:
        canvas.put(_LABEL + place, rows + 1, mark, "live")
    lines = canvas.lines()
    if labelled:
        lines.append(_agreement(sweep, nearest[max(0, min(now, room - 1))]))
    lines.append([(fit(_sweep_sentence(sweep), width), "quiet")])
    return lines


def _heights(sweep: Sweep) -> dict[float, int]:
    """Firings of what moves with the value; of everything where nothing does."""
    moving = sweep.moving
    return {
        point.value: sum(point.names.get(name, 0) for name in moving) if moving else point.fired
        for point in sweep.points
    }


def _agreement(sweep: Sweep, here: SweepPoint) -> Line:
    best = max(sweep.points, key=lambda point: _f1(point))
    return [
        ("labels ", "quiet"),
        (f"precision {_share(here.score.precision)} recall {_share(here.score.recall)} now", "live"),
        (f" · best at {number_text(float(best.value))}: ", "quiet"),
        (f"{_share(best.score.precision)} and {_share(best.score.recall)}", "strong"),
    ]


def _f1(point: SweepPoint) -> float:
    precision, recall = point.score.precision or 0.0, point.score.recall or 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".removeprefix("0") if value < 1 else "1.0"


def _sweep_sentence(sweep: Sweep) -> str:
    """Describe the chart in words."""
    if len(sweep.points) > 1 and not sweep.moving:
        return f"{count(sweep.points[0].fired, sweep.what)} at every value"
    heights = _heights(sweep)
    values = sorted(heights, key=lambda value: abs(float(value) - float(sweep.present)))
    here = heights[values[0]]
    whole = next(point.fired for point in sweep.points if point.value == values[0])
    many = count(whole, sweep.what) if here == whole else f"{here} of {count(whole, sweep.what)}"
    steep = max((abs(heights[value] - here) for value in values[1:3]), default=0)
    ground = "plateau" if steep <= max(1, here // 20) else "slope" if steep <= here // 3 else "cliff"
    names = ", ".join(firing_words(name) for name in sweep.moving)
    return f"{many} now, on a {ground}: {names}"


def _cell(value: float, low: float, high: float, room: int) -> int:
    return round((value - low) / (high - low) * (room - 1)) if high > low else 0


def _nearest(points: tuple[SweepPoint, ...], low: float, high: float, room: int) -> list[SweepPoint]:
    nearest: list[SweepPoint] = []
    for cell in range(room):
        value = low + (high - low) * cell / max(1, room - 1)
        nearest.append(min(points, key=lambda point: abs(float(point.value) - value)))
    return nearest


class SweepChart(Panel):
    """The chart of the setting under the cursor."""

    TITLE: ClassVar[str] = "Sweep"

    sweep: reactive[Sweep | None] = reactive(None)

    def watch_sweep(self, sweep: Sweep | None) -> None:
        if sweep is not None:
            unit = tunables()[sweep.name].unit
            self.border_title = f"Sweep · {sweep.name}{f' in {unit}' if unit else ''}"
        self.redraw()

    def lines(self, view: View, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return [] if self.sweep is None else sweep_lines(self.sweep, width, height)
