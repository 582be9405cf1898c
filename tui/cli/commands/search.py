"""`nooscope search`: find words in all sessions."""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from core.report.formatting import count, home_path, plain, typed_path
from tui.cli import options, streams

if TYPE_CHECKING:
    from core.report.search import Hit

_MOST = 20
_SPOKEN = {"asked": "you", "said": "agent", "call": "call", "result": "result"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="words that must all occur; quote a phrase")
    parser.add_argument("--agent", default="", metavar="NAME", help="only sessions of this agent")
    parser.add_argument("--project", default="", metavar="NAME", help="only projects whose path contains this")
    help_text = "start at: today, 7d, 12h or 2026-01-31"
    parser.add_argument("--since", type=options.since_argument, metavar="WHEN", help=help_text)
    help_text = "look in this file or folder instead; repeatable"
    parser.add_argument(
        "--in", dest="paths", type=options.path_argument, action="append", default=[], metavar="PATH", help=help_text
    )
    help_text = "maximum number of matches"
    parser.add_argument("--most", type=options.positive_argument, default=_MOST, metavar="N", help=help_text)
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--forget", action="store_true", help="delete the search index, then exit")
    help_text = "change one setting"
    parser.add_argument("--set", dest="assignments", metavar="NAME=VALUE", action="append", default=[], help=help_text)


def run(args: argparse.Namespace) -> int:
    from core.store.reading_cache import WordIndex

    index = WordIndex()
    if args.forget:
        print("search index deleted" if index.clear() else "there was no search index")
        return 0
    from core.errors import StoreError
    from core.report.answers import checked_paths
    from core.report.log_tree import LogTree, agent_folders
    from core.report.search import fill_index, fts_query, search
    from core.store.reading_cache import Narrowed, reading_cache

    fts_query(args.words)
    settings = options.settings_from(argparse.Namespace(assignments=args.assignments, project=None)).settings
    tree = LogTree(settings, reading_cache(settings))
    paths = checked_paths(args.paths) or agent_folders(os.environ, Path.home())
    names = tree.sessions(paths) if args.paths else tree.sessions_or_none(paths)
    streams.say(*(f"{fault.file}: {fault.reason}" for fault in tree.faults))
    since = None if args.since is None else options.since_moment(args.since, time.time())
    mains = tuple({name.logs[0].path for name in names}) if args.paths else None
    narrowed = Narrowed(args.agent, args.project, since, mains)
    with contextlib.ExitStack() as stack:
        try:
            fill_index(index, tree, names, _progress)
        except (StoreError, OSError) as fault:
            why = f"{fault.filename}: {fault.strerror}" if isinstance(fault, OSError) else fault
            streams.say(f"{why}; this search is not indexed")
            index.clear_blank()
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nooscope-"))
            index = WordIndex(Path(folder) / "words.db")
            fill_index(index, tree, names, _progress)
        streams.progress("")
        hits = search(index, args.words, narrowed, args.most)
    if args.json:
        from core.report.formatting import readable_json

        print(readable_json({"hits": [hit._asdict() for hit in hits]}))
    else:
        _print_text(hits, args.most)
    return 0


def _progress(number: int, total: int) -> None:
    streams.progress(f"reading {number} of {total} sessions")


def _print_text(hits: list[Hit], most: int) -> None:
    if not hits:
        print("Nothing found.")
        return
    for hit in hits:
        when = hit.place[:16].replace("T", " ") if hit.at is not None else "undated"
        project = plain(home_path(plain(hit.project)), 40) or "-"
        print(f"{when}  {hit.agent}  {project}  {plain(hit.title, 60)}".rstrip())
        print(f"  {_SPOKEN[hit.speaker]}{hit.fate}: {hit.snippet}")
        session = f" --session {typed_path(hit.session)}" if hit.shared else ""
        print(f"  nooscope replay {typed_path(home_path(hit.path))} --at {hit.place}{session}")
    more = f"; there may be more, see --most {most * 5}" if len(hits) == most else ""
    print(f"\n{count(len(hits), 'place')}{more}")
