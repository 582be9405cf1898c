"""The conversations of OpenHands on this machine: each a folder with one file an event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.loose import decode, table, text
from core.logs.discovery import Found, extent
from core.logs.log_files import read_log


def survey_openhands(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Conversations, each a folder with one file an event."""
    for events in root.glob("*/events"):
        try:
            size, modified, number = extent(events)
        except OSError:
            continue
        yield Found(
            agent=agent,
            session=events.parent.name,
            project=_workspace(events.parent / "base_state.json"),
            path=events,
            paths=(events,),
            modified=modified,
            size=size,
            events=number,
            active=now - modified <= active_within,
        )


def _workspace(state: Path) -> str:
    try:
        workspace = table(decode(read_log(state))).get("workspace")
    except OSError:
        return ""
    return text(workspace) or text(table(workspace).get("working_dir"))
