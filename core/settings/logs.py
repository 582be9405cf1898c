"""Settings of ingest: limits, context windows, tables and following."""

from __future__ import annotations

from typing import Annotated

from core.settings.group import Group, Spec, lower


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
