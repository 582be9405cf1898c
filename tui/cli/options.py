"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.settings.layers import Resolved
    from core.timeline.timeline import Timeline

PROJECT_FILE = ".nooscope.toml"


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
        help=f"the watched project, whose {PROJECT_FILE} is read (default: this folder)",
    )


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return number


def port(text: str) -> int:
    """A port to listen on, 0 for any free one, for argparse."""
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write a number from 0 to 65535")
    return int(text)


def seconds(text: str) -> float:
    """A stretch of time of 0 or more, for argparse."""
    try:
        stretch = float(text)
    except ValueError:
        stretch = -1.0
    if not 0 <= stretch < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return stretch


def known_agent(timeline: Timeline, name: str | None) -> str | None:
    """An agent of the recording by its name; `NooscopeError` where it has none of that name."""
    from core.errors import UsageError
    from core.report.formatting import plain

    if name is None or name in timeline.tracks:
        return name
    names = ", ".join(plain(each, 30) for each in list(timeline.tracks)[:8])
    raise UsageError(f"no agent is named {plain(name, 60)!r}; there are {names}")


def user_file() -> Path:
    """The user's own settings file."""
    named = os.environ.get("NOOSCOPE_CONFIG")
    if named:
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("nooscope", appauthor=False) / "settings.toml"


def settings_from(args: argparse.Namespace) -> Resolved:
    """All layers laid over each other; faults go to standard error, a wrong `--set` ends the run."""
    from core.settings.layers import read_assignments, read_environment, read_file, resolve

    project = (args.project or Path.cwd()) / PROJECT_FILE
    read = [
        read_file(user_file()),
        read_file(project),
        read_environment(os.environ),
        read_assignments(args.assignments),
    ]
    resolved = resolve([layer for layer, _ in read])
    complaints = [*(fault for _, faults in read for fault in faults), *resolved.complaints]
    for complaint in complaints:
        print(f"nooscope: {complaint}", file=sys.stderr)
    if any(complaint.origin == "--set" for complaint in complaints):
        raise SystemExit(2)
    return resolved._replace(complaints=tuple(complaints))
