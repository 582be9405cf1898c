"""The table of impulses: what each kind of event adds to the axes."""

from __future__ import annotations

from typing import Any, TypeVar

from core.settings.fitted import fitted_impulses
from core.settings.trust import PERSON
from core.settings.tunable import Group, part, tunable

TableT = TypeVar("TableT", bound=Group)


def _impulse(default: float, axis: str) -> Any:
    least = 0 if axis == "fatigue" else -1
    return tunable(default, f"What one such event adds to {axis}.", ge=least, le=1, step=0.005)


class Impulse(Group, project=PERSON):
    """What one kind of event adds to the six axes; fatigue is never taken away."""

    frustration: float = _impulse(0.0, "frustration")
    seeking: float = _impulse(0.0, "seeking")
    confidence: float = _impulse(0.0, "confidence")
    fatigue: float = _impulse(0.0, "fatigue")
    flow: float = _impulse(0.0, "flow")
    uncertainty: float = _impulse(0.0, "uncertainty")


class ShellFailure(Impulse):
    """A shell command failed."""

    frustration: float = _impulse(0.10, "frustration")
    confidence: float = _impulse(-0.04, "confidence")


class ShellSuccess(Impulse):
    """A shell command succeeded."""

    frustration: float = _impulse(-0.08, "frustration")
    seeking: float = _impulse(-0.03, "seeking")
    confidence: float = _impulse(0.08, "confidence")
    flow: float = _impulse(0.04, "flow")
    uncertainty: float = _impulse(-0.02, "uncertainty")


class FileEdit(Impulse):
    """A file was edited."""

    seeking: float = _impulse(-0.02, "seeking")
    confidence: float = _impulse(0.04, "confidence")
    flow: float = _impulse(0.02, "flow")
    uncertainty: float = _impulse(-0.01, "uncertainty")


class SearchEmpty(Impulse):
    """A search found nothing."""

    seeking: float = _impulse(0.10, "seeking")
    uncertainty: float = _impulse(0.05, "uncertainty")


class SearchFound(Impulse):
    """A search found something."""

    seeking: float = _impulse(-0.05, "seeking")


class FileRead(Impulse):
    """A file was read."""

    seeking: float = _impulse(0.02, "seeking")


class MemoryRead(Impulse):
    """A memory was recalled."""

    seeking: float = _impulse(0.02, "seeking")


class MemoryMiss(Impulse):
    """A memory was looked for and is not there."""

    seeking: float = _impulse(0.10, "seeking")


class MemoryWrite(Impulse):
    """A memory was written."""

    confidence: float = _impulse(0.03, "confidence")


class LongPrompt(Impulse):
    """The person said more than a few words."""

    seeking: float = _impulse(-0.02, "seeking")
    confidence: float = _impulse(0.01, "confidence")


class EveryEvent(Impulse):
    """Any tool use or prompt."""

    fatigue: float = _impulse(0.005, "fatigue")


class TrialErrorEvent(Impulse):
    """Any event while the short window shows trial and error."""

    frustration: float = _impulse(0.08, "frustration")


class WanderingEvent(Impulse):
    """Any event while the short window shows wandering."""

    seeking: float = _impulse(0.12, "seeking")
    uncertainty: float = _impulse(0.10, "uncertainty")


class ExplorationEvent(Impulse):
    """Any event while the short window shows exploration."""

    seeking: float = _impulse(0.04, "seeking")


class ImplementationEvent(Impulse):
    """Any event while the short window shows implementation."""

    confidence: float = _impulse(0.04, "confidence")
    flow: float = _impulse(0.04, "flow")


class ContextShift(Impulse):
    """The work moved to other paths."""

    seeking: float = _impulse(0.08, "seeking")
    uncertainty: float = _impulse(0.10, "uncertainty")


class FailedEdit(Impulse):
    """An edit failed."""


class FailedRead(Impulse):
    """A file could not be read."""


class SameResult(Impulse):
    """The same call brought the same result as before."""


class NewResult(Impulse):
    """The same call brought another result than before."""


class EditAgain(Impulse):
    """A file was edited that had been edited before."""


class CheckPassed(Impulse):
    """The first command after an edit went well."""


class CheckFailed(Impulse):
    """The first command after an edit failed."""


class NewFile(Impulse):
    """A file was touched for the first time."""


class LongSinceEdit(Impulse):
    """Any action long after the last good edit."""


class ForeignEdit(Impulse):
    """A file was edited that the agent did not make itself."""


class RunSinceChange(Impulse):
    """A command was run after such an edit, at any time."""


class ChangedFile(Impulse):
    """A file was changed for the first time that the agent did not make itself."""


class TestRun(Impulse):
    """Tests were run, whatever came of it."""


class FirstCheck(Impulse):
    """The first command after the first such edit."""


class FailingSinceEdit(Impulse):
    """Any action after many failures since the last good edit."""


