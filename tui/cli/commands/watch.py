"""`nooscope watch`: follow a session live on the screen, or print what the person should know."""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from core.logs.log_files import closed_at, expand_home, is_folder, is_there
from tui.cli import launch, options, streams

if TYPE_CHECKING:
    from core.extension.hooks import Extension
    from core.extras.telemetry.station import MetricsServer
    from core.live.bus import Subscriber
    from core.live.notices import ShownNotice
    from core.logs.session import LogSession
    from core.settings import Settings

_BATCH = 512  # Events read between two looks at whether to stop.
_SEARCH_EVERY = 1.0  # Seconds between two searches for a newer session.
_LAG_EVERY = 5.0  # Seconds between two words on being behind.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="a log to follow, PATH#SESSION if it has several sessions, or `latest`; "
        "without it the newest active session, or a list to choose from",
    )
    launch.add_hooks_option(parser)
    launch.add_screen_options(parser)
    headless = parser.add_argument_group("without a screen")
    headless.add_argument("--headless", action="store_true", help="print lines instead of showing a screen")
    headless.add_argument("--json", action="store_true", help="one JSON object per line")
    headless.add_argument("--all", action="store_true", help="also notices from before the watch began")
    help_text = "also a line for everything the mind does: ticks, dreams, regimes"
    headless.add_argument("--mind", action="store_true", help=help_text)
    help_text = "start without what was learned from earlier sessions"
    headless.add_argument("--no-prior", action="store_true", help=help_text)
    help_text = "stop when nothing has happened for this long"
    headless.add_argument("--idle", type=options.seconds_argument, metavar="SECONDS", help=help_text)
    headless.add_argument(
        "--otlp",
        metavar="URL",
        help="send the session as a trace to a collector while it goes on; "
        "headers come from OTEL_EXPORTER_OTLP_HEADERS",
    )
    help_text = "serve figures for Prometheus on http://127.0.0.1:PORT/metrics"
    headless.add_argument("--metrics", type=options.port_argument, metavar="PORT", help=help_text)


def run(args: argparse.Namespace) -> int:
    settings = options.settings_from(args).settings
    if args.no_prior:
        from core.settings.layers import with_value

        settings = with_value(settings, "response.prior.enabled", False)
    if (args.otlp or args.mind or args.metrics is not None) and not args.headless:
        from core.errors import UsageError

        raise UsageError("--otlp, --metrics and --mind go with a watch without a screen; add --headless")
    from tui.cli.recordings import one_session, split_path

    log, session_name = split_path(args.path or "")
    newest = log == "latest" or (args.headless and not log)
    path = _wait_for_latest(settings, args) if newest else expand_home(log) if log else None
    session = one_session(f"{path}#{session_name}", settings)[0] if session_name else None
    if not args.headless or path is None:
        chosen = launch.screen_settings(args, settings)
        with launch.serving_hooks(chosen, args.hooks, args.project):
            return launch.show_session(path, chosen, args, live=True, session=session_name, newest=newest)
    _refuse_other_files(path, settings)
    with launch.serving_hooks(settings, args.hooks, args.project):
        while True:
            watch = Watch(path, settings, args, session, newest=newest)
            code = watch.run()
            if watch.newer is None:
                return code
            path = watch.newer


def _refuse_other_files(path: Path, settings: Settings) -> None:
    """A log that is not there yet is waited for; a file that is not a log never becomes one."""
    from core.agents.registry import make_kit
    from core.errors import UnreadableLog
    from core.logs.finder import Finder

    if is_folder(path) or not is_there(path):
        return
    kind, trouble = Finder(make_kit(settings.ingest), settings.ingest.lines).format(path)
    if kind is None and trouble not in ("empty", "vanished"):
        raise UnreadableLog(f"{path}: {trouble}")


def _wait_for_latest(settings: Settings, args: argparse.Namespace) -> Path:
    """The newest session on this machine, once there is one."""
    from core.errors import UnreadableLog
    from tui.cli.launch import has_screen, sessions_here

    began = time.monotonic()
    patience = args.idle if args.headless or has_screen() else 0.0
    while not (here := sessions_here(settings)):
        waited = time.monotonic() - began
        if patience is not None and waited >= patience:
            raise UnreadableLog("no session found on this machine; name a log to follow")
        if waited < _SEARCH_EVERY:
            streams.say("no session on this machine yet; waiting for the first one; ctrl+c stops")
        time.sleep(_SEARCH_EVERY)
    return here[0].path


