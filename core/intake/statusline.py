"""One line on how a session stands, for the agent's own screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.agents.loose import amount, table, whole_number
from core.live.status import GLYPHS

_AT_WORK = 1


def told_by(value: Mapping[str, Any]) -> dict[str, Any]:
    """What only a status line knows: the true window, its use, the cost, the limits."""
    window, limits = table(value.get("context_window")), table(value.get("rate_limits"))
    told: dict[str, Any] = {}
    if size := whole_number(window.get("context_window_size")):
        told["window"] = size
    if (used := _share(window.get("used_percentage"))) is not None:
        told["context_used"] = used
    if (cost := amount(table(value.get("cost")).get("total_cost_usd"))) is not None:
        told["cost"] = round(cost, 4)
    for name in ("five_hour", "seven_day"):
        if (share := _share(table(limits.get(name)).get("used_percentage"))) is not None:
            told[name] = share
    return told


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
    return " · ".join(parts)