class LookAfterChange(Impulse):
    """A file was read or searched for after the first change."""


class ManyEdits(Impulse):
    """Any action while many of the last ones were edits."""


class ManyNewFiles(Impulse):
    """Any action while many of the last ones touched a file for the first time."""


class LongSincePrompt(Impulse):
    """Any action long after the person asked."""


class WordsOfChecking(Impulse):
    """A phrase of checking in the agent's words before an action."""


class WordsOfDoubt(Impulse):
    """A phrase of doubt in the agent's words before an action."""


PUBLISHED: dict[tuple[str, str], float] = {}
"""Impulses of the documents' table, by row and axis; the classes above hold them."""


def _over_published(table: type[TableT]) -> type[TableT]:
    """Lay the fitted impulses over the published ones, which are kept for the profile of that name.

    Nothing is built from a group before it is used, so its defaults may still be put in place here.
    """
    fitted = {(row, axis): amount for row, axis, amount in fitted_impulses("default")}
    for row, declared in table.model_fields.items():
        if declared.group is not None and issubclass(declared.group, Impulse):
            axes = declared.group.model_fields
            for axis, column in axes.items():
                PUBLISHED[row, axis] = column.default
                axes[axis] = column.with_default(fitted.get((row, axis), column.default))
    return table


@_over_published
class ImpulseSettings(Group, project=PERSON):
    """What every kind of event adds to the axes."""

    shell_failure: ShellFailure = part(ShellFailure, "A shell command failed.")
    shell_success: ShellSuccess = part(ShellSuccess, "A shell command succeeded.")
    file_edit: FileEdit = part(FileEdit, "A file was edited.")
    search_empty: SearchEmpty = part(SearchEmpty, "A search found nothing.")
    search_found: SearchFound = part(SearchFound, "A search found something.")
    file_read: FileRead = part(FileRead, "A file was read.")
    memory_read: MemoryRead = part(MemoryRead, "A memory was recalled.")
    memory_miss: MemoryMiss = part(MemoryMiss, "A memory was looked for and is not there.")
    memory_write: MemoryWrite = part(MemoryWrite, "A memory was written.")
    long_prompt: LongPrompt = part(LongPrompt, "The person said more than a few words.")
    every_event: EveryEvent = part(EveryEvent, "Any tool use or prompt.")
    fatigue_per_hour: float = tunable(
        0.003, "Fatigue each event adds for every hour worked.", ge=0, le=0.1, step=0.001
    )
    trial_error: TrialErrorEvent = part(TrialErrorEvent, "Any event during trial and error.")
    wandering: WanderingEvent = part(WanderingEvent, "Any event during wandering.")
    exploration: ExplorationEvent = part(ExplorationEvent, "Any event during exploration.")
    implementation: ImplementationEvent = part(ImplementationEvent, "Any event during implementation.")
    context_shift: ContextShift = part(ContextShift, "The work moved to other paths.")
    failed_edit: FailedEdit = part(FailedEdit, "An edit failed.")
    failed_read: FailedRead = part(FailedRead, "A file could not be read.")
    same_result: SameResult = part(SameResult, "The same call brought the same result.")
    new_result: NewResult = part(NewResult, "The same call brought a new result.")
    edit_again: EditAgain = part(EditAgain, "A file was edited that had been edited before.")
    check_passed: CheckPassed = part(CheckPassed, "The first command after an edit went well.")
    check_failed: CheckFailed = part(CheckFailed, "The first command after an edit failed.")
    new_file: NewFile = part(NewFile, "A file was touched for the first time.")
    change: ForeignEdit = part(ForeignEdit, "A file was edited that the agent did not make itself.")
    run_since_change: RunSinceChange = part(RunSinceChange, "A command was run after such an edit.")
    changed_file: ChangedFile = part(ChangedFile, "A file was changed for the first time.")
    test_run: TestRun = part(TestRun, "Tests were run.")
    first_check: FirstCheck = part(FirstCheck, "The first command after the first change.")
    failing_since_edit: FailingSinceEdit = part(
        FailingSinceEdit, "Any action after many failures since the last good edit."
    )
    look_after_change: LookAfterChange = part(
        LookAfterChange, "A file was read or searched for after the first change."
    )
    many_edits: ManyEdits = part(ManyEdits, "Any action while many of the last ones were edits.")
    many_new_files: ManyNewFiles = part(ManyNewFiles, "Any action while new files are touched all the time.")
    long_since_prompt: LongSincePrompt = part(LongSincePrompt, "Any action long after the person asked.")
    words_of_checking: WordsOfChecking = part(WordsOfChecking, "A phrase of checking was said.")
    words_of_doubt: WordsOfDoubt = part(WordsOfDoubt, "A phrase of doubt was said.")
    long_since_edit: LongSinceEdit = part(LongSinceEdit, "Any action long after the last good edit.")
