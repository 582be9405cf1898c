"""Commands that fail again although nothing was edited."""

from __future__ import annotations

from typing import Any

from core.engine.response.loops.loop import subject
from core.engine.state import Stateful, made
from core.events import ToolUse
from core.settings.loops import FailingSettings

COUNT, BEGAN, LAST, ALIKE, RESULT = range(5)


def _written(failures: dict[int, list[Any]]) -> tuple[tuple[Any, ...], ...]:
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
        made("_failures", _written, lambda rows: {shape: entry for shape, *entry in rows}),
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
