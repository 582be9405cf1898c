"""Rounds of calls that come again, of one to six calls each."""

from __future__ import annotations

from collections import deque

from core.events import ToolUse
from core.response.loops.loop import subject
from core.settings.loops import ExactSettings, NearSettings
from core.state import Stateful, each, plain_list, queued

PERIODS = 6
_FEWEST = 2
"""Less is not a repeat."""
Key = tuple[int, int, tuple[str, ...]]
"""What makes two calls equal here."""


class Cycle(Stateful):
    """Compare each call with the six before it.

    For every period it counts how many calls in a row equal the one a period earlier.
    """

    __slots__ = (
        "_began",
        "_keys",
        "_longest",
        "_matched",
        "_rounds",
        "_runs",
        "_single",
        "_times",
        "failed",
        "limit",
        "patience",
        "period",
        "subject",
        "tool",
    )
    STATE = (
        each("_keys", tuple, lambda row: (row[0], row[1], tuple(row[2]))),
        queued("_times"),
        plain_list("_runs"),
        plain_list("_began"),
        "period",
        "limit",
        "tool",
        "subject",
        "failed",
    )

    def __init__(self, settings: ExactSettings | NearSettings) -> None:
        self._single = settings.single
        self._rounds = settings.rounds
        self._longest = settings.longest
        self._keys: deque[Key] = deque(maxlen=PERIODS)
        self._times: deque[float] = deque(maxlen=PERIODS)
        self.patience = 0
        """Repeats of one call allowed beyond the limit set, or fewer."""
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._keys.clear()
        self._times.clear()
        self._runs = [0] * PERIODS
        self._began = [0.0] * PERIODS
        self._matched = False
        self.period = 0
        """Calls in a round of the loop that goes on; 0 where none does."""
        self.limit = self._single
        self.tool = ""
        self.subject = ""
        self.failed = False

    def update(self, key: Key, event: ToolUse, judged: bool, own: int) -> None:
        """Take in one call, judged or only remembered; `own` is its tool's limit, or -1."""
        keys = self._keys
        if key in keys:
            self._match(key)
            if judged and own:
                self._judge(event, own)
            if self.period and not self._runs[self.period - 1]:
                self.period = 0
        elif self._matched:
            self._runs = [0] * PERIODS
            self._matched = False
            self.period = 0
        keys.appendleft(key)
        self._times.appendleft(event.at)

    def _match(self, key: Key) -> None:
        runs = self._runs
        self._matched = True
        for place, earlier in enumerate(self._keys):
            if earlier == key:
                if not runs[place]:
                    self._began[place] = self._times[place]
                runs[place] += 1
            else:
                runs[place] = 0

    def _judge(self, event: ToolUse, own: int) -> None:
        explained = 0
        for period in range(1, self._longest + 1):
            run = self._runs[period - 1]
            if run > explained:
                explained = run
                limit = own if own > 0 else self._usual(period)
                if run >= period * (limit - 1):
                    self.period, self.limit = period, limit
                    self.tool = event.program or event.tool
                    self.subject = subject(event.tool, event.program, event.targets)
                    self.failed = event.outcome == "failure"
                    return

    def _usual(self, period: int) -> int:
        return self._rounds if period > 1 else max(_FEWEST, self._single + self.patience)

    @property
    def count(self) -> int:
        """Rounds of the loop that goes on, or of the best candidate."""
        if self.period:
            return self._runs[self.period - 1] // self.period + 1
        return max([run // place + 1 for place, run in enumerate(self._runs, 1)])

    @property
    def began_at(self) -> float:
        """When the first round of the loop that goes on began."""
        return self._began[self.period - 1] if self.period else 0.0

    def restored(self) -> None:
        self._matched = any(self._runs)
