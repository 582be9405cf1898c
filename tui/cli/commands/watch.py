"""`nooscope watch`: follow a session live on the screen, or print what the person should know."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from core.logs.door import is_folder, is_there
from tui.cli import streams
from tui.cli.carried import edits_of
from tui.cli.hooked import add_hooks_option, serving_hooks
from tui.cli.options import port, seconds, settings_from
from tui.cli.showing import add_screen_options, screen_settings, show

if TYPE_CHECKING:
    from core.events import Event
    from core.live.carry_over import Continuity
    from core.live.notices import Herald, Told
    from core.logs.follow import Follower
    from core.response import Notice
    from core.settings import Settings
    from core.society import Society
    from core.telemetry.live import LiveTrace
    from core.telemetry.serving import MetricsServer
    from core.timeline.initial_state import Beginning
    from core.timeline.timeline import Change

_LAG_EVERY = 5.0
"""Seconds between two words on being behind."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="a log to follow, or `latest`; without it the newest active session, or a list to choose from",
    )
    add_hooks_option(parser)
    add_screen_options(parser)
    headless = parser.add_argument_group("without a screen")
    headless.add_argument("--headless", action="store_true", help="print lines instead of showing a screen")
    headless.add_argument("--json", action="store_true", help="one JSON object a line")
    headless.add_argument("--all", action="store_true", help="also notices from before the watch began")
    headless.add_argument(
        "--no-prior", action="store_true", help="begin without what earlier sessions taught"
    )
    headless.add_argument(
        "--otlp",
        metavar="URL",
        help="send the session as a trace to a collector while it goes on; "
        "headers come from OTEL_EXPORTER_OTLP_HEADERS",
    )
    headless.add_argument(
        "--metrics",
        type=port,
        metavar="PORT",
        help="serve figures for Prometheus on http://127.0.0.1:PORT/metrics",
    )
    headless.add_argument("--idle", type=seconds, metavar="SECONDS", help="end when nothing came for so long")


def run(args: argparse.Namespace) -> int:
    settings = settings_from(args).settings
    if args.no_prior:
        prior = settings.response.prior.model_copy(update={"enabled": False})
        response = settings.response.model_copy(update={"prior": prior})
        settings = settings.model_copy(update={"response": response})
    if (args.otlp or args.metrics is not None) and not args.headless:
        from core.errors import UsageError

        raise UsageError("--otlp and --metrics go with a watch without a screen; add --headless")
    if not args.headless:
        named = _latest(settings) if args.path == "latest" else args.path and Path(args.path).expanduser()
        chosen = screen_settings(args, settings)
        edits = edits_of(chosen, args.assignments)
        with serving_hooks(chosen, args.hooks, args.project):
            return show(named or None, chosen, live=True, project=args.project, edits=edits)
    path = _latest(settings) if args.path in ("latest", None) else Path(args.path)
    _refuse_other_files(path, settings)
    with serving_hooks(settings, args.hooks, args.project):
        return Watch(path, settings, args).run()


def _refuse_other_files(path: Path, settings: Settings) -> None:
    """A log that is not there yet is waited for; a file that is no log never becomes one."""
    from core.agents.registry import make_kit
    from core.errors import UnreadableLog
    from core.logs.finder import Finder

    if is_folder(path) or not is_there(path):
        return
    kind, trouble = Finder(make_kit(settings.ingest), settings.ingest.lines).format(path)
    if kind is None and trouble not in ("empty", "vanished"):
        raise UnreadableLog(f"{path}: {trouble}")


def _latest(settings: Settings) -> Path:
    from core.agents.registry import AGENTS
    from core.errors import UnreadableLog
    from core.logs.discovery import find

    found = find(
        AGENTS, os.environ, Path.home(), now=time.time(), active_within=settings.ingest.follow.active_within
    )
    if not found:
        raise UnreadableLog("no session found on this machine; name a log to follow")
    return found[0].path


def _say(sentence: str) -> None:
    print(f"nooscope: {sentence}", file=sys.stderr, flush=True)


