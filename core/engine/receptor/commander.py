"""The Commander: which of six patterns the behaviour follows, in three windows."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import Any

from core.engine.percept import CHANGES, Pattern
from core.engine.receptor.readings import BehaviourReading, WindowReading
from core.engine.state import Stateful, inner, plain_list
from core.events import Action, Outcome
from core.settings.receptor import CommanderSettings

READ, SEARCH, EDIT, SHELL, DELEGATION, RECALL, REMEMBER, FAILED_SHELL = range(8)

COUNTED: tuple[Action, ...] = (
    "file_read", "search", "file_edit", "shell_exec", "delegation", "memory_read", "memory_write",
)  # fmt: skip
# The counter of each act; any other act does not affect the pattern.
CODES: dict[tuple[Action, Outcome], int] = {
    (action, outcome): code for code, action in enumerate(COUNTED) for outcome in ("success", "failure", "empty")
} | {("shell_exec", "failure"): FAILED_SHELL}

EDITING, RUNNING = 1, 2
_SIDE = (0, 0, EDITING, RUNNING, 0, 0, 0, RUNNING)


def failure_rate(counts: list[int]) -> float:
    """Share of shell commands that failed."""
    failed = counts[FAILED_SHELL]
    return failed / (failed + counts[SHELL]) if failed else 0.0


class Tally(Stateful):
    """Count every act of the session, and how often editing and running alternated."""

    STATE = (plain_list("counts"), "_side", "alternations")

    def __init__(self) -> None:
        self.counts = [0] * 8
        self.total = 0
        self.alternations = 0
        self._side = 0

    def add(self, code: int) -> None:
        """Count one act."""
        self.counts[code] += 1
        self.total += 1
        side = _SIDE[code]
        if side:
            if self._side and self._side != side:
                self.alternations += 1
            self._side = side

    def restored(self) -> None:
        self.total = sum(self.counts)


class Window:
    """Count the acts of the last `span` seconds of subjective time, and at most the last `most` of them.

    A change between editing and running counts while both its acts are inside.
    """

    def __init__(self, span: float, most: int) -> None:
        self.span = span
        self._most = most
        self._acts: deque[tuple[float, int]] = deque()
        self.oldest = inf  # Time of the oldest act.
        self._added = 0
        self._changes: deque[int] = deque()  # Numbers of the acts after which the side changed.
        self._side = 0
        self._last = -1  # Number of the last act that edited or ran.
        self.counts = [0] * 8
        self.total = 0

    @property
    def alternations(self) -> int:
        """How often editing and running alternated."""
        return len(self._changes)

    def add(self, now: float, code: int) -> None:
        """Count one act."""
        if self.oldest < now - self.span:
            self.slide(now)
        added, total = self._added, self.total
        side = _SIDE[code]
        if side:
            if side != self._side:
                if self._last >= added - total:
                    self._changes.append(self._last)
                self._side = side
            self._last = added
        self._acts.append((now, code))
        self._added = added + 1
        self.counts[code] += 1
        self.total = total + 1
        if not total:
            self.oldest = now
        elif total >= self._most:
            self.slide(now)

    def slide(self, now: float) -> bool:
        """Drop acts that are too old; return whether any was dropped."""
        acts = self._acts
        since = now - self.span
        if self.oldest >= since and self.total <= self._most:
            return False
        counts = self.counts
        while acts and (acts[0][0] < since or len(acts) > self._most):
            counts[acts.popleft()[1]] -= 1
        self.total = len(acts)
        self.oldest = acts[0][0] if acts else inf
        first = self._added - self.total
        changes = self._changes
        while changes and changes[0] < first:
            changes.popleft()
        return True

    def ahead(self, now: float) -> Window:
        """Return the window as it would be at a later moment; this one does not change."""
        if self.oldest >= now - self.span and self.total <= self._most:
            return self
        later = Window(self.span, self._most)
        later.load(self.dump())
        later.slide(now)
        return later

    def dump(self) -> tuple[Any, ...]:
        return (
            tuple(now for now, _ in self._acts),
            bytes(code for _, code in self._acts),
            self._added,
            tuple(self._changes),
            self._side,
            self._last,
        )

    def load(self, state: Sequence[Any]) -> None:
        moments, codes, self._added, changes, self._side, self._last = state
        self._acts = deque(zip(moments, codes, strict=True))
        self._changes = deque(changes)
        self.counts = [0] * 8
        for code in codes:
            self.counts[code] += 1
        self.total = len(self._acts)
        self.oldest = self._acts[0][0] if self._acts else inf
        if self.total > self._most:
            self.slide(self.oldest)


class Commander(Stateful):
    """Sort acts into a short window, a medium window and the session.

    Acts are tool uses of the seven actions that took effect: success, failure or empty. Prompts, plans,
    unknown tools and calls that were refused or never ended say nothing of the agent's ways.
    """

    STATE = (inner("_short"), inner("_medium"), inner("_session"), "_passes", "turned")

    def __init__(self, settings: CommanderSettings) -> None:
        self._rules = _Rules(settings)
        self._short = Window(settings.short, settings.most)
        self._medium = Window(settings.medium, settings.most)
        self._session = Tally()
        self._recovery = settings.recovery_passes
        self._passes = 0  # Passing commands since the last failing one.
        self.turned = False  # Whether the last act turned the short window to trial and error, unlike the medium one.
        self.pattern: Pattern = "stagnation"
        self.medium_pattern: Pattern = "stagnation"
        self.events = 0  # Acts of the short window.
        self.failure_rate = 0.0  # Share of its shell commands that failed.
        # Shares of the patterns in earlier sessions; not part of a dump.
        self.usual: tuple[tuple[Pattern, float], ...] = ()

    def update(self, now: float, action: Action, outcome: Outcome) -> None:
        """Count one tool use and classify again."""
        code = CODES.get((action, outcome))
        if code is None:
            self.slide(now)
            return
        if code == FAILED_SHELL:
            self._passes = 0
        elif code == SHELL:
            self._passes += 1
        self._short.add(now, code)
        self._medium.add(now, code)
        self._session.add(code)
        before = self.pattern
        self._settle()
        self.medium_pattern = self._rules.classify(self._medium)
        self.turned = before != self.pattern == "trial_error" != self.medium_pattern

    @property
    def recovered(self) -> bool:
        """Whether enough commands in a row have passed since one failed."""
        return self._passes >= self._recovery

    def slide(self, now: float) -> None:
        """Advance time."""
        short, medium = self._short, self._medium
        self.turned = False
        if short.oldest < now - short.span:
            short.slide(now)
            self._settle()
        if medium.oldest < now - medium.span:
            medium.slide(now)
            self.medium_pattern = self._rules.classify(medium)

    def _settle(self) -> None:
        short = self._short
        self.pattern = self._rules.classify(short, self.recovered)
        self.events = short.total
        self.failure_rate = failure_rate(short.counts) if short.counts[FAILED_SHELL] else 0.0

    def read(self, now: float) -> BehaviourReading:
        """Return the three windows at a moment not before the last event."""
        short = self._read("short", self._short.ahead(now), self.recovered)
        medium = self._read("medium", self._medium.ahead(now))
        changed = short.pattern != medium.pattern
        return BehaviourReading(
            short=short,
            medium=medium,
            session=self._read("session", self._session),
            delta=f"{medium.pattern} -> {short.pattern}" if changed else "",
            meaning=CHANGES.get((medium.pattern, short.pattern), ""),
            usual=self.usual,
        )

    def _read(self, name: str, window: Window | Tally, recovered: bool = False) -> WindowReading:
        counts = window.counts[:FAILED_SHELL]
        counts[SHELL] += window.counts[FAILED_SHELL]
        total = window.total or 1
        return WindowReading(
            name=name,
            events=window.total,
            pattern=self._rules.classify(window, recovered),
            ratios=tuple((action, count / total) for action, count in zip(COUNTED, counts, strict=True)),
            failure_rate=failure_rate(window.counts),
            alternations=window.alternations,
        )

    def restored(self) -> None:
        self._settle()
        self.medium_pattern = self._rules.classify(self._medium)


class _Rules:
    """The heuristics, in a fixed order."""

    def __init__(self, settings: CommanderSettings) -> None:
        self._stagnation = settings.stagnation_events
        self._alternations = settings.trial_alternations
        self._failures = settings.trial_failures
        self._delegation = settings.delegation_share
        self._wandering = settings.wandering_share
        self._exploration = settings.exploration_share
        self._implementation = settings.implementation_share

    def classify(self, window: Window | Tally, recovered: bool = False) -> Pattern:
        """Name the pattern of a window; trial and error is over once enough commands in a row have passed."""
        total = window.total
        if total <= self._stagnation:
            return "stagnation"
        reads, searches, edits, succeeded, delegated, _, _, failed = window.counts
        shells = succeeded + failed
        looping = failed and failed / shells > self._failures and window.alternations >= self._alternations
        if looping and not recovered:
            return "trial_error"
        if delegated / total >= self._delegation:
            return "delegation"
        looks = (reads + searches) / total
        if not edits and looks >= self._wandering:
            return "wandering"
        if looks >= self._exploration:
            return "exploration"
        if (edits + shells) / total >= self._implementation:
            return "implementation"
        return "exploration"
