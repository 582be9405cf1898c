"""Ways to get nowhere without making the same call again, each told as a fact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from core.engine.response.loop_cycles import subject
from core.engine.state import KeptField, Stateful, keyed, made, mapped, tupled
from core.events import ToolUse, Turn
from core.settings.loops import (
    BurnSettings,
    ChurnSettings,
    GaveUpSettings,
    RereadSettings,
    RetestSettings,
    ReworkSettings,
    StormSettings,
    WaitingSettings,
)

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


_LOOKS = frozenset(("file_read", "search"))
_ENDS = frozenset(("test", "build", "commit"))
"""Purposes of calls that end a stall if they succeed."""
_NEVER = 1 << 30
"""The limit of a tool that is never told of."""


class _Stall(Stateful):
    """What all of them have: how far it went, since when, and about what."""

    __slots__ = ("_limit", "began_at", "count", "limit", "subject", "tool")
    STATE: ClassVar[Sequence[str | KeptField]] = (
        "count",
        "limit",
        "began_at",
        "subject",
        "tool",
    )

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.reset()

    def reset(self) -> None:
        """Start again."""
        self.count = 0
        self.limit = self._limit
        self.began_at = 0.0
        self.subject = ""
        self.tool = ""

    @property
    def going(self) -> bool:
        """Whether it is worth a word."""
        return self.count >= self.limit

    def _more(self, event: ToolUse, own: int) -> None:
        if not self.count:
            self.began_at = event.at
        self.count += 1
        self.subject = subject(event.tool, event.program, event.targets)
        self.tool = event.program or event.tool
        self.limit = own if own > 0 else self._limit if own else _NEVER

    def restored(self) -> None:
        """What has not begun is measured by these settings."""
        if not self.count:
            self.limit = self._limit


class Storm(_Stall):
    """Calls that fail one after another, whatever they are."""

    __slots__ = ()

    def __init__(self, settings: StormSettings) -> None:
        super().__init__(settings.times)

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call; `own` is its tool's limit, or -1."""
        if event.outcome == "failure":
            self._more(event, own)
        elif self.count and event.outcome != "rejected":
            self.reset()

    def what(self) -> str:
        """The fact."""
        return f"{self.count} calls in a row failed"


