"""`nooscope sessions`: the agents' sessions on this machine, newest first."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.report.formatting import home_path
from tui.cli import options, streams

if TYPE_CHECKING:
    from core.report.log_tree import SessionRow
    from core.settings import Settings

SHOWN = 40  # Rows on a terminal, unless all are asked for.
WIDE = 110  # Width from which whole paths fit.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="look in these files, folders or patterns instead")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--all", action="store_true", help=f"show more than the newest {SHOWN}")
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    now = time.time()
    rows = _listed(args, now)
    if args.json:
        _print_json(rows, now)
    elif rows:
        _print_table(rows, now, every=args.all or not sys.stdout.isatty())
    else:
        from core.logs.discovery import NO_SESSIONS

        print(NO_SESSIONS)
    return 0


def _listed(args: argparse.Namespace, now: float) -> tuple[SessionRow, ...]:
    """Return the sessions; if no log changed, from the cache without importing readers."""
    import msgspec

    from core.report.answers import KeptQuestion, question
    from core.report.log_tree import AgentPlaces, SessionList, agent_places, kept_places

    def question_about(places: AgentPlaces | None) -> KeptQuestion | None:
        if places is not None and not places.complete:
            return None
        paths = [Path(path) for path in (args.paths if places is None else places.folders)]
        return question("sessions", (args.assignments, places is None), paths, args.project, None)

    places = None if args.paths else kept_places(os.environ, Path.home())
    kept_question = question_about(places) if args.paths or places is not None else None
    answer = kept_question.answer() if kept_question is not None else None
    if answer is not None:
        cached = msgspec.msgpack.decode(answer, type=SessionList)
        return tuple(row.at(now, cached.active_within) for row in cached.rows)

    from core.store.reading_cache import reading_cache

    resolved = options.settings_from(args)
    settings = resolved.settings
    if not args.paths and places is None:
        kept_question = question_about(agent_places(os.environ, Path.home(), reading_cache(settings)))
    rows, whole = _find(args, settings, now)
    if kept_question is not None and whole and not resolved.complaints:
        with contextlib.suppress(UnicodeEncodeError):  # a name that is not UTF-8 is found again the next time
            listed = SessionList(rows, settings.ingest.follow.active_within)
            kept_question.keep(msgspec.msgpack.encode(listed), settings)
    return rows


def _find(args: argparse.Namespace, settings: Settings, now: float) -> tuple[tuple[SessionRow, ...], bool]:
    """Return the sessions on disk, and whether the key covers all of them."""
    from core.agents.registry import known_agents, make_kit
    from core.logs.discovery import describe_sessions, find
    from core.report.log_tree import listed_rows

    active = settings.ingest.follow.active_within
    if not args.paths:
        every_session = find(known_agents(), os.environ, Path.home(), now=now, active_within=active)
        return listed_rows(every_session), True
    from core.logs.finder import sessions
    from core.report.answers import all_below

    kit = make_kit(settings.ingest)
    here = sessions(args.paths, kit, settings.ingest.lines)
    streams.say(*(f"{fault.file}: {fault.reason}" for fault in kit.diagnostics.first))
    whole = not kit.diagnostics.first and all_below(here, map(Path, args.paths))
    return listed_rows(describe_sessions(known_agents(), here, now, active)), whole


def _print_json(listed_rows: Sequence[SessionRow], now: float) -> None:
    from msgspec.structs import asdict

    from core.report.formatting import readable_json

    rows = [{**asdict(one), "age": round(max(0.0, now - one.last), 3)} for one in listed_rows]
    print(readable_json({"sessions": rows}))


def _print_table(listed_rows: Sequence[SessionRow], now: float, *, every: bool) -> None:
    from core.report.formatting import byte_size, count, plain

    visible = listed_rows if every else listed_rows[:SHOWN]
    wide = not sys.stdout.isatty() or streams.columns() >= WIDE
    project, title = (32, 40) if wide else (16, 22)
    rows = [("", "agent", "project", "title", "age", "events", "size", "log" if wide else "session")]
    for one in visible:
        sign, where = "●" if one.active else "·", home_path(plain(one.path)) if wide else plain(one.session)[:8]
        place = _path_tail(home_path(plain(one.project)) or "-", project), _cut_title(one.title, title) or "-"
        rows.append((sign, one.agent, *place, _age(now - one.last), f"~{one.events:,}", byte_size(one.size), where))
    streams.print_table(rows, right=range(4, 7))
    active = sum(one.active for one in listed_rows)
    more = f"; {len(listed_rows) - len(visible)} more with --all" if len(visible) < len(listed_rows) else ""
    print(f"\n{count(len(listed_rows), 'session')}, {active} changed in the last minutes (●){more}")


def _cut_title(text: str, width: int) -> str:
    """Cut a title to a width in terminal columns."""
    if streams.cell_len(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def _path_tail(path: str, width: int) -> str:
    """Return the end of a path that is too long."""
    return path if len(path) <= width else "…" + path[-(width - 1) :]


def _age(seconds: float) -> str:
    """Format an age in the best unit."""
    left = max(0.0, seconds)
    for unit, length, upto in (("s", 1.0, 60.0), ("min", 60.0, 3600.0), ("h", 3600.0, 86_400.0)):
        if left < upto:
            return f"{int(left / length)} {unit}"
    return f"{int(left / 86_400.0)} d"
