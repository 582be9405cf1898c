"""Settings of the timeline: recording, playing and branches."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import PROJECT, Group, Spec


class KeyFrameSettings(Group):
    """How densely whole states are kept."""

    every: Annotated[int, Spec("Events between two saved states; fewer seek faster.", 16, 8192, 16)] = 256
    p_frames: Annotated[int, Spec("Changes saved in a row before a full state is saved.", 0, 100, 1)] = 10
    i_share: Annotated[float, Spec("Share of change above which a full state is saved.", 0, 1, 0.05)] = 0.3


class PlaySettings(Group):
    """How a recording plays."""

    idle: Annotated[float, Spec("Longer pauses are shortened to this.", 0, 3600, 1, "s", project=PROJECT)] = 5.0
    speed: Annotated[float, Spec("Speed at which a replay begins.", 0.25, 64, 0.25, "x", project=PROJECT)] = 4.0


class CacheSettings(Group):
    """Recordings cached on disk, so that a second opening is instant."""

    on: Annotated[bool, Spec("Keep key frames of opened sessions in the cache folder.")] = True
    limit: Annotated[int, Spec("Maximum size of the cache.", 0, 100_000, 64, "MB")] = 512
    least: Annotated[int, Spec("Sessions with fewer events are not cached.", 0, 1_000_000, 500)] = 2000


class BranchSettings(Group):
    """What-if runs."""

    near: Annotated[float, Spec("Within this time a firing is moved, not lost.", 0, 3600, 5, "s", project=PROJECT)] = (
        60.0
    )
    most: Annotated[int, Spec("Maximum number of events of one branch.", 1000, 100_000_000, 1000)] = 1_000_000


class CheckpointSettings(Group):
    """Named moments one can return to."""

    kept: Annotated[
        int,
        Spec("Checkpoints whose state is kept; automatic ones are dropped first, then your oldest ones.", 1, 1000, 1),
    ] = 16


class NavigationSettings(Group):
    """The record of a person's moves through a recording."""

    summary: Annotated[
        Literal["none", "structural", "narrative"],
        Spec("Summary of the skipped stretch on a return: nothing, counts, or a story."),
    ] = "structural"
    tokens: Annotated[int, Spec("Maximum number of tokens of such a story.", 20, 2000, 20)] = 120
    kept: Annotated[int, Spec("Moves kept; the oldest are dropped first.", 16, 100_000, 16)] = 256


class TimelineSettings(Group):
    """Recording, seeking, playing."""

    keyframes: KeyFrameSettings = KeyFrameSettings()
    play: PlaySettings = PlaySettings()
    cache: CacheSettings = CacheSettings()
    branch: BranchSettings = BranchSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    navigation: NavigationSettings = NavigationSettings()