class Watch:
    """One followed session: its minds, its notices, and what it hands on."""

    def __init__(self, path: Path, settings: Settings, args: argparse.Namespace) -> None:
        from core.agents.registry import make_kit
        from core.live.carry_over import Continuity
        from core.live.notices import Herald
        from core.logs.follow import Follower
        from core.store.carry_over import CarryOverStore
        from core.timeline.carry_over import Start, Starts
        from tui.cli.initial import spoken_outset

        self._all_settings = settings
        self._settings = settings.response.notices
        self._args = args
        self._stop = threading.Event()
        self._follower: Follower = Follower(path, make_kit(settings.ingest), settings.ingest)
        self._continuity: Continuity = Continuity(settings, use=not args.no_prior)
        self._starts = Starts(settings, spoken_outset(args.project), store=CarryOverStore())
        self._start = Start(settings)
        self._later: deque[Change] = deque()
        self._count = 0
        self._society: Society | None = None
        self._trace: LiveTrace | None = None
        if args.otlp:
            from core.telemetry.live import LiveTrace
            from core.telemetry.sender import headers_of

            headers = headers_of(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", ""))
            self._trace = LiveTrace(args.otlp, headers, _say)
        self._metrics: MetricsServer | None = None
        if args.metrics is not None:
            from core.telemetry.serving import MetricsServer

            self._metrics = MetricsServer(settings, args.metrics, time.time)
            _say(f"figures on http://127.0.0.1:{self._metrics.port}/metrics")
        self._herald: Herald = Herald(self._settings, streams.terminal())
        self._live = False
        self._asked: set[str] = set()
        self._lag_said = 0.0
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
            if self._trace is not None:
                self._trace.close()
            if self._metrics is not None:
                self._metrics.close()
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
                print(f"nooscope: {error}; what this session teaches is lost", file=sys.stderr, flush=True)
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
            for _ in changes(
                folders, self._stop, follower.settings.follow, recursive=False, tell=follower.tell
            ):
                self._take(follower.drain())
                self._look_around()
                if self._stop.is_set() or follower.folders() != folders:
                    break

    def _take(self, batches: Iterator[list[Event]]) -> None:
        from core.timeline.timeline import turned

        for batch in batches:
            self._last = time.monotonic()
            self._rested = False
            society = self._society or self._begin(batch[0].at)
            if self._live and self._start.last != self._all_settings:
                self._apply_today()
            for event in batch:
                if self._later:
                    society = self._society = turned(self._start.beginning, society, self._later, self._count)
                self._count += 1
                step = society.step(event)
                if self._trace is not None:
                    self._trace.take(event, step)
                if self._metrics is not None:
                    self._metrics.update(self._follower.path.stem, event, step, society)
                for notice in step.reaction.notices:
                    self._tell(notice)
            self._say_lag()
            if self._stop.is_set():
                return
        self._say_lag()
        for sentence in self._follower.notices():
            print(f"nooscope: {sentence}", file=sys.stderr)

    def _say_lag(self) -> None:
        """Say when the log grows faster than it is read, now and then, and once it is read up again."""
        from core.logs.lag import UNKNOWN, events_behind, is_late

        if not self._live:
            return
        read, unread = self._follower.extent()
        behind = events_behind(unread, read, self._count) if self._follower.behind else 0
        now = time.monotonic()
        if is_late(behind) and now - self._lag_said >= _LAG_EVERY:
            amount = "" if behind == UNKNOWN else f"{behind:,} events "
            print(f"nooscope: {amount}behind", file=sys.stderr, flush=True)
            self._lag_said = now
        elif not behind and self._lag_said > 0.0:
            print("nooscope: caught up", file=sys.stderr, flush=True)
            self._lag_said = 0.0

    def _begin(self, at: float) -> Society:
        """Make the minds of the session, and give them what earlier ones left."""
        from core.timeline.opening import seed_of

        continuity = self._continuity

        def make() -> Beginning:
            prior, said = continuity.levels(at, seed_of(self._session))
            self._starts.notices += said
            return self._starts.beginning._replace(learned=continuity.learned, prior=prior)

        self._start = start = self._starts.begin(self._session, make)
        self._later.extend(start.later)
        for sentence in self._starts.notices:
            print(f"nooscope: {sentence}", file=sys.stderr)
        self._starts.notices.clear()
        self._society = society = start.beginning.society(start.settings)
        return society

    @property
    def _session(self) -> str:
        found = self._follower.session
        return found.id if found else self._follower.path.stem

    def _apply_today(self) -> None:
        """A session that was first watched with other settings goes on with those of today."""
        from core.timeline.timeline import Change

        change = Change(self._count, self._all_settings)
        self._later.append(change)
        self._start = self._start._replace(later=(*self._start.later, change))
        self._starts.applied(self._session, *change)

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
                self._tell(Notice(at, "main", "done", "done", f"Still for {still:.0f} s.", 3600.0))
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
