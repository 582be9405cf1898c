"""`nooscope sweep`: one setting over its range, over many sessions at once."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.logs.log_files import is_there
from core.store.config_path import PROJECT_SETTINGS
from tui.cli import streams
from tui.cli.carried import add_plain_option, family_of, initial_states_of, spoken_start
from tui.cli.command import CliCommand
from tui.cli.options import positive_argument, settings_from

if TYPE_CHECKING:
    from core.logs.session import LogSession
    from core.timeline.run_inputs import RunInputs
    from core.timeline.sweep import Sweep

_SMALL = 400_000
"""Bytes below which starting another process costs more than it saves."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder of logs, or a pattern")
    parser.add_argument(
        "--set",
        dest="sweep",
        metavar="NAME=lo:hi:n",
        required=True,
        help="the setting, and how many values from where to where",
    )
    parser.add_argument("--json", action="store_true", help="as JSON: the values and what fired at each")
    parser.add_argument(
        "--jobs", type=positive_argument, metavar="N", help="how many sessions at once (default: one a core)"
    )
    add_plain_option(parser)
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        type=Path,
        default=None,
        help=f"the watched project, whose {PROJECT_SETTINGS} is read (default: this folder)",
    )


def _run(args: argparse.Namespace) -> int:
    from core.agents.registry import make_kit
    from core.logs.finder import sessions
    from core.timeline.sweep import joined, require_fitting, spoken_sweep

    name, values = spoken_sweep(args.sweep)
    settings = settings_from(argparse.Namespace(project=args.project, assignments=[])).settings
    require_fitting(settings, name, values)
    kit = make_kit(settings.ingest)
    found = sessions(args.paths, kit, settings.ingest.lines)
    for fault in kit.diagnostics.first:
        print(f"nooscope: {fault.file}: {fault.reason}", file=sys.stderr)
    starts = initial_states_of(args, settings)
    begun = [(session, spoken_start(starts, session.id)) for session in found]
    done = joined(list(_progress(sweeps(begun, name, values, args.jobs), len(found))))
    if args.json:
        _print_json(done)
    else:
        _print_text(done)
    return 0


def sweeps(
    begun: Sequence[tuple[LogSession, RunInputs]], name: str, values: Sequence[float], wanted: int | None
) -> Iterator[Sweep]:
    """Every session at every value, as many at once as there are cores."""
    from core.report.process_pool import one_by_one, shared_out

    jobs = min(wanted or os.cpu_count() or 1, len(begun))
    size = sum(_size(session) for session, _ in begun)
    if jobs <= 1 or (not wanted and size * len(values) < _SMALL * 20):
        yield from one_by_one(swept, begun, name, values, family=family_of)
        return
    yield from shared_out(jobs, swept, begun, name, values, prepare=streams.prepare_streams, family=family_of)


def swept(begun: tuple[LogSession, RunInputs], name: str, values: Sequence[float]) -> Sweep:
    """One session at every value, from where it starts."""
    from core.timeline.sweep import sweep_session

    session, (settings, initial, later) = begun
    return sweep_session(session, settings, name, values, None, initial, later)


def _size(session: LogSession) -> int:
    return sum(log.path.stat().st_size for log in session.logs if is_there(log.path))


def _progress(sweeps: Iterator[Sweep], total: int) -> Iterator[Sweep]:
    for number, sweep in enumerate(sweeps, 1):
        if total > 1:
            streams.progress(f"{number} of {total} sessions")
        yield sweep
    streams.progress("")


def _print_json(sweep: Sweep) -> None:
    import msgspec

    from core.report.formatting import readable_json

    content = msgspec.to_builtins(sweep)
    for point, row in zip(sweep.points, content["points"], strict=True):
        row["precision"], row["recall"] = point.score.precision, point.score.recall
    print(readable_json(content))


def _print_text(sweep: Sweep) -> None:
    from core.report.formatting import count
    from core.settings.layers import tunables
    from tui.widgets.tuning.sweep_chart import sweep_lines

    tunable = tunables()[sweep.name]
    print(f"{sweep.name}  {tunable.sentence}")
    print(f"{count(sweep.sessions, 'session')}, {count(sweep.events, 'event')}")
    print()
    width = min(100, shutil.get_terminal_size((100, 24)).columns)
    for line in sweep_lines(sweep, width, 14):
        print("".join(text for text, _ in line).rstrip())
    print()
    names = sorted({name for point in sweep.points for name in point.names})
    heads = ["value", "fired", *(["precision", "recall"] if sweep.labelled else []), *names]
    rows = [heads]
    for point in sweep.points:
        agreed = [_share(point.score.precision), _share(point.score.recall)] if sweep.labelled else []
        here = "▸" if point.value == sweep.present else ""
        figures = [str(point.names.get(name, 0)) for name in names]
        rows.append([f"{here}{point.value:g}", str(point.fired), *agreed, *figures])
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


COMMAND = CliCommand(_add_arguments, _run)
