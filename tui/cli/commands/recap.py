"""`nooscope recap`: what happened between two moments, told from our own readings."""

from __future__ import annotations

import argparse

from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, positive_argument, settings_from


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument("--from", dest="begin", default="0", metavar="PLACE", help="the earlier place")
    parser.add_argument("--to", dest="end", default="-1", metavar="PLACE", help="the later place")
    parser.add_argument("--as", dest="form", choices=("narrative", "structural"), default="narrative")
    parser.add_argument(
        "--tokens", type=positive_argument, default=300, metavar="N", help="most a narrative may take"
    )
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.report.chrono import ChronoNav, Request, SummaryPolicy
    from core.report.formatting import plain
    from core.timeline.places import parse_place
    from tui.cli.recordings import open_recording

    timeline = open_recording(args.path, initial_states_of(args, settings_from(args).settings))
    begin, end = sorted((parse_place(timeline, args.begin), parse_place(timeline, args.end)))
    nav = ChronoNav(timeline)
    at = timeline.time_of(len(timeline))
    nav.go(Request(begin, "backward", SummaryPolicy("none")), at)
    arrival = nav.go(Request(end, "forward", SummaryPolicy(args.form, args.tokens)), at)
    print(f"from {begin} to {end} of {len(timeline)} events")
    for line in [*arrival.summary, *([""] if arrival.summary else []), *arrival.lines]:
        print(plain(line))
    return 0


COMMAND = CliCommand(_add_arguments, _run)
