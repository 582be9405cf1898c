"""`nooscope compare`: two or more runs side by side, and where they diverge."""

from __future__ import annotations

import argparse

from tui.cli.options import CliCommand, add_settings_options, settings_from
from tui.cli.streams import print_table


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="A", help="a log")
    parser.add_argument("others", metavar="B", nargs="+", help="logs to compare it with")
    parser.add_argument("--json", action="store_true", help="as JSON, with the alignment of each run with A")
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.report.compare import align, as_json, compared_run, parting_words, rows
    from core.report.formatting import plain, readable_json
    from tui.cli.recordings import no_events, one_session

    settings = settings_from(args).settings
    compared = []
    for path in (args.path, *args.others):
        session, kit = one_session(path, settings)
        compared.append(compared_run(session, settings))
        if not compared[-1][1]:
            raise no_events(path, kit)
    runs = [run for run, _ in compared]
    first = compared[0][1]
    alignments = [align(first, events) for _, events in compared[1:]]
    if args.json:
        print(readable_json(as_json(runs, alignments)))
        return 0
    names = [chr(ord("A") + number) if number < 26 else str(number + 1) for number in range(len(runs))]
    for name, run in zip(names, runs, strict=True):
        print(f"{name}  {plain(run.path)}")
    print()
    print_table([("", *names), *((title, *cells) for title, cells in rows(runs))])
    for name, one, (_, events) in zip(names[1:], alignments, compared[1:], strict=True):
        print(f"\nA and {name}: {parting_words(one, first, events, name)}")
    return 0


COMMAND = CliCommand(_add_arguments, _run)
