"""The table of impulses: how far each kind of event moves the axes.

An axis moves only for the reasons that its definition names: the bounds fix the sign of every impulse.
"""

from __future__ import annotations

from typing import Any

from core.settings.trust import PERSON
from core.settings.tunable import Group, part, tunable


def _rise(default: float, axis: str) -> Any:
    return tunable(default, f"How far one such event raises {axis}.", ge=0, le=1, step=0.005)


def _fall(default: float, axis: str) -> Any:
    return tunable(default, f"How far one such event lowers {axis}.", ge=-1, le=0, step=0.005)


class Impulse(Group, project=PERSON):
    """The impulses of one kind of event; an axis that is not named does not move."""


class ShellFailure(Impulse):
    """A command failed."""

    frustration: float = _rise(0.10, "frustration")
    confidence: float = _fall(-0.04, "confidence")


class ShellSuccess(Impulse):
    """A command passed."""

    frustration: float = _fall(-0.08, "frustration")
    seeking: float = _fall(-0.03, "seeking")
    confidence: float = _rise(0.08, "confidence")
    flow: float = _rise(0.04, "flow")
    uncertainty: float = _fall(-0.02, "uncertainty")


class FileEdit(Impulse):
    """A file was edited."""

    seeking: float = _fall(-0.02, "seeking")
    confidence: float = _rise(0.04, "confidence")
    flow: float = _rise(0.02, "flow")
    uncertainty: float = _fall(-0.01, "uncertainty")


class FailedEdit(Impulse):
    """An edit failed."""

    frustration: float = _rise(0.05, "frustration")
    confidence: float = _fall(-0.02, "confidence")


class FailedRead(Impulse):
    """A file could not be read."""

    frustration: float = _rise(0.02, "frustration")


class SameError(Impulse):
    """A call failed with an error seen before."""

    frustration: float = _rise(0.02, "frustration")


class SearchEmpty(Impulse):
    """A search found nothing."""

    seeking: float = _rise(0.10, "seeking")
    uncertainty: float = _rise(0.05, "uncertainty")


class SearchFound(Impulse):
    """A search found something."""

    seeking: float = _fall(-0.05, "seeking")


class FileRead(Impulse):
    """A file was read."""

    seeking: float = _rise(0.02, "seeking")


class MemoryRead(Impulse):
    """A memory was recalled."""

    seeking: float = _rise(0.02, "seeking")


class MemoryMiss(Impulse):
    """A memory was looked up and does not exist."""

    seeking: float = _rise(0.10, "seeking")


class MemoryWrite(Impulse):
    """A memory was written."""

    confidence: float = _rise(0.03, "confidence")


class LongPrompt(Impulse):
    """A long prompt arrived."""

    seeking: float = _fall(-0.02, "seeking")
    confidence: float = _rise(0.01, "confidence")


class EveryEvent(Impulse):
    """Any tool use or prompt."""

    fatigue: float = _rise(0.005, "fatigue")


class TrialErrorEvent(Impulse):
    """Any event while the short window shows trial and error."""

    frustration: float = _rise(0.08, "frustration")


class TurnToTrialError(Impulse):
    """The short window turned to trial and error, the medium window still shows something else."""

    frustration: float = _rise(0.10, "frustration")


class WanderingEvent(Impulse):
    """Any event while the short window shows wandering."""

    seeking: float = _rise(0.12, "seeking")
    uncertainty: float = _rise(0.10, "uncertainty")


class ExplorationEvent(Impulse):
    """Any event while the short window shows exploration."""

    seeking: float = _rise(0.04, "seeking")


class ImplementationEvent(Impulse):
    """Any event while the short window shows implementation."""

    confidence: float = _rise(0.04, "confidence")
    flow: float = _rise(0.04, "flow")


class ContextShift(Impulse):
    """The work moved to other paths."""

    seeking: float = _rise(0.08, "seeking")
    uncertainty: float = _rise(0.10, "uncertainty")


class WordsOfDoubt(Impulse):
    """A phrase of doubt in the agent's text before an action."""

    uncertainty: float = _rise(0.03, "uncertainty")


class ImpulseSettings(Group, project=PERSON):
    """How far each kind of event moves the axes."""

    shell_failure: ShellFailure = part(ShellFailure, "A command failed.")
    shell_success: ShellSuccess = part(ShellSuccess, "A command passed.")
    file_edit: FileEdit = part(FileEdit, "A file was edited.")
    failed_edit: FailedEdit = part(FailedEdit, "An edit failed.")
    failed_read: FailedRead = part(FailedRead, "A file could not be read.")
    same_error: SameError = part(SameError, "A call failed with an error seen before.")
    search_empty: SearchEmpty = part(SearchEmpty, "A search found nothing.")
    search_found: SearchFound = part(SearchFound, "A search found something.")
    file_read: FileRead = part(FileRead, "A file was read.")
    memory_read: MemoryRead = part(MemoryRead, "A memory was recalled.")
    memory_miss: MemoryMiss = part(MemoryMiss, "A memory was looked up and does not exist.")
    memory_write: MemoryWrite = part(MemoryWrite, "A memory was written.")
    long_prompt: LongPrompt = part(LongPrompt, "A long prompt arrived.")
    words_of_doubt: WordsOfDoubt = part(WordsOfDoubt, "A phrase of doubt before an action.")
    every_event: EveryEvent = part(EveryEvent, "Any tool use or prompt.")
    fatigue_per_hour: float = tunable(
        0.003, "Fatigue each event adds per hour worked.", ge=0, le=0.1, step=0.001
    )
    trial_error: TrialErrorEvent = part(TrialErrorEvent, "Any event during trial and error.")
    turn_to_trial_error: TurnToTrialError = part(
        TurnToTrialError, "Trial and error began, after something else in the medium window."
    )
    wandering: WanderingEvent = part(WanderingEvent, "Any event during wandering.")
    exploration: ExplorationEvent = part(ExplorationEvent, "Any event during exploration.")
    implementation: ImplementationEvent = part(ImplementationEvent, "Any event during implementation.")
    context_shift: ContextShift = part(ContextShift, "The work moved to other paths.")
