"""No two outputs give a session two statuses, all along every real log."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from core.agents.record_texts import record_time
from core.agents.registry import make_kit
from core.agents.values import decode
from core.agents.words import WordReader, word_logs
from core.engine.response.reaction import Notice
from core.events import MAIN, AgentEnd, Compaction, Event, Prompt, SessionEnd, SessionStart, ToolUse
from core.export.film import Privacy, film
from core.extension.hooks import Extension
from core.extras.telemetry.station import MetricsPage
from core.live.driver import Driver
from core.live.fleet.roster import Roster
from core.live.source import Followed, Target
from core.live.status import Limits, Status, status_json
from core.live.status_facts import StatusHistory
from core.logs.finder import sessions
from core.logs.session import LogSession, read_session
from core.report.story import RECAP_ENDINGS, story
from core.report.turn_endings import EndingReader
from core.settings import Settings
from core.timeline.opening import seed_of
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tests.core.hooks.calls import session as hooked_session
from tests.core.story_check import clashes
from tui.feed.feed import Film, subject_of
from tui.feed.viewpoint import Playhead

SETTINGS = Settings.parse({"timeline": {"keyframes": {"every": 16}}})  # So that each event is a few steps away.
LIMITS = Limits.of(SETTINGS)
PLACES = 12  # Of each session, beside the telling ones.
LAST = 5  # Lines at the end of a grown log after each of which outputs are compared.


def is_telling(event: Event) -> bool:
    """Whether an event is a prompt, an end, a failure, or a turn after which the person may be needed."""
    failed = isinstance(event, ToolUse) and event.outcome not in ("success", "pending")
    return failed or isinstance(event, (Prompt, SessionStart, SessionEnd, AgentEnd, Compaction))


def every_session(folder: Path) -> list[LogSession]:
    return sessions([folder / "real_sessions", folder / "more_sessions"], make_kit(SETTINGS.ingest))


def timeline_of(session: LogSession) -> Timeline:
    timeline = Timeline(SETTINGS, seed=seed_of(session.id))
    timeline.extend(read_session(session, make_kit(SETTINGS.ingest)))
    return timeline


def chance(session: LogSession, places: int) -> set[int]:
    """Some places of a session, the same in each run."""
    return set(Random(session.id).sample(range(1, places + 1), min(PLACES, places)))  # noqa: S311


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_outputs_agree_all_along_every_recording(shared_data: Path, every: bool) -> None:
    """The strip, `frame --json`, the exported page and the recap."""
    places = 0
    for session in every_session(shared_data):
        timeline = timeline_of(session)
        exported = film(session, list(timeline.events), SETTINGS, Privacy("transcript"))
        screen = Film(timeline, subject_of(session, Target(session.path, False)), 60.0)
        screen.allow(word_logs(session))
        read = WordReader(word_logs(session)).words
        history = StatusHistory(timeline, SETTINGS.response.notices.final)
        history.endings = EndingReader(None)
        society = timeline.initial.society(SETTINGS)
        head = Playhead(SETTINGS.timeline.play, live=False)
        for event in timeline.events:
            head.grow(event.at)
        prompt, before, chosen = 0, "", chance(session, len(timeline))
        for index, event in enumerate(timeline.events, 1):
            society.step(event)
            prompt = index - 1 if type(event) is Prompt and event.agent == MAIN else prompt
            at, over = timeline.time_of(index), index == len(timeline)
            frame = history.status(history.facts(index, society), index, at, LIMITS, ended=over)
            same, before = frame.word == before, frame.word
            if not every and same and index not in chosen and not over and not is_telling(event):
                continue
            head.seek(index)
            strip = screen.view(head, MAIN, None).status
            assert strip is not None
            assert status_json(strip) == status_json(frame), (session.path, index)
            assert clashes(frame.word, society.frame(MAIN, at), timeline.events[:index]) == [], (session.path, index)
            page = exported.moments[index - 1].status
            assert (page.word, page.ending, page.words) == (frame.word, frame.ending, frame.words)
            ended = story(timeline.events[prompt:index], read=read).ended if frame.ending else ()
            if how := RECAP_ENDINGS.get(frame.ending):
                assert ended[0].endswith(how), (session.path, index, frame)
            places += 1
    assert places > 1000


class Said(NamedTuple):
    """What one output says of a session."""

    word: str
    ending: str
    words: str

    @classmethod
    def of(cls, status: Status) -> Said:
        return cls(status.word, status.ending, status.words)


class Bell(Extension):
    """Hears the notices of a driver."""

    name = "bell"
    essential = True

    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def on_notice(self, notice: Notice) -> None:
        self.notices.append(notice)


class GrowingLog:
    """A copy of a log that grows line by line, and everyone who watches it."""

    def __init__(self, path: Path, now: float) -> None:
        self.path, self.now = path, now  # The time of the newest line.
        self.bell = Bell()
        kit = make_kit(SETTINGS.ingest)
        self.driver = Driver(
            Followed(path, kit, SETTINGS), InitialStates(SETTINGS), wall=lambda: self.now, extensions=[self.bell]
        )
        self.hooked = hooked_session(SETTINGS, within=lambda _: True)
        self.hooked.driver = Driver(Followed(path, make_kit(SETTINGS.ingest), SETTINGS), InitialStates(SETTINGS))
        self.roster = Roster(SETTINGS, {}, path.parent / "nowhere", paths=[path], wall=lambda: self.now)
        self.page = MetricsPage(SETTINGS)

    def grow(self, lines: Sequence[bytes]) -> bool:
        """Write some more lines and let everyone read them; whether there is an event by now."""
        with self.path.open("ab") as log:
            log.writelines(lines)
        for line in lines:
            self.now = max(self.now + 0.001, record_time(decode(line)) or 0.0)
        os.utime(self.path, (self.now, self.now))
        self.driver.source.look()
        events = list(self.driver.poll(10_000))
        while self.hooked.catch_up():
            pass
        self.roster.look()
        self.roster.notice([self.path])
        while self.roster.work(1.0):
            pass
        for event, step in events[:1] if not self.page.facts else ():
            self.page.update("s", "x", event, step, self.driver.society)
        if self.driver.count:
            self.page.facts["s"] = self.driver.facts()
        return bool(self.driver.count)

    def outputs(self, now: float) -> dict[str, Said]:
        """What each output says at a moment."""
        watched = self.driver.status(now)
        said = {"watch": Said.of(watched)}
        word = self.page.text(now).partition('nooscope_sessions{state="')[2].partition('"')[0]
        said["metrics"] = Said(word, watched.ending, watched.words)
        rows = self.roster.rows(now)
        if len(rows) == 1 and not rows[0].facts.old:
            said["fleet"] = Said.of(rows[0].status)
        line = self.hooked.status(now)
        said["status line"] = Said(str(line["status"]), str(line["ending"]), watched.words)
        rung = len(self.bell.notices)
        self.driver.ring(watched)
        rang = [notice for notice in self.bell.notices[rung:] if notice.kind == "needs_you"]
        assert not rang or watched.needs_you
        assert all(watched.words in notice.text for notice in rang)
        return said

    def frame(self) -> Said | None:
        """What `frame --json` says of the log as it is, whose end is the end of the session."""
        here = sessions([self.path], make_kit(SETTINGS.ingest))
        if len(here) != 1:
            return None
        timeline = timeline_of(here[0])
        history = StatusHistory(timeline, SETTINGS.response.notices.final)
        history.endings = EndingReader(None)
        end = len(timeline)
        facts = history.facts(end, timeline.society)
        status = history.status(facts, end, timeline.time_of(end), LIMITS, ended=True)
        return Said.of(status)


def telling_lines(timeline: Timeline, lines: Sequence[bytes]) -> set[int]:
    """How many lines of a log there are after each telling event and each change of the status."""
    history = StatusHistory(timeline, SETTINGS.response.notices.final)
    history.endings = EndingReader(None)
    society = timeline.initial.society(SETTINGS)
    ends, places, before = list(accumulate(map(len, lines))), set[int](), ""
    for index, event in enumerate(timeline.events, 1):
        society.step(event)
        word = history.status(history.facts(index, society), index, event.at, LIMITS).word
        if event.where is not None and (word != before or is_telling(event)):
            places.add(1 + bisect_right(ends, event.where.offset))
        before = word
    return places


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_outputs_agree_while_a_log_grows(shared_data: Path, tmp_path: Path, every: bool) -> None:
    """The watch, its notices, metrics, the fleet, the status line (and MCP), and `frame` of the log so far."""
    compared = 0
    for number, session in enumerate(every_session(shared_data)):
        if len(session.logs) != 1 or session.path.suffix != ".jsonl" or session.logs[0].format.style != "lines":
            continue
        if not every and number % 4:
            continue  # `--every` looks at all of them
        lines = session.path.read_bytes().splitlines(keepends=True)
        timeline = timeline_of(session)
        if not len(timeline):
            continue
        path = tmp_path / str(number) / session.path.name
        path.parent.mkdir()
        log = GrowingLog(path, timeline.events[0].at)
        last = set(range(max(1, len(lines) - LAST), len(lines) + 1))
        chosen = telling_lines(timeline, lines) | chance(session, len(lines)) | last
        places = set(range(1, len(lines) + 1)) if every else chosen
        written = 0
        for place in sorted(places):
            begun = log.grow(lines[written:place])
            written = place
            if not begun:
                continue
            for now in (log.now, log.now + LIMITS.fleet.left + 60.0):
                said = log.outputs(now)
                # `frame` reads the whole log again; the test above looks at it after every event.
                if now > log.now and place in chosen and (frame := log.frame()) is not None:
                    said["frame"] = frame._replace(words=frame.words or said["watch"].words)
                assert len(set(said.values())) == 1, (session.path, place, now - log.now, said)
                compared += len(said)
    assert compared > 1000