class Watch:
    """One session that is followed without a screen: its notices as lines."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        args: argparse.Namespace,
        session: LogSession | None = None,
        *,
        newest: bool = False,
    ) -> None:
        """Follow the session of a log; if it has several, the given one."""
        from core.agents.registry import make_kit
        from core.extension.registry import listening
        from core.hooks.connection import default_place
        from core.hooks.link import IntakeLink
        from core.live.carry_over import CarryOver
        from core.live.driver import Driver
        from core.live.notices import Notifier, installed_channels, show_notice
        from core.live.source import Followed
        from core.store.bookmarks import Bookmarks
        from core.store.carry_over import CarryOverStore
        from core.timeline.run_inputs import InitialStates
        from tui.cli.options import configured_initial

        self._settings = settings
        self._newest = newest
        self._searched = time.monotonic()
        # The session to follow next: the newest one in the same folder, once this one rests.
        self.newer: Path | None = None
        self._metrics: MetricsServer | None = None
        self._path = path
        self._args = args
        self._stop = threading.Event()
        initial = configured_initial(args.project)
        self._link = IntakeLink(default_place())
        channels, left_out = installed_channels()
        self._notifier = Notifier(settings.response.notices, streams.terminal(), self._print, installed=channels)
        listeners, complaints = listening()
        streams.say(*left_out, *complaints)
        listeners += self._telemetry()
        self.driver = Driver(
            Followed(session or path, make_kit(settings.ingest), settings),
            InitialStates(settings, initial, store=CarryOverStore()),
            carry_over=CarryOver(settings, initial=initial, use=not args.no_prior),
            bookmarks=Bookmarks,
            notifier=self._notifier,
            past=(lambda notice: self._print(show_notice(notice))) if args.all else None,
            hooks=self._link.signs,
            extensions=listeners,
        )
        self._mind: Subscriber | None = self.driver.bus.subscribe("standard output") if args.mind else None
        self._limits_said: set[str] = set()
        self._lag_said = 0.0
        self._stuck_said: float | None = None
        self._news = False  # Something came since the watch began, or since it was last said to be still.

    def _telemetry(self) -> Iterator[Extension]:
        """Return the exporters that send the session or serve its figures, if any were asked for."""
        if self._args.otlp:
            from core.extras.telemetry.spans import headers_of
            from core.extras.telemetry.station import LiveTrace

            headers = headers_of(os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", ""))
            yield LiveTrace(self._args.otlp, headers, streams.say)
        if self._args.metrics is not None:
            from core.extras.telemetry.station import MetricsServer

            server = MetricsServer(self._settings, self._args.metrics, time.time, self._path.stem)
            streams.say(f"figures on http://127.0.0.1:{server.port}/metrics")
            yield server
            self._metrics = server

    def run(self) -> int:
        """Follow until stopped; save what was learned at the end."""
        before = signal.signal(signal.SIGINT, self._interrupt)
        term = signal.signal(signal.SIGTERM, self._interrupt)
        self._link.start()
        try:
            self._take()
            why = self.driver.facts().lost if self.driver.session else "no log of a known format there yet"
            if not self.driver.session and (closed := closed_at(self._path)) is not None:
                why = f"you have no permission to read {closed}; watching starts once you have"
            streams.say(f"watching {self._path}{f' ({why})' if why else ''}; ctrl+c stops")
            self._news = False
            self._follow()
        finally:
            signal.signal(signal.SIGINT, before)
            signal.signal(signal.SIGTERM, term)
            self._link.stop()
            self.driver.close()
            for reading in self.driver.bus.readings():
                if reading.dropped:
                    streams.say(f"{reading.name} was too slow for the event bus: {reading.dropped:,} events dropped")
            streams.say(*self.driver.problems())
            if self._args.mind:
                streams.say(self.driver.latency.words)
        return 0

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        self._stop.set()

    def _follow(self) -> None:
        from core.logs.follow import file_changes

        source, follow = self.driver.source, self._settings.ingest.follow
        while not self._stop.is_set():
            folders = source.folders()
            for _ in file_changes(folders, self._stop, follow, recursive=False, tell=self._say_once):
                self._take()
                self._look_around()
                if self._stop.is_set() or source.folders() != folders:
                    break

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._limits_said:
            self._limits_said.add(sentence)
            streams.say(sentence)

    def _take(self) -> None:
        """Read all that is there."""
        driver = self.driver
        more = True
        while more and not self._stop.is_set():
            for _ in driver.poll(_BATCH):
                self._news = True
                self._print_mind()
            self._tell_preserved()
            streams.say(*driver.problems(), *driver.log_notices())
            self._say_lag()
            more = driver.source.behind
        self._tell_stuck()

    def _tell_stuck(self) -> None:
        """That so much failed in a row that the agent is stuck: once each time, and no bell."""
        from core.report.formatting import moment, plain

        facts = self.driver.facts()
        if self._metrics is not None:
            self._metrics.tell(facts)
        stuck = facts.stuck
        since = None if stuck is None else stuck.since
        if stuck is not None and since != self._stuck_said:
            why = plain(stuck.why)
            self._put({"kind": "stuck", "at": stuck.since, "text": why}, f"{moment(stuck.since)}  ✗ stuck: {why}")
        self._stuck_said = since

    def _tell_preserved(self) -> None:
        """Say what was open when the context was cut."""
        from core.report.compaction import handover, lines
        from core.report.formatting import moment

        for preserved in self.driver.preserved():
            if not (self.driver.caught_up or self._args.all):
                continue
            value = {"kind": "compaction", "preserved": preserved, "handover": handover(preserved)}
            self._put(value, *(f"{moment(preserved.at)}  {line}" for line in lines(preserved)))

    def _put(self, value: dict[str, object], *lines: str) -> None:
        """Print something as JSON or as lines of text, as was asked for."""
        from msgspec.json import encode

        print(encode(value).decode() if self._args.json else "\n".join(lines), flush=True)

    def _say_lag(self) -> None:
        """Say when the log grows faster than it is read, now and then, and once it is read up again."""
        from core.logs.follow import UNKNOWN, is_late

        if not self.driver.caught_up:
            return
        behind = self.driver.source.lag()
        now = time.monotonic()
        if is_late(behind) and now - self._lag_said >= _LAG_EVERY:
            streams.say("behind" if behind == UNKNOWN else f"{behind:,} events behind")
            self._lag_said = now
        elif not behind and self._lag_said > 0.0:
            streams.say("caught up")
            self._lag_said = 0.0

    def _look_around(self) -> None:
        """Report what only a live watch can see: a status that needs the person, and silence."""
        from core.engine.response.reaction import Notice
        from core.live.status_facts import open_calls

        driver = self.driver
        status = driver.status(time.time())
        driver.ring(status)
        if self._newest and status.at_rest and not status.needs_you:
            self._look_for_newer()
        if driver.rest() and self._news and not open_calls(driver.pending_events()):
            self._news = False
            words = f"Nothing has happened for {driver.still:.0f} s."
            driver.tell(Notice(driver.tracker.last, "main", "done", "done", words, 3600.0))
        streams.say(*driver.problems())
        if self._args.idle is not None and driver.still >= self._args.idle:
            for _ in driver.finish():
                self._print_mind()
            self._stop.set()

    def _look_for_newer(self) -> None:
        """Stop for a session that another agent works on in the same folder."""
        if time.monotonic() - self._searched < _SEARCH_EVERY:
            return
        self._searched = time.monotonic()
        from tui.cli.launch import sessions_here

        here = sessions_here(self._settings)
        own = next((one for one in here if one.path == self._path), None)
        first = next((one for one in here if one.active), None)
        if own is None or first is None or first.path == self._path or first.project != own.project:
            return
        if first.modified > own.modified:
            streams.say(f"this session is at rest; following {first.path}")
            self.newer = first.path
            self._stop.set()

    def _print_mind(self) -> None:
        """Print what the minds did, one line each, if that was asked for."""
        from core.report.event_words import mind_json, mind_line

        for event in self._mind.poll() if self._mind is not None else ():
            print(mind_json(*event).decode() if self._args.json else mind_line(event.agent, event.event), flush=True)

    def _print(self, notice: ShownNotice) -> None:
        from core.live.notices import notice_json
        from core.report.formatting import moment

        who = "" if notice.agent == "main" else f" {notice.agent}"
        text = f"{moment(notice.at)}{who}  {notice.line}"
        print(notice_json(notice).decode() if self._args.json else text, flush=True)
