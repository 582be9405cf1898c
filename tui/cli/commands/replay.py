"""`nooscope replay` and `demo`: play a saved session like a film, or a sample with a line on what to notice."""

from __future__ import annotations

import argparse

from core.logs.log_files import expand_home, is_there
from tui.cli import launch, options, recordings


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "a log, PATH#SESSION if it has several sessions, or `latest` for the newest session"
    parser.add_argument("path", metavar="PATH", help=help_text)
    options.add_speed_option(parser)
    help_text = "pause there: an event's number, 00:41:12, 41m, an ISO time or a place that search names"
    parser.add_argument("--at", default="", metavar="PLACE", help=help_text)
    parser.add_argument("--session", default="", metavar="ID", help="which session, if the log has several")
    recordings.add_plain_option(parser)
    launch.add_screen_options(parser)


def run_replay(args: argparse.Namespace) -> int:
    from core.errors import UnreadableLog

    if args.speed is not None:
        args.assignments.append(f"timeline.play.speed={args.speed}")
    settings = launch.screen_settings(args)
    if args.path == "latest":
        here = launch.sessions_here(settings)
        if not here:
            raise UnreadableLog("no session found on this machine; name a log to play")
        path, session = here[0].path, here[0].session
    else:
        from core.agents.registry import make_kit
        from core.logs.finder import sessions

        log, session_id = recordings.split_path(args.path)
        path, session = expand_home(log), args.session or session_id
        if not is_there(path):
            raise UnreadableLog(f"{path}: no such file")
        if session:
            recordings.one_session(f"{path}#{session}", settings)
        # Raises if there is nothing to play, before a screen opens.
        sessions([path], make_kit(settings.ingest), settings.ingest.lines)
    return launch.show_session(path, settings, args, live=False, session=session, at=args.at)


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    from sample_sessions import FIRST

    parser.add_argument("name", metavar="NAME", nargs="?", default=FIRST, help=f"which sample (default: {FIRST})")
    parser.add_argument("--list", action="store_true", help="list the samples")
    options.add_speed_option(parser)
    launch.add_screen_options(parser)


def run_demo(args: argparse.Namespace) -> int:
    from sample_sessions import find_sample, samples

    if args.list:
        print(
            *(f"  {one.name:<10} {one.agent:<12} {one.minutes:>4.0f} min  {one.sentence}" for one in samples()),
            sep="\n",
        )
        print("\nnooscope demo NAME plays one; space pauses it, n goes to the next problem.")
        return 0
    sample = find_sample(args.name)
    args.assignments.append(f"timeline.play.speed={args.speed or sample.speed}")
    settings = launch.screen_settings(args)
    if not launch.has_screen():
        print(f"{sample.title}: {sample.sentence}\nWhat to notice: {sample.notice}\n")
        return launch.print_report(sample.path, settings, args)
    from tui import demo

    return demo.run_demo(sample, settings, args.project, faults=args.faults)
