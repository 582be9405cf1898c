"""Options that several commands share."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from core.folders import PROJECT_SETTINGS, learned_settings_file, user_settings_file
from tui.cli.streams import say

if TYPE_CHECKING:
    from core.settings import Settings
    from core.settings.layers import Complaint, Layer, Resolved
    from core.timeline.initial_state import InitialState
    from core.timeline.timeline import Timeline

PROJECT_POLICY = ".nooscope-policy.toml"


def add_settings_options(parser: argparse.ArgumentParser) -> None:
    """`--set` and `--project`."""
    help_text = "change one setting for this run; repeatable"
    parser.add_argument("--set", dest="assignments", metavar="NAME=VALUE", action="append", default=[], help=help_text)
    add_project_option(parser)


def add_project_option(parser: argparse.ArgumentParser) -> None:
    """`--project`."""
    help_text = f"the watched project, whose {PROJECT_SETTINGS} is read (default: this folder)"
    parser.add_argument("--project", metavar="FOLDER", type=Path, default=None, help=help_text)


BLANK_PATH = "the path is empty; is a variable unset?"
PLACE = "an event's number, start, end, 00:41:12, 41m or an ISO time"  # How a person may write a place of a session.


def add_stretch_options(parser: argparse.ArgumentParser) -> None:
    """`--from` and `--to`."""
    parser.add_argument("--from", dest="begin", default="0", metavar="PLACE", help=f"{PLACE} (default: the start)")
    parser.add_argument("--to", dest="end", default="-1", metavar="PLACE", help=f"{PLACE} (default: the end)")


def path_argument(text: str) -> Path:
    """Parse a path; an empty one is refused, as it would mean this folder."""
    if not text:
        raise argparse.ArgumentTypeError(BLANK_PATH)
    return Path(text)


def number_argument(kind: Callable[[str], float], low: float, high: float, what: str) -> Callable[[str], float]:
    """Return a parser of a number within bounds; `what` says in its error what is expected."""

    def parse(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
        return number

    return parse


positive_argument = number_argument(int, 1, sys.maxsize, "a whole number above 0")
port_argument = number_argument(int, 0, 65_535, "a port; write a number from 0 to 65535")  # 0 means any free one.
seconds_argument = number_argument(float, 0, sys.float_info.max, "a number of seconds")
hours_argument = number_argument(float, 0.1, 8760, "a number of hours from 0.1 to 8760")
_speed_argument = number_argument(float, 0.25, 64, "a speed from 0.25 to 64")


def add_speed_option(parser: argparse.ArgumentParser) -> None:
    """Add `--speed`, bounded like the setting of that name."""
    parser.add_argument("--speed", type=_speed_argument, metavar="X", help="initial speed, 0.25 to 64")


def add_jobs_option(parser: argparse.ArgumentParser, what: str) -> None:
    """`--jobs`."""
    help_text = f"how many {what} (default: one per core)"
    parser.add_argument("--jobs", type=positive_argument, metavar="N", help=help_text)


def since_argument(text: str) -> str:
    """Check the start of a period; see `since_moment`."""
    try:
        since_moment(text, 0.0)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time; write today, 7d, 12h, 30m or a day such as 2026-01-31"
        ) from None
    return text


def since_moment(text: str, now: float) -> float:
    """Return `today`, `7d`, `12h`, `30m` or an ISO time (local if it has no zone) as epoch seconds."""
    from datetime import datetime

    words = text.strip()
    units = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
    if words == "today":
        here = datetime.fromtimestamp(now)  # noqa: DTZ006 the person's own day
        return here.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    if words[-1:] in units and words[:-1].replace(".", "", 1).isdecimal():
        return now - float(words[:-1]) * units[words[-1]]
    try:
        return datetime.fromisoformat(words).timestamp()
    except (OverflowError, OSError) as error:
        raise ValueError(str(error)) from error


def known_agent(timeline: Timeline, name: str | None) -> str | None:
    """Return an agent's name; raises `UsageError` if the recording has no such agent."""
    from core.errors import UsageError
    from core.report.formatting import plain

    if name is None or name in timeline.tracks:
        return name
    names = ", ".join(plain(each, 30) for each in list(timeline.tracks)[:8])
    raise UsageError(f"no agent is named {plain(name, 60)!r}; available: {names}")


def settings_from(args: argparse.Namespace, *, quiet: bool = False) -> Resolved:
    """Merge all layers of settings; faults go to standard error unless they were reported before.

    They are left in `args.faults` for a screen to tell. A wrong `--set` ends the run; a path that cannot be
    used only costs its setting.
    """
    from core.settings.layers import read_assignments, read_environment, read_file, resolve

    mine, project = user_settings_file(), args.project or Path.cwd()
    theirs = project / PROJECT_SETTINGS
    read = [
        read_file(learned_settings_file(), "person"),
        read_file(mine, "person"),
        *([] if (mine.absolute() == theirs.absolute()) else [read_file(theirs, "project")]),
        _policy(project / PROJECT_POLICY),
        read_environment(os.environ),
        read_assignments(args.assignments),
    ]
    resolved = resolve([layer for layer, _ in read])
    wrong = [*(each for _, faults in read for each in faults), *resolved.complaints]
    settings, lost = _without_lost_paths(resolved)
    args.faults = () if quiet else tuple(map(str, (*wrong, *lost)))
    say(*args.faults)
    if any(complaint.origin == "--set" for complaint in wrong):
        raise SystemExit(2)
    origins = {name: origin for name, origin in resolved.origins.items() if name not in {one.name for one in lost}}
    return resolved._replace(settings=settings, origins=origins, complaints=(*wrong, *lost))


def _policy(path: Path) -> tuple[Layer, tuple[Complaint, ...]]:
    """Read a project's policy as a layer without its name; it may only narrow settings."""
    from core.settings.layers import read_file

    layer, faults = read_file(path, "project", "affect")
    values = tuple(value for value in layer.values if value.name != "affect.name")
    return layer._replace(values=values), faults


def _without_lost_paths(resolved: Resolved) -> tuple[Settings, list[Complaint]]:
    """Return the settings with unusable paths replaced by the built-in value."""
    from core.settings.layers import BUILT_IN, Complaint, with_value

    settings = resolved.settings
    lost: list[Complaint] = []
    for name, problem in _unusable_settings(settings):
        settings = with_value(settings, name, "")
        lost.append(Complaint(resolved.origins.get(name, BUILT_IN), 0, name, f"{problem}; ignored"))
    return settings, lost


def _unusable_settings(settings: Settings) -> Iterator[tuple[str, str]]:
    tables = settings.ingest.tables
    if tables.tools or tables.models:
        from core.agents.registry import unusable_tables

        for name, problem in unusable_tables(tables).items():
            yield f"ingest.tables.{name}", problem
    folder = settings.response.persona.folder
    try:
        if folder and not stat.S_ISDIR(Path(folder).expanduser().stat().st_mode):
            yield "response.persona.folder", f"{folder!r} is not a folder"
    except FileNotFoundError:
        return
    except (OSError, ValueError, RuntimeError) as error:
        yield "response.persona.folder", f"{folder!r} cannot be used ({error})"


def configured_initial(project: Path | None) -> InitialState:
    """Return the active policy and rules; problems of their files go to standard error."""
    from core.timeline.initial_state import configured_start

    configured = configured_start(project)
    say(*configured.faults)
    return configured.initial
