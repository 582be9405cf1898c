"""Loops of calls: equal rounds, commands that keep failing, edits that undo one another."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from core.engine.state import Stateful, each, made, plain_list, queued
from core.events import ToolUse
from core.settings.loops import ExactSettings, FailingSettings, NearSettings, OscillationSettings


def subject(tool: str, program: str, targets: tuple[str, ...]) -> str:
    """Whom a sentence is about: the program, or the tool and its file."""
    if program or not targets:
        return program or tool or "a call"
    return f"{tool} on {targets[0].rpartition('/')[2]}"


COUNT, BEGAN, LAST, ALIKE, RESULT = range(5)


def _failure_rows(failures: dict[int, list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple([(shape, *entry) for shape, entry in failures.items()])


_FEWEST = 2
"""Less is not a repeat."""


class Failing(Stateful):
    """Count the failures of each command, by its shape, since the last edit that went through."""

    __slots__ = (
        "_failures",
        "_kept",
        "_linger",
        "_step",
        "_times",
        "limit",
        "patience",
        "shape",
        "subject",
        "tool",
    )
    STATE = (
        made("_failures", _failure_rows, lambda rows: {shape: entry for shape, *entry in rows}),
        "_step",
        "shape",
        "limit",
        "subject",
        "tool",
    )

    def __init__(self, settings: FailingSettings) -> None:
        self._times = settings.times
        self._kept = settings.kept
        self._linger = settings.linger
        self._failures: dict[int, list[Any]] = {}
        self._step = 0
        self.patience = 0
        """Retries allowed beyond the limit set, or fewer."""
        self.reset()

    def reset(self) -> None:
        """Forget every failure."""
        self._failures.clear()
        self.shape = 0
        """The command that keeps failing; 0 where none does."""
        self.limit = self._times
        self.subject = ""
        self.tool = ""

    def failed(self, event: ToolUse, own: int) -> None:
        """Take in a failure; `own` is its tool's limit, or -1."""
        self._step += 1
        shape = _sameness(event)
        failures = self._failures
        entry = failures.get(shape)
        if entry is None:
            if len(failures) >= self._kept:
                oldest = next(iter(failures))
                del failures[oldest]
                if oldest == self.shape:
                    self.shape = 0
            failures[shape] = [1, event.at, self._step, 1, event.result]
        else:
            entry[COUNT] += 1
            entry[LAST] = self._step
            if event.result == entry[RESULT]:
                entry[ALIKE] += 1
            else:
                entry[RESULT] = event.result
                entry[ALIKE] = 1
            if own and entry[COUNT] >= (
                limit := own if own > 0 else max(_FEWEST, self._times + self.patience)
            ):
                self.shape, self.limit = shape, limit
                self.subject = subject(event.tool, event.program, event.targets)
                self.tool = event.program or event.tool
                return
        self._let_go()

    def went(self, event: ToolUse) -> None:
        """Take in a call that did not fail."""
        self._step += 1
        if not self._failures:
            return
        if event.action == "file_edit" and event.outcome == "success":
            self.reset()
        else:
            shape = _sameness(event)
            if self._failures.pop(shape, None) is not None and shape == self.shape:
                self.shape = 0
            self._let_go()

    def _let_go(self) -> None:
        if self.shape and self._step - self._failures[self.shape][LAST] >= self._linger:
            self.shape = 0

    @property
    def count(self) -> int:
        """Failures of the command that keeps failing, or of the worst one."""
        if self.shape:
            return int(self._failures[self.shape][COUNT])
        return max([int(entry[COUNT]) for entry in self._failures.values()], default=0)

    @property
    def alike(self) -> bool:
        """Whether it failed with the same words every time."""
        entry = self._failures.get(self.shape)
        return entry is not None and entry[ALIKE] == entry[COUNT]

    @property
    def began_at(self) -> float:
        """When it failed first."""
        entry = self._failures.get(self.shape)
        return float(entry[BEGAN]) if entry is not None else 0.0

    def restored(self) -> None:
        """Keep no more than these settings let it."""
        while len(self._failures) > self._kept:
            del self._failures[next(iter(self._failures))]
        if self.shape not in self._failures:
            self.shape = 0


