"""`nooscope replay`: play a saved session like a film."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.logs.log_files import is_there
from tui.cli.carried import add_plain_option, edits_of
from tui.cli.command import CliCommand
from tui.cli.launch import add_screen_options, screen_settings, show_session
from tui.cli.options import add_speed_option


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log, or `latest` for the newest session")
    add_speed_option(parser)
    parser.add_argument(
        "--at",
        default="",
        metavar="PLACE",
        help="hold there: an event's number, 00:41:12, 41m, an ISO time or a place that search names",
    )
    parser.add_argument(
        "--session", default="", metavar="ID", help="which session, where the log holds several"
    )
    add_plain_option(parser)
    add_screen_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.errors import UnreadableLog

    if args.speed is not None:
        args.assignments.append(f"timeline.play.speed={args.speed}")
    settings = screen_settings(args)
    edits = edits_of(settings, args.assignments)
    if args.path == "latest":
        from tui.cli.launch import sessions_here

        found = sessions_here(settings)
        if not found:
            raise UnreadableLog("no session found on this machine; name a log to play")
        return show_session(
            found[0].path,
            settings,
            live=False,
            session=found[0].session,
            at=args.at,
            project=args.project,
            edits=edits,
            plain=args.plain,
            faults=args.faults,
        )
    path = Path(args.path).expanduser()
    if not is_there(path):
        raise UnreadableLog(f"{path}: no such file")
    return show_session(
        path,
        settings,
        live=False,
        session=args.session,
        at=args.at,
        project=args.project,
        edits=edits,
        plain=args.plain,
        faults=args.faults,
    )


COMMAND = CliCommand(_add_arguments, _run)
