"""The table of impulses: how far each kind of event moves the axes.

An axis moves only for the reasons that its definition names: the bounds fix the sign of every impulse.
"""

from __future__ import annotations

from typing import Annotated

from core.settings.group import Group, Spec


def _rise(axis: str) -> Spec:
    return Spec(f"How far one such event raises {axis}.", 0, 1, 0.005)


def _fall(axis: str) -> Spec:
    return Spec(f"How far one such event lowers {axis}.", -1, 0, 0.005)


class Impulse(Group):
    """The impulses of one kind of event; an axis that is not named does not move."""


class ShellFailure(Impulse):
    """A command failed."""

    frustration: Annotated[float, _rise("frustration")] = 0.10
    confidence: Annotated[float, _fall("confidence")] = -0.04


class ShellSuccess(Impulse):
    """A command passed."""

    frustration: Annotated[float, _fall("frustration")] = -0.08
    seeking: Annotated[float, _fall("seeking")] = -0.03
    confidence: Annotated[float, _rise("confidence")] = 0.08
    flow: Annotated[float, _rise("flow")] = 0.04
    uncertainty: Annotated[float, _fall("uncertainty")] = -0.02


class FileEdit(Impulse):
    """A file was edited."""

    seeking: Annotated[float, _fall("seeking")] = -0.02
    confidence: Annotated[float, _rise("confidence")] = 0.04
    flow: Annotated[float, _rise("flow")] = 0.02
    uncertainty: Annotated[float, _fall("uncertainty")] = -0.01


class FailedEdit(Impulse):
    """An edit failed."""

    frustration: Annotated[float, _rise("frustration")] = 0.05
    confidence: Annotated[float, _fall("confidence")] = -0.02


class FailedRead(Impulse):
    """A file could not be read."""

    frustration: Annotated[float, _rise("frustration")] = 0.02


class SameError(Impulse):
    """A call failed with an error seen before."""

    frustration: Annotated[float, _rise("frustration")] = 0.02


class SearchEmpty(Impulse):
    """A search found nothing."""

    seeking: Annotated[float, _rise("seeking")] = 0.10
    uncertainty: Annotated[float, _rise("uncertainty")] = 0.05


class SearchFound(Impulse):
    """A search found something."""

    seeking: Annotated[float, _fall("seeking")] = -0.05


class FileRead(Impulse):
    """A file was read."""

    seeking: Annotated[float, _rise("seeking")] = 0.02


class MemoryRead(Impulse):
    """A memory was recalled."""

    seeking: Annotated[float, _rise("seeking")] = 0.02


class MemoryMiss(Impulse):
    """A memory was looked up and does not exist."""

    seeking: Annotated[float, _rise("seeking")] = 0.10


class MemoryWrite(Impulse):
    """A memory was written."""

    confidence: Annotated[float, _rise("confidence")] = 0.03


class LongPrompt(Impulse):
    """A long prompt arrived."""

    seeking: Annotated[float, _fall("seeking")] = -0.02
    confidence: Annotated[float, _rise("confidence")] = 0.01


class EveryEvent(Impulse):
    """Any tool use or prompt."""

    fatigue: Annotated[float, _rise("fatigue")] = 0.005


class TrialErrorEvent(Impulse):
    """Any event while the short window shows trial and error."""

    frustration: Annotated[float, _rise("frustration")] = 0.08


class TurnToTrialError(Impulse):
    """The short window turned to trial and error, the medium window still shows something else."""

    frustration: Annotated[float, _rise("frustration")] = 0.10


class WanderingEvent(Impulse):
    """Any event while the short window shows wandering."""

    seeking: Annotated[float, _rise("seeking")] = 0.12
    uncertainty: Annotated[float, _rise("uncertainty")] = 0.10


class ExplorationEvent(Impulse):
    """Any event while the short window shows exploration."""

    seeking: Annotated[float, _rise("seeking")] = 0.04


class ImplementationEvent(Impulse):
    """Any event while the short window shows implementation."""

    confidence: Annotated[float, _rise("confidence")] = 0.04
    flow: Annotated[float, _rise("flow")] = 0.04


class ContextShift(Impulse):
    """The work moved to other paths."""

    seeking: Annotated[float, _rise("seeking")] = 0.08
    uncertainty: Annotated[float, _rise("uncertainty")] = 0.10


class WordsOfDoubt(Impulse):
    """A phrase of doubt in the agent's text before an action."""

    uncertainty: Annotated[float, _rise("uncertainty")] = 0.03


class ImpulseSettings(Group):
    """How far each kind of event moves the axes."""

    shell_failure: ShellFailure = ShellFailure()
    shell_success: ShellSuccess = ShellSuccess()
    file_edit: FileEdit = FileEdit()
    failed_edit: FailedEdit = FailedEdit()
    failed_read: FailedRead = FailedRead()
    same_error: SameError = SameError()
    search_empty: SearchEmpty = SearchEmpty()
    search_found: SearchFound = SearchFound()
    file_read: FileRead = FileRead()
    memory_read: MemoryRead = MemoryRead()
    memory_miss: MemoryMiss = MemoryMiss()
    memory_write: MemoryWrite = MemoryWrite()
    long_prompt: LongPrompt = LongPrompt()
    words_of_doubt: WordsOfDoubt = WordsOfDoubt()
    every_event: EveryEvent = EveryEvent()
    fatigue_per_hour: Annotated[float, Spec("Fatigue each event adds per hour worked.", 0, 0.1, 0.001)] = (
        0.003
    )
    trial_error: TrialErrorEvent = TrialErrorEvent()
    turn_to_trial_error: TurnToTrialError = TurnToTrialError()
    wandering: WanderingEvent = WanderingEvent()
    exploration: ExplorationEvent = ExplorationEvent()
    implementation: ImplementationEvent = ImplementationEvent()
    context_shift: ContextShift = ContextShift()
