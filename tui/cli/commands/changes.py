"""`nooscope changes`: the files a session changed up to a moment, and their diff."""

from __future__ import annotations

import argparse

from tui.cli import options, recordings, streams


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at", default="-1", metavar="PLACE", help=f"{options.PLACE} (default: the end)")
    parser.add_argument("--file", metavar="FILE", help="only this file, or those below this folder")
    parser.add_argument("--agent", help="only files that this agent edited, and its lines (default: all)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--stat", action="store_true", help="only count lines, and list commits and checks")
    form.add_argument("--json", action="store_true", help="as JSON, with the diff of each file")
    recordings.add_log_options(parser)


def run(args: argparse.Namespace) -> int:
    from msgspec import to_builtins

    from core.errors import UsageError
    from core.report.changes import change_line, diff_text
    from core.report.formatting import plain, readable_json
    from core.report.outcome import outcome_with_fates, read_outcome
    from core.timeline.places import parse_place

    settings = options.settings_from(args).settings
    timeline = recordings.recording_of(args, settings)
    session, kit = recordings.one_session(args.path, settings)
    place = parse_place(timeline, args.at)
    agent = options.known_agent(timeline, args.agent) if args.agent else ""
    reader = read_outcome(session, timeline.events, kit, settings.ingest.lines)
    changes, began = reader.changes, timeline.events[0].at
    files = changes.files(place, agent or "")
    if args.file:
        path = args.file.rstrip("/")
        files = [one for one in files if one.path == path or one.path.startswith(f"{path}/")]
        if not files:
            raise UsageError(f"no change of {path} in the first {place} events")
    if args.json:
        outcome = to_builtins(outcome_with_fates(reader.at(place), reader.project, session.id, began))
        del outcome["changes"]
        rows = [{**to_builtins(one), "diff": diff_text(one, changes.diff(one.path, place))} for one in files]
        print(readable_json({"at": place, "files": rows, "outcome": outcome}))
        return 0
    for one in files:
        print(plain(change_line(one)))
        if not args.stat:
            print(diff_text(one, changes.diff(one.path, place)))
    if args.stat and not args.file:
        streams.print_lines(outcome_with_fates(reader.at(place), reader.project, session.id, began).lines())
    if not files:
        print(f"no file was changed in the first {place} events, as far as the log shows")
    return 0
