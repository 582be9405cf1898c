"""A small line drawing as SVG: axes, curves, names; the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import log
from typing import NamedTuple

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 150, 34, 40
_BUDGET_STYLES = ("#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#0e7490", "#6b7280")
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "4 2", "1 4")


class Curve(NamedTuple):
    """One named line."""

    name: str
    points: Sequence[tuple[float, float]]
    dots: bool = False  # Whether each point is marked, as what was measured is.


class Axis(NamedTuple):
    """One direction of the drawing: its ends, and where it is marked."""

    low: float
    high: float
    marks: Sequence[float]
    logarithmic: bool = False
    name: Callable[[float], str] = "{:g}".format

    def share(self, value: float) -> float:
        """How far along the axis a value lies, 0 to 1."""
        if self.logarithmic:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def quarters(low: float, high: float) -> Axis:
    """An even axis, marked at its quarters."""
    return Axis(low, high, [low + (high - low) * share for share in (0.0, 0.25, 0.5, 0.75, 1.0)])


def plot(title: str, across: str, up: str, curves: Sequence[Curve], most: float = 1.0, least: float = 0.0) -> str:
    """All curves over one pair of even axes."""
    right = max(x for curve in curves for x, _ in curve.points)
    return draw(title, (across, quarters(0.0, right)), (up, quarters(least, most)), curves)


def draw(title: str, across: tuple[str, Axis], up: tuple[str, Axis], curves: Sequence[Curve]) -> str:
    """All curves over one pair of named axes."""
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    (x_name, x_axis), (y_name, y_axis) = across, up

    def left(x: float) -> float:
        return _LEFT + width * x_axis.share(x)

    def top(y: float) -> float:
        return _TOP + height * (1 - y_axis.share(y))

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-weight="bold" fill="#111827">{escape(title)}</text>',
    ]
    for mark in y_axis.marks:
        y = top(mark)
        lines.append(f'<path d="M{_LEFT},{y:.1f}H{_LEFT + width}" stroke="#e5e7eb"/>')
        lines.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#374151">{y_axis.name(mark)}</text>'
        )
    lines.extend(
        f'<text x="{left(mark):.1f}" y="{_TOP + height + 16}" text-anchor="middle" '
        f'fill="#374151">{x_axis.name(mark)}</text>'
        for mark in x_axis.marks
    )
    lines.append(
        f'<text x="{_LEFT + width / 2:.1f}" y="{_HEIGHT - 6}" text-anchor="middle" '
        f'fill="#374151">{escape(x_name)}</text>'
    )
    lines.append(
        f'<text x="14" y="{_TOP + height / 2:.1f}" fill="#374151" text-anchor="middle" '
        f'transform="rotate(-90 14 {_TOP + height / 2:.1f})">{escape(y_name)}</text>'
    )
    for number, curve in enumerate(curves):
        ink, dash = _BUDGET_STYLES[number % len(_BUDGET_STYLES)], _DASHES[number % len(_DASHES)]
        places = [(f"{left(x):.1f}", f"{top(y):.1f}") for x, y in curve.points]
        style = f'fill="none" stroke="{ink}" stroke-width="2" stroke-dasharray="{dash}"'
        lines.append(f'<polyline points="{" ".join(",".join(place) for place in places)}" {style}/>')
        if curve.dots:
            lines.extend(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{ink}"/>' for x, y in places)
        y = _TOP + 8 + 18 * number
        lines.append(f'<path d="M{_LEFT + width + 12},{y}h22" {style}/>')
        lines.append(f'<text x="{_LEFT + width + 40}" y="{y + 4}" fill="#111827">{escape(curve.name)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"
