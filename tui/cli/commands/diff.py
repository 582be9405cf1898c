"""`nooscope diff`: what differs between two moments of a mind."""

from __future__ import annotations

import argparse

from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, add_stretch_options, known_agent, settings_from


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    add_stretch_options(parser)
    parser.add_argument("--agent", help="which agent (default: the main one)")
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.report.difference import difference
    from core.report.formatting import plain
    from core.timeline.places import parse_place
    from tui.cli.recordings import recording_at

    timeline = recording_at(args.path, initial_states_of(args, settings_from(args).settings))
    begin, end = parse_place(timeline, args.begin), parse_place(timeline, args.end)
    print(f"from {begin} to {end} of {len(timeline)} events")
    agent = known_agent(timeline, args.agent)
    lines = difference(timeline.at(begin, agent), timeline.at(end, agent))
    for line in lines or ["nothing differs"]:
        print(plain(line))
    return 0


COMMAND = CliCommand(_add_arguments, _run)
