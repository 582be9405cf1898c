"""Sessions named on the command line, and what they start from."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import UnreadableLog, UsageError
from core.logs.log_files import expand_home, is_there
from tui.cli import options, streams

if TYPE_CHECKING:
    from core.logs.format import Kit
    from core.logs.session import LogSession
    from core.settings import Settings
    from core.timeline.run_inputs import InitialStates, RunInputs
    from core.timeline.timeline import Timeline


def split_path(path: str) -> tuple[str, str]:
    """Split `PATH#SESSION`; the session is empty if none is named."""
    log, _, session = path.rpartition("#")
    if not log or is_there(expand_home(path)) or not is_there(expand_home(log)):
        return path, ""
    return log, session


def one_session(path: str, settings: Settings) -> tuple[LogSession, Kit]:
    """Return the session at a path or `PATH#SESSION`, and its reading kit."""
    from core.agents.registry import make_kit
    from core.logs.finder import sessions

    kit = make_kit(settings.ingest)
    log, session_id = split_path(path)
    matches = sessions([log], kit, settings.ingest.lines)
    chosen = [one for one in matches if not session_id or one.id == session_id]
    if len(chosen) == 1:
        return chosen[0], kit
    from core.report.formatting import plain

    names = ", ".join(plain(one.id, 40) for one in matches[:5]) + (", ..." if len(matches) > 5 else "")
    if not chosen:
        raise UsageError(f"{log} has no session {plain(session_id, 40)!r}; available: {names}")
    raise UsageError(f"{log} has {len(matches)} sessions; name one as {log}#SESSION: {names}")


def refuse_source(target: Path, sessions: list[LogSession]) -> None:
    """Raise `UsageError` if an output file is one of the logs being read."""
    whole = target.resolve()
    logs = [log for one in sessions for log in (*one.logs, *one.copied, *one.helpers)]
    if {log.path.resolve() for log in logs}.intersection((whole, *whole.parents)):
        raise UsageError(f"{target} is the log itself; name another file")


def log_size(session: LogSession) -> int:
    """Return the bytes of a session's logs; a log that is gone counts as none."""
    size = 0
    for log in session.logs:
        with suppress(OSError):
            size += log.path.stat().st_size
    return size


def useful_jobs(wanted: int | None, items: int, size: int, small: int) -> int:
    """Return how many processes to use; work of less than `small` bytes is not worth another one."""
    return min(wanted or (os.cpu_count() or 1 if size >= small else 1), items)


def recording_at(path: str, initial_states: InitialStates) -> Timeline:
    """Return the session at a path as a recording, with progress on a terminal."""
    from core.timeline.opening import Progress, record, user_cache

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


def recording_of(args: argparse.Namespace, settings: Settings) -> Timeline:
    """Return the session a command is about, from its own start, as a recording."""
    return recording_at(args.path, initial_states_of(args, settings))


def no_events(path: object, kit: Kit) -> UnreadableLog:
    """Return the error for a log without events, with what could not be read."""
    faults = ", ".join(f"{number:,} {reason}" for reason, number in kit.diagnostics.counts.items())
    return UnreadableLog(f"{path} has no events{f' that can be read ({faults})' if faults else ''}")


def add_plain_option(parser: argparse.ArgumentParser) -> None:
    """`--plain`."""
    help_text = "use today's settings only, without what was carried over from earlier sessions"
    parser.add_argument("--plain", action="store_true", help=help_text)


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """The log a command is about, `--plain` and the settings options."""
    parser.add_argument("path", metavar="PATH", help="a log")
    add_plain_option(parser)
    options.add_settings_options(parser)


def edits_of(settings: Settings, assignments: list[str]) -> Mapping[str, Any]:
    """Return the settings changed by `--set`, by name."""
    from core.settings.layers import read_assignments, tunables, value_of

    layer, _ = read_assignments(assignments)
    names = [one.name for one in layer.values if one.name in tunables()]
    return {name: value_of(settings, name) for name in names}


def initial_states_of(args: argparse.Namespace, settings: Settings) -> InitialStates:
    """Return the starting states of sessions for a command without a screen."""
    from core.store.carry_over import CarryOverStore
    from core.timeline.initial_state import configured_start
    from core.timeline.run_inputs import InitialStates

    configured = configured_start(args.project)
    states = InitialStates(
        settings,
        configured.initial,
        edits=edits_of(settings, getattr(args, "assignments", [])),
        store=None if args.plain else CarryOverStore(),
    )
    states.notices += configured.faults
    return states


def spoken_start(initial_states: InitialStates, session: str) -> RunInputs:
    """Return where one session starts; notices go to standard error."""
    start = initial_states.of(session)
    initial_states.spoke = initial_states.spoke or bool(initial_states.notices)
    streams.say(*dict.fromkeys(initial_states.notices))
    initial_states.notices.clear()
    return start


def family_of(run: tuple[LogSession, RunInputs]) -> tuple[Path, int]:
    """Return the group of sessions that share events, and the rank in it."""
    return run[0].family
