"""Settings of the loop detectors."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import ON, Group, Spec, lower

DetectorName = Literal["repeat", "failing", "oscillation", "retest", "rework", "stalled"]
Limit = Annotated[int, Spec(ge=0, le=10_000)]


class RepeatSettings(Group):
    """Repeated calls with the same results."""

    enabled: Annotated[bool, Spec("Detect identical calls with identical results.", project=ON)] = True
    times: Annotated[int, Spec("Times one call repeats in a row before it is a loop.", 2, 100, 1, project=lower(3))] = 6
    rounds: Annotated[int, Spec("Repeats of a round of calls that make a loop.", 2, 100, 1, project=lower(2))] = 4
    longest: Annotated[int, Spec("Calls in the longest round that is detected.", 1, 6, 1)] = 6


class FailingSettings(Group):
    """Calls that fail with no good edit or check in between."""

    enabled: Annotated[bool, Spec("Detect calls that keep failing.", project=ON)] = True
    times: Annotated[
        int, Spec("Failures that make a loop without a good edit or check.", 2, 100, 1, project=lower(3))
    ] = 12
    linger: Annotated[int, Spec("Calls without a failure after which the loop is over.", 1, 100, 1)] = 10


class OscillationSettings(Group):
    """Edits that undo one another."""

    enabled: Annotated[bool, Spec("Detect edits that undo one another.", project=ON)] = True
    flips: Annotated[int, Spec("Times an edit is undone or redone that make a loop.", 1, 100, 1, project=lower(2))] = 3
    kept: Annotated[int, Spec("Edits remembered at a time.", 4, 512, 4)] = 64
    linger: Annotated[int, Spec("Calls after the last undone edit until the loop is over.", 1, 100, 1)] = 10


class RetestSettings(Group):
    """A command that fails again although something was edited in between."""

    enabled: Annotated[bool, Spec("Detect commands that fail again after edits.", project=ON)] = True
    times: Annotated[int, Spec("Failures with an edit before each until it is a loop.", 2, 100, 1)] = 8
    kept: Annotated[int, Spec("Failing commands remembered at a time.", 4, 256, 4)] = 32


class ReworkSettings(Group):
    """Files edited again and again while calls fail and no check passes."""

    enabled: Annotated[bool, Spec("Detect files that are edited again and again.", project=ON)] = True
    times: Annotated[int, Spec("Edits of files edited before until it is a loop.", 2, 200, 1)] = 8
    failures: Annotated[int, Spec("Minimum number of failures of any kind besides them.", 0, 100, 1)] = 2
    kept: Annotated[int, Spec("Files remembered at a time.", 4, 512, 4)] = 64


class StalledSettings(Group):
    """Calls that bring nothing new."""

    enabled: Annotated[bool, Spec("Detect calls that bring nothing new.", project=ON)] = True
    window: Annotated[int, Spec("How many of the last calls are checked.", 4, 200, 1)] = 20
    times: Annotated[int, Spec("How many of those must bring nothing new.", 2, 200, 1)] = 16
    kept: Annotated[int, Spec("Results, edits and files remembered at a time.", 16, 8192, 16)] = 512


class LoopSettings(Group):
    """When going in circles is reported."""

    repeat: RepeatSettings = RepeatSettings()
    failing: FailingSettings = FailingSettings()
    oscillation: OscillationSettings = OscillationSettings()
    retest: RetestSettings = RetestSettings()
    rework: ReworkSettings = ReworkSettings()
    stalled: StalledSettings = StalledSettings()
    growth: Annotated[
        float, Spec("Growth of its count that reports a loop again.", 1.1, 10, 0.1, project=lower(1.5))
    ] = 2.0
    cooldown: Annotated[
        float, Spec("Time before the same loop is reported again.", 0, 7200, 10, "s", project=lower(60))
    ] = 300.0
    tools: Annotated[dict[str, dict[DetectorName, Limit]], Spec("Limits per tool and detector; 0 never reports.")] = {}
