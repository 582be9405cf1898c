"""`nooscope inspect bookmarks`: named moments of sessions, kept in our own folder."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli import options, recordings, streams

if TYPE_CHECKING:
    from core.timeline.checkpoints import Checkpoints
    from core.timeline.timeline import Timeline

_LARGEST = 64_000_000  # Bytes a file of bookmarks may have.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", metavar="PATH", help="a log")
    parser.add_argument("--add", metavar="NAME", help="add a bookmark at the place given by --at")
    parser.add_argument("--at", default="-1", metavar="PLACE", help=f"{options.PLACE} (default: the end)")
    parser.add_argument("--note", default="", help="a note for the bookmark")
    help_text = "return to a bookmark: verify its saved state, show the model there and what followed"
    parser.add_argument("--return", dest="back", metavar="NAME", help=help_text)
    parser.add_argument("--remove", metavar="NAME", help="remove a bookmark")
    parser.add_argument("--export", metavar="FILE", help="write the bookmarks of all sessions to a file")
    parser.add_argument("--import", dest="taken", metavar="FILE", help="import bookmarks from such a file")
    recordings.add_plain_option(parser)
    options.add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.safe_text import safe_json_bytes
    from core.store.bookmarks import export_bookmarks, import_bookmarks, recover_imports

    recover_imports()
    if args.export is not None:
        content, notices = export_bookmarks()
        streams.write_file(Path(args.export), safe_json_bytes(content))
        streams.say(*notices)
        return 0
    if args.taken is not None:
        from core.report.formatting import count

        imported = import_bookmarks(_take(Path(args.taken)))
        print(f"{count(imported.added, 'bookmark')} imported from {count(imported.sessions, 'session')}")
        return 0
    if not args.path:
        streams.say("name a log, or use --export or --import")
        return 2
    return _one(args)


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
    from core.store.bookmarks import Bookmarks
    from core.timeline.checkpoints import Checkpoints
    from core.timeline.places import parse_place
    from tui.cli.recordings import one_session, recording_at

    settings = options.settings_from(args).settings
    session, _ = one_session(args.path, settings)
    store = Checkpoints(Bookmarks(session.id), settings.timeline.checkpoints.kept)
    if args.remove is not None:
        removed = store.remove(args.remove)
        print("removed" if removed else f"no bookmark is named {args.remove}")
        return 0 if removed else 1
    timeline = recording_at(args.path, recordings.initial_states_of(args, settings))
    if args.back is not None:
        return _show_bookmark(args.back, store, timeline)
    if args.add is not None:
        place = parse_place(timeline, args.at)
        store.make(timeline, place, args.add, args.note, created=time.time())
    _list(store, timeline)
    streams.say(*dict.fromkeys(store.bookmarks.notices))
    return 0


def _list(store: Checkpoints, timeline: Timeline) -> None:
    from core.report.formatting import clock, plain
    from core.timeline.checkpoints import has_state

    start, saved = timeline.events[0].at, set(store.saved_names())
    bookmarks = store.bookmarks.read()
    for each in bookmarks:
        same = not each.checkpoint or has_state(timeline, each.place, each.checkpoint)
        change = "" if same else "  (the state there has changed since)"
        mark = f"{each.checkpoint[:12] or '-':<12}{'*' if each.name in saved else ' '}"
        words = f"{plain(each.name, 30):<30} {plain(each.note, 60)}{change}"
        print(f"{clock(each.at - start)}  event {each.place:<7} {mark} {words}".rstrip())
    if not bookmarks:
        print("no bookmarks; add one with --add NAME --at PLACE")
    elif saved:
        print("* full state saved")


def _show_bookmark(name: str, store: Checkpoints, timeline: Timeline) -> int:
    """Show the model at a verified bookmark; returns 1 if the saved state does not match."""
    from core.report.chrono import ChronoNav, SummaryPolicy, frame_lines
    from core.report.formatting import plain

    place = store.back(timeline, name)
    bookmark = place.bookmark
    print(f"{plain(bookmark.name, 60)}: event {bookmark.place} of {len(timeline)}; {place.words}")
    if bookmark.note:
        print(plain(bookmark.note, 400))
    if place.standing == "gone":
        return 1
    summary = ChronoNav(timeline).move(bookmark.place, bookmark.created, SummaryPolicy("narrative"))
    streams.print_lines([*frame_lines(timeline.at(bookmark.place)), "", "since then:", *summary])
    return 1 if place.standing == "differs" else 0
