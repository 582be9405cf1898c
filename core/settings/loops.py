"""Settings of the loop detectors."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.declared import Bounds
from core.settings.trust import ON, PERSON, lower
from core.settings.tunable import Group, part, tunable

DetectorName = Literal[
    "exact",
    "failing",
    "oscillation",
    "near",
    "retest",
    "rework",
    "churn",
    "storm",
    "reread",
    "gave_up",
    "burn",
    "waiting",
]
Limit = Annotated[int, Bounds(ge=0, le=10_000)]


class ExactSettings(Group, project=PERSON):
    """The same calls with the same results, again and again."""

    enabled: bool = tunable(True, "Watch for equal calls with equal results.", project=ON)
    single: int = tunable(
        4, "Times one call repeats in a row before it is a loop.", ge=2, le=100, step=1, project=lower(3)
    )
    rounds: int = tunable(
        3, "Rounds of several calls before they are a loop.", ge=2, le=100, step=1, project=lower(2)
    )
    longest: int = tunable(6, "Calls in the longest round looked for.", ge=1, le=6, step=1)


class NearSettings(Group, project=PERSON):
    """Calls that differ only in numbers or quoted text, with nothing new coming back."""

    enabled: bool = tunable(True, "Watch for nearly equal calls that bring nothing new.", project=ON)
    single: int = tunable(
        5, "Times a call nearly repeats in a row before it is a loop.", ge=2, le=100, step=1, project=lower(3)
    )
    edits: int = tunable(
        8, "Failed edits of one file in a row that are a loop.", ge=2, le=100, step=1, project=lower(3)
    )
    rounds: int = tunable(
        3, "Rounds of nearly equal calls before they are a loop.", ge=2, le=100, step=1, project=lower(2)
    )
    longest: int = tunable(6, "Calls in the longest round looked for.", ge=1, le=6, step=1)
    telling: int = tunable(
        200,
        "A shorter result is too little to be the same again.",
        ge=0,
        le=10_000,
        step=10,
        unit="characters",
    )


class FailingSettings(Group, project=PERSON):
    """A command that fails again although nothing was edited."""

    enabled: bool = tunable(True, "Watch for commands that fail again with nothing edited.", project=ON)
    times: int = tunable(
        5, "Failures without an edit between before they are a loop.", ge=2, le=100, step=1, project=lower(3)
    )
    kept: int = tunable(32, "Different failing commands remembered at a time.", ge=4, le=256, step=4)
    linger: int = tunable(6, "Other calls after which a failing command is let go.", ge=1, le=100, step=1)


class OscillationSettings(Group, project=PERSON):
    """Edits that undo one another."""

    enabled: bool = tunable(True, "Watch for edits that undo one another.", project=ON)
    flips: int = tunable(
        3, "Times an edit is undone or redone before it is a loop.", ge=1, le=100, step=1, project=lower(2)
    )
    kept: int = tunable(64, "Edits remembered at a time.", ge=4, le=512, step=4)
    linger: int = tunable(10, "Other calls after which an undone edit is let go.", ge=1, le=100, step=1)


class RetestSettings(Group, project=PERSON):
    """A command that fails again although it was edited for in between."""

    enabled: bool = tunable(True, "Watch for commands that fail again after edits.", project=ON)
    times: int = tunable(10, "Failures with an edit between each before it is told.", ge=2, le=100, step=1)
    kept: int = tunable(32, "Different failing commands remembered at a time.", ge=4, le=256, step=4)


class ReworkSettings(Group, project=PERSON):
    """One file edited again and again while calls fail and no test or build passes."""

    enabled: bool = tunable(True, "Watch for a file edited again and again.", project=ON)
    times: int = tunable(10, "Edits of one file before it is told.", ge=2, le=200, step=1)
    failures: int = tunable(4, "Failures of any kind among them, at least.", ge=0, le=100, step=1)
    kept: int = tunable(64, "Files remembered at a time.", ge=4, le=512, step=4)


class ChurnSettings(Group, project=PERSON):
    """Much done over again, or much failed, since the person asked."""

    enabled: bool = tunable(True, "Watch for work that is done over and over.", project=ON)
    times: int = tunable(17, "Failures of any kind since the prompt before it is told.", ge=2, le=500, step=1)
    edits: int = tunable(
        13, "Edits of files edited before, since the prompt, before it is told.", ge=2, le=500, step=1
    )
    failures: int = tunable(4, "Failures of any kind beside such edits, at least.", ge=0, le=100, step=1)
    kept: int = tunable(64, "Files remembered at a time.", ge=4, le=512, step=4)


class StormSettings(Group, project=PERSON):
    """Calls that fail one after another, whatever they are."""

    enabled: bool = tunable(True, "Watch for failures in a row.", project=ON)
    times: int = tunable(10, "Failures in a row before they are told.", ge=2, le=100, step=1)


class RereadSettings(Group, project=PERSON):
    """Files read again and again with nothing edited or run."""

    enabled: bool = tunable(True, "Watch for files read again with nothing edited.", project=ON)
    times: int = tunable(13, "Files read again before it is told.", ge=2, le=100, step=1)
    kept: int = tunable(64, "Files remembered at a time.", ge=4, le=512, step=4)


class WaitingSettings(Group, project=PERSON):
    """Waiting for something that never changes."""

    enabled: bool = tunable(True, "Watch for waiting that changes nothing.", project=ON)
    times: int = tunable(240, "Times the same was waited for before it is told.", ge=2, le=10000, step=1)


class GaveUpSettings(Group, project=PERSON):
    """A final answer after failures, with nothing run that passed since."""

    enabled: bool = tunable(True, "Watch for answers that end in failure.", project=ON)
    times: int = tunable(
        3, "Failures without a pass before a final answer is giving up.", ge=1, le=100, step=1
    )


class BurnSettings(Group, project=PERSON):
    """Tokens spent while nothing new comes of it."""

    enabled: bool = tunable(True, "Watch for tokens spent without progress.", project=ON)
    tokens: int = tunable(
        400_000,
        "Tokens without progress that are a burn.",
        ge=1_000,
        le=50_000_000,
        step=10_000,
        unit="tokens",
        project=lower(50_000),
    )
    turns: int = tunable(
        10, "Answers without progress that a burn takes at least.", ge=1, le=1000, step=1, project=lower(4)
    )
    untold: int = tunable(
        40_000,
        "Tokens an answer counts where the log tells none.",
        ge=0,
        le=1_000_000,
        step=1_000,
        unit="tokens",
    )
    cached: float = tunable(0.1, "What a token read from cache counts.", ge=0, le=1, step=0.05)
    waiting: float = tunable(0.2, "What a token counts when the answer only waited.", ge=0, le=1, step=0.05)
    hurry: float = tunable(
        2.0, "How much sooner a burn is told when spending speeds up.", ge=1, le=10, step=0.1
    )
    memory: float = tunable(0.8, "How much the usual speed holds on to its past.", ge=0, le=0.99, step=0.01)
    pause: float = tunable(
        120.0, "A longer gap between events counts as no more than this.", ge=1, le=3600, step=1, unit="s"
    )
    kept: int = tunable(512, "Results remembered, to know a new one.", ge=16, le=8192, step=16)


class LoopSettings(Group, project=PERSON):
    """When going round in circles is worth a word."""

    exact: ExactSettings = part(ExactSettings, "The same calls with the same results.")
    near: NearSettings = part(NearSettings, "Nearly the same calls with nothing new.")
    failing: FailingSettings = part(FailingSettings, "The same command failing again.")
    oscillation: OscillationSettings = part(OscillationSettings, "Edits that undo one another.")
    retest: RetestSettings = part(RetestSettings, "The same command failing after edits.")
    rework: ReworkSettings = part(ReworkSettings, "One file edited again and again, in vain.")
    churn: ChurnSettings = part(ChurnSettings, "Work done over and over while calls fail.")
    storm: StormSettings = part(StormSettings, "Failures in a row, of any kind.")
    reread: RereadSettings = part(RereadSettings, "Reading again without editing.")
    waiting: WaitingSettings = part(WaitingSettings, "Waiting for what never changes.")
    gave_up: GaveUpSettings = part(GaveUpSettings, "A final answer after failures.")
    burn: BurnSettings = part(BurnSettings, "Tokens spent without progress.")
    growth: float = tunable(
        2.0, "A loop is told again when it grew this many times.", ge=1.1, le=10, step=0.1, project=lower(1.5)
    )
    cooldown: float = tunable(
        300.0,
        "The same loop that comes back is not told sooner.",
        ge=0,
        le=7200,
        step=10,
        unit="s",
        project=lower(60),
    )
    tools: dict[str, dict[DetectorName, Limit]] = tunable(
        {}, "Limits of a tool or program by detector; 0 never tells."
    )
