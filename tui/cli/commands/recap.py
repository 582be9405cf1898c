"""`nooscope recap`: what happened between two moments, in the log's words and in our own readings."""

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
    from core.report.chrono import ChronoNav, Destination, SummaryPolicy
    from core.report.formatting import count, plain
    from core.report.recap import token_estimate
    from core.report.story import story
    from core.timeline.places import parse_place
    from tui.cli.recordings import recording_at

    timeline = recording_at(args.path, initial_states_of(args, settings_from(args).settings))
    begin, end = sorted((parse_place(timeline, args.begin), parse_place(timeline, args.end)))
    told = _within(story(timeline.events[begin:end], timeline.events[0].at).lines(), args.tokens)
    left = args.tokens - sum(map(token_estimate, told))
    nav = ChronoNav(timeline)
    at = timeline.time_of(len(timeline))
    nav.go(Destination(begin, "backward", SummaryPolicy("none")), at)
    arrival = nav.go(Destination(end, "forward", SummaryPolicy(args.form, max(1, left))), at)
    print(f"from {begin} to {end} of {count(len(timeline), 'event')}")
    for line in [*told, "", *arrival.summary, *([""] if arrival.summary else []), *arrival.lines]:
        print(plain(line))
    return 0


def _within(lines: list[str], most: int) -> list[str]:
    """As many of the first lines as so many tokens take."""
    from core.report.recap import token_estimate

    kept: list[str] = []
    for line in lines:
        most -= token_estimate(line)
        if most < 0:
            break
        kept.append(line)
    return kept


COMMAND = CliCommand(_add_arguments, _run)
