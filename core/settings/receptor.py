"""Settings of the receptor: from tool uses to emotion axes and signals."""

from __future__ import annotations

from typing import Annotated

from core.settings.group import PROJECT, Group, Spec, Trust, higher, lower


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
    fatigue_per_hour: Annotated[float, Spec("Fatigue each event adds per hour worked.", 0, 0.1, 0.001)] = 0.003
    trial_error: TrialErrorEvent = TrialErrorEvent()
    turn_to_trial_error: TurnToTrialError = TurnToTrialError()
    wandering: WanderingEvent = WanderingEvent()
    exploration: ExplorationEvent = ExplorationEvent()
    implementation: ImplementationEvent = ImplementationEvent()
    context_shift: ContextShift = ContextShift()


class TimeSettings(Group):
    """How much of the wall clock the agent lives through."""

    cap: Annotated[float, Spec("Longest pause that still counts in full.", 1, 120, 1, "s")] = 30.0
    freeze: Annotated[float, Spec("A longer pause does not count as time at all.", 120, 3600, 10, "s")] = 180.0


class CommanderSettings(Group):
    """How the windows are classified."""

    short: Annotated[float, Spec("Length of the window that shows spikes.", 30, 1200, 30, "s")] = 300.0
    medium: Annotated[float, Spec("Length of the window that shows trends.", 1200, 14400, 60, "s")] = 1800.0
    most: Annotated[int, Spec("Maximum number of events in a window.", 50, 20000, 50)] = 2000
    stagnation_events: Annotated[int, Spec("With this many events or fewer the pattern is stagnation.", 0, 20, 1)] = 3
    wandering_share: Annotated[float, Spec("Share of reads and searches that means wandering.", 0, 1, 0.05)] = 0.70
    exploration_share: Annotated[float, Spec("Share of reads and searches that means exploration.", 0, 1, 0.05)] = 0.60
    implementation_share: Annotated[
        float, Spec("Share of edits and commands that counts as implementation.", 0, 1, 0.05)
    ] = 0.50
    delegation_share: Annotated[float, Spec("Share of delegated work that counts as delegation.", 0, 1, 0.05)] = 0.30
    trial_alternations: Annotated[
        int, Spec("Changes between editing and running that make a trial loop.", 1, 20, 1, project=lower(2))
    ] = 3
    trial_failures: Annotated[
        float,
        Spec("Share of failing commands above which the loop is trial and error.", 0, 1, 0.05, project=lower(0.2)),
    ] = 0.40
    recovery_passes: Annotated[int, Spec("Passing commands in a row that end trial and error.", 1, 20, 1)] = 2


_HalfLife = Annotated[float, Spec("Time in which the axis falls to half.", 1, 7200, 1, "s")]


class HalfLifeSettings(Group):
    """How long each feeling lasts."""

    frustration: _HalfLife = 180.0
    seeking: _HalfLife = 240.0
    confidence: _HalfLife = 120.0
    fatigue: _HalfLife = 600.0
    flow: _HalfLife = 180.0
    uncertainty: _HalfLife = 180.0


class EmotionSettings(Group):
    """How the axes rise, fall and are explained."""

    half_life: HalfLifeSettings = HalfLifeSettings()
    long_prompt: Annotated[
        int, Spec("A prompt longer than this lowers seeking and raises confidence.", 0, 10000, 10, "characters")
    ] = 100
    compaction_relief: Annotated[float, Spec("Share of fatigue that a compaction removes.", 0, 1, 0.05)] = 0.5
    disruption_flow: Annotated[float, Spec("Minimum flow that a signal can disrupt.", 0, 1, 0.05)] = 0.3
    disruption_share: Annotated[float, Spec("Flow lost for each unit of the strongest signal.", 0, 1, 0.05)] = 0.3
    remembered: Annotated[int, Spec("Recent events that can explain a value.", 4, 1000, 4)] = 64
    trend: Annotated[float, Spec("How far back a trend looks.", 5, 1800, 5, "s", project=PROJECT)] = 60.0


def _offset(project: Trust) -> Spec:
    return Spec("How far above normal the axis must rise to fire.", 0, 0.8, 0.01, project=project)


