"""Tokens spent while nothing new comes of it."""

from __future__ import annotations

from core.engine.state import Stateful, keyed, tupled
from core.events import ToolUse, Turn
from core.settings.loops import BurnSettings

_CONFIRMING = frozenset(("test", "build", "commit"))


class Burn(Stateful):
    """Weigh what was spent since the last progress against a limit.

    Progress is an edit never made before, a result never seen before, or a passing test, build or commit.
    Spending faster than is usual for this agent lowers the limit.
    """

    __slots__ = (
        "_at",
        "_cached",
        "_guessed",
        "_hurry",
        "_kept",
        "_memory",
        "_open",
        "_pause",
        "_seconds",
        "_seen",
        "_tokens",
        "_turns",
        "_untold",
        "_usual",
        "_waiting",
        "began_at",
        "burning",
        "limit",
        "spent",
        "turns",
    )
    STATE = (
        keyed("_seen"),
        tupled("_usual"),
        "_at",
        "_seconds",
        "_open",
        "_guessed",
        "spent",
        "turns",
        "began_at",
        "burning",
        "limit",
    )
    tool = ""
    """All of them spend."""

    def __init__(self, settings: BurnSettings) -> None:
        self._tokens = float(settings.tokens)
        self._turns = settings.turns
        self._untold = float(settings.untold)
        self._cached = settings.cached
        self._waiting = settings.waiting
        self._hurry = settings.hurry
        self._memory = settings.memory
        self._pause = settings.pause
        self._kept = settings.kept
        self._seen: dict[int, None] = {}
        self._usual = (0.0, 0.0)
        self._at = -1.0
        self._guessed = False
        self._rest(0.0)

    def _rest(self, at: float) -> None:
        self._seconds = 0.0
        self._open = 0.0
        self.spent = 0.0
        self.turns = 0
        self.began_at = at
        self.burning = False
        self.limit = self._tokens

    def progress(self, at: float) -> None:
        """Something came of it: count from zero, and learn what spending is usual."""
        self._pass(at)
        if self.turns:
            spent, seconds = self._usual
            keep = self._memory
            self._usual = (
                keep * spent + self.spent + self._open,
                keep * seconds + self._seconds,
            )
        self._rest(at)

    def turn(self, event: Turn) -> None:
        """The model answered: its tokens count once it is known what it did."""
        self._pass(event.at)
        self.spent += self._open
        told = event.input_tokens + event.cache_write + event.output_tokens + self._cached * event.cache_read
        self._guessed = not told
        self._open = told or self._untold
        self.turns += 1
        self._judge()

    def use(self, event: ToolUse, counted: bool) -> None:
        """A tool was used: progress, waiting, or tokens for nothing."""
        waits = event.purpose == "wait"
        if event.outcome == "success" and self._new(event, waits):
            self.progress(event.at)
            return
        self._pass(event.at)
        if counted and not (waits and self._guessed):
            self.spent += self._open * (self._waiting if waits else 1.0)
        self._open = 0.0
        self._judge()

    def _new(self, event: ToolUse, waits: bool) -> bool:
        if event.purpose in _CONFIRMING:
            return True
        key = event.result if waits or (event.result and event.action != "file_edit") else event.call
        seen = self._seen
        if not key or key in seen:
            return False
        if len(seen) >= self._kept:
            del seen[next(iter(seen))]
        seen[key] = None
        return True

    def _pass(self, at: float) -> None:
        gap = at - self._at
        if self._at >= 0.0 and gap > 0.0:
            self._seconds += gap if gap < self._pause else self._pause
        if gap > 0.0:
            self._at = at

    def _judge(self) -> None:
        if self.turns < self._turns or self.spent * self._hurry < self._tokens:
            return
        self.limit = self._tokens / self._speed()
        self.burning = self.spent >= self.limit

    def _speed(self) -> float:
        """How many times faster than usual tokens go, from 1 to the setting."""
        usual, seconds = self._usual
        if usual <= 0.0 or seconds <= 0.0 or self._seconds <= 0.0:
            return 1.0
        ratio = (self.spent / self._seconds) / (usual / seconds)
        return min(self._hurry, max(1.0, ratio))

    @property
    def count(self) -> int:
        """Tokens spent since the last progress."""
        return int(self.spent)

    def restored(self) -> None:
        """Keep no more than these settings let it."""
        while len(self._seen) > self._kept:
            del self._seen[next(iter(self._seen))]
