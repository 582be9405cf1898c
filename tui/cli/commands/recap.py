"""`nooscope recap`: what happened between two moments, in the log's words and in our own readings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, add_stretch_options, positive_argument, settings_from
from tui.cli.prose import add_tier_option, prose_lines, say_where_it_goes

if TYPE_CHECKING:
    from core.settings import Settings
    from core.timeline.timeline import Timeline


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    add_stretch_options(parser)
    parser.add_argument(
        "--as",
        dest="form",
        choices=("narrative", "structural"),
        default="narrative",
        help="what nooscope noticed, as a story or counted (default: narrative)",
    )
    parser.add_argument(
        "--tokens",
        type=positive_argument,
        default=500,
        metavar="N",
        help="about how long it may be, in tokens (default: 500)",
    )
    parser.add_argument(
        "--prose",
        action="store_true",
        help="in sentences that cite their events, with names for the episodes and the last dream",
    )
    add_tier_option(parser)
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.report.chrono import ChronoNav, Destination, SummaryPolicy
    from core.report.formatting import count, plain
    from core.report.outcome import read_outcome
    from core.report.recap import token_estimate
    from core.report.story import story
    from core.timeline.places import parse_place
    from tui.cli.recordings import one_session, recording_at

    settings = settings_from(args).settings
    if args.prose:
        say_where_it_goes(settings)
    timeline = recording_at(args.path, initial_states_of(args, settings))
    begin, end = sorted((parse_place(timeline, args.begin), parse_place(timeline, args.end)))
    if args.prose:
        return _print_prose(args, settings, timeline, begin, end)
    notices = timeline.settings.response.notices
    told = story(timeline.events[begin:end], timeline.events[0].at, notices=notices).within(args.tokens)
    left = args.tokens - sum(map(token_estimate, told))
    nav = ChronoNav(timeline)
    at = timeline.time_of(len(timeline))
    nav.go(Destination(begin, "backward", SummaryPolicy("none")), at)
    arrival = nav.go(Destination(end, "forward", SummaryPolicy(args.form, max(1, left))), at)
    print(f"from {begin} to {end} of {count(len(timeline), 'event')}")
    session, kit = one_session(args.path, settings)
    outcome = read_outcome(session, timeline.events, kit, settings.ingest.lines).at(end).lines()
    told += [f"{'outcome' if number == 0 else '':<8}{line}" for number, line in enumerate(outcome)]
    for line in [*told, "", *arrival.summary, *([""] if arrival.summary else []), *arrival.lines]:
        print(plain(line))
    return 0


def _print_prose(
    args: argparse.Namespace, settings: Settings, timeline: Timeline, begin: int, end: int
) -> int:
    from core.extras.narrator.router import Router
    from core.extras.narrator.telling import tell_dream, tell_episodes, tell_recap
    from core.report.formatting import count

    router = Router(settings)
    print(f"from {begin} to {end} of {count(len(timeline), 'event')}; [12] is event 12\n")
    parts = (
        ("", tell_recap(router, timeline, begin, end, args.tier)),
        ("Episodes, by their own numbers", tell_episodes(router, timeline, end, args.tier)),
        ("The last dream", tell_dream(router, timeline, end, args.tier)),
    )
    for title, told in parts:
        if told.claims:
            print(*([f"\n{title}"] if title else []), *prose_lines(told), sep="\n")
    return 0


COMMAND = CliCommand(_add_arguments, _run)
