"""`nooscope replay`: play a saved session like a film."""

from __future__ import annotations

import argparse
from pathlib import Path

from tui.cli.command import CliCommand
from tui.cli.launch import add_screen_options, screen_settings, show_session


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log, or `latest` for the newest session")
    parser.add_argument("--speed", type=float, metavar="X", help="speed to begin with, 0.25 to 64")
    add_screen_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.errors import UnreadableLog

    if args.speed is not None:
        args.assignments.append(f"timeline.play.speed={args.speed}")
    settings = screen_settings(args)
    if args.path == "latest":
        from tui.cli.launch import sessions_here

        found = sessions_here(settings)
        if not found:
            raise UnreadableLog("no session found on this machine; name a log to play")
        return show_session(
            found[0].path, settings, live=False, session=found[0].session, project=args.project
        )
    path = Path(args.path).expanduser()
    if not path.exists():
        raise UnreadableLog(f"{path}: no such file")
    return show_session(path, settings, live=False, project=args.project)


COMMAND = CliCommand(_add_arguments, _run)
