"""Settings of the timeline: what is kept, and how a recording plays."""

from __future__ import annotations

from typing import Literal

from core.settings.trust import PERSON, PROJECT
from core.settings.tunable import Group, part, tunable


class KeyFrameSettings(Group, project=PERSON):
    """How densely whole states are kept."""

    every: int = tunable(256, "Events between two kept states; fewer seek faster.", ge=16, le=8192, step=16)
    p_frames: int = tunable(10, "Changes kept in a row before a whole state is kept.", ge=0, le=100, step=1)
    i_share: float = tunable(0.3, "Share of change above which a whole state is kept.", ge=0, le=1, step=0.05)


class PlaySettings(Group, project=PERSON):
    """How a recording plays."""

    idle: float = tunable(
        5.0,
        "A pause longer than this is played as if it were this long.",
        ge=0,
        le=3600,
        step=1,
        unit="s",
        project=PROJECT,
    )
    speed: float = tunable(
        4.0, "Speed at which a replay begins.", ge=0.25, le=64, step=0.25, unit="x", project=PROJECT
    )


class CacheSettings(Group, project=PERSON):
    """What is remembered on disk, so that a second opening is instant."""

    on: bool = tunable(True, "Keep key frames of opened sessions in the cache folder.")
    limit: int = tunable(512, "Most the cache may take.", ge=0, le=100_000, step=64, unit="MB")
    least: int = tunable(
        2000, "Sessions with fewer events are not worth keeping.", ge=0, le=1_000_000, step=500
    )


class BranchSettings(Group, project=PERSON):
    """What-if runs."""

    near: float = tunable(
        60.0,
        "A firing counts as moved, not lost, within this time.",
        ge=0,
        le=3600,
        step=5,
        unit="s",
        project=PROJECT,
    )
    most: int = tunable(1_000_000, "Most events one branch may run.", ge=1000, le=100_000_000, step=1000)


class CheckpointSettings(Group, project=PERSON):
    """Named moments one can return to."""

    kept: int = tunable(
        16,
        "Checkpoints whose state is kept; automatic ones go first, then the oldest of your own.",
        ge=1,
        le=1000,
        step=1,
    )


class NavigationSettings(Group, project=PERSON):
    """What is said and kept of a person's moves through a recording."""

    summary: Literal["none", "structural", "narrative"] = tunable(
        "structural", "What a return says of the stretch passed over: nothing, counts, or a story."
    )
    tokens: int = tunable(120, "Most tokens such a story may take.", ge=20, le=2000, step=20)
    kept: int = tunable(256, "Moves kept; the oldest go first.", ge=16, le=100_000, step=16)


class TimelineSettings(Group):
    """Recording, seeking, playing."""

    keyframes: KeyFrameSettings = part(KeyFrameSettings, "How densely whole states are kept.")
    play: PlaySettings = part(PlaySettings, "How a recording plays.")
    cache: CacheSettings = part(CacheSettings, "What is remembered on disk.")
    branch: BranchSettings = part(BranchSettings, "What-if runs.")
    checkpoints: CheckpointSettings = part(CheckpointSettings, "Named moments one can return to.")
    navigation: NavigationSettings = part(NavigationSettings, "Moves through a recording.")
