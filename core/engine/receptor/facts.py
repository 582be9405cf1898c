"""Plain counts of what the agent did, without interpretation."""

from __future__ import annotations

from collections import deque
from typing import Any

from core.engine.receptor.emotion import CAUSES
from core.engine.receptor.readings import FactsReading
from core.engine.state import Stateful, byte_queue, grouped, keyed, mapped
from core.events import Prompt, ToolUse, Turn
from core.settings.receptor import FactSettings

_OWN, _EDITED, _FAILED = 1, 2, 4  # Marks of a file: the agent created it, edited it, failed to edit it.
_STALE, _EDIT = 1, 2  # Marks of a recent action.
_DOUBTS = 3  # Most phrases of doubt before one action that count.
_TARGETS = 4  # Most files of one action that are counted.


_RECENT = frozenset(("failures_recent", "of_failures", "stale_recent", "edits_recent", "of_recent"))
# Counts over the whole session, each a whole number.
COUNTS = tuple([name for name in FactsReading.__struct_fields__ if name not in _RECENT])


class ActionFacts(Stateful):
    """Count the results of an agent's actions, in memory that does not grow with the session.

    An action is a tool use that took place, plans left out. A change is a good edit of a file that the agent
    did not make itself; a check is the first command after an edit.
    """

    STATE = (
        grouped("counts", *COUNTS), byte_queue("_recent"), byte_queue("_failing", bool), mapped("_calls"),
        keyed("_results"), keyed("_errors"), mapped("_files"), mapped("_looked"), "_generation", "_dirty", "_doubts",
    )  # fmt: skip

    def __init__(self, settings: FactSettings) -> None:
        self._kept = settings.kept
        self._recent: deque[int] = deque(maxlen=settings.recent)
        self._window = settings.failing
        self._failing: deque[bool] = deque(maxlen=settings.failing)
        self.failures_recent = 0  # Failures among the last actions.
        self._calls: dict[int, int] = {}
        self._results: dict[int, None] = {}
        self._errors: dict[int, None] = {}
        self._files: dict[str, int] = {}
        self._looked: dict[str, int] = {}
        self._generation = 0
        self._dirty = False
        self._doubts = 0  # Phrases of doubt since the last action.
        self.actions = self.looks = self.runs = self.tests = self.tests_passed = 0
        self.edits = self.changes = self.changed_files = self.failures = 0
        self.failures_in_a_row = self.same_error = self.failed_edits = self.failed_edits_again = 0
        self.failed_reads = self.same_result = self.new_result = self.edits_again = 0
        self.rereads = self.new_files = self.checks = self.checks_passed = 0
        self.runs_since_change = self.edits_since_pass = self.since_good_edit = self.since_change = 0
        self.since_run = self.failures_since_edit = self.looks_before_edit = self.words_of_checking = 0
        self.words_of_doubt = self.names_asked = self.names_seen = 0

    def add_phrases(self, event: Turn) -> None:
        """Count the phrases of checking and of doubt in one turn of the model."""
        if not (event.checking or event.doubting):
            return
        self.words_of_checking += event.checking
        self.words_of_doubt += event.doubting
        self._doubts = min(_DOUBTS, self._doubts + event.doubting)

    def add_prompt(self, event: Prompt) -> None:
        """Count the names of code in a prompt."""
        self.names_asked += event.names

    def update(self, event: ToolUse) -> tuple[str, ...]:
        """Count one action; return its rows in the table of impulses."""
        action = event.action
        causes: list[str] = []
        cause = CAUSES.get((action, event.outcome))
        if cause is not None:
            causes.append(cause)
        if action == "plan":
            return tuple(causes)
        if self._doubts:
            causes += ["words_of_doubt"] * self._doubts
            self._doubts = 0
        self.actions += 1
        self.names_seen += event.named
        self.since_good_edit += 1
        self.since_change += 1
        self.since_run += 1
        failed = event.outcome == "failure"
        mark = self._stale_mark(event)
        if failed:
            self._mark_failure(event.result, causes)
        else:
            self.failures_in_a_row = 0
        new = self._remember_files(event.targets)
        if new:
            self.new_files += 1
        if action == "file_edit":
            mark |= _EDIT
            self._edit(event, failed, new, causes)
        elif action == "shell_exec":
            self._run(event, failed)
        elif action == "file_read" or action == "search":
            self._look(event, failed, causes)
        self._recent.append(mark)
        failing = self._failing
        if len(failing) == self._window:
            self.failures_recent -= failing[0]
        failing.append(failed)
        self.failures_recent += failed
        return tuple(causes)

    def _stale_mark(self, event: ToolUse) -> int:
        """Return `_STALE` if the call brought the same result before, or another call did."""
        stale = 0
        result = event.result
        if event.call:
            before = self._calls.get(event.call)
            if before is None:
                _keep(self._calls, self._kept)
            elif before == result:
                self.same_result += 1
                stale = _STALE
            else:
                self.new_result += 1
            self._calls[event.call] = result
        if result:
            if result in self._results:
                stale = _STALE
            else:
                _keep(self._results, self._kept)
                self._results[result] = None
        return stale

    def _mark_failure(self, result: int, causes: list[str]) -> None:
        self.failures += 1
        self.failures_in_a_row += 1
        self.failures_since_edit += 1
        if result:
            if result in self._errors:
                self.same_error += 1
                causes.append("same_error")
            else:
                _keep(self._errors, self._kept)
                self._errors[result] = None

    def _remember_files(self, targets: tuple[str, ...]) -> bool:
        """Remember the files of an action; return whether one of them is new."""
        new = False
        files = self._files
        for target in targets[:_TARGETS]:
            if target not in files:
                _keep(files, self._kept)
                files[target] = 0
                new = True
        return new

    def _edit(self, event: ToolUse, failed: bool, new: bool, causes: list[str]) -> None:
        target = event.targets[0] if event.targets else ""
        marks = self._files.get(target, 0)
        if failed:
            self.failed_edits += 1
            causes.append("failed_edit")
            if marks & _FAILED:
                self.failed_edits_again += 1
            marks |= _FAILED
        elif event.outcome == "success":
            if marks & _EDITED:
                self.edits_again += 1
            elif new and not event.before:
                marks |= _OWN
            self.edits += 1
            self.edits_since_pass += 1
            self.since_good_edit = 0
            self.failures_since_edit = 0
            self._dirty = True
            self._generation += 1
            if target and not marks & _OWN:
                if not self.changes:
                    self.looks_before_edit = self.looks
                self.changes += 1
                self.since_change = 0
                if not marks & _EDITED:
                    self.changed_files += 1
            marks |= _EDITED
        if target:
            self._files[target] = marks

    def _run(self, event: ToolUse, failed: bool) -> None:
        self.runs += 1
        self.since_run = 0
        if event.purpose == "test":
            self.tests += 1
            self.tests_passed += bool(self.changes) and not failed
        if self.changes:
            self.runs_since_change += 1
        if self._dirty:
            self._dirty = False
            self.checks += 1
            if not failed:
                self.checks_passed += 1
        if not failed:
            self.edits_since_pass = 0

    def _look(self, event: ToolUse, failed: bool, causes: list[str]) -> None:
        self.looks += 1
        if not self.changes:
            self.looks_before_edit += 1
        if event.action != "file_read":
            return
        if failed:
            self.failed_reads += 1
            causes.append("failed_read")
        target = event.targets[0] if event.targets else ""
        looked = self._looked
        if target in looked:
            if looked[target] == self._generation:
                self.rereads += 1
        else:
            _keep(looked, self._kept)
        looked[target] = self._generation

    @property
    def stale_recent(self) -> int:
        """Results among the last actions that had come before."""
        return sum([mark & _STALE for mark in self._recent])

    @property
    def edits_recent(self) -> int:
        """Edits among the last actions, good or failed."""
        return sum([1 for mark in self._recent if mark & _EDIT])

    def restored(self) -> None:
        """Count the recent failures again."""
        self.failures_recent = sum(self._failing)

    def read(self) -> FactsReading:
        """Return all counts."""
        return FactsReading(
            failures_recent=self.failures_recent,
            stale_recent=self.stale_recent,
            edits_recent=self.edits_recent,
            of_failures=len(self._failing),
            of_recent=len(self._recent),
            **{name: getattr(self, name) for name in COUNTS},
        )


def _keep(table: dict[Any, Any], most: int) -> None:
    """Drop the oldest entry if the table is full."""
    if len(table) >= most:
        del table[next(iter(table))]
