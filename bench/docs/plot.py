"""A small line drawing as SVG: axes, curves, names; the same bytes for the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 640, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 150, 34, 40
_INKS = ("#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#0e7490", "#6b7280")
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "4 2", "1 4")


class Curve(NamedTuple):
    """One named line."""

    name: str
    points: Sequence[tuple[float, float]]


def plot(
    title: str, across: str, up: str, curves: Sequence[Curve], most: float = 1.0, least: float = 0.0
) -> str:
    """All curves over one pair of axes."""
    right = max(x for curve in curves for x, _ in curve.points)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> str:
        return f"{_LEFT + width * x / right:.1f},{_TOP + height * (1 - (y - least) / (most - least)):.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-weight="bold" fill="#111827">{escape(title)}</text>',
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        level = least + (most - least) * share
        y = _TOP + height * (1 - share)
        lines.append(f'<path d="M{_LEFT},{y:.1f}H{_LEFT + width}" stroke="#e5e7eb"/>')
        lines.append(
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#374151">{level:g}</text>'
        )
        x = _LEFT + width * share
        lines.append(
            f'<text x="{x:.1f}" y="{_TOP + height + 16}" text-anchor="middle" '
            f'fill="#374151">{right * share:g}</text>'
        )
    lines.append(
        f'<text x="{_LEFT + width / 2:.1f}" y="{_HEIGHT - 6}" text-anchor="middle" '
        f'fill="#374151">{escape(across)}</text>'
    )
    lines.append(
        f'<text x="14" y="{_TOP + height / 2:.1f}" fill="#374151" text-anchor="middle" '
        f'transform="rotate(-90 14 {_TOP + height / 2:.1f})">{escape(up)}</text>'
    )
    for number, curve in enumerate(curves):
        ink, dash = _INKS[number % len(_INKS)], _DASHES[number % len(_DASHES)]
        points = " ".join(place(x, y) for x, y in curve.points)
        style = f'fill="none" stroke="{ink}" stroke-width="2" stroke-dasharray="{dash}"'
        lines.append(f'<polyline points="{points}" {style}/>')
        y = _TOP + 8 + 18 * number
        lines.append(f'<path d="M{_LEFT + width + 12},{y}h22" {style}/>')
        lines.append(f'<text x="{_LEFT + width + 40}" y="{y + 4}" fill="#111827">{escape(curve.name)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"
