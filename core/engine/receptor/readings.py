"""Readings of the receptor for the screen: immutable, built on demand."""

from __future__ import annotations

from msgspec import Struct

from core.engine.percept import AgentState, Axis, Pattern, Signal, SignalName
from core.events import Action


class AxisReading(Struct, frozen=True):
    """One axis: its value, and the level where it fires."""

    axis: Axis
    value: float
    threshold: float
    baseline: float
    offset: float
    field: float  # Shift by the meta neuron; always 0 for flow.
    trend: float  # Change since a while ago.
    firing: bool  # A signal of this axis is active, fired or held.
    held: bool  # The signal is active although the value is below the threshold.
    release: int  # Events below the threshold until it is released; 0 if no signal is active.


class GateReading(Struct, frozen=True):
    """A, the flow gate."""

    value: float
    threshold: float
    firing: bool


class HeldReading(Struct, frozen=True):
    """One axis for which B sends a signal."""

    axis: Axis
    signal: SignalName
    intensity: float
    release: int


class MetaReading(Struct, frozen=True):
    """C, the meta neuron."""

    state: AgentState
    rates: tuple[tuple[Axis, float], ...]  # Share of the buffer in which each axis was the strongest.
    field: tuple[tuple[Axis, float], ...]
    buffer: tuple[Axis | None, ...]  # Strongest axis of each of the last events, oldest first.


class WindowReading(Struct, frozen=True):
    """One window of the Commander."""

    name: str
    events: int
    pattern: Pattern
    ratios: tuple[tuple[Action, float], ...]
    failure_rate: float
    alternations: int


class BehaviourReading(Struct, frozen=True):
    """The three windows, and what changed between the medium and the short one."""

    short: WindowReading
    medium: WindowReading
    session: WindowReading
    delta: str  # Such as `exploration -> trial_error`; empty if both agree.
    meaning: str
    usual: tuple[tuple[Pattern, float], ...] = ()  # Shares of the patterns in earlier sessions, if there were any.


class PathReading(Struct, frozen=True):
    """One leaf of the heatmap with its six dimensions and its decayed count."""

    path: str
    count: int
    opened: int
    modified: int
    last_modified: float | None
    last_access: float
    last_state: AgentState
    heat: float


class NodeReading(Struct, frozen=True):
    """One component of a path; its figures are the sums of all leaves at or below it."""

    name: str
    path: str
    count: int
    heat: float
    leaf: PathReading | None
    children: tuple[NodeReading, ...]


class HeatmapReading(Struct, frozen=True):
    """Where the work is."""

    tree: tuple[NodeReading, ...]
    top: tuple[PathReading, ...]  # The shown leaves, hottest first.
    leaves: int  # How many are remembered, shown or not.
    context: tuple[str, ...]  # The hot paths a shift is measured against.


class Contribution(Struct, frozen=True):
    """The remaining contribution of one impulse to a value."""

    event: int  # Number of the event, from 1.
    at: float
    source: str  # Name of the impulse in the settings, or `compaction` or `disruption`.
    amount: float  # The part that remains.
    impulse: float  # Its original effect.


class Why(Struct, frozen=True):
    """The explanation of a value: contributions, newest first, and all older ones as one figure."""

    axis: Axis
    value: float
    contributions: tuple[Contribution, ...]
    older: float


class FactsReading(Struct, frozen=True, kw_only=True):
    """Plain figures of what the agent did; an action is a tool use that took place."""

    actions: int
    looks: int  # Files read and searches made.
    runs: int  # Shell commands.
    tests: int
    tests_passed: int  # Test runs since the first change that did not fail.
    edits: int  # Edits that went through.
    changes: int  # Of these, edits of files that the agent did not make itself.
    changed_files: int
    failures: int
    failures_in_a_row: int
    failures_recent: int  # Failures among the last `of_failures` actions.
    of_failures: int
    same_error: int  # Failures whose error had come before.
    failed_edits: int
    failed_edits_again: int  # Failed edits of a file with an earlier failed edit.
    failed_reads: int
    same_result: int  # Calls made again with the same result.
    new_result: int  # Calls made again with another result.
    stale_recent: int  # Results among the last `of_recent` actions that had come before.
    edits_recent: int  # Edits among the last `of_recent` actions, good or failed.
    of_recent: int
    edits_again: int  # Edits of a file edited before.
    rereads: int  # Files read again although nothing was edited since.
    new_files: int  # Actions that touched a file for the first time.
    checks: int  # Commands that were the first after an edit.
    checks_passed: int
    runs_since_change: int  # Commands run since the first change.
    edits_since_pass: int  # Successful edits since a command last passed.
    since_good_edit: int  # Actions since the last successful edit, or since the beginning.
    since_change: int  # Actions since the last change, or since the beginning.
    since_run: int  # Actions since the last command, or since the beginning.
    failures_since_edit: int  # Failures since the last successful edit, or since the beginning.
    looks_before_edit: int  # Files read and searches made before the first change.
    words_of_checking: int  # Phrases of checking in the agent's text, each counted once per answer.
    names_asked: int  # Names of code in the prompts.
    names_seen: int  # Of these, names that came up in results.
    words_of_doubt: int  # Phrases of doubt in the agent's text, each counted once per answer.

    @property
    def sentences(self) -> tuple[str, ...]:
        """The most important counts in words; none before the first action."""
        if not self.actions:
            return ()
        edit = "the last successful edit" if self.edits else "the beginning, no edit yet"
        return (
            f"{self.failures_recent} of the last {_counted(self.of_failures, 'action')} failed",
            f"{_counted(self.same_error, 'failure')} with an error seen before",
            f"{_counted(self.edits_since_pass, 'edit')} since a command last succeeded",
            f"{_counted(self.since_good_edit, 'action')} since {edit}",
            f"{self.looks_before_edit} file reads and searches before the first change",
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class ReceptorReading(Struct, frozen=True):
    """The whole receptor at one moment."""

    at: float
    now: float  # Subjective seconds since the first event.
    wall: float  # Wall seconds since the first event.
    events: int  # Events of every kind so far.
    idle: bool  # The silence is so long that the baseline is frozen.
    axes: tuple[AxisReading, ...]
    gate: GateReading
    held: tuple[HeldReading, ...]
    signals: tuple[Signal, ...]
    meta: MetaReading
    behaviour: BehaviourReading
    heatmap: HeatmapReading
    shifts: int  # How often the context shifted so far.
    facts: FactsReading  # The plain figures behind all this.
