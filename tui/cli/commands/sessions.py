"""`nooscope sessions`: what agents have been doing on this machine, the newest first."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.report.formatting import home_path
from tui.cli.command import CliCommand
from tui.cli.launch import NO_SESSIONS
from tui.cli.options import add_settings_options, settings_from

if TYPE_CHECKING:
    from core.logs.found import Found

SHOWN = 40
"""Rows on a terminal, unless all are asked for."""
WIDE = 110
"""Columns from which a terminal has room for whole paths."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="look in these files, folders or patterns instead"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--all", action="store_true", help=f"on a terminal, more than the newest {SHOWN}")
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    import os
    import time

    from core.agents.registry import known_agents
    from core.logs.discovery import describe_sessions, find

    settings = settings_from(args).settings.ingest
    now = time.time()
    if args.paths:
        from core.agents.registry import make_kit
        from core.logs.finder import sessions

        kit = make_kit(settings)
        found = describe_sessions(
            known_agents(), sessions(args.paths, kit, settings.lines), now, settings.follow.active_within
        )
        for fault in kit.diagnostics.first:
            print(f"nooscope: {fault.file}: {fault.reason}", file=sys.stderr)
    else:
        found = find(
            known_agents(), os.environ, Path.home(), now=now, active_within=settings.follow.active_within
        )
    found.sort(key=lambda one: -one.last)
    if args.json:
        _print_json(found, now)
    elif found:
        _print_table(found, now, every=args.all or not sys.stdout.isatty())
    else:
        print(NO_SESSIONS)
    return 0


def _print_json(found: list[Found], now: float) -> None:
    from core.report.formatting import readable_json

    rows = [
        {
            "agent": one.agent,
            "session": one.session,
            "title": one.title,
            "project": one.project,
            "path": str(one.path),
            "paths": [str(path) for path in one.paths],
            "modified": one.modified,
            "last": one.last,
            "age": round(max(0.0, now - one.last), 3),
            "size": one.size,
            "events": one.events,
            "active": one.active,
        }
        for one in found
    ]
    print(readable_json({"sessions": rows}))


def _print_table(found: list[Found], now: float, *, every: bool) -> None:
    from rich.cells import cell_len

    from core.report.formatting import plain

    shown = found if every else found[:SHOWN]
    wide = not sys.stdout.isatty() or shutil.get_terminal_size().columns >= WIDE
    project, title = (32, 40) if wide else (16, 22)
    rows = [("", "agent", "project", "title", "age", "events", "size", "log" if wide else "session")]
    rows += [
        (
            "●" if one.active else "·",
            one.agent,
            _path_tail(home_path(plain(one.project)) or "-", project),
            _begun(one.title, title) or "-",
            _age(now - one.last),
            f"~{one.events:,}",
            _size(one.size),
            home_path(plain(str(one.path))) if wide else plain(one.session)[:8],
        )
        for one in shown
    ]
    widths = [max(cell_len(row[column]) for row in rows) for column in range(7)]
    for row in rows:
        columns = [_padded(text, widths[place]) for place, text in enumerate(row[:4])]
        columns += [text.rjust(width) for text, width in zip(row[4:7], widths[4:], strict=True)]
        print("  ".join([*columns, row[7]]).rstrip())
    active = sum(one.active for one in found)
    more = f"; {len(found) - len(shown)} more with --all" if len(shown) < len(found) else ""
    print(f"\n{_plural(len(found), 'session')}, {active} active (●){more}")


def _begun(text: str, width: int) -> str:
    """The beginning of a title that is too long, in the columns it takes up on a terminal."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def _padded(text: str, width: int) -> str:
    from rich.cells import cell_len

    return text + " " * (width - cell_len(text))


def _path_tail(path: str, width: int) -> str:
    """The end of a path that is too long."""
    return path if len(path) <= width else "…" + path[-(width - 1) :]


def _age(seconds: float) -> str:
    """How long ago, in the unit that says it best."""
    left = max(0.0, seconds)
    for unit, length, upto in (("s", 1.0, 60.0), ("min", 60.0, 3600.0), ("h", 3600.0, 86_400.0)):
        if left < upto:
            return f"{int(left / length)} {unit}"
    return f"{int(left / 86_400.0)} d"


def _size(count: int) -> str:
    """Bytes in the unit that says it best."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000.0:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000.0
    return f"{amount:.1f} GB"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


COMMAND = CliCommand(_add_arguments, _run)
