"""Settings of ingest: limits, context windows, tables and following."""

from __future__ import annotations

from core.settings.hosts import HostsSettings
from core.settings.trust import PERSON, lower
from core.settings.tunable import Group, part, tunable


class LineSettings(Group, project=PERSON):
    """How much of a log is taken in at once."""

    longest: int = tunable(
        64 * 1024 * 1024,
        "A line longer than this is skipped and counted.",
        ge=65_536,
        le=1024 * 1024 * 1024,
        step=65_536,
        unit="bytes",
    )
    chunk: int = tunable(
        256 * 1024,
        "How much of a file is read in one go.",
        ge=4096,
        le=64 * 1024 * 1024,
        step=4096,
        unit="bytes",
    )
    head: int = tunable(
        65_536,
        "How much of a file's beginning is looked at to recognise its format.",
        ge=4096,
        le=1024 * 1024,
        step=4096,
        unit="bytes",
    )
    faults: int = tunable(
        100, "How many faults of a log are kept whole; the rest are only counted.", ge=1, le=10_000, step=10
    )


class FollowSettings(Group, project=PERSON):
    """How growing logs are watched."""

    poll: float = tunable(
        0.5,
        "How often files are looked at where no change is announced.",
        ge=0.05,
        le=60,
        step=0.05,
        unit="s",
    )
    debounce: float = tunable(
        0.02,
        "How long announced changes are gathered before a file is read.",
        ge=0.0,
        le=2,
        step=0.01,
        unit="s",
    )
    active_within: float = tunable(
        300.0,
        "A session counts as active when its log last told of something this recently, by its own clock.",
        ge=5,
        le=86_400,
        step=5,
        unit="s",
    )


class ContextWindowSettings(Group, project=PERSON):
    """How large an agent's context may grow."""

    default_window: int = tunable(
        200_000,
        "Context window of a model that no table knows.",
        ge=1000,
        le=10_000_000,
        step=1000,
        unit="tokens",
        project=lower(32_000),
    )
    extended_window: int = tunable(
        1_000_000,
        "Context window of a model seen beyond its usual window.",
        ge=1000,
        le=20_000_000,
        step=1000,
        unit="tokens",
        project=lower(200_000),
    )


class TableSettings(Group, project=PERSON):
    """The user's own tables."""

    tools: str = tunable("", "A file with tool names of your own, added to ours.")
    models: str = tunable("", "A file with windows and prices of your own, added to ours.")


class IngestSettings(Group):
    """From logs to events."""

    lines: LineSettings = part(LineSettings, "How much of a log is taken in at once.")
    follow: FollowSettings = part(FollowSettings, "How growing logs are watched.")
    context: ContextWindowSettings = part(ContextWindowSettings, "How large an agent's context may grow.")
    tables: TableSettings = part(TableSettings, "Your own tool, window and price tables.")
    hosts: HostsSettings = part(HostsSettings, "Sessions of many hosts on one NATS server.")
