"""Settings of the program around the engine: logs, the screen, recordings, models for prose, extensions."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import PROJECT, Group, Spec, lower


class HostsSettings(Group):
    """Sessions of many hosts on one NATS server; limits are fixed when the stream is created."""

    keep: Annotated[float, Spec("The stream deletes events older than this.", 0.01, 3650, 1, "days")] = 30.0
    most: Annotated[float, Spec("Size at which the oldest events are deleted; 0: none.", 0, 1e7, 100, "MB")] = 0.0
    replicas: Annotated[int, Spec("Servers of a NATS cluster that store each event.", 1, 5, 1)] = 1
    window: Annotated[float, Spec("Time within which a repeated event is dropped.", 1, 86_400, 10, "s")] = 120.0
    within: Annotated[float, Spec("Sessions that changed this recently are sent.", 0.1, 8760, 1, "h")] = 24.0
    batch: Annotated[int, Spec("Events sent before waiting for answers.", 1, 10_000, 50)] = 500
    sign: Annotated[float, Spec("Time between two heartbeats of a host.", 0.5, 600, 1, "s")] = 10.0
    ssh: Annotated[tuple[str, ...], Spec("Command that reaches another host for `fleet --from ssh://host`.")] = ("ssh",)
    missed: Annotated[int, Spec("Heartbeats missed before a host is reported as lost.", 2, 100, 1)] = 4


class LineSettings(Group):
    """How much of a log is taken in at once."""

    longest: Annotated[
        int, Spec("A line longer than this is skipped and counted.", 65_536, 1024 * 1024 * 1024, 65_536, "bytes")
    ] = 64 * 1024 * 1024
    chunk: Annotated[int, Spec("Bytes of a file read at once.", 4096, 64 * 1024 * 1024, 4096, "bytes")] = 256 * 1024
    head: Annotated[
        int,
        Spec("How much of a file's beginning is looked at to recognise its format.", 4096, 1024 * 1024, 4096, "bytes"),
    ] = 65_536
    faults: Annotated[int, Spec("Faults of a log kept in full; others are only counted.", 1, 10_000, 10)] = 100


class FollowSettings(Group):
    """How growing logs are watched."""

    poll: Annotated[float, Spec("How often files are checked without change reports.", 0.05, 60, 0.05, "s")] = 0.5
    debounce: Annotated[float, Spec("Delay between a reported change and reading.", 0.0, 2, 0.01, "s")] = 0.02
    active_within: Annotated[
        float, Spec("A session counts as active if its log is this recent, by its own clock.", 5, 86_400, 5, "s")
    ] = 300.0


class ContextWindowSettings(Group):
    """How large an agent's context may grow."""

    default_window: Annotated[
        int, Spec("Context window of an unknown model.", 1000, 10_000_000, 1000, "tokens", project=lower(32_000))
    ] = 200_000
    extended_window: Annotated[
        int,
        Spec(
            "Context window of a model that exceeded its usual window.",
            1000,
            20_000_000,
            1000,
            "tokens",
            project=lower(200_000),
        ),
    ] = 1_000_000


class TableSettings(Group):
    """The user's own tables."""

    tools: Annotated[str, Spec("A file with your own tool names, added to the built-in ones.")] = ""
    models: Annotated[str, Spec("A file with your own context windows and prices, added to the built-in ones.")] = ""


class IngestSettings(Group):
    """From logs to events."""

    lines: LineSettings = LineSettings()
    follow: FollowSettings = FollowSettings()
    context: ContextWindowSettings = ContextWindowSettings()
    tables: TableSettings = TableSettings()
    hosts: HostsSettings = HostsSettings()


class CostSettings(Group):
    """The daily budget."""

    budget: Annotated[float, Spec("Daily budget for all agents; 0 for no limit.", 0, 100_000, 1, "$")] = 0.0
    evening: Annotated[float, Spec("Time of day until which the pace is projected.", 0, 24, 0.5, "h")] = 18.0
    stretch: Annotated[float, Spec("Time over which the pace is measured.", 5, 1440, 5, "min")] = 60.0


class FleetSettings(Group):
    """All sessions of this machine at a glance."""

    within: Annotated[float, Spec("Sessions that changed this recently are listed.", 0.1, 8760, 1, "h")] = 24.0
    most: Annotated[int, Spec("Maximum number of sessions listed, the newest first.", 1, 5000, 10)] = 200
    awake: Annotated[int, Spec("Maximum sessions followed at once; others are read again.", 1, 2000, 10)] = 250
    tail: Annotated[float, Spec("How much of a log's end is read for a first look.", 0.05, 100, 0.5, "MB")] = 1.0
    whole: Annotated[float, Spec("An active log up to this size is then read completely.", 0, 10_000, 8, "MB")] = 64.0
    rate: Annotated[int, Spec("Maximum updates of the fleet per second.", 1, 20, 1, "Hz")] = 4
    search: Annotated[float, Spec("Time between two searches for unannounced sessions.", 1, 3600, 5, "s")] = 30.0
    quick: Annotated[float, Spec("A read or edit open for longer may wait for permission.", 2, 600, 1, "s")] = 15.0
    silent: Annotated[float, Spec("A log silent for longer mid-task needs a look.", 10, 86_400, 10, "s")] = 300.0
    left: Annotated[float, Spec("A session silent this long mid-task is abandoned.", 60, 604_800, 300, "s")] = 7200.0
    news: Annotated[float, Spec("How long a finished session counts as news.", 0, 86_400, 60, "s")] = 600.0
    context: Annotated[float, Spec("Share of the way to compaction that is worth a look.", 0.1, 1, 0.01)] = 0.9
    span: Annotated[float, Spec("Time shown by the small curve of a session.", 60, 86_400, 60, "s")] = 600.0


Series = Literal[
    "activity", "frustration", "seeking", "confidence", "fatigue", "flow", "uncertainty", "sleep", "context",
    "accuracy", "volatility",
]  # fmt: skip


class ScreenSettings(Group):
    """The screen."""

    theme: Annotated[str, Spec("Theme at the start.")] = "nocturne"
    motion: Annotated[bool, Spec("Animate changes; off shows each change at once.")] = True
    rate: Annotated[int, Spec("Maximum frames per second.", 1, 60, 1, "Hz")] = 60
    idle: Annotated[float, Spec("Time between idle frames; doubles after ten of them.", 0.1, 60, 0.1, "s")] = 1.0
    tail: Annotated[float, Spec("A longer log shows its end first, then is read completely.", 0, 1000, 0.5, "MB")] = 1.0
    series: Annotated[Series, Spec("Reading the timeline shows first.", project=PROJECT)] = "activity"
    gap: Annotated[float, Spec("A silence this long is drawn as a gap.", 10, 86_400, 10, "s", project=PROJECT)] = 600.0
    burn: Annotated[float, Spec("Time for measuring tokens per minute.", 10, 3600, 10, "s", project=PROJECT)] = 120.0
    keymap: Annotated[dict[str, str], Spec("Other keys, by the id that help shows for each.")] = {}
    fleet: FleetSettings = FleetSettings()
    cost: CostSettings = CostSettings()


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

    why: Annotated[float, Spec("How strong a model is wanted to answer `why is it stuck`.", 0, 2, 0.05)] = 0.7
    recap: Annotated[float, Spec("How strong a model is wanted to write a recap in prose.", 0, 2, 0.05)] = 0.5
    episode: Annotated[float, Spec("How strong a model is wanted to name episodes.", 0, 2, 0.05)] = 0.4
    dream: Annotated[float, Spec("How strong a model is wanted to summarise a dream.", 0, 2, 0.05)] = 0.4


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
