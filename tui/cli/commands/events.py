"""`nooscope events`: what the mind did, as the numbered events of its fabric."""

from __future__ import annotations

import argparse
from collections import deque

from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, settings_from


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument(
        "--since", type=int, default=0, metavar="NUMBER", help="from this event's number on (default: all)"
    )
    parser.add_argument("--kind", action="append", metavar="NAME", help="only this kind; may be given again")
    parser.add_argument("--kinds", action="store_true", help="count the kinds instead")
    parser.add_argument("--json", action="store_true", help="as JSON, one event a line")
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from collections import Counter

    from core.engine.mind.fabric import MIND_EVENTS
    from core.errors import UsageError
    from core.events import MAIN
    from core.report.mind_words import mind_json, mind_line
    from core.timeline.timeline import turned
    from tui.cli.recordings import recording_at

    names = {kind.__name__ for kind in MIND_EVENTS}
    wanted = set(args.kind or ())
    if wanted - names:
        unknown = sorted(wanted - names)[0]
        raise UsageError(f"there is no kind {unknown!r}; there are {', '.join(sorted(names))}")
    settings = settings_from(args).settings
    timeline = recording_at(args.path, initial_states_of(args, settings))
    first, *later = timeline.changes
    society, changes = timeline.initial.society(first.settings), deque(later)
    reader = society.engine(MAIN).mind.heart.fabric.subscribe(max(0, args.since))
    counts = Counter[str]()
    for place, event in enumerate(timeline.events):
        society = turned(timeline.initial, society, changes, place)
        society.step(event)
        for number, told in reader.poll(society.engine(MAIN).mind.heart.fabric):
            kind = type(told).__name__
            if wanted and kind not in wanted:
                continue
            counts[kind] += 1
            if not args.kinds:
                line = mind_json(number, MAIN, told).decode() if args.json else mind_line(MAIN, told)
                print(line if args.json else f"{number:>7}  {line}")
    if args.kinds:
        for kind in sorted(names):
            print(f"{counts[kind]:>7}  {kind}")
    return 0


COMMAND = CliCommand(_add_arguments, _run)
