"""Plain figures of what the agent did, counted and never interpreted."""

from __future__ import annotations

from collections import deque
from typing import Any

from core.engine.receptor.impulse import CAUSES
from core.engine.receptor.readings import FactsReading
from core.engine.state import Stateful, byte_queue, grouped, keyed, mapped, tupled
from core.events import Prompt, ToolUse, Turn
from core.settings.receptor import FactSettings

_OWN, _EDITED, _FAILED = 1, 2, 4
"""What is known of a file: the agent made it, edited it, failed to edit it."""
_STALE, _EDIT, _NEW = 1, 2, 4
"""What is known of a recent action."""
_HEARD = 3
"""Phrases of one kind before an action that count; more say no more."""
_TARGETS = 4
"""Files of one action that are looked at."""


COUNTS = (
    "actions",
    "looks",
    "runs",
    "tests",
    "edits",
    "changes",
    "changed_files",
    "failures",
    "failures_in_a_row",
    "same_error",
    "failed_edits",
    "failed_edits_again",
    "failed_reads",
    "same_result",
    "new_result",
    "edits_again",
    "rereads",
    "new_files",
    "checks",
    "checks_passed",
    "runs_since_change",
    "edits_since_pass",
    "since_good_edit",
    "since_change",
    "since_run",
    "failures_since_edit",
    "looks_before_edit",
    "words_of_checking",
    "words_of_doubt",
)
"""What is counted over the whole session, each a whole number."""


