"""`nooscope watch`: follow a session live on the screen, or print what the person should know."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from core.store.config_path import PROJECT_SETTINGS
from tui.cli.command import CliCommand
from tui.cli.launch import add_screen_options, screen_settings, show_session
from tui.cli.options import configured_beginning, seconds_argument, settings_from

if TYPE_CHECKING:
    from core.events import Event
    from core.live.carry_over import Continuity
    from core.live.notices import Herald, Told
    from core.logs.follow import Follower
    from core.response import Notice
    from core.settings import Settings
    from core.society import Society
    from core.timeline.initial_state import Beginning


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="a log to follow, or `latest`; without it the newest active session, or a list to choose from",
    )
    add_screen_options(parser)
    headless = parser.add_argument_group("without a screen")
    headless.add_argument("--headless", action="store_true", help="print lines instead of showing a screen")
    headless.add_argument("--json", action="store_true", help="one JSON object a line")
    headless.add_argument("--all", action="store_true", help="also notices from before the watch began")
    headless.add_argument(
        "--no-prior", action="store_true", help="start without what was learned from earlier sessions"
    )
    headless.add_argument(
        "--idle",
        type=seconds_argument,
        metavar="SECONDS",
        help="stop when nothing has happened for this long",
    )


def _run(args: argparse.Namespace) -> int:
    from core.live.notices import without_project_commands

    resolved = settings_from(args)
    project = str((args.project or Path.cwd()) / PROJECT_SETTINGS)
    settings, refused = without_project_commands(resolved, project)
    for sentence in refused:
        print(f"nooscope: {sentence}", file=sys.stderr)
    if not args.headless:
        named = _latest(settings) if args.path == "latest" else args.path and Path(args.path).expanduser()
        chosen = screen_settings(args, settings)
        if args.no_prior:
            prior = chosen.response.prior.model_copy(update={"enabled": False})
            response = chosen.response.model_copy(update={"prior": prior})
            chosen = chosen.model_copy(update={"response": response})
        return show_session(named or None, chosen, live=True, project=args.project)
    path = _latest(settings) if args.path in ("latest", None) else Path(args.path)
    _refuse_other_files(path, settings)
    return Watch(path, settings, args).run()


def _refuse_other_files(path: Path, settings: Settings) -> None:
    """Wait for a log that does not exist yet, but refuse a file that is not a log."""
    from core.errors import UnreadableLog
    from core.logs.finder import Finder, make_kit

    if path.is_dir() or not path.exists():
        return
    kind, trouble = Finder(make_kit(settings.ingest), settings.ingest.lines).format(path)
    if kind is None and trouble not in ("empty", "vanished"):
        raise UnreadableLog(f"{path}: {trouble}")


def _latest(settings: Settings) -> Path:
    from core.errors import UnreadableLog
    from core.logs.discovery import find

    found = find(os.environ, Path.home(), now=time.time(), active_within=settings.ingest.follow.active_within)
    if not found:
        raise UnreadableLog("no session found on this machine; name a log to follow")
    return found[0].path


class Watch:
    """One followed session: its minds, its notices, and what it hands on."""

    def __init__(self, path: Path, settings: Settings, args: argparse.Namespace) -> None:
        from core.live.carry_over import Continuity
        from core.live.notices import Herald
        from core.logs.finder import make_kit
        from core.logs.follow import Follower

        self._all_settings = settings
        self._settings = settings.response.notices
        self._args = args
        self._stop = threading.Event()
        self._follower: Follower = Follower(path, make_kit(settings.ingest), settings.ingest)
        self._continuity: Continuity = Continuity(settings, use=not args.no_prior)
        self._beginning: Beginning = configured_beginning(args.project)
        self._society: Society | None = None
        self._herald: Herald = Herald(self._settings, sys.stderr if sys.stderr.isatty() else None)
        self._live = False
        self._asked: set[str] = set()
        self._rested = True
        self._unsettled = False
        self._last = time.monotonic()

    def run(self) -> int:
        """Follow until told to stop; settle what was learned at the end."""
        before = signal.signal(signal.SIGINT, self._interrupt)
        term = signal.signal(signal.SIGTERM, self._interrupt)
        try:
            self._take(self._follower.drain())
            self._say_ready()
            self._live = self._rested = True
            self._follow()
        finally:
            signal.signal(signal.SIGINT, before)
            signal.signal(signal.SIGTERM, term)
            if self._society is not None:
                self._settle(self._society)
            self._herald.flush()
            for problem in self._herald.problems:
                print(f"nooscope: {problem}", file=sys.stderr)
        return 0

    def _settle(self, society: Society) -> None:
        """Leave what was learned; where that is not possible say so once and go on."""
        from core.errors import StoreError

        try:
            self._continuity.settle(society)
        except StoreError as error:
            if not self._unsettled:
                print(
                    f"nooscope: {error}; what was learned from this session is lost",
                    file=sys.stderr,
                    flush=True,
                )
            self._unsettled = True

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        self._stop.set()

    def _say_ready(self) -> None:
        waiting = "" if self._follower.session else " (no log of a known format there yet)"
        print(f"nooscope: watching {self._follower.path}{waiting}; ctrl+c ends", file=sys.stderr, flush=True)

    def _follow(self) -> None:
        from core.logs.follow import changes

        follower = self._follower
        while not self._stop.is_set():
            folders = follower.folders()
            for _ in changes(folders, self._stop, follower.settings.follow, recursive=False):
                self._take(follower.drain())
                self._look_around()
                if self._stop.is_set() or follower.folders() != folders:
                    break

    def _take(self, batches: Iterator[list[Event]]) -> None:
        for batch in batches:
            self._last = time.monotonic()
            self._rested = False
            society = self._society or self._begin(batch[0].at)
            for event in batch:
                for notice in society.step(event).reaction.notices:
                    self._tell(notice)
            if self._stop.is_set():
                return
        for sentence in self._follower.notices():
            print(f"nooscope: {sentence}", file=sys.stderr)

    def _begin(self, at: float) -> Society:
        """Make the minds of the session, and give them what earlier ones left."""
        from core.timeline.opening import seed_of

        found = self._follower.session
        seed = seed_of(found.id if found else self._follower.path.stem)
        prior, said = self._continuity.levels(at, seed)
        for sentence in said:
            print(f"nooscope: {sentence}", file=sys.stderr)
        begun = self._beginning._replace(seed=seed, learned=self._continuity.learned, prior=prior)
        self._society = society = begun.society(self._all_settings)
        return society

    def _look_around(self) -> None:
        """What only a live watch can see: an open question, and a stillness."""
        from core.response import Notice

        still = time.monotonic() - self._last
        waiting = self._follower.in_flight()
        for call in waiting:
            if call.tool in self._settings.asking and call.id not in self._asked:
                self._asked.add(call.id)
                words = f"{call.tool} waits for an answer."
                self._tell(Notice(call.at, call.agent, "needs_you", "question", words, 0.0))
        society = self._society
        if not self._rested and society is not None and still >= self._settings.idle:
            self._rested = True
            self._settle(society)
            if not waiting:
                at = society.engine().response.session().at
                self._tell(
                    Notice(at, "main", "done", "done", f"Nothing has happened for {still:.0f} s.", 3600.0)
                )
        if self._args.idle is not None and still >= self._args.idle:
            self._stop.set()

    def _tell(self, notice: Notice) -> None:
        from core.live.notices import told

        if not self._live:
            if self._args.all:
                self._print(told(notice))
            return
        from datetime import datetime

        said = self._herald.tell(notice, datetime.now().astimezone().time())
        if said is not None:
            self._print(said)

    def _print(self, said: Told) -> None:
        from core.live.notices import as_json
        from core.report.formatting import moment

        if self._args.json:
            sys.stdout.write(as_json(said).decode() + "\n")
        else:
            who = "" if said.agent == "main" else f" {said.agent}"
            sys.stdout.write(f"{moment(said.at)}{who}  {said.line}\n")
        sys.stdout.flush()


COMMAND = CliCommand(_add_arguments, _run)
