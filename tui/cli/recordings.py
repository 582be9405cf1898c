"""A session named on the command line, as a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UnreadableLog, UsageError
from core.logs.log_files import expanded, is_there
from tui.cli import streams

if TYPE_CHECKING:
    from core.logs.format import Kit
    from core.logs.session import LogSession
    from core.settings import Settings
    from core.timeline.run_inputs import InitialStates
    from core.timeline.timeline import Timeline


def split_path(path: str) -> tuple[str, str]:
    """A log and, of several sessions in it, the one that `PATH#SESSION` names; blank where none is named."""
    log, _, wanted = path.rpartition("#")
    if not log or is_there(expanded(path)) or not is_there(expanded(log)):
        return path, ""
    return log, wanted


def one_session(path: str, settings: Settings) -> tuple[LogSession, Kit]:
    """The one session at a path, or `PATH#SESSION` of several, and what its readers share."""
    from core.logs.finder import sessions
    from core.store.kept_events import reading_kit

    kit = reading_kit(settings)
    log, wanted = split_path(path)
    found = sessions([log], kit, settings.ingest.lines)
    chosen = [one for one in found if not wanted or one.id == wanted]
    if len(chosen) == 1:
        return chosen[0], kit
    from core.report.formatting import plain

    names = ", ".join(plain(one.id, 40) for one in found[:5]) + (", ..." if len(found) > 5 else "")
    if not chosen:
        raise UsageError(f"{log} holds no session {plain(wanted, 40)!r}; there are {names}")
    raise UsageError(f"{log} holds {len(found)} sessions; name one as {log}#SESSION: {names}")


def is_source(target: Path, found: list[LogSession]) -> bool:
    """Whether a file to be written is one of the logs that are read."""
    whole = target.resolve()
    logs = [log for one in found for log in (*one.logs, *one.copied, *one.helpers)]
    sources = {log.path.resolve() for log in logs}
    return whole in sources or any(parent in sources for parent in whole.parents)


def recording_at(path: str, initial_states: InitialStates) -> Timeline:
    """The one session at a path as a recording, with progress on a terminal."""
    from core.timeline.opening import Progress, record, user_cache
    from tui.cli.carried import spoken_start

    session, kit = one_session(path, initial_states.settings)
    settings, initial, later = spoken_start(initial_states, session.id)

    def report(progress: Progress) -> bool:
        streams.progress(f"reading {100 * progress.share:.0f}%")
        return True

    cache = user_cache(settings)
    timeline = record(session, settings, kit, cache=cache, report=report, initial=initial, later=later)
    streams.progress("")
    if timeline is None or len(timeline) == 0:
        raise no_events(path, kit)
    return timeline


def no_events(path: object, kit: Kit) -> UnreadableLog:
    """That a log tells nothing, and what could not be read in it."""
    faults = ", ".join(f"{number:,} {reason}" for reason, number in kit.diagnostics.counts.items())
    return UnreadableLog(f"{path} holds no events{f' that can be read ({faults})' if faults else ''}")
