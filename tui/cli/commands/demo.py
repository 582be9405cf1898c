"""`nooscope demo`: watch a sample session as if it were live, with a line on what to notice."""

from __future__ import annotations

import argparse

from sample_sessions import FIRST, find_sample, samples
from tui.cli.launch import add_screen_options, has_screen, print_report, screen_settings
from tui.cli.options import add_speed_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", default=FIRST, help=f"which sample (default: {FIRST})")
    parser.add_argument("--list", action="store_true", help="list the samples")
    add_speed_option(parser)
    add_screen_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.list:
        print(
            *(f"  {one.name:<10} {one.agent:<12} {one.minutes:>4.0f} min  {one.sentence}" for one in samples()),
            sep="\n",
        )
        print("\nnooscope demo NAME plays one; space pauses it, n goes to the next problem.")
        return 0
    sample = find_sample(args.name)
    args.assignments.append(f"timeline.play.speed={args.speed or sample.speed}")
    settings = screen_settings(args)
    if not has_screen():
        print(f"{sample.title}: {sample.sentence}\nWhat to notice: {sample.notice}\n")
        return print_report(sample.path, settings, args)
    from tui.demo import run_demo

    return run_demo(sample, settings, args.project, faults=args.faults)
