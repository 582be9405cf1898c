"""`nooscope export`: a log as open events without text, or as something to send to a person."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from core.errors import NooscopeError, UsageError
from tui.cli import options, streams

if TYPE_CHECKING:
    from core.events import Event
    from core.export.film import ExportedSession, Level
    from core.extras.telemetry.spans import Span
    from core.logs.format import Kit
    from core.logs.session import LogSession
    from core.settings import Settings
    from core.settings.program import LineSettings

SHARED = ("html", "cast", "markdown", "atif")  # Formats for a person, of one session.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log, a folder of logs, or a pattern")
    parser.add_argument(
        "--format",
        metavar="NAME",
        default="events",
        help="events: one JSON object per event; html: one page that plays the session; cast: asciinema; "
        "markdown: a report; atif: a trajectory; "
        "otlp: a trace in JSON; or the format of an extension (default: events)",
    )
    help_text = "default: standard output"
    parser.add_argument("-o", "--output", "--out", metavar="FILE", type=Path, default=None, help=help_text)
    help_text = "strict omits all text, paths and names (html, cast, markdown)"
    parser.add_argument("--redact", choices=["secrets", "strict"], default="secrets", help=help_text)
    help_text = "include the full text of prompts, calls and results (html, atif)"
    parser.add_argument("--transcript", action="store_true", help=help_text)
    parser.add_argument(
        "--otlp",
        metavar="URL",
        help="send the session as a trace to a collector, such as http://127.0.0.1:4318; "
        "headers come from OTEL_EXPORTER_OTLP_HEADERS",
    )
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.agents.registry import make_kit
    from core.logs.finder import sessions
    from tui.cli.recordings import refuse_source

    shared = _chosen_formats(args.format)
    if args.otlp and args.format not in ("events", "otlp"):
        raise UsageError("--otlp sends a trace; leave out --format, or write to a file without --otlp")
    if args.otlp or args.format == "otlp":
        return _trace(args)
    if args.format in shared:
        return _share(args)
    if args.transcript or args.redact == "strict":
        raise UsageError("open events contain no text; --transcript and --redact are for html, cast and markdown")
    settings = options.settings_from(args).settings.ingest
    kit = make_kit(settings)
    matches = sessions([args.path], kit, settings.lines)
    if args.output is None:
        events = _write(matches, kit, settings.lines, _print)
        sys.stdout.flush()
    else:
        refuse_source(args.output, matches)
        with _replacing(args.output) as out:
            events = _write(matches, kit, settings.lines, out.write)
    print(_report(len(matches), events, kit), file=sys.stderr)
    return 0


def _chosen_formats(name: str) -> frozenset[str]:
    """Return the formats for a person; raises if the requested one is unknown."""
    if name in ("events", "otlp", *SHARED):
        return frozenset(SHARED)
    from core.export.exporters import exporters

    available, complaints = exporters()
    streams.say(*complaints)
    if name not in available:
        raise UsageError(f"unknown format {name!r}; available: events, {', '.join(available)}, otlp")
    return frozenset(available)


def _session_of(args: argparse.Namespace) -> tuple[Settings, LogSession, Kit]:
    """The settings, and the one session that is named, which must not be where the output goes."""
    from tui.cli.recordings import one_session, refuse_source

    settings = options.settings_from(args).settings
    session, kit = one_session(args.path, settings)
    if args.output is not None:
        refuse_source(args.output, [session])
    return settings, session, kit


def _share(args: argparse.Namespace) -> int:
    """One session as a page, a film of text or a report."""
    from core.export.film import Privacy, film
    from core.logs.session import read_session
    from tui.cli.options import configured_initial
    from tui.cli.recordings import no_events

    if args.transcript and (args.redact == "strict" or args.format not in ("html", "atif")):
        other = "--redact strict" if args.redact == "strict" else f"--format {args.format}"
        raise UsageError(f"--transcript and {other} cannot be combined; leave one out")
    settings, session, kit = _session_of(args)
    events = list(read_session(session, kit, settings.ingest.lines))
    if not events:
        raise no_events(args.path, kit)
    level: Level = "strict" if args.redact == "strict" else "transcript" if args.transcript else "excerpts"
    content = _shared(args.format, film(session, events, settings, Privacy(level), configured_initial(args.project)))
    _put(content, args.output)
    print(f"{_report(1, len(events), kit)}; {len(content):,} bytes", file=sys.stderr)
    return 0


def _trace(args: argparse.Namespace) -> int:
    """One session as a trace, sent to a collector or written as one request a line."""
    import os

    from core import __version__
    from core.export.film import Privacy
    from core.extras.telemetry.spans import BATCH, Collector, Tracer, encoded, headers_of, resource, send_all
    from core.logs.session import read_session
    from core.timeline.opening import seed_of
    from tui.cli.options import configured_initial

    if args.transcript:
        raise UsageError("a trace contains no text; leave out --transcript")
    headers = headers_of(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", ""))
    collector = Collector(args.otlp, headers) if args.otlp else None
    settings, session, kit = _session_of(args)
    society = configured_initial(args.project)._replace(seed=seed_of(session.id)).society(settings)
    tracer = Tracer(session.id, session.tool, Privacy("strict" if args.redact == "strict" else "excerpts"))
    spans: list[Span] = []
    count = 0
    for event in read_session(session, kit, settings.ingest.lines):
        spans += tracer.take(event, society.step(event))
        count += 1
    spans += tracer.close()
    who = resource(session.tool, __version__)
    if collector is not None:
        send_all(collector, spans, who)
        print(f"{len(spans):,} spans sent to {collector.name} as trace {tracer.trace}", file=sys.stderr)
        return 0
    batches = [spans[first : first + BATCH] for first in range(0, len(spans), BATCH)]
    content = b"".join(encoded(batch, who) + b"\n" for batch in batches)
    _put(content, args.output)
    print(_report(1, count, kit), file=sys.stderr)
    return 0


def _put(content: bytes, target: Path | None) -> None:
    """Write to a file in one step, or to standard output."""
    if target is None:
        try:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        except OSError as fault:
            fault.filename = fault.filename or "standard output"
            raise
        return
    with _replacing(target) as file:
        file.write(content)


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """Write a file in one step, so that no partial file is left; a wrong name is wrong usage, a full disk is not."""
    from core.store import atomic

    try:
        with atomic.replacing(target, atomic.AS_USUAL) as file:
            yield file
    except OSError as fault:
        missing = isinstance(fault, FileNotFoundError | NotADirectoryError | IsADirectoryError)
        raise (UsageError if missing else NooscopeError)(f"cannot write {target}: {fault.strerror or fault}") from None


def _shared(form: str, film: ExportedSession) -> bytes:
    from core.export.exporters import BUILT_IN, exporters

    exporter = exporters()[0][form]
    if exporter in BUILT_IN:
        return exporter.write(film)
    try:
        content = exporter.write(film)
    except Exception as fault:
        raise NooscopeError(f"the extension that writes {form} failed: {fault}") from fault
    if not isinstance(content, bytes):
        raise NooscopeError(f"the extension that writes {form} gave no bytes")
    return content


def _print(line: bytes) -> int:
    """Write a line to standard output; ASCII only if it has no UTF-8."""
    text = line.decode()
    if not text.isascii() and sys.stdout.encoding.lower().replace("-", "") != "utf8":
        from core.safe_text import json_escape

        text = "".join(char if char.isascii() else json_escape(char) for char in text)
    return sys.stdout.write(text)


def _write(sessions: list[LogSession], kit: Kit, lines: LineSettings, put: Callable[[bytes], int]) -> int:
    from core.agents.open_events import write
    from core.events import MAIN, SessionStart
    from core.logs.session import read_session
    from core.safe_text import safe_json_bytes, whole

    count = 0
    for session in sessions:
        name = session.id
        for event in read_session(session, kit, lines):
            if isinstance(event, SessionStart) and event.agent == MAIN:
                name = event.session
            try:
                line = write(event, name)
            except UnicodeEncodeError:
                line = write(_whole_names(event), whole(name))
            put(safe_json_bytes(line) + b"\n")
            count += 1
    return count


def _whole_names(event: Event) -> Event:
    """Return an event whose names come from a file name that is not UTF-8."""
    from msgspec.structs import asdict, replace

    from core.events import Where
    from core.safe_text import whole

    names: dict[str, object] = {}
    for key, value in asdict(event).items():
        if isinstance(value, str):
            names[key] = whole(value)
        elif isinstance(value, Where):
            names[key] = replace(value, file=whole(value.file))
    return replace(event, **names)


def _report(number: int, events: int, kit: Kit) -> str:
    from core.report.formatting import count

    skipped = ", ".join(f"{lines:,} {reason}" for reason, lines in kit.diagnostics.counts.items())
    return f"{events:,} events of {count(number, 'session')}" + (f"; skipped: {skipped}" if skipped else "")
