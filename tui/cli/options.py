"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.store.config_path import PROJECT_SETTINGS, user_settings_file

if TYPE_CHECKING:
    from core.settings.layers import Resolved
    from core.timeline.initial_state import Beginning
    from core.timeline.timeline import Timeline


def add_settings_options(parser: argparse.ArgumentParser) -> None:
    """`--set` and `--project`."""
    parser.add_argument(
        "--set",
        dest="assignments",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="change one setting for this run; may be given again",
    )
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        type=Path,
        default=None,
        help=f"the watched project, whose {PROJECT_SETTINGS} is read (default: this folder)",
    )


def positive_argument(text: str) -> int:
    """A whole number above 0, for argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def seconds_argument(text: str) -> float:
    """A stretch of time of 0 or more, for argparse."""
    try:
        stretch = float(text)
    except ValueError:
        stretch = -1.0
    if not 0 <= stretch < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return stretch


def known_agent(timeline: Timeline, name: str | None) -> str | None:
    """An agent of the recording by its name; `NooscopeError` where it has none of that name."""
    from core.errors import UsageError
    from core.report.formatting import plain

    if name is None or name in timeline.tracks:
        return name
    names = ", ".join(plain(each, 30) for each in list(timeline.tracks)[:8])
    raise UsageError(f"no agent is named {plain(name, 60)!r}; there are {names}")


def settings_from(args: argparse.Namespace) -> Resolved:
    """All layers laid over each other; faults go to standard error, a wrong `--set` ends the run."""
    from core.settings.layers import read_layers

    files = (user_settings_file(), (args.project or Path.cwd()) / PROJECT_SETTINGS)
    resolved = read_layers(files, os.environ, args.assignments)
    for complaint in resolved.complaints:
        print(f"nooscope: {complaint}", file=sys.stderr)
    if any(complaint.origin == "--set" for complaint in resolved.complaints):
        raise SystemExit(2)
    return resolved


def configured_beginning(project: Path | None) -> Beginning:
    """The policy and the rules in force; faults of their files go to standard error."""
    from core.timeline.configured_start import configured_start

    found = configured_start(project)
    for fault in found.faults:
        print(f"nooscope: {fault}", file=sys.stderr)
    return found.beginning
