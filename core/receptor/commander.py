"""The Commander: which of six patterns the behaviour follows, in three windows."""

from __future__ import annotations

from core.events import Action, Outcome
from core.percept import Pattern
from core.receptor.readings import BehaviourReading, WindowReading
from core.receptor.windows import (
    CODES,
    COUNTED,
    FAILED_SHELL,
    SHELL,
    Tally,
    Window,
    failure_rate,
)
from core.settings.receptor import CommanderSettings
from core.state import Stateful, inner

MEANINGS: dict[tuple[Pattern, Pattern], str] = {
    ("exploration", "trial_error"): "Found something, but it does not work.",
    ("wandering", "trial_error"): "Tries without having found out.",
    ("implementation", "trial_error"): "What went well has begun to fail.",
    ("trial_error", "implementation"): "The loop of failures is broken.",
    ("exploration", "implementation"): "Knows enough and acts.",
    ("wandering", "implementation"): "Has found the place and acts.",
    ("implementation", "exploration"): "Stops writing to look around.",
    ("implementation", "wandering"): "Has lost the thread.",
    ("trial_error", "exploration"): "Steps back from failures to look around.",
    ("trial_error", "wandering"): "Gave up trying and searches without direction.",
    ("exploration", "wandering"): "Looks around with less and less direction.",
    ("wandering", "exploration"): "The search takes a direction.",
}


class Commander(Stateful):
    """Sort acts into a short window, a medium window and the session.

    Acts are tool uses of the seven actions that took effect: success, failure or empty. Prompts, plans,
    unknown tools and calls that were refused or never ended say nothing of the agent's ways.
    """

    __slots__ = (
        "_medium",
        "_rules",
        "_session",
        "_short",
        "events",
        "failure_rate",
        "medium_pattern",
        "pattern",
        "usual",
    )
    STATE = (
        inner("_short"),
        inner("_medium"),
        inner("_session"),
    )

    def __init__(self, settings: CommanderSettings) -> None:
        self._rules = _Rules(settings)
        self._short = Window(settings.short, settings.most)
        self._medium = Window(settings.medium, settings.most)
        self._session = Tally()
        self.pattern: Pattern = "stagnation"
        self.medium_pattern: Pattern = "stagnation"
        self.events = 0
        """Acts of the short window."""
        self.failure_rate = 0.0
        """Share of its shell commands that failed."""
        self.usual: tuple[tuple[Pattern, float], ...] = ()
        """Shares of the patterns in earlier sessions; handed in, and no part of a dump."""

    def update(self, wall: float, action: Action, outcome: Outcome) -> None:
        """Count one tool use and classify again."""
        code = CODES.get((action, outcome))
        if code is None:
            self.slide(wall)
            return
        self._short.add(wall, code)
        self._medium.add(wall, code)
        self._session.add(code)
        self._settle()
        self.medium_pattern = self._rules.classify(self._medium)

    def slide(self, wall: float) -> None:
        """Let time pass."""
        short, medium = self._short, self._medium
        if short.oldest < wall - short.span:
            short.slide(wall)
            self._settle()
        if medium.oldest < wall - medium.span:
            medium.slide(wall)
            self.medium_pattern = self._rules.classify(medium)

    def _settle(self) -> None:
        short = self._short
        self.pattern = self._rules.classify(short)
        self.events = short.total
        self.failure_rate = failure_rate(short.counts) if short.counts[FAILED_SHELL] else 0.0

    def read(self, wall: float) -> BehaviourReading:
        """The three windows as they stand at a moment not before the last event."""
        short = self._read("short", self._short.ahead(wall))
        medium = self._read("medium", self._medium.ahead(wall))
        changed = short.pattern != medium.pattern
        return BehaviourReading(
            short=short,
            medium=medium,
            session=self._read("session", self._session),
            delta=f"{medium.pattern} -> {short.pattern}" if changed else "",
            meaning=MEANINGS.get((medium.pattern, short.pattern), ""),
            usual=self.usual,
        )

    def _read(self, name: str, window: Window | Tally) -> WindowReading:
        counts = window.counts[:FAILED_SHELL]
        counts[SHELL] += window.counts[FAILED_SHELL]
        total = window.total or 1
        return WindowReading(
            name=name,
            events=window.total,
            pattern=self._rules.classify(window),
            ratios=tuple((action, count / total) for action, count in zip(COUNTED, counts, strict=True)),
            failure_rate=failure_rate(window.counts),
            alternations=window.alternations,
        )

    def restored(self) -> None:
        self._settle()
        self.medium_pattern = self._rules.classify(self._medium)


class _Rules:
    """The heuristics, asked in a fixed order."""

    __slots__ = (
        "_alternations",
        "_delegation",
        "_exploration",
        "_exploration_edits",
        "_failures",
        "_implementation",
        "_stagnation",
        "_wandering",
    )

    def __init__(self, settings: CommanderSettings) -> None:
        self._stagnation = settings.stagnation_events
        self._alternations = settings.trial_alternations
        self._failures = settings.trial_failures
        self._delegation = settings.delegation_share
        self._wandering = settings.wandering_share
        self._exploration = settings.exploration_share
        self._exploration_edits = settings.exploration_edits
        self._implementation = settings.implementation_share

    def classify(self, window: Window | Tally) -> Pattern:
        """Name the pattern of a window."""
        total = window.total
        if total <= self._stagnation:
            return "stagnation"
        reads, searches, edits, succeeded, delegated, _, _, failed = window.counts
        shells = succeeded + failed
        if failed and failed / shells > self._failures and window.alternations >= self._alternations:
            return "trial_error"
        if delegated / total >= self._delegation:
            return "delegation"
        looks = (reads + searches) / total
        if not edits and looks >= self._wandering:
            return "wandering"
        if looks >= self._exploration and edits / total <= self._exploration_edits:
            return "exploration"
        if (edits + shells) / total >= self._implementation:
            return "implementation"
        return "exploration"
