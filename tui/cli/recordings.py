"""A session named on the command line, as a recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UnreadableLog, UsageError
from tui.cli.options import configured_beginning

if TYPE_CHECKING:
    from core.logs.reader import Kit
    from core.logs.session import LogSession
    from core.settings import Settings
    from core.timeline.timeline import Timeline


def one_session(path: str, settings: Settings) -> tuple[LogSession, Kit]:
    """The one session at a path, or `PATH#SESSION` of several, and what its readers share."""
    from core.logs.finder import make_kit, sessions

    kit = make_kit(settings.ingest)
    log, _, wanted = (path, "", "") if Path(path).exists() else path.partition("#")
    found = sessions([log], kit, settings.ingest.lines)
    chosen = [one for one in found if not wanted or one.id == wanted]
    if len(chosen) == 1:
        return chosen[0], kit
    from core.report.formatting import plain

    names = ", ".join(plain(one.id, 40) for one in found[:5]) + (", ..." if len(found) > 5 else "")
    if not chosen:
        raise UsageError(f"{log} holds no session {plain(wanted, 40)!r}; there are {names}")
    raise UsageError(f"{log} holds {len(found)} sessions; name one as {log}#SESSION: {names}")


def open_recording(path: str, settings: Settings, project: Path | None = None) -> Timeline:
    """The one session at a path as a recording, with progress on a terminal."""
    from core.timeline.cache import user_cache
    from core.timeline.opening import Progress, record

    session, kit = one_session(path, settings)
    beginning = configured_beginning(project)
    shown = sys.stderr.isatty()

    def report(progress: Progress) -> bool:
        if shown:
            print(f"\rreading {100 * progress.share:.0f}%", end="", file=sys.stderr, flush=True)
        return True

    timeline = record(session, settings, kit, cache=user_cache(settings), report=report, beginning=beginning)
    if shown:
        print("\r" + " " * 16 + "\r", end="", file=sys.stderr, flush=True)
    if timeline is None or len(timeline) == 0:
        raise UnreadableLog(f"{path} holds no events")
    return timeline
