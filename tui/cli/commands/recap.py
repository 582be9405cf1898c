"""`nooscope recap` and `nooscope inspect why`: what happened in a session, and why it is stuck."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from tui.cli import options, recordings, streams

if TYPE_CHECKING:
    from core.extras.narrator.router import Told
    from core.settings import Settings
    from core.timeline.timeline import Timeline


def add_recap_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_stretch_options(parser)
    help_text = "what nooscope noticed, as a story or as counts (default: narrative)"
    parser.add_argument("--as", dest="form", choices=("narrative", "structural"), default="narrative", help=help_text)
    help_text = "maximum length in tokens, about (default: 500)"
    parser.add_argument("--tokens", type=options.positive_argument, default=500, metavar="N", help=help_text)
    help_text = "in sentences that cite their events, with names for the episodes and the last dream"
    parser.add_argument("--prose", action="store_true", help=help_text)
    add_tier_option(parser)
    recordings.add_log_options(parser)


def run_recap(args: argparse.Namespace) -> int:
    from core.report.chrono import ChronoNav, SummaryPolicy, frame_lines
    from core.report.formatting import count, token_estimate
    from core.report.outcome import outcome_with_fates, read_outcome
    from core.report.story import story
    from core.timeline.places import parse_place

    settings = options.settings_from(args).settings
    if args.prose:
        say_where_it_goes(settings)
    timeline = recordings.recording_of(args, settings)
    begin, end = sorted((parse_place(timeline, args.begin), parse_place(timeline, args.end)))
    if args.prose:
        return _print_prose(args, settings, timeline, begin, end)
    notices = timeline.settings.response.notices
    lines = story(timeline.events[begin:end], timeline.events[0].at, notices=notices).within(args.tokens)
    left = args.tokens - sum(map(token_estimate, lines))
    nav = ChronoNav(timeline)
    at = timeline.time_of(len(timeline))
    nav.move(begin, at)
    summary = nav.move(end, at, SummaryPolicy(args.form, max(1, left)))
    print(f"from {begin} to {end} of {count(len(timeline), 'event')}")
    session, kit = recordings.one_session(args.path, settings)
    reader = read_outcome(session, timeline.events, kit, settings.ingest.lines)
    outcome = outcome_with_fates(reader.at(end), reader.project, session.id, timeline.events[0].at).lines()
    lines += [f"{'outcome' if number == 0 else '':<8}{line}" for number, line in enumerate(outcome)]
    streams.print_lines([*lines, "", *summary, *([""] if summary else []), *frame_lines(timeline.at(end))])
    return 0


def _print_prose(args: argparse.Namespace, settings: Settings, timeline: Timeline, begin: int, end: int) -> int:
    from core.extras.narrator.router import Router, tell_dream, tell_episodes, tell_recap
    from core.report.formatting import count

    router = Router(settings)
    print(f"from {begin} to {end} of {count(len(timeline), 'event')}; [12] is event 12\n")
    parts = (
        ("", tell_recap(router, timeline, begin, end, args.tier)),
        ("Episodes, by their own numbers", tell_episodes(router, timeline, end, args.tier)),
        ("The last dream", tell_dream(router, timeline, end, args.tier)),
    )
    for title, prose in parts:
        if prose.claims:
            print(*([f"\n{title}"] if title else []), *prose_lines(prose), sep="\n")
    return 0


def add_why_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at", default="-1", metavar="PLACE", help=f"{options.PLACE} (default: the end)")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_tier_option(parser)
    recordings.add_log_options(parser)


def run_why(args: argparse.Namespace) -> int:
    from core.extras.narrator.router import Router, tell_why
    from core.report.formatting import readable_json, typed_path
    from core.timeline.places import parse_place

    settings = options.settings_from(args).settings
    say_where_it_goes(settings)
    timeline = recordings.recording_of(args, settings)
    prose = tell_why(Router(settings), timeline, parse_place(timeline, args.at), args.tier)
    if args.json:
        print(readable_json(prose_json(prose)))
        return 0
    streams.print_lines(prose_lines(prose))
    print(f"[12] is event 12: nooscope replay {typed_path(args.path)} --at 12")
    return 0


def add_tier_option(parser: argparse.ArgumentParser) -> None:
    """`--tier`."""
    help_text = "highest tier allowed: T0 templates, T1 a small model, T2 a large one (default: T2)"
    parser.add_argument("--tier", choices=("T0", "T1", "T2"), default="T2", help=help_text)


def prose_lines(prose: Told) -> list[str]:
    """Return a line per claim, and one on who wrote it."""
    from core.extras.narrator.facts import lines_of
    from core.report.formatting import plain

    cached = ", cached" if prose.kept else ""
    return [
        *map(plain, lines_of(prose.claims)),
        *(plain(f"left out, not supported by the facts: {line}") for line in lines_of(prose.left)),
        "",
        plain(f"written by {prose.who} ({prose.tier}{cached}); {prose.reason}"),
    ]


def prose_json(prose: Told) -> dict[str, object]:
    """Return the prose as a JSON value."""
    parts = {"claims": prose.claims, "not_taken_over": prose.left}
    rows = {name: [{"text": one.words, "events": list(one.events)} for one in part] for name, part in parts.items()}
    return {**rows, "tier": prose.tier, "who": prose.who, "reason": prose.reason, "kept": prose.kept}


def say_where_it_goes(settings: Settings) -> None:
    """Print that a language model is on before anything is sent."""
    from core.extras.narrator.router import status_lines
    from core.store.model_spend import SpendStore

    if settings.narrator.on:
        for line in status_lines(settings, SpendStore(), time.time()):
            streams.say(f"narrator on: {line}")