def _sameness(event: ToolUse) -> int:
    """A command is the same by its shape; anything else only with equal arguments."""
    return event.shape or event.call if event.action == "shell_exec" else event.call


PERIODS = 6
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


Edit = tuple[tuple[str, ...], int, int]
"""The files, the text taken away, the text put there."""


def _edit_rows(edits: dict[Edit, tuple[int, float]]) -> tuple[tuple[Any, ...], ...]:
    return tuple([(*edit, *known) for edit, known in edits.items()])


def _edits_of_rows(rows: Sequence[Any]) -> dict[Edit, tuple[int, float]]:
    return {(tuple(targets), before, after): (flips, at) for targets, before, after, flips, at in rows}


class Oscillation(Stateful):
    """Remember edits by what they took and gave; the reverse of a known one is a flip.

    A whole-file write takes away what the last write to that file gave. An edit that goes through twice
    was undone out of sight.
    """

    __slots__ = (
        "_edits",
        "_flips",
        "_kept",
        "_last",
        "_linger",
        "_step",
        "_written",
        "began_at",
        "count",
        "limit",
        "subject",
        "tool",
    )
    STATE = (
        made("_edits", _edit_rows, _edits_of_rows),
        made(
            "_written",
            lambda known: tuple(known.items()),
            lambda rows: {tuple(row[0]): row[1] for row in rows},
        ),
        "_step",
        "_last",
        "subject",
        "tool",
        "count",
        "limit",
        "began_at",
    )

    def __init__(self, settings: OscillationSettings) -> None:
        self._flips = settings.flips
        self._kept = settings.kept
        self._linger = settings.linger
        self._edits: dict[Edit, tuple[int, float]] = {}
        self._written: dict[tuple[str, ...], int] = {}
        self._step = 0
        self.reset()

    def reset(self) -> None:
        """Forget every edit."""
        self._edits.clear()
        self._written.clear()
        self._last = 0
        self.subject = ""
        """The file that goes back and forth; blank where none does."""
        self.tool = ""
        self.count = 0
        self.limit = self._flips
        self.began_at = 0.0

    def step(self) -> None:
        """Another call passes."""
        self._step += 1
        if self.subject and self._step - self._last >= self._linger:
            self.subject = ""
            self.count = 0

    def update(self, event: ToolUse, own: int) -> None:
        """Take in an edit that went through; `own` is its tool's limit, or -1."""
        after = event.after
        if not after or not event.targets:
            return
        before = event.before or self._overwrite(event.targets, after)
        if not before or before == after:
            return
        edits = self._edits
        known = edits.pop((event.targets, after, before), None) or edits.pop(
            (event.targets, before, after), None
        )
        if known is None:
            if len(edits) >= self._kept:
                del edits[next(iter(edits))]
            edits[event.targets, before, after] = (0, event.at)
            return
        flips, began = known
        flips += 1
        edits[event.targets, before, after] = (flips, began)
        limit = own if own > 0 else self._flips
        if own and flips >= limit:
            self.subject = event.targets[0].rpartition("/")[2] or event.targets[0]
            self.tool = event.program or event.tool
            self.count, self.limit, self.began_at = flips, limit, began
            self._last = self._step

    def _overwrite(self, targets: tuple[str, ...], after: int) -> int:
        written = self._written
        before = written.pop(targets, 0)
        if len(written) >= self._kept:
            del written[next(iter(written))]
        written[targets] = after
        return before

    def restored(self) -> None:
        """Keep no more than these settings let it."""
        for known in (self._edits, self._written):
            for gone in list(known)[: max(0, len(known) - self._kept)]:
                del known[gone]  # type: ignore[arg-type]