class ActionFacts(Stateful):
    """Count what an agent's actions came to, in memory that does not grow with the session.

    An action is a tool use that took place, plans left out. A change is a good edit of a file that the agent
    did not make itself; a check is the first command after an edit.
    """

    __slots__ = (
        "_calls",
        "_dirty",
        "_edited",
        "_errors",
        "_failing",
        "_files",
        "_generation",
        "_kept",
        "_long",
        "_looked",
        "_many",
        "_many_edits",
        "_many_new",
        "_new",
        "_prompt",
        "_recent",
        "_results",
        "_since_prompt",
        "_spoken",
        "_stretch",
        *COUNTS,
    )
    STATE = (
        grouped("counts", *COUNTS),
        byte_queue("_recent"),
        byte_queue("_failing", bool),
        mapped("_calls"),
        keyed("_results"),
        keyed("_errors"),
        mapped("_files"),
        mapped("_looked"),
        "_generation",
        "_dirty",
        tupled("_spoken"),
        "_prompt",
        "_since_prompt",
    )

    def __init__(self, settings: FactSettings) -> None:
        self._kept = settings.kept
        self._long = settings.long_since_edit
        self._many = settings.failing_since_edit
        self._many_edits = settings.many_edits
        self._many_new = settings.many_new_files
        self._stretch = settings.long_since_prompt
        self._recent: deque[int] = deque(maxlen=settings.recent)
        self._failing: deque[bool] = deque(maxlen=settings.failing)
        self._edited = self._new = 0
        """Of the recent actions, how many edited and how many touched a new file."""
        self._calls: dict[int, int] = {}
        self._results: dict[int, None] = {}
        self._errors: dict[int, None] = {}
        self._files: dict[str, int] = {}
        self._looked: dict[str, int] = {}
        self._generation = 0
        self._dirty = False
        self._spoken = (0, 0)
        """Phrases of checking and of doubt since the last action."""
        self._prompt = 0
        self._since_prompt = 0
        self.actions = self.looks = self.runs = self.tests = 0
        self.edits = self.changes = self.changed_files = self.failures = 0
        self.failures_in_a_row = self.same_error = self.failed_edits = self.failed_edits_again = 0
        self.failed_reads = self.same_result = self.new_result = self.edits_again = 0
        self.rereads = self.new_files = self.checks = self.checks_passed = 0
        self.runs_since_change = self.edits_since_pass = self.since_good_edit = self.since_change = 0
        self.since_run = self.failures_since_edit = self.looks_before_edit = self.words_of_checking = 0
        self.words_of_doubt = 0

    def asked(self, event: Prompt) -> None:
        """Count actions from zero, unless the same words come again: then a program speaks, not a person."""
        if not event.call or event.call != self._prompt:
            self._prompt = event.call
            self._since_prompt = 0

    def said(self, event: Turn) -> None:
        """Count the phrases that the agent's words held."""
        if not (event.checking or event.doubting):
            return
        self.words_of_checking += event.checking
        self.words_of_doubt += event.doubting
        self._spoken = (
            min(_HEARD, self._spoken[0] + event.checking),
            min(_HEARD, self._spoken[1] + event.doubting),
        )

    def update(self, event: ToolUse) -> tuple[str, ...]:
        """Count one action; the rows of the impulse table that it stands for."""
        action = event.action
        causes: list[str] = []
        cause = CAUSES.get((action, event.outcome))
        if cause is not None:
            causes.append(cause)
        if action == "plan":
            return tuple(causes)
        checking, doubting = self._spoken
        if checking or doubting:
            causes += ["words_of_checking"] * checking + ["words_of_doubt"] * doubting
            self._spoken = (0, 0)
        self.actions += 1
        self._since_prompt += 1
        self.since_good_edit += 1
        self.since_change += 1
        self.since_run += 1
        failed = event.outcome == "failure"
        mark = self._repeated(event, causes)
        if failed:
            self._failure(event.result)
        else:
            self.failures_in_a_row = 0
        new = self._touched(event.targets)
        if new:
            self.new_files += 1
            causes.append("new_file")
            mark |= _NEW
        if action == "file_edit":
            mark |= _EDIT
            self._edit(event, failed, new, causes)
        elif action == "shell_exec":
            self._run(event, failed, causes)
        elif action == "file_read" or action == "search":
            self._look(event, failed, causes)
        self._mark(mark)
        self._failing.append(failed)
        self._standing(causes)
        return tuple(causes)

    def _mark(self, mark: int) -> None:
        recent = self._recent
        if len(recent) == recent.maxlen:
            gone = recent[0]
            if gone & _EDIT:
                self._edited -= 1
            if gone & _NEW:
                self._new -= 1
        recent.append(mark)
        if mark & _EDIT:
            self._edited += 1
        if mark & _NEW:
            self._new += 1

    def _standing(self, causes: list[str]) -> None:
        """What has gone on for a while and counts with every action."""
        if self.since_good_edit > self._long:
            causes.append("long_since_edit")
        if self.failures_since_edit > self._many:
            causes.append("failing_since_edit")
        if self._edited >= self._many_edits:
            causes.append("many_edits")
        if self._new >= self._many_new:
            causes.append("many_new_files")
        if self._since_prompt > self._stretch:
            causes.append("long_since_prompt")

    def _repeated(self, event: ToolUse, causes: list[str]) -> int:
        """Whether the call or its result came before."""
        stale = 0
        result = event.result
        if event.call:
            before = self._calls.get(event.call)
            if before is None:
                _keep(self._calls, self._kept)
            elif before == result:
                self.same_result += 1
                stale = _STALE
                causes.append("same_result")
            else:
                self.new_result += 1
                causes.append("new_result")
            self._calls[event.call] = result
        if result:
            if result in self._results:
                stale = _STALE
            else:
                _keep(self._results, self._kept)
                self._results[result] = None
        return stale

    def _failure(self, result: int) -> None:
        self.failures += 1
        self.failures_in_a_row += 1
        self.failures_since_edit += 1
        if result:
            if result in self._errors:
                self.same_error += 1
            else:
                _keep(self._errors, self._kept)
                self._errors[result] = None

    def _touched(self, targets: tuple[str, ...]) -> bool:
        """Remember the files of an action; whether one of them is new."""
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
        known = self._files.get(target, 0)
        if failed:
            self.failed_edits += 1
            causes.append("failed_edit")
            if known & _FAILED:
                self.failed_edits_again += 1
            known |= _FAILED
        elif event.outcome == "success":
            if known & _EDITED:
                self.edits_again += 1
                causes.append("edit_again")
            elif new and not event.before:
                known |= _OWN
            self.edits += 1
            self.edits_since_pass += 1
            self.since_good_edit = 0
            self.failures_since_edit = 0
            self._dirty = True
            self._generation += 1
            if target and not known & _OWN:
                if not self.changes:
                    self.looks_before_edit = self.looks
                self.changes += 1
                self.since_change = 0
                causes.append("change")
                if not known & _EDITED:
                    self.changed_files += 1
                    causes.append("changed_file")
            known |= _EDITED
        if target:
            self._files[target] = known

    def _run(self, event: ToolUse, failed: bool, causes: list[str]) -> None:
        self.runs += 1
        self.since_run = 0
        if event.purpose == "test":
            self.tests += 1
            causes.append("test_run")
        if self.changes:
            if not self.runs_since_change:
                causes.append("first_check")
            self.runs_since_change += 1
            causes.append("run_since_change")
        if self._dirty:
            self._dirty = False
            self.checks += 1
            if not failed:
                self.checks_passed += 1
            causes.append("check_failed" if failed else "check_passed")
        if not failed:
            self.edits_since_pass = 0

    def _look(self, event: ToolUse, failed: bool, causes: list[str]) -> None:
        self.looks += 1
        if not self.changes:
            self.looks_before_edit += 1
        else:
            causes.append("look_after_change")
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
    def failures_recent(self) -> int:
        """Failures among the last actions."""
        return sum(self._failing)

    @property
    def stale_recent(self) -> int:
        """Results among the last actions that had come before."""
        return sum([mark & _STALE for mark in self._recent])

    @property
    def edits_recent(self) -> int:
        """Edits among the last actions, good or failed."""
        return self._edited

    @property
    def new_files_recent(self) -> int:
        """Actions among the last ones that touched a file for the first time."""
        return self._new

    def restored(self) -> None:
        """Count again what was recent."""
        self._edited = sum([1 for mark in self._recent if mark & _EDIT])
        self._new = sum([1 for mark in self._recent if mark & _NEW])

    def read(self) -> FactsReading:
        """All figures, with names."""
        return FactsReading(
            failures_recent=self.failures_recent,
            stale_recent=self.stale_recent,
            edits_recent=self.edits_recent,
            new_files_recent=self.new_files_recent,
            of_failures=len(self._failing),
            of_recent=len(self._recent),
            **{name: getattr(self, name) for name in COUNTS},
        )


def _keep(table: dict[Any, Any], most: int) -> None:
    """Make room for one more by letting the oldest go."""
    if len(table) >= most:
        del table[next(iter(table))]
