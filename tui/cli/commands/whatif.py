"""`nooscope whatif`: what would have fired with other settings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tui.cli.carried import add_plain_option, edits_of, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import PLACE, add_settings_options, settings_from

if TYPE_CHECKING:
    from core.timeline.firings import Difference, Pair
    from core.timeline.marks import Mark
    from core.timeline.timeline import Timeline
    from core.timeline.whatif import WhatIfResult


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument("--json", action="store_true", help="as JSON: lists kept, gained, lost and moved")
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--steer", metavar="WORDS", help="try a message of yours, given at the place named by --at"
    )
    other.add_argument(
        "--dream", metavar="SEED", type=int, help="replay past stretches of work in another order"
    )
    parser.add_argument(
        "--at", default="-1", metavar="PLACE", help=f"where the steer is tried: {PLACE} (default: the end)"
    )
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.timeline.branch import dream, pre_steer
    from core.timeline.places import parse_place
    from tui.cli.recordings import recording_at

    other = settings_from(args).settings
    actual = settings_from(argparse.Namespace(project=args.project, assignments=[]), told=True).settings
    edits = edits_of(other, args.assignments)
    unedited = argparse.Namespace(project=args.project, plain=args.plain)
    timeline = recording_at(args.path, initial_states_of(unedited, actual))
    if args.steer is not None:
        branch = pre_steer(timeline, args.steer, parse_place(timeline, args.at))
    elif args.dream is not None:
        branch = dream(timeline, args.dream)
    else:
        return _edited(args, timeline, edits)
    branch.grow()
    difference = branch.difference()
    if args.json:
        _print_json(difference, branch.cost.events)
    else:
        _print_text(difference, timeline.events[0].at, branch.cost.events)
    return 0


def _edited(args: argparse.Namespace, timeline: Timeline, edits: Mapping[str, Any]) -> int:
    """Run with other settings, and say what fires, what is silenced and what is said otherwise."""
    from core.timeline.whatif import WhatIf

    whatif = WhatIf(timeline, edits)
    whatif.run(lambda _: None, lambda: False)
    result = whatif.result()
    if args.json:
        _print_json(result.difference, result.done, result)
    else:
        _print_text(result.difference, timeline.events[0].at, result.done)
        _print_unheard(result, timeline.events[0].at)
    return 0


def _print_unheard(result: WhatIfResult, start: float) -> None:
    from core.events import MAIN
    from core.report.event_words import firing_words
    from core.report.formatting import clock, plain

    for sentence in result.why_unchanged(MAIN):
        print(sentence)
    silenced = result.silenced
    if silenced is not None and (silenced.kept or not silenced.equal):
        print("crossings that are not heard (was, would be):")
        for name, (kept, gained, lost, moved) in silenced.table().items():
            print(f"  {firing_words(name)}: {kept + lost + moved}, {kept + gained + moved}")
        for mark in silenced.gained:
            print(f"░ {clock(mark.at - start)}  {firing_words(mark.name)}  {plain(mark.agent, 24)}")
    for change in result.texts or ():
        print(f"≠ {clock(change.mark.at - start)}  {firing_words(change.mark.name)}")
        print(f"    was:   {plain(change.before)}")
        print(f"    would: {plain(change.after)}")


def _print_json(difference: Difference, events: int, result: WhatIfResult | None = None) -> None:
    from core.report.formatting import readable_json

    def mark(each: Mark) -> dict[str, Any]:
        return {"event": each.place, "at": each.at, "agent": each.agent, "kind": each.kind, "name": each.name}

    def pair(each: Pair) -> dict[str, Any]:
        return {**mark(each.actual), "to_event": each.other.place, "to_at": each.other.at}

    told = {
        "events": events,
        "kept": [mark(each.actual) for each in difference.kept],
        "gained": [mark(each) for each in difference.gained],
        "lost": [mark(each) for each in difference.lost],
        "moved": [pair(each) for each in difference.moved],
    }
    if result is not None and result.silenced is not None:
        unheard = result.silenced
        told["silenced"] = {
            "kept": [mark(each.actual) for each in unheard.kept],
            "gained": [mark(each) for each in unheard.gained],
            "lost": [mark(each) for each in unheard.lost],
            "moved": [pair(each) for each in unheard.moved],
        }
        told["texts"] = [
            {**mark(each.mark), "was": each.before, "would": each.after} for each in result.texts or ()
        ]
    print(readable_json(told))


def _print_text(difference: Difference, start: float, events: int) -> None:
    from core.report.event_words import firing_words
    from core.report.formatting import clock, count, plain

    print(f"{count(events, 'event')} run again")
    rows: list[tuple[str, ...]] = [("", "kept", "gained", "lost", "moved")]
    rows += [(firing_words(name), *map(str, figures)) for name, figures in difference.table().items()]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if difference.equal:
        print("nothing would have fired differently")
    for glyph, marks in (("+", difference.gained), ("-", difference.lost)):
        for mark in marks:
            print(f"{glyph} {clock(mark.at - start)}  {firing_words(mark.name)}  {plain(mark.agent, 24)}")
    for pair in difference.moved:
        moved = f"{clock(pair.actual.at - start)} -> {clock(pair.other.at - start)}"
        print(f"~ {moved}  {firing_words(pair.actual.name)}")


COMMAND = CliCommand(_add_arguments, _run)
