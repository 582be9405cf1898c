"""`nooscope bookmarks`: named moments of sessions, kept in our own folder."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, settings_from

_LARGEST = 64_000_000
"""Bytes a file of bookmarks may have."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="PATH", help="a log")
    parser.add_argument("--add", metavar="NAME", help="add a bookmark at the place given by --at")
    parser.add_argument(
        "--at", default="-1", metavar="PLACE", help="an event's number, 00:41:12, 41m or an ISO time"
    )
    parser.add_argument("--note", default="", help="a note for the bookmark")
    parser.add_argument("--remove", metavar="NAME", help="remove a bookmark")
    parser.add_argument("--export", metavar="FILE", help="write the bookmarks of all sessions to a file")
    parser.add_argument(
        "--import", dest="taken", metavar="FILE", help="take over the bookmarks of such a file"
    )
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.safe_text import safe_json_bytes
    from core.store.bookmark_transfer import export_bookmarks, import_bookmarks, recover_imports

    recover_imports()
    if args.export is not None:
        content, notices = export_bookmarks()
        _save(Path(args.export), safe_json_bytes(content))
        for notice in notices:
            print(f"nooscope: {notice}", file=sys.stderr)
        return 0
    if args.taken is not None:
        from core.report.formatting import count

        imported = import_bookmarks(_take(Path(args.taken)))
        print(f"{count(imported.added, 'bookmark')} imported from {count(imported.sessions, 'session')}")
        return 0
    if not args.path:
        print("nooscope: name a log, or use --export or --import", file=sys.stderr)
        return 2
    return _one(args)


def _save(path: Path, content: bytes) -> None:
    from core.errors import NooscopeError

    try:
        path.write_bytes(content)
    except OSError as error:
        raise NooscopeError(f"{path}: {error.strerror}") from error


def _take(path: Path) -> bytes:
    from core.errors import NooscopeError

    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise NooscopeError(f"{path}: {error.strerror}") from error
    if len(content) > _LARGEST:
        raise NooscopeError(f"{path}: is too large for a bookmarks file")
    return content


def _one(args: argparse.Namespace) -> int:
    from core.report.formatting import clock, plain
    from core.store.bookmarks import Bookmark, Bookmarks
    from core.timeline.checkpoint import agrees, state_hash
    from core.timeline.places import parse_place
    from tui.cli.recordings import one_session, open_recording

    settings = settings_from(args).settings
    session, _ = one_session(args.path, settings)
    store = Bookmarks(session.id)
    timeline = open_recording(args.path, initial_states_of(args, settings))
    if args.remove is not None:
        gone = store.remove(args.remove)
        print("removed" if gone else f"no bookmark is named {args.remove}")
        return 0 if gone else 1
    if args.add is not None:
        index = parse_place(timeline, args.at)
        content = state_hash(timeline.society_at(index))
        store.put(Bookmark(args.add, index, timeline.time_of(index), time.time(), args.note, content))
    start = timeline.events[0].at
    kept = store.read()
    for each in kept:
        same = (
            "" if agrees(timeline, each.place, each.checkpoint) else "  (the state there has changed since)"
        )
        words = f"{plain(each.name, 30):<30} {plain(each.note, 60)}{same}"
        print(f"{clock(each.at - start)}  event {each.place:<7} {words}")
    if not kept:
        print("no bookmarks; add one with --add NAME --at PLACE")
    return 0


COMMAND = CliCommand(_add_arguments, _run)
