"""Settings of the loop detectors."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.declared import Bounds
from core.settings.trust import ON, PERSON, lower
from core.settings.tunable import Group, part, tunable

DetectorName = Literal["repeat", "failing", "oscillation", "retest", "rework", "stalled"]
Limit = Annotated[int, Bounds(ge=0, le=10_000)]


class RepeatSettings(Group, project=PERSON):
    """The same calls with the same results, again and again."""

    enabled: bool = tunable(True, "Detect equal calls with equal results.", project=ON)
    times: int = tunable(
        6, "Times one call repeats in a row before it is a loop.", ge=2, le=100, step=1, project=lower(3)
    )
    rounds: int = tunable(
        4,
        "Times a round of several calls repeats before it is a loop.",
        ge=2,
        le=100,
        step=1,
        project=lower(2),
    )
    longest: int = tunable(6, "Calls in the longest round that is detected.", ge=1, le=6, step=1)


class FailingSettings(Group, project=PERSON):
    """Calls that fail with no good edit or check in between."""

    enabled: bool = tunable(True, "Detect calls that keep failing.", project=ON)
    times: int = tunable(
        12,
        "Failures without a good edit or check before they are a loop.",
        ge=2,
        le=100,
        step=1,
        project=lower(3),
    )
    linger: int = tunable(10, "Calls without a failure after which it is over.", ge=1, le=100, step=1)


class OscillationSettings(Group, project=PERSON):
    """Edits that undo one another."""

    enabled: bool = tunable(True, "Detect edits that undo one another.", project=ON)
    flips: int = tunable(
        3, "Times an edit is undone or redone before it is a loop.", ge=1, le=100, step=1, project=lower(2)
    )
    kept: int = tunable(64, "Edits remembered at a time.", ge=4, le=512, step=4)
    linger: int = tunable(10, "Calls after the last undone edit until it is over.", ge=1, le=100, step=1)


class RetestSettings(Group, project=PERSON):
    """A command that fails again although something was edited in between."""

    enabled: bool = tunable(True, "Detect commands that fail again after edits.", project=ON)
    times: int = tunable(8, "Failures with an edit before each until it is a loop.", ge=2, le=100, step=1)
    kept: int = tunable(32, "Failing commands remembered at a time.", ge=4, le=256, step=4)


class ReworkSettings(Group, project=PERSON):
    """Files edited again and again while calls fail and no check passes."""

    enabled: bool = tunable(True, "Detect files that are edited again and again.", project=ON)
    times: int = tunable(8, "Edits of files edited before until it is a loop.", ge=2, le=200, step=1)
    failures: int = tunable(2, "Failures of any kind beside them, at least.", ge=0, le=100, step=1)
    kept: int = tunable(64, "Files remembered at a time.", ge=4, le=512, step=4)


class StalledSettings(Group, project=PERSON):
    """Calls that bring nothing new."""

    enabled: bool = tunable(True, "Detect calls that bring nothing new.", project=ON)
    window: int = tunable(20, "Calls looked back on.", ge=4, le=200, step=1)
    times: int = tunable(
        16, "Calls of those that brought nothing new until it is a loop.", ge=2, le=200, step=1
    )
    kept: int = tunable(512, "Results, edits and files remembered at a time.", ge=16, le=8192, step=16)


class LoopSettings(Group, project=PERSON):
    """When going in circles is reported."""

    repeat: RepeatSettings = part(RepeatSettings, "The same calls with the same results.")
    failing: FailingSettings = part(FailingSettings, "Calls that keep failing.")
    oscillation: OscillationSettings = part(OscillationSettings, "Edits that undo one another.")
    retest: RetestSettings = part(RetestSettings, "The same command failing after edits.")
    rework: ReworkSettings = part(ReworkSettings, "Files edited again and again without a passing check.")
    stalled: StalledSettings = part(StalledSettings, "Calls that bring nothing new.")
    growth: float = tunable(
        2.0, "Report a loop again when it grew this many times.", ge=1.1, le=10, step=0.1, project=lower(1.5)
    )
    cooldown: float = tunable(
        300.0,
        "Seconds before a loop that comes back is reported again.",
        ge=0,
        le=7200,
        step=10,
        unit="s",
        project=lower(60),
    )
    tools: dict[str, dict[DetectorName, Limit]] = tunable(
        {}, "Limits for a tool or program, by detector; 0 never reports."
    )
