"""Plan limits, spending caps, and the status line that shows them in the agent's own screen."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from core.agents.values import amount, table, whole_number
from core.events import Turn
from core.live.hook_signs import StatusFigures
from core.live.status import GLYPHS
from core.report.plan_limits import PlanLimit
from core.settings.response import CapSettings
from core.store import atomic

_AT_WORK = 1
_DAY = 86_400.0
_STRETCH = 600.0  # Seconds over which the use of tokens is compared with the usual one.
_FEW_STRETCHES = 12  # Stretches below which nobody can say what is usual.
_PAUSE = 2.0  # Seconds between two writes of what was used today.


def figures_of(value: Mapping[str, Any]) -> StatusFigures:
    """Read the window, its use and the cost from the input of a status line."""
    window = table(value.get("context_window"))
    cost = amount(table(value.get("cost")).get("total_cost_usd"))
    used = amount(window.get("used_percentage"))
    return StatusFigures(
        window=whole_number(window.get("context_window_size")) or 0,
        context=round(used / 100.0, 4) if used is not None and 0 <= used <= 1000 else None,
        cost=None if cost is None else round(cost, 4),
    )


def figures_json(figures: StatusFigures, limits: Iterable[PlanLimit] = ()) -> dict[str, Any]:
    """The figures that a status line reported, and the limits of the plan, by name."""
    reported: dict[str, Any] = {"window": figures.window or None, "context_used": figures.context, "cost": figures.cost}
    for limit in limits:
        name = {300: "five_hour", 10_080: "seven_day"}.get(limit.minutes, limit.name)
        reported |= {
            name: limit.used,
            f"{name}_resets": limit.resets_at,
            f"{name}_runs_out": limit.runs_out_at,
            f"{name}_words": limit.words(brief=not limit.urgent),
        }
    return {name: value for name, value in reported.items() if value is not None}


def status_text(status: Mapping[str, Any]) -> str:
    """The line: status and why if it matters, the strongest axis, context, cost, limits and caps."""
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
    parts += [words for name, words in status.items() if name.endswith("_words")]
    if isinstance(cap := status.get("cap"), str) and cap and cap not in parts:
        parts.append(cap)
    return " · ".join(parts)


class Spent(NamedTuple):
    """Dollars and tokens."""

    dollars: float = 0.0
    tokens: int = 0

    @classmethod
    def sum(cls, uses: Iterable[Spent]) -> Spent:
        """Add up several."""
        several = list(uses)
        return cls(sum(one.dollars for one in several), sum(one.tokens for one in several))


class SessionUse:
    """Dollars and tokens of one session: in total, by day, and by ten-minute stretch."""

    def __init__(self) -> None:
        self.total = Spent()
        self._days: dict[int, Spent] = {}
        self.stretches: dict[int, int] = {}  # Tokens by stretch.

    def update(self, turn: Turn) -> None:
        """Count one answer of the model."""
        used = Spent(turn.cost or 0.0, turn.context_tokens + turn.output_tokens)
        day, stretch = int(turn.at // _DAY), int(turn.at // _STRETCH)
        self.total = Spent.sum((self.total, used))
        self._days[day] = Spent.sum((self.on_day(turn.at), used))
        self.stretches[stretch] = self.stretches.get(stretch, 0) + used.tokens

    def on_day(self, at: float) -> Spent:
        """Use on the day (UTC) of a time."""
        return self._days.get(int(at // _DAY), Spent())


def burn_rate(session: SessionUse, uses: Iterable[SessionUse], at: float) -> float:
    """Token use of a session in multiples of the usual; 0 if too little is known."""
    now = int(at // _STRETCH)
    usual = [tokens for use in uses for stretch, tokens in use.stretches.items() if stretch < now and tokens]
    if len(usual) < _FEW_STRETCHES:
        return 0.0
    return session.stretches.get(now, 0) / median(usual)


class DayLedger:
    """Use of each session today, in a file so that a daily cap survives a restart."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._day = -1
        self._uses: dict[str, Spent] = {}
        self._written = self._changed = 0.0
        try:
            self._day, uses = json.loads(path.read_bytes())
            self._uses = {name: Spent(float(use[0]), int(use[1])) for name, use in uses.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self._day, self._uses = -1, {}

    def update(self, at: float, uses: Mapping[str, Spent]) -> Spent:
        """Take in what sessions used on the day of a time, and return the sum of all."""
        day = int(at // _DAY)
        if day != self._day:
            self._day, self._uses = day, {}
        changes = {name: use for name, use in uses.items() if use > self._uses.get(name, Spent())}
        if changes:
            self._uses |= changes
            self._changed = at
        return Spent.sum(self._uses.values())

    def write(self, at: float, *, at_once: bool = False) -> None:
        """Write the file if something changed, and not too often."""
        if self._changed <= self._written:
            return
        if at_once or at - self._written >= _PAUSE:
            self._written = max(at, self._changed)
            with contextlib.suppress(OSError):
                atomic.replace(self._path, json.dumps([self._day, self._uses]).encode())


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
        """Let a session continue beyond every cap."""
        self._lifted.add(session)

    def use(self, session: Spent, today: Spent) -> CapUse | None:
        """The tightest cap; None if none is set."""
        caps = self._settings
        dollars, tokens = today
        table = (
            (session.dollars, caps.session_dollars, "${:,.2f} of ${:,.2f} for this session"),
            (session.tokens, caps.session_tokens, "{:,} of {:,} tokens for this session"),
            (dollars, caps.all_dollars, "${:,.2f} of ${:,.2f} for all sessions today"),
            (tokens, caps.all_tokens, "{:,} of {:,} tokens for all sessions today"),
        )
        uses = [CapUse(used / cap, words.format(used, cap)) for used, cap, words in table if cap]
        return max(uses, default=None)

    def warning(self, use: CapUse | None, burn: float = 0.0) -> str:
        """A warning that a cap is near, or that tokens go much faster than usual; blank otherwise."""
        if use is None or use.share < self._settings.warn:
            fast = self._settings.burn and burn >= self._settings.burn
            return f"token use {burn:.0f}x your normal" if fast else ""
        return f"{'cap reached' if use.share >= 1 else 'near the cap'}: {use.words}"

    def reached(self, session: str, use: CapUse | None) -> str:
        """Return why a session may not continue; empty if it may."""
        if use is None or use.share < 1 or session in self._lifted:
            return ""
        return f"cap reached: {use.words}; only the person can lift it"