class OffsetSettings(Group):
    """How far from normal is worth a signal."""

    frustration: Annotated[float, _offset(lower(0.1))] = 0.20
    seeking: Annotated[float, _offset(lower(0.1))] = 0.25
    confidence: Annotated[float, _offset(higher(0.5))] = 0.25
    fatigue: Annotated[float, _offset(lower(0.15))] = 0.30
    flow: Annotated[float, _offset(higher(0.5))] = 0.20
    uncertainty: Annotated[float, _offset(lower(0.1))] = 0.25


class AmbientSettings(Group):
    """The baselines of this agent."""

    time_constant: Annotated[float, Spec("How slowly the baseline follows.", 30, 7200, 30, "s")] = 600.0
    silence: Annotated[float, Spec("A longer pause freezes the baseline and starts anew.", 30, 3600, 10, "s")] = 180.0
    low: Annotated[float, Spec("Lowest threshold.", 0, 0.5, 0.01)] = 0.25
    high: Annotated[float, Spec("Highest threshold.", 0.5, 1, 0.01)] = 0.85
    ignore_below: Annotated[float, Spec("Lower values move only the baseline of fatigue.", 0, 0.5, 0.01)] = 0.05
    offset: OffsetSettings = OffsetSettings()


class FlowSettings(Group):
    """The limit of flow while commands fail."""

    failures: Annotated[float, Spec("Share of failing commands at which flow ends.", 0.05, 1, 0.05)] = 0.40


class FactSettings(Group):
    """How far back the plain counts look."""

    recent: Annotated[int, Spec("Actions among which stale results and edits are counted.", 3, 50, 1)] = 10
    failing: Annotated[int, Spec("Actions among which failures are counted.", 3, 100, 1)] = 20
    kept: Annotated[int, Spec("How many calls, results, errors and files are remembered, of each.", 16, 4096, 16)] = 256


class NeuronSettings(Group):
    """How a signal is held."""

    hold: Annotated[int, Spec("Events in a row below the threshold that release a signal.", 1, 20, 1)] = 3


class MetaSettings(Group):
    """How the meta neuron bends the thresholds of the others."""

    buffer: Annotated[int, Spec("How many past firings it uses.", 4, 200, 1)] = 20
    danger: Annotated[float, Spec("Share of frustrated events above which the place is dangerous.", 0.4, 1, 0.05)] = 0.5
    safe: Annotated[float, Spec("Share of frustrated events below which it is safe.", 0, 0.4, 0.05)] = 0.2
    step: Annotated[float, Spec("Change of a threshold per event.", 0, 0.2, 0.01)] = 0.03
    bound: Annotated[float, Spec("Maximum change of a threshold.", 0, 0.5, 0.01)] = 0.15
    stuck_frustration: Annotated[float, Spec("Frustration above which trial and error is stuck.", 0, 1, 0.05)] = 0.25
    stuck_failures: Annotated[int, Spec("Failures in a row that count as stuck; 0 for never.", 0, 100, 1)] = 6
    deep_flow: Annotated[float, Spec("Flow above which implementation counts as deep work.", 0, 1, 0.05)] = 0.15


class HeatmapSettings(Group):
    """Where the work is."""

    fade: Annotated[float, Spec("Work time in which a visit fades to about a third.", 60, 86400, 60, "s")] = 7200.0
    top: Annotated[int, Spec("Hottest paths that make up the context.", 2, 20, 1)] = 5
    shift: Annotated[float, Spec("Share of new hot paths above which the context has shifted.", 0, 0.95, 0.05)] = 0.5
    leaves: Annotated[int, Spec("Maximum number of paths; the coldest are forgotten.", 32, 20000, 32)] = 512
    targets: Annotated[int, Spec("Maximum number of paths counted per tool use.", 1, 1000, 1)] = 32
    shown: Annotated[int, Spec("Hottest paths the tree shows.", 5, 500, 5, project=PROJECT)] = 40


class ReceptorSettings(Group):
    """From tool uses to emotion axes and signals."""

    time: TimeSettings = TimeSettings()
    commander: CommanderSettings = CommanderSettings()
    emotion: EmotionSettings = EmotionSettings()
    impulse: ImpulseSettings = ImpulseSettings()
    ambient: AmbientSettings = AmbientSettings()
    flow: FlowSettings = FlowSettings()
    facts: FactSettings = FactSettings()
    neuron: NeuronSettings = NeuronSettings()
    meta: MetaSettings = MetaSettings()
    heatmap: HeatmapSettings = HeatmapSettings()
