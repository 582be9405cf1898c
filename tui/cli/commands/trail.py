"""`nooscope trail`: the moves a person made through a session, each chained to the one before."""

from __future__ import annotations

import argparse
import sys

from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, settings_from


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument(
        "--verify", action="store_true", help="only check the chain; 1 where it is not as it was written"
    )
    parser.add_argument("--head", metavar="HASH", help="the newest move's hash as noted before, to check too")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.errors import StoreError
    from core.report.chrono import Trail, trail_lines
    from core.report.formatting import count, plain, readable_json
    from core.store.trails import TrailStore
    from tui.cli.recordings import one_session

    settings = settings_from(args).settings
    session, _ = one_session(args.path, settings)
    trail = Trail(settings.timeline.navigation.kept)
    try:
        trail.load(TrailStore(session.id).read())
    except StoreError as error:
        print(f"nooscope: {error}", file=sys.stderr)
        return 1
    if args.head and not any(visit.hash.startswith(args.head) for visit in trail.visits):
        print(f"nooscope: no move kept has the hash {plain(args.head, 64)}", file=sys.stderr)
        return 1
    if args.json:
        visits = [visit._asdict() for visit in trail.visits]
        print(readable_json({"moves": visits, "head": trail.head, "sound": True}))
        return 0
    if not args.verify:
        for line in trail_lines(trail, trail.visits[0].at if trail.visits else 0.0):
            print(line)
    print(f"{count(len(trail), 'move')}, the chain is whole" if len(trail) else "no moves are kept")
    return 0


COMMAND = CliCommand(_add_arguments, _run)
