"""Settings of recordings, of the narrator and of extensions."""

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

    near: Annotated[float, Spec("A firing this close is moved, not lost.", 0, 3600, 5, "s", project=PROJECT)] = 60.0
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
    tokens: Annotated[int, Spec("Maximum number of tokens of this story.", 20, 2000, 20)] = 120
    kept: Annotated[int, Spec("Moves kept; the oldest are dropped first.", 16, 100_000, 16)] = 256


class TimelineSettings(Group):
    """Recording, seeking, playing."""

    keyframes: KeyFrameSettings = KeyFrameSettings()
    play: PlaySettings = PlaySettings()
    cache: CacheSettings = CacheSettings()
    branch: BranchSettings = BranchSettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    navigation: NavigationSettings = NavigationSettings()


# `KIND MODEL [ADDRESS] [VARIABLE]`: the variable of the environment that holds the key.
ProviderWords = Annotated[
    str,
    Spec(
        pattern=r"^(openai|anthropic) \S+( https?://[^\s/@]+(/\S*)?)?( [A-Z][A-Z0-9_]*)?$",
        max_length=300,
        words="`openai MODEL [ADDRESS] [VARIABLE]` or `anthropic MODEL [ADDRESS] [VARIABLE]`",
    ),
]


class DemandSettings(Group):
    """How demanding each request is; the gate chooses no, a small or a large model by it."""

    why: Annotated[float, Spec("How strong a model an answer to `why is it stuck` asks for.", 0, 2, 0.05)] = 0.7
    recap: Annotated[float, Spec("How strong a model a recap in prose asks for.", 0, 2, 0.05)] = 0.5
    episode: Annotated[float, Spec("How strong a model naming episodes asks for.", 0, 2, 0.05)] = 0.4
    dream: Annotated[float, Spec("How strong a model the summary of a dream asks for.", 0, 2, 0.05)] = 0.4


class NarratorSettings(Group):
    """Prose written by a language model; if off, text comes from templates and nothing leaves the machine."""

    on: Annotated[bool, Spec("Let a language model write prose; redacted facts are then sent to it.")] = False
    small: Annotated[
        tuple[ProviderWords, ...], Spec("Small models, tried in order: `openai qwen3:4b http://127.0.0.1:11434/v1`.")
    ] = ()
    large: Annotated[
        tuple[ProviderWords, ...],
        Spec("Large models, tried in order: `anthropic claude-sonnet-4-5`; the key is in ANTHROPIC_API_KEY."),
    ] = ()
    money: Annotated[float, Spec("Daily budget for prose on this machine, per UTC day.", 0, 1000, 0.1, "$")] = 0.5
    tokens: Annotated[int, Spec("Tokens for prose per UTC day, here.", 0, 1_000_000_000, 10_000, "tokens")] = 200_000
    answer: Annotated[int, Spec("Maximum length of an answer.", 50, 8000, 50, "tokens")] = 600
    facts: Annotated[int, Spec("Maximum number of facts sent with one request.", 5, 500, 5)] = 60
    timeout: Annotated[float, Spec("Time after which a request is abandoned.", 0.2, 300, 1, "s")] = 20.0
    retries: Annotated[int, Spec("How often one model is tried again.", 0, 5, 1)] = 1
    pause: Annotated[float, Spec("Wait before the second try; doubled for each further one.", 0, 60, 0.5, "s")] = 1.0
    breaker: Annotated[int, Spec("Failures in a row after which a model is paused.", 1, 100, 1)] = 3
    rest: Annotated[float, Spec("How long a model is paused; doubled each time.", 1, 86_400, 10, "s")] = 120.0
    cache: Annotated[int, Spec("Maximum size of the cached answers.", 0, 10_000, 5, "MB")] = 20
    demand: DemandSettings = DemandSettings()


class ExtensionSettings(Group):
    """Installed extensions, and the limits of their failures."""

    faults: Annotated[int, Spec("Faults after which an extension is switched off for the run.", 1, 1000, 1)] = 3
    bus: Annotated[int, Spec("Events a slow subscriber may be behind; older ones drop.", 1, 1_000_000, 100)] = 10_000
