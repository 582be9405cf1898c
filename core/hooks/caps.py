"""Spending caps: how much of each is used, and whether a session may go on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from core.settings.advice import CapSettings


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
