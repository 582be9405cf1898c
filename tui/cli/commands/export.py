"""`nooscope export`: a log in the open event format, which holds shapes and times but no content."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, settings_from

if TYPE_CHECKING:
    from core.events import Event
    from core.logs.reader import Kit
    from core.logs.session import LogSession
    from core.settings.logs import LineSettings


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log, a folder of logs, or a pattern")
    parser.add_argument(
        "--format", choices=["events"], default="events", help="one JSON object an event, a line each"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=None, help="default: standard output"
    )
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.logs.finder import make_kit, sessions

    settings = settings_from(args).settings.ingest
    kit = make_kit(settings)
    found = sessions([args.path], kit, settings.lines)
    if args.output is None:
        events = _write(found, kit, settings.lines, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        if _is_source(args.output, found):
            print(f"nooscope: {args.output} is the log itself; name another file", file=sys.stderr)
            return 2
        try:
            events = _save(found, kit, settings.lines, args.output)
        except OSError as fault:
            print(f"nooscope: cannot write {args.output}: {fault.strerror or fault}", file=sys.stderr)
            return 2
    print(_report(len(found), events, kit), file=sys.stderr)
    return 0


def _write(found: list[LogSession], kit: Kit, lines: LineSettings, out: BinaryIO) -> int:
    from core.agents.open_events.reader import write
    from core.events import MAIN, SessionStart
    from core.logs.session import read
    from core.report.formatting import sound

    count = 0
    for session in found:
        name = session.id
        for event in read(session, kit, lines):
            if isinstance(event, SessionStart) and event.agent == MAIN:
                name = event.session
            try:
                line = write(event, name)
            except UnicodeEncodeError:
                line = write(_sound(event), sound(name))
            out.write(line + b"\n")
            count += 1
    return count


def _sound(event: Event) -> Event:
    """The same event where its names come from a file name that is not UTF-8."""
    from msgspec.structs import asdict, replace

    from core.report.formatting import sound

    named = {key: sound(value) for key, value in asdict(event).items() if isinstance(value, str)}
    where = event.where and replace(event.where, file=sound(event.where.file))
    return replace(event, **{**named, "where": where})


def _save(found: list[LogSession], kit: Kit, lines: LineSettings, target: Path) -> int:
    """Write beside the target and move it there, so that no half file is left."""
    draft = target.with_name(target.name + ".part")
    try:
        with draft.open("wb") as out:
            events = _write(found, kit, lines, out)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return events


def _is_source(target: Path, found: list[LogSession]) -> bool:
    whole = target.resolve()
    sources = {log.path.resolve() for session in found for log in session.logs}
    return whole in sources or any(parent in sources for parent in whole.parents)


def _report(number: int, events: int, kit: Kit) -> str:
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in kit.diagnostics.counts.items())
    sessions = f"{number:,} session" + ("" if number == 1 else "s")
    return f"{events:,} events of {sessions}" + (f"; skipped: {skipped}" if skipped else "")


COMMAND = CliCommand(_add_arguments, _run)
