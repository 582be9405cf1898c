"""`nooscope demo`: watch a sample session as if it were live, with a word on what to notice."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tui.cli.showing import add_screen_options, can_show, report, screen_settings

if TYPE_CHECKING:
    from sample_sessions import Sample

FIRST = "stuck"
"""The story that is told where none is named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", default=FIRST, help=f"which story (default: {FIRST})"
    )
    parser.add_argument("--list", action="store_true", help="list the stories")
    parser.add_argument("--speed", type=float, metavar="X", help="speed to begin with, 0.25 to 64")
    add_screen_options(parser)


def run(args: argparse.Namespace) -> int:
    if args.list:
        print(listing())
        return 0
    sample = chosen(args.name)
    args.assignments.append(f"timeline.play.speed={args.speed or sample.speed}")
    settings = screen_settings(args)
    if not can_show():
        print(f"{sample.title}: {sample.sentence}\nWhat to notice: {sample.notice}\n")
        return report(sample.path, settings, args.project)
    from tui.screens.demo_app import run_demo

    return run_demo(sample, settings, args.project)


def chosen(name: str) -> Sample:
    """The story of this name, or of which this is the beginning."""
    from core.errors import UsageError
    from sample_sessions import samples

    found = [sample for sample in samples() if sample.name == name]
    found = found or [sample for sample in samples() if name and sample.name.startswith(name)]
    if len(found) != 1:
        names = ", ".join(sample.name for sample in found or samples())
        raise UsageError(f"{name!r} is no story; there {'are' if ',' in names else 'is'} {names}")
    return found[0]


def listing() -> str:
    """All stories with a sentence each."""
    from sample_sessions import samples

    rows = [f"  {one.name:<10} {one.agent:<12} {one.minutes:>4.0f} min  {one.sentence}" for one in samples()]
    return "\n".join([*rows, "", "nooscope demo NAME plays one; space holds it, n jumps to the next alert."])
