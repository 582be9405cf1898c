"""`nooscope analyze`: whole logs through the engine, as a report or as JSON."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, configured_beginning, positive_argument, settings_from

if TYPE_CHECKING:
    from core.logs.session import LogSession
    from core.report.analysis import Analysis
    from core.settings import Settings

_SMALL = 4_000_000
"""Bytes below which starting another process costs more than it saves."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder of logs, or a pattern")
    parser.add_argument("--json", action="store_true", help='as JSON: {"sessions": [...]}')
    parser.add_argument("--metrics", metavar="FILE", help="write one JSON line a tick of the mind's clock")
    parser.add_argument(
        "--jobs", type=positive_argument, metavar="N", help="how many logs at once (default: one a core)"
    )
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.logs.finder import make_kit, sessions

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
    from core.report.analysis import analyse

    beginning = configured_beginning(args.project)
    metrics = bool(args.metrics)
    jobs = min(args.jobs or os.cpu_count() or 1, len(found))
    if jobs <= 1 or (not args.jobs and sum(map(_size, found)) < _SMALL):
        for session in found:
            yield analyse(session, settings, metrics, beginning)
        return
    from core.report.process_pool import shared_out

    yield from shared_out(jobs, analyse, found, settings, metrics, beginning)


def _size(session: LogSession) -> int:
    total = 0
    for log in session.logs:
        try:
            total += log.path.stat().st_size
        except OSError:
            continue
    return total


def _progress(analyses: Iterator[Analysis], found: list[LogSession]) -> Iterator[Analysis]:
    shown = sys.stderr.isatty() and len(found) > 1
    for number, analysis in enumerate(analyses, 1):
        if shown:
            print(f"\r{number} of {len(found)} sessions", end="", file=sys.stderr, flush=True)
        yield analysis
    if shown:
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)


def _print_json(done: list[Analysis]) -> None:
    from core.report.formatting import readable_json

    print(readable_json({"sessions": [analysis.summary for analysis in done]}))


def _print_text(done: list[Analysis]) -> None:
    from core.report.page import summary_text

    width = shutil.get_terminal_size((100, 24)).columns
    print("\n\n".join(summary_text(analysis.summary, width) for analysis in done))


def _write_metrics(name: str, done: list[Analysis]) -> None:
    from core.errors import NooscopeError

    try:
        with open(name, "wb") as file:  # noqa: PTH123
            for analysis in done:
                for record in analysis.metrics:
                    file.write(record + b"\n")
    except OSError as error:
        raise NooscopeError(f"{name}: cannot be written ({error.strerror})") from error


COMMAND = CliCommand(_add_arguments, _run)
