"""`nooscope compare`: two or more runs side by side, and where they diverge."""

from __future__ import annotations

import argparse

from tui.cli import options, streams


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="A", help="a log")
    parser.add_argument("others", metavar="B", nargs="+", help="logs to compare it with")
    parser.add_argument("--json", action="store_true", help="as JSON, with the alignment of each run with A")
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.report.compare import align, as_json, parting_words, read_run, rows
    from core.report.formatting import plain, readable_json
    from tui.cli.recordings import no_events, one_session

    settings = options.settings_from(args).settings
    read = []
    for path in (args.path, *args.others):
        session, kit = one_session(path, settings)
        read.append(read_run(session, settings))
        if not read[-1].events:
            raise no_events(path, kit)
    first, *others = read
    runs = [run.figures for run in read]
    alignments = [align(first.moves, run.moves) for run in others]
    if args.json:
        print(readable_json(as_json(runs, alignments)))
        return 0
    names = [chr(ord("A") + number) if number < 26 else str(number + 1) for number in range(len(runs))]
    for name, figures in zip(names, runs, strict=True):
        print(f"{name}  {plain(figures.path)}")
    print()
    streams.print_table([("", *names), *((title, *cells) for title, cells in rows(runs))])
    for name, one, run in zip(names[1:], alignments, others, strict=True):
        print(f"\nA and {name}: {parting_words(one, first.events, run.events, name)}")
    return 0
