"""`nooscope analyze`: whole logs through the engine, as a report or as JSON."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.cli import streams
from tui.cli.carried import add_plain_option, family_of, initial_states_of, spoken_start
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, positive_argument, settings_from

if TYPE_CHECKING:
    from core.logs.session import LogSession
    from core.report.analysis import Analysis
    from core.settings import Settings
    from core.timeline.run_inputs import RunInputs

_SMALL = 4_000_000
"""Bytes below which starting another process costs more than it saves."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder of logs, or a pattern")
    parser.add_argument("--json", action="store_true", help='as JSON: {"sessions": [...]}')
    parser.add_argument("--metrics", metavar="FILE", help="write one JSON line a tick of the mind's clock")
    parser.add_argument(
        "--jobs", type=positive_argument, metavar="N", help="how many logs at once (default: one a core)"
    )
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.agents.registry import make_kit
    from core.logs.finder import sessions

    settings = settings_from(args).settings
    kit = make_kit(settings.ingest)
    found = sessions(args.paths, kit, settings.ingest.lines)
    for fault in kit.diagnostics.first:
        print(f"nooscope: {fault.file}: {fault.reason}", file=sys.stderr)
    done = list(_progress(_analyses(found, settings, args), found))
    if args.metrics:
        _write_metrics(args.metrics, done)
    if args.json:
        _print_json(done)
    else:
        _print_text(done)
    return 0


def _analyses(found: list[LogSession], settings: Settings, args: argparse.Namespace) -> Iterator[Analysis]:
    starts = initial_states_of(args, settings)
    metrics = bool(args.metrics)
    begun = [(session, spoken_start(starts, session.id)) for session in found]
    jobs = min(args.jobs or os.cpu_count() or 1, len(found))
    from core.report.process_pool import one_by_one, shared_out

    if jobs <= 1 or (not args.jobs and sum(map(_size, found)) < _SMALL):
        yield from one_by_one(analysed, begun, metrics, family=family_of)
        return
    yield from shared_out(jobs, analysed, begun, metrics, prepare=streams.prepare_streams, family=family_of)


def analysed(begun: tuple[LogSession, RunInputs], metrics: bool) -> Analysis:
    """One session from where it starts."""
    from core.report.analysis import analyse

    session, (settings, initial, later) = begun
    return analyse(session, settings, metrics, initial, later)


def _size(session: LogSession) -> int:
    total = 0
    for log in session.logs:
        try:
            total += log.path.stat().st_size
        except OSError:
            continue
    return total


def _progress(analyses: Iterator[Analysis], found: list[LogSession]) -> Iterator[Analysis]:
    for number, analysis in enumerate(analyses, 1):
        if len(found) > 1:
            streams.progress(f"{number} of {len(found)} sessions")
        yield analysis
    streams.progress("")


def _print_json(done: list[Analysis]) -> None:
    from core.report.formatting import readable_json

    print(readable_json({"sessions": [analysis.summary for analysis in done]}))


def _print_text(done: list[Analysis]) -> None:
    from core.report.page import summary_text

    width = shutil.get_terminal_size((100, 24)).columns
    print("\n\n".join(summary_text(analysis.summary, width) for analysis in done))


def _write_metrics(name: str, done: list[Analysis]) -> None:
    from core.errors import NooscopeError
    from core.safe_text import safe_json_bytes

    try:
        with open(name, "wb") as file:  # noqa: PTH123
            for analysis in done:
                for record in analysis.metrics:
                    file.write(safe_json_bytes(record) + b"\n")
    except OSError as error:
        raise NooscopeError(f"{name}: cannot be written ({error.strerror})") from error


COMMAND = CliCommand(_add_arguments, _run)