def _written(known: dict[int, list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple([(shape, *row) for shape, row in known.items()])


class Retest(_Stall):
    """A command that fails again although it was edited for in between."""

    __slots__ = ("_edited", "_kept", "_known", "alike", "edits")
    STATE = (
        *_Stall.STATE,
        made("_known", _written, lambda rows: {shape: row for shape, *row in rows}),
        "_edited",
        "edits",
        "alike",
    )

    def __init__(self, settings: RetestSettings) -> None:
        self._kept = settings.kept
        self._known: dict[int, list[int]] = {}
        self._edited = 0
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every command."""
        super().reset()
        self._known.clear()
        self._edited = 0
        self.edits = 0
        self.alike = True

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call; a failure counts where an edit went through since the one before."""
        if event.action == "file_edit":
            self._edited += event.outcome == "success"
        elif event.action == "shell_exec":
            shape = event.shape or event.call
            if event.outcome != "failure":
                if self._known.pop(shape, None) is not None:
                    super().reset()
                return
            known = self._known.pop(shape, None)
            if known is None:
                if len(self._known) >= self._kept:
                    del self._known[next(iter(self._known))]
                known = [1, self._edited, self._edited, event.result, 1]
            elif self._edited > known[2]:
                known = [
                    known[0] + 1,
                    known[1],
                    self._edited,
                    event.result,
                    known[4] * (event.result == known[3]),
                ]
            self._known[shape] = known
            if known[0] >= self.count:
                self._more(event, own)
                self.count, self.edits, self.alike = known[0], known[2] - known[1], bool(known[4])

    def what(self) -> str:
        """The fact."""
        error = ", same error" if self.alike else ""
        return f"{self.subject} failed {self.count} times, {self.edits} edits between{error}"


class Rework(_Stall):
    """One file edited again and again while calls fail and no test or build passes."""

    __slots__ = ("_edits", "_failures", "_kept", "_least")
    STATE = (
        *_Stall.STATE,
        mapped("_edits"),
        "_failures",
    )

    def __init__(self, settings: ReworkSettings) -> None:
        self._kept = settings.kept
        self._least = settings.failures
        self._edits: dict[str, int] = {}
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every file."""
        super().reset()
        self._edits.clear()
        self._failures = 0

    @property
    def going(self) -> bool:
        """Whether it is worth a word: edits alone are work."""
        return self.count >= self.limit and self._failures >= self._least

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call; a test or build that passes is a fresh start."""
        self._failures += event.outcome == "failure"
        if event.action == "file_edit":
            if event.outcome == "success" and event.targets:
                self._count(event, event.targets[0], own)
        elif event.purpose in _ENDS and event.outcome in ("success", "empty"):
            self.reset()

    def _count(self, event: ToolUse, edited: str, own: int) -> None:
        times = self._edits.pop(edited, 0) + 1
        if len(self._edits) >= self._kept:
            del self._edits[next(iter(self._edits))]
        self._edits[edited] = times
        if times >= self.count:
            self._more(event, own)
            self.count = times
            self.subject = edited.rpartition("/")[2] or edited

    def what(self) -> str:
        """The fact."""
        failed = f"{self._failures} failures and no test or build passed between"
        return f"{self.subject} edited {self.count} times, {failed}"


class Churn(_Stall):
    """Files edited again while calls fail, or a great many failures, with no check or commit that passes."""

    __slots__ = ("_again", "_edited", "_edits", "_kept", "_least", "_settled")
    STATE = (
        *_Stall.STATE,
        keyed("_edited"),
        "_again",
        "_settled",
    )

    def __init__(self, settings: ChurnSettings) -> None:
        self._kept = settings.kept
        self._edits = settings.edits
        self._least = settings.failures
        self._edited: dict[str, None] = {}
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget every file."""
        super().reset()
        self._edited.clear()
        self._again = 0
        self._settled = 0

    @property
    def going(self) -> bool:
        """Whether it is worth a word: it failed again since a file was edited for the first time."""
        if self.count <= self._settled:
            return False
        again = self.limit < _NEVER and self._again >= self._edits and self.count >= self._least
        return again or self.count >= self.limit

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call; a test, build or commit that passes is a fresh start."""
        if event.outcome == "failure":
            self._more(event, own)
            self.tool = ""
        elif event.action == "file_edit" and event.outcome == "success" and event.targets:
            edited = event.targets[0]
            if edited in self._edited:
                self._again += 1
            elif self.going:
                self._settled = self.count
            if edited not in self._edited and len(self._edited) >= self._kept:
                del self._edited[next(iter(self._edited))]
            self._edited[edited] = None
        elif event.purpose in _ENDS and event.outcome in ("success", "empty"):
            self.reset()

    def what(self) -> str:
        """The fact."""
        again = f" and {self._again} re-edits" if self._again else ""
        return f"{self.count} failures{again} without a check that passed"


class Reread(_Stall):
    """Files read again and again with nothing edited."""

    __slots__ = ("_kept", "_read")
    STATE = (
        *_Stall.STATE,
        made("_read", tuple, lambda rows: dict.fromkeys([(tuple(row[0]), row[1]) for row in rows])),
    )

    def __init__(self, settings: RereadSettings) -> None:
        self._kept = settings.kept
        self._read: dict[tuple[tuple[str, ...], int], None] = {}
        super().__init__(settings.times)

    def reset(self) -> None:
        """Forget what was read."""
        super().reset()
        self._read.clear()

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call; a look counts when it shows what a look at the same file showed before."""
        if event.action == "file_edit" and event.outcome == "success":
            self.reset()
        elif event.action in _LOOKS and event.targets and event.result and event.outcome == "success":
            key = (event.targets, event.result)
            if key in self._read:
                self._more(event, own)
            else:
                if len(self._read) >= self._kept:
                    del self._read[next(iter(self._read))]
                self._read[key] = None
        elif event.action == "shell_exec" and (self._read or self.count):
            self.reset()

    def what(self) -> str:
        """The fact."""
        return f"files read again {self.count} times, nothing edited or run between, last {self.subject}"


class Waiting(_Stall):
    """Waiting again and again while what is waited for shows the same."""

    __slots__ = ("_last",)
    STATE = (
        *_Stall.STATE,
        "_last",
    )

    def __init__(self, settings: WaitingSettings) -> None:
        self._last = -1
        super().__init__(settings.times)

    def reset(self) -> None:
        """Start again."""
        super().reset()
        self._last = -1

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call."""
        if event.purpose != "wait":
            self.reset()
        elif event.result != self._last:
            self.reset()
            self._last = event.result
            self._more(event, own)
        else:
            self._more(event, own)

    def what(self) -> str:
        """The fact."""
        return f"waited {self.count} times with {self.subject}, nothing changed"


class GaveUp(_Stall):
    """A final answer after failures, with nothing run that passed since."""

    __slots__ = ("_told",)
    STATE = (
        *_Stall.STATE,
        "_told",
    )

    def __init__(self, settings: GaveUpSettings) -> None:
        self._told = False
        super().__init__(settings.times)

    def reset(self) -> None:
        """Start again."""
        super().reset()
        self._told = False

    @property
    def going(self) -> bool:
        """Whether the last answer was one of giving up."""
        return self._told

    def update(self, event: ToolUse, own: int) -> None:
        """Take in one call; only a command that goes well makes up for failures."""
        self._told = False
        if event.outcome == "failure":
            self._more(event, own)
        elif self.count and event.action == "shell_exec" and event.outcome in ("success", "empty"):
            self.reset()

    def final(self) -> None:
        """The agent says it is done."""
        self._told = self.count >= self.limit

    def what(self) -> str:
        """The fact."""
        return f"ended after {self.count} failures with nothing run that passed since"
