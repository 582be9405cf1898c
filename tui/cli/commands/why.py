"""`nooscope why`: why a session is stuck, from facts, with the events cited by number."""

from __future__ import annotations

import argparse

from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import PLACE, add_settings_options, settings_from
from tui.cli.prose import add_tier_option, prose_json, prose_lines, say_where_it_goes


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument("--at", default="-1", metavar="PLACE", help=f"{PLACE} (default: the end)")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_tier_option(parser)
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.extras.narrator.router import Router
    from core.extras.narrator.telling import tell_why
    from core.report.formatting import readable_json, typed_path
    from core.timeline.places import parse_place
    from tui.cli.recordings import recording_at

    settings = settings_from(args).settings
    say_where_it_goes(settings)
    timeline = recording_at(args.path, initial_states_of(args, settings))
    told = tell_why(Router(settings), timeline, parse_place(timeline, args.at), args.tier)
    if args.json:
        print(readable_json(prose_json(told)))
        return 0
    for line in prose_lines(told):
        print(line)
    print(f"[12] is event 12: nooscope replay {typed_path(args.path)} --at 12")
    return 0


COMMAND = CliCommand(_add_arguments, _run)
