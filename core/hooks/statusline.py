"""One line on how a session stands, for the agent's own screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.agents.loose import amount, table, whole_number
from core.live.hook_signs import StatusFigures
from core.live.status import GLYPHS

_AT_WORK = 1


def figures_of(value: Mapping[str, Any]) -> StatusFigures:
    """What only a status line knows: the true window, its use, the cost, the limits."""
    window, limits = table(value.get("context_window")), table(value.get("rate_limits"))
    cost = amount(table(value.get("cost")).get("total_cost_usd"))
    five, seven = table(limits.get("five_hour")), table(limits.get("seven_day"))
    return StatusFigures(
        window=whole_number(window.get("context_window_size")) or 0,
        context=_share(window.get("used_percentage")),
        cost=None if cost is None else round(cost, 4),
        five_hour=_share(five.get("used_percentage")),
        five_hour_ends=amount(five.get("resets_at")),
        seven_day=_share(seven.get("used_percentage")),
        seven_day_ends=amount(seven.get("resets_at")),
    )


def figures_json(figures: StatusFigures) -> dict[str, Any]:
    """The figures that somebody told, by name."""
    told = {"window": figures.window or None, "context_used": figures.context, "cost": figures.cost}
    told |= {"five_hour": figures.five_hour, "seven_day": figures.seven_day}
    return {name: value for name, value in told.items() if value is not None}


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1000:
        return None
    return round(value / 100.0, 4)


def status_text(status: Mapping[str, Any]) -> str:
    """The line: status and why where it matters, the axis that matters, context, cost, limits."""
    parts: list[str] = []
    word = status.get("status")
    if isinstance(word, str):
        why = f" ({status['why']})" if status.get("level", 0) > _AT_WORK and status.get("why") else ""
        parts.append(f"{GLYPHS.get(word, '●')} {word}{why}")  # type: ignore[call-overload]
        parts.append(f"{status.get('axis')} {status.get('value', 0.0):.2f}")
    used = status.get("context_used", status.get("context"))
    if isinstance(used, float) and used > 0:
        parts.append(f"context {100 * used:.0f}%")
    if isinstance(cost := status.get("cost"), float) and cost > 0:
        parts.append(f"${cost:.2f}")
    if isinstance(limit := status.get("five_hour"), float):
        parts.append(f"5h {100 * limit:.0f}%")
    if isinstance(cap := status.get("cap"), str) and cap:
        parts.append(cap)
    return " · ".join(parts)
