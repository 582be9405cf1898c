"""`nooscope inspect analyze` and `query`: whole logs through the engine, as a report or a dataset to ask."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from core.errors import NooscopeError
from core.folders import carry_over_folder
from core.report.answers import question
from tui.cli import options, recordings, streams

if TYPE_CHECKING:
    from core.extras.batch.shares import Share, Written
    from core.logs.session import LogSession
    from core.report.analysis import Analysis, Summary
    from core.report.log_tree import LogTree, SessionName
    from core.settings import Settings
    from core.timeline.run_inputs import RunInputs


_SMALL = 4_000_000  # Bytes below which starting another process costs more than it saves.
_MOST_SHARDS = 1024


def add_analyze_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder of logs, or a pattern")
    parser.add_argument("--json", action="store_true", help='as JSON: {"sessions": [...]}')
    help_text = "write one JSON line per tick of the mind's clock; - prints them instead of the report"
    parser.add_argument("--metrics", metavar="FILE", help=help_text)
    options.add_jobs_option(parser, "logs at once")
    help_text = "write sessions, events, ticks and signals as a dataset, for `query`"
    parser.add_argument("--parquet", metavar="FOLDER", type=Path, help=help_text)
    help_text = "only the i-th of n parts (with --parquet)"
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help=help_text)
    help_text = "spread over Dask: local, or a scheduler such as tcp://host:8786 (with --parquet)"
    parser.add_argument("--on", metavar="CLUSTER", help=help_text)
    recordings.add_plain_option(parser)
    options.add_settings_options(parser)


def _shard(text: str) -> tuple[int, int]:
    """Parse a part such as 3/16."""
    first, _, last = text.partition("/")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= _MOST_SHARDS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part; write 3/16 for the third of {_MOST_SHARDS} at most")
    return int(first), int(last)


def run_analyze(args: argparse.Namespace) -> int:
    paths = list(map(Path, args.paths))
    whole = not (args.parquet or args.metrics or args.on) and args.shard == (1, 1)
    words = ("json" if args.json else streams.columns(), args.assignments)
    carried = None if args.plain else carry_over_folder()
    kept_question = question("analyze", words, paths, args.project, carried) if whole else None
    answer = kept_question.answer() if kept_question is not None else None
    if answer is not None:
        sys.stdout.write(answer.decode())
        return 0
    resolved = options.settings_from(args)
    settings = resolved.settings
    from core.errors import UsageError

    if args.parquet is None and (args.on or args.shard != (1, 1)):
        raise UsageError("--on and --shard are for --parquet FOLDER")
    from core.report.log_tree import LogTree
    from core.store.reading_cache import reading_cache

    cache = reading_cache(settings)
    tree = LogTree(settings, cache)
    names = tree.sessions(paths)
    streams.say(*(f"{fault.file}: {fault.reason}" for fault in tree.faults))
    if args.parquet is not None:
        return _dataset([name.session for name in names], settings, args)
    starts = recordings.initial_states_of(args, settings)
    inputs = [recordings.spoken_start(starts, name.id) for name in names]
    run = _summaries_with_metrics if args.metrics else _summaries
    summaries = run(tree, names, inputs, args)
    if not summaries or args.metrics == "-":
        return 0 if summaries else 1
    if kept_question is not None and not kept_question.keeps:
        from core.report.outcome import outcome_with_fates

        for one in summaries:
            one.outcome = outcome_with_fates(one.outcome, one.project, one.id, one.started or 0.0)
    if args.json:
        from core.report.formatting import readable_json

        text = readable_json({"sessions": summaries}) + "\n"
    else:
        from core.report.page import summary_text

        text = "\n\n".join(summary_text(summary, streams.columns()) for summary in summaries) + "\n"
    sys.stdout.write(text)
    complete = len(summaries) == len(names)
    clean = not (resolved.complaints or tree.faults or starts.spoke)
    if kept_question is not None and complete and tree.enclosed and clean:
        kept_question.keep(text.encode(), settings)
    return 0


def _summaries(
    tree: LogTree, names: list[SessionName], inputs: list[RunInputs], args: argparse.Namespace
) -> list[Summary]:
    """Return the summary of every session; only changed ones are analysed again."""
    from core.report.analysis import Summary
    from core.timeline.run_inputs import Fingerprints

    starts = dict(zip(names, inputs, strict=True))
    prints = Fingerprints()

    def summarize(missing: list[SessionName]) -> Iterator[Summary | None]:
        sessions = [name.session for name in missing]
        done = _analyses(sessions, [starts[name] for name in missing], args)
        return (one.summary if one is not None else None for one in done)

    return tree.each("summary", names, Summary, summarize, [prints.of(start) for start in inputs])


def _dataset(log_sessions: list[LogSession], settings: Settings, args: argparse.Namespace) -> int:
    """Write the sessions as a dataset, one share at a time."""
    from core.extras import needed
    from core.extras.batch.shares import Dataset, shares
    from core.report.formatting import count

    needed("duckdb", "batch")
    starts = recordings.initial_states_of(args, settings)
    work = shares(log_sessions, lambda session: recordings.spoken_start(starts, session), args.shard)
    dataset = Dataset(args.parquet.expanduser())
    dataset.begin([str(Path(path).expanduser().absolute()) for path in args.paths])
    sessions = events = skipped = size = 0
    for number, written in enumerate(_written(work, args), 1):
        size += dataset.put(written)
        sessions += written.sessions
        events += written.events
        skipped += written.skipped
        streams.progress(f"{number} of {len(work)} shares")
    streams.progress("")
    parts = count(len(work), "share")
    sentence = f"{count(events, 'event')} of {count(sessions, 'session')} in {parts}, {size:,} bytes"
    streams.say(sentence + (f"; {skipped:,} lines could not be read" if skipped else ""))
    return 0


def _written(work: list[Share], args: argparse.Namespace) -> Iterator[Written]:
    from core.extras.batch.shares import write_share

    if args.on:
        from core.extras.batch.shares import cluster, done_by

        with cluster(args.on, max(1, recordings.useful_jobs(args.jobs, len(work), _SMALL, _SMALL))) as client:
            yield from done_by(client, write_share, work)
        return
    size = sum(recordings.log_size(task.session) for share in work for task in share.tasks)
    jobs = recordings.useful_jobs(args.jobs, len(work), size, _SMALL)
    if jobs <= 1:
        yield from map(write_share, work)
        return
    from core.report.process_pool import shared_out

    yield from shared_out(jobs, write_share, work)


def _analyses(
    sessions: list[LogSession], starts: list[RunInputs], args: argparse.Namespace
) -> Iterator[Analysis | None]:
    """Run sessions through the engine, in several processes if that pays, with a line of progress.

    None stands for a session in which nooscope itself failed; a line on standard error says so.
    """
    from core.report.process_pool import one_by_one, shared_out

    metrics = bool(args.metrics)
    runs = list(zip(sessions, starts, strict=True))
    jobs = recordings.useful_jobs(args.jobs, len(sessions), sum(map(recordings.log_size, sessions)), _SMALL)
    if jobs <= 1:
        done = one_by_one(analyse_one, runs, metrics, family=recordings.family_of)
    else:
        done = shared_out(
            jobs, analyse_one, runs, metrics, prepare=streams.prepare_streams, family=recordings.family_of
        )
    for session, analysis in zip(sessions, streams.with_progress(done, len(sessions)), strict=True):
        if isinstance(analysis, str):
            streams.say(f"{session.path}: {analysis}")
        yield None if isinstance(analysis, str) else analysis


def analyse_one(run: tuple[LogSession, RunInputs], metrics: bool) -> Analysis | str:
    """Analyse one session from its start; return a fault of ours as a sentence."""
    from core.report.analysis import analyse

    session, (settings, initial, later) = run
    try:
        return analyse(session, settings, metrics, initial, later)
    except (NooscopeError, OSError):
        raise
    except Exception as fault:  # noqa: BLE001 the other sessions must still be analysed
        return f"nooscope cannot analyze it ({type(fault).__name__}: {str(fault)[:200]})"


def _summaries_with_metrics(
    _: LogTree, names: list[SessionName], inputs: list[RunInputs], args: argparse.Namespace
) -> list[Summary]:
    """Write the ticks of every session, and return its summary."""
    from core.safe_text import safe_json_bytes

    sessions = [name.session for name in names]
    if args.metrics != "-":
        recordings.refuse_source(Path(args.metrics), sessions)
    done = [one for one in _analyses(sessions, inputs, args) if one is not None]
    lines = (safe_json_bytes(record) + b"\n" for analysis in done for record in analysis.metrics)
    if args.metrics == "-":
        sys.stdout.write(b"".join(lines).decode())
    else:
        streams.write_file(Path(args.metrics), b"".join(lines))
    return [analysis.summary for analysis in done]


_WIDEST = 60


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="?", metavar="SQL", help="SQL, or the name of a question")
    parser.add_argument("--on", metavar="FOLDER", type=Path, default=Path(), help="the dataset (default: this folder)")
    parser.add_argument("--list", action="store_true", help="list named questions and tables")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object per row")
    form.add_argument("--csv", action="store_true", help="comma-separated, with a header line")


def run_query(args: argparse.Namespace) -> int:
    from core.errors import UsageError
    from core.extras.batch.shares import ask

    if args.list:
        return _list_questions()
    if not args.question:
        raise UsageError("give a query in SQL or the name of a question; --list shows them")
    answer = ask(args.on.expanduser(), args.question)
    if args.json:
        _print_json(answer.names, answer.rows)
    elif args.csv:
        _print_csv(answer.names, answer.rows)
    else:
        _print_table(answer.names, answer.rows)
    return 0


def _list_questions() -> int:
    from core.extras.batch.shares import PARTITIONS, QUESTIONS, TABLES

    for name, one in QUESTIONS.items():
        print(f"{name:<18} {one.about}")
    for table, columns in TABLES.items():
        print(f"\n{table}")
        for column in (*columns, *PARTITIONS):
            print(f"  {column.name:<20} {column.type:<10} {column.about}")
    return 0


def _print_json(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    import msgspec

    from core.safe_text import safe_json_bytes

    for row in rows:
        line = msgspec.json.encode(dict(zip(names, row, strict=True)), enc_hook=str)
        print(safe_json_bytes(line).decode())


def _print_csv(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    import csv

    from core.safe_text import safe_cell

    writer = csv.writer(sys.stdout)
    writer.writerow(names)
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)


def _print_table(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from core.report.formatting import plain

    cells = [[plain("-" if cell is None else str(cell), _WIDEST) for cell in row] for row in rows]
    right = [
        place for place in range(len(names)) if all(isinstance(row[place], int | float | NoneType) for row in rows)
    ]
    streams.print_table([names, *cells], right)
    print(f"\n{len(rows):,} rows" if len(rows) != 1 else "\n1 row")
