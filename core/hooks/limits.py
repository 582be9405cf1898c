"""Plan limits, spending caps, and the status line that shows them in the agent's own screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from core.agents.values import amount, table, whole_number
from core.live.hook_signs import StatusFigures
from core.live.status import GLYPHS
from core.settings.advice import CapSettings

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


class Spent(NamedTuple):
    """What a session used."""

    dollars: float = 0.0
    tokens: int = 0


class CapUse(NamedTuple):
    """The cap that is nearest to its end."""

    share: float
    words: str


class Caps:
    """Caps on sessions and days; a lifted one holds again after nooscope is started anew."""

    def __init__(self, settings: CapSettings) -> None:
        self._settings = settings
        self._lifted: set[str] = set()

    @property
    def stops(self) -> bool:
        """Whether the turn ends at a cap, rather than each call being held."""
        return self._settings.reached == "stop"

    def lift(self, session: str) -> None:
        """Let a session go on beyond every cap."""
        self._lifted.add(session)

    def use(self, one: Spent, today: Iterable[Spent]) -> CapUse | None:
        """The tightest cap; None if none is set."""
        caps = self._settings
        sums = list(today)
        dollars, tokens = sum(each.dollars for each in sums), sum(each.tokens for each in sums)
        table = (
            (one.dollars, caps.session_dollars, "${:,.2f} of ${:,.2f} for this session"),
            (one.tokens, caps.session_tokens, "{:,} of {:,} tokens for this session"),
            (dollars, caps.all_dollars, "${:,.2f} of ${:,.2f} for all sessions today"),
            (tokens, caps.all_tokens, "{:,} of {:,} tokens for all sessions today"),
        )
        uses = [CapUse(used / cap, words.format(used, cap)) for used, cap, words in table if cap]
        return max(uses, default=None)

    def warning(self, use: CapUse | None) -> str:
        """A warning from a share of the cap on; blank below it."""
        if use is None or use.share < self._settings.warn:
            return ""
        return f"{'cap reached' if use.share >= 1 else 'near the cap'}: {use.words}"

    def reached(self, session: str, use: CapUse | None) -> str:
        """Why a session may not go on; blank if it may."""
        if use is None or use.share < 1 or session in self._lifted:
            return ""
        return f"cap reached: {use.words}; only the person can lift it"
