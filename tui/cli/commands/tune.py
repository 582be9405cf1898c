"""`nooscope tune whatif`, `sweep` and `labels`: other settings, tried on recorded sessions."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.cli import options, recordings, streams

if TYPE_CHECKING:
    from core.logs.session import LogSession
    from core.timeline.marks import Mark
    from core.timeline.rerun import Difference, Pair
    from core.timeline.run_inputs import RunInputs
    from core.timeline.whatif import Sweep, WhatIfResult

_SMALL = 400_000  # Bytes below which starting another process costs more than it saves.


def add_whatif_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON: lists kept, gained, lost and moved")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--steer", metavar="WORDS", help="preview a message of yours at the place named by --at")
    other.add_argument("--dream", metavar="SEED", type=int, help="replay past stretches of work in another order")
    help_text = f"where the message is previewed: {options.PLACE} (default: the end)"
    parser.add_argument("--at", default="-1", metavar="PLACE", help=help_text)
    recordings.add_log_options(parser)


def run_whatif(args: argparse.Namespace) -> int:
    from core.report.conversation import limit_lines
    from core.timeline.places import parse_place
    from core.timeline.rerun import dream, pre_steer
    from core.timeline.whatif import WhatIf

    other = options.settings_from(args).settings
    actual = options.settings_from(argparse.Namespace(project=args.project, assignments=[]), quiet=True).settings
    edits = recordings.edits_of(other, args.assignments)
    unedited = argparse.Namespace(project=args.project, plain=args.plain)
    is_branch = args.steer is not None or args.dream is not None
    timeline = recordings.recording_at(
        args.path, recordings.initial_states_of(unedited, other if is_branch else actual)
    )
    result: WhatIfResult | None = None
    if is_branch:
        preview = args.steer is not None
        branch = (
            pre_steer(timeline, args.steer, parse_place(timeline, args.at)) if preview else dream(timeline, args.dream)
        )
        branch.grow()
        difference, done, total = branch.difference(), branch.cost, len(branch.events)
    else:
        whatif = WhatIf(timeline, edits)
        whatif.run(lambda _: None, lambda: False)
        result = whatif.result()
        difference, done, total = result.difference, result.done, len(timeline)
    if args.json:
        _print_difference_json(difference, done, result)
        return 0
    _print_difference(difference, timeline.events[0].at, done)
    if result is not None:
        _print_unheard(result, timeline.events[0].at)
    streams.print_lines(limit_lines(done, total))
    return 0


def _print_unheard(result: WhatIfResult, start: float) -> None:
    from core.events import MAIN
    from core.report.event_words import firing_words
    from core.report.formatting import clock, plain

    streams.print_lines(result.why_unchanged(MAIN))
    silenced = result.silenced
    if silenced is not None and (silenced.kept or not silenced.equal):
        print("muted crossings (before, after):")
        for name, (same, gained, lost, moved) in silenced.table().items():
            print(f"  {firing_words(name)}: {same + lost + moved}, {same + gained + moved}")
        for mark in silenced.gained:
            print(f"░ {clock(mark.at - start)}  {firing_words(mark.name)}  {plain(mark.agent, 24)}")
    for change in result.texts or ():
        print(f"≠ {clock(change.mark.at - start)}  {firing_words(change.mark.name)}")
        print(f"    before: {plain(change.before)}")
        print(f"    after:  {plain(change.after)}")


def _print_difference_json(difference: Difference, events: int, result: WhatIfResult | None = None) -> None:
    from core.report.formatting import readable_json

    def mark(each: Mark) -> dict[str, Any]:
        return {"event": each.place, "at": each.at, "agent": each.agent, "kind": each.kind, "name": each.name}

    def pair(each: Pair) -> dict[str, Any]:
        return {**mark(each.actual), "to_event": each.other.place, "to_at": each.other.at}

    def lists(each: Difference) -> dict[str, Any]:
        return {
            "kept": [mark(one.actual) for one in each.kept],
            "gained": [mark(one) for one in each.gained],
            "lost": [mark(one) for one in each.lost],
            "moved": [pair(one) for one in each.moved],
        }

    content = {"events": events, **lists(difference)}
    if result is not None and result.silenced is not None:
        content["silenced"] = lists(result.silenced)
        content["texts"] = [{**mark(each.mark), "was": each.before, "would": each.after} for each in result.texts or ()]
    print(readable_json(content))


def _print_difference(difference: Difference, start: float, events: int) -> None:
    from core.report.event_words import firing_words
    from core.report.formatting import clock, count, plain

    print(f"{count(events, 'event')} run again")
    rows: list[tuple[str, ...]] = [("", "same", "new", "lost", "moved")]
    rows += [(firing_words(name), *map(str, figures)) for name, figures in difference.table().items()]
    streams.print_table(rows)
    if difference.equal:
        print("nothing would have fired differently")
    for glyph, marks in (("+", difference.gained), ("-", difference.lost)):
        for mark in marks:
            print(f"{glyph} {clock(mark.at - start)}  {firing_words(mark.name)}  {plain(mark.agent, 24)}")
    for pair in difference.moved:
        moved = f"{clock(pair.actual.at - start)} -> {clock(pair.other.at - start)}"
        print(f"~ {moved}  {firing_words(pair.actual.name)}")


def add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log, a folder of logs, or a pattern")
    help_text = "the setting, and how many values from where to where"
    parser.add_argument("--set", dest="sweep", metavar="NAME=lo:hi:n", required=True, help=help_text)
    parser.add_argument("--json", action="store_true", help="as JSON: the values and what fired at each")
    options.add_jobs_option(parser, "sessions at once")
    recordings.add_plain_option(parser)
    options.add_project_option(parser)


def run_sweep(args: argparse.Namespace) -> int:
    from core.agents.registry import make_kit
    from core.logs.finder import sessions
    from core.timeline.whatif import join_sweeps, parse_sweep, require_fitting

    name, values = parse_sweep(args.sweep)
    settings = options.settings_from(argparse.Namespace(project=args.project, assignments=[])).settings
    require_fitting(settings, name, values)
    kit = make_kit(settings.ingest)
    matches = sessions(args.paths, kit, settings.ingest.lines)
    streams.say(*(f"{fault.file}: {fault.reason}" for fault in kit.diagnostics.first))
    starts = recordings.initial_states_of(args, settings)
    runs = [(session, recordings.spoken_start(starts, session.id)) for session in matches]
    done = join_sweeps(list(streams.with_progress(sweeps(runs, name, values, args.jobs), len(matches))))
    if args.json:
        _print_sweep_json(done)
    else:
        _print_sweep(done)
    return 0


def sweeps(
    runs: Sequence[tuple[LogSession, RunInputs]], name: str, values: Sequence[float], jobs_wanted: int | None
) -> Iterator[Sweep]:
    """Yield every session at every value, in parallel."""
    from core.report.process_pool import one_by_one, shared_out

    size = sum(recordings.log_size(session) for session, _ in runs)
    jobs = recordings.useful_jobs(jobs_wanted, len(runs), size * len(values), _SMALL * 20)
    if jobs <= 1:
        yield from one_by_one(swept, runs, name, values, family=recordings.family_of)
        return
    yield from shared_out(jobs, swept, runs, name, values, prepare=streams.prepare_streams, family=recordings.family_of)


def swept(run: tuple[LogSession, RunInputs], name: str, values: Sequence[float]) -> Sweep:
    """Run one session at every value."""
    from core.timeline.whatif import sweep_session

    session, (settings, initial, later) = run
    return sweep_session(session, settings, name, values, None, initial, later)


def _print_sweep_json(sweep: Sweep) -> None:
    import msgspec

    from core.report.formatting import readable_json

    content = msgspec.to_builtins(sweep)
    for point, row in zip(sweep.points, content["points"], strict=True):
        row["precision"], row["recall"] = point.score.precision, point.score.recall
    print(readable_json(content))


def _print_sweep(sweep: Sweep) -> None:
    from core.report.formatting import count
    from core.settings.layers import tunables
    from tui.widgets.tuning.comparison import sweep_lines

    tunable = tunables()[sweep.name]
    print(f"{sweep.name}  {tunable.sentence}")
    print(f"{count(sweep.sessions, 'session')}, {count(sweep.events, 'event')}")
    print()
    for line in sweep_lines(sweep, min(100, streams.columns()), 14):
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
    streams.print_table(rows, right=range(len(heads)))


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def add_labels_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="PATH", help="a log to label; without one all labels are written")
    parser.add_argument("verdict", nargs="?", choices=("good", "bad", "none"), help="how that session went")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write there instead of standard output")
    options.add_settings_options(parser)


def run_labels(args: argparse.Namespace) -> int:
    from core.errors import UsageError
    from core.safe_text import safe_json, safe_json_bytes
    from core.store.bookmarks import export_labels

    if args.path is None:
        data, notices = export_labels()
        streams.say(*notices)
        if args.out is None:
            sys.stdout.write(safe_json(data.decode()))
        else:
            streams.write_file(args.out, safe_json_bytes(data))
        return 0
    if args.verdict is None:
        raise UsageError(f"say how {args.path} went: good, bad, or none to withdraw a label")
    from core.logs.session import read_session
    from core.store.bookmarks import Labels
    from core.timeline.own_labels import label_session, save_label
    from tui.cli.recordings import no_events, one_session

    session, kit = one_session(args.path, options.settings_from(args, quiet=True).settings)
    label = None
    if args.verdict != "none":
        label = label_session(read_session(session, kit), args.verdict == "good", time.time())
        if not label.counts:
            raise no_events(args.path, kit)
    store = Labels(session.id)
    learned = save_label(store, label)
    print(f"labelled {args.verdict}" if label else "label withdrawn")
    print("\n".join(lesson.sentence for lesson in learned.lessons))
    streams.say(*store.notices)
    return 0
