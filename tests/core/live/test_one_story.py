"""No two outputs give a session two statuses, at any place of any real log."""

from __future__ import annotations

import os
import random
from pathlib import Path

from core.agents.registry import make_kit
from core.agents.words import word_logs
from core.events import MAIN
from core.export.film import film
from core.export.privacy import Privacy
from core.extras.telemetry.metrics import MetricsPage
from core.hooks.session import HookedSession
from core.live.driver import Driver
from core.live.fleet.roster import Roster
from core.live.source import Followed, Target
from core.live.status import Limits, status_json
from core.live.status_facts import StatusHistory
from core.logs.finder import sessions
from core.logs.session import LogSession, read_session
from core.report.turn_endings import EndingReader
from core.settings import Settings
from core.timeline.opening import seed_of
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tests.core.hooks.calls import session as hooked_session
from tui.feed.film import Film, subject_of
from tui.feed.viewpoint import Playhead

SETTINGS = Settings()
LIMITS = Limits.of(SETTINGS)
LARGEST = 1_200_000
PLACES = 3
"""Lines after which each log is cut, besides its end."""
INSIDE = 12
"""Places looked at inside each recording."""


def real_sessions(folder: Path) -> list[LogSession]:
    every = sessions([folder / "real_sessions"], make_kit(SETTINGS.ingest))
    return [one for one in every if sum(log.path.stat().st_size for log in one.logs) < LARGEST]


def timeline_of(session: LogSession) -> Timeline:
    timeline = Timeline(SETTINGS, seed=seed_of(session.id))
    timeline.extend(read_session(session, make_kit(SETTINGS.ingest)))
    return timeline


def test_outputs_agree_inside_every_recording(shared_data: Path) -> None:
    """The screen, `frame` and an exported page, at places of every session."""
    places = 0
    for session in real_sessions(shared_data):
        timeline = timeline_of(session)
        exported = film(session, list(timeline.events), SETTINGS, Privacy("transcript"))
        screen = Film(timeline, subject_of(session, Target(session.path, False)), 60.0)
        screen.allow(word_logs(session))
        history = StatusHistory(timeline, SETTINGS.response.notices.final)
        history.endings = EndingReader(None)
        chooser = random.Random(session.id)  # noqa: S311
        chosen = chooser.sample(range(1, len(timeline) + 1), min(INSIDE, len(timeline)))
        for index in {*chosen, len(timeline)} - {0}:
            at, over = timeline.time_of(index), index == len(timeline)
            facts = history.facts(index, timeline.society_at(index))
            frame = history.status(facts, index, at, LIMITS, ended=over)
            head = Playhead(SETTINGS.timeline.play, live=False)
            for event in timeline.events:
                head.grow(event.at)
            head.seek(index)
            seen = screen.view(head, MAIN, None).status
            page = exported.moments[index - 1].status
            assert seen is not None
            assert status_json(seen) == status_json(frame), (session.path, index)
            assert (page.word, page.ending, page.words) == (frame.word, frame.ending, frame.words)
            places += 1
    assert places > 200


def cut_copies(session: LogSession, folder: Path) -> list[Path]:
    """Copies of a log cut after some of its lines, in the place where its agent would write it."""
    if len(session.logs) != 1 or session.logs[0].path.suffix != ".jsonl":
        return []
    lines = session.logs[0].path.read_bytes().splitlines(keepends=True)
    chooser = random.Random(session.id)  # noqa: S311
    places = {len(lines), *(chooser.randrange(1, len(lines) + 1) for _ in range(PLACES))}
    copies = []
    for place in sorted(places):
        path = folder / f"{place}" / session.logs[0].path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines[:place]))
        copies.append(path)
    return copies


def statuses(path: Path) -> dict[str, tuple[str, str, str]]:
    """What each output says of a log that nobody writes to any more."""
    kit = make_kit(SETTINGS.ingest)
    here = sessions([path], kit)
    if len(here) != 1:
        return {}
    timeline = timeline_of(here[0])
    if not len(timeline):
        return {}
    now = timeline.time_of(len(timeline)) + LIMITS.fleet.left + 60.0
    os.utime(path, (now - LIMITS.fleet.left - 30.0,) * 2)
    driver = Driver(Followed(path, kit, SETTINGS), InitialStates(SETTINGS))
    while driver.source.behind or not driver.caught_up:
        list(driver.poll(500))
    watched = driver.status(now)
    told: dict[str, tuple[str, str, str]] = {"watch": (watched.word, watched.ending, watched.words)}
    page = MetricsPage(SETTINGS)
    for event, step in ((one, timeline.society.step) for one in timeline.events[:1]):
        page.update("s", "x", event, step(event), timeline.society)
    page.facts["s"] = driver.facts()
    word = page.text(now).partition('nooscope_sessions{state="')[2].partition('"')[0]
    told["metrics"] = (word, *told["watch"][1:])
    roster = Roster(SETTINGS, {}, path.parent / "nowhere", paths=[path], wall=lambda: now)
    roster.look()
    while roster.work(1.0):
        pass
    rows = roster.rows(now)
    if len(rows) == 1 and not rows[0].facts.old:
        told["fleet"] = (rows[0].status.word, rows[0].status.ending, rows[0].status.words)
    history = StatusHistory(timeline, SETTINGS.response.notices.final)
    history.endings = EndingReader(None)
    end = len(timeline)
    facts = history.facts(end, timeline.society)
    frame = history.status(facts, end, timeline.time_of(end), LIMITS, ended=True)
    told["frame"] = (frame.word, frame.ending, frame.words or told["watch"][2])
    hooked: HookedSession = hooked_session(within=lambda _: True)
    hooked.driver = Driver(Followed(path, make_kit(SETTINGS.ingest), SETTINGS), InitialStates(SETTINGS))
    while hooked.catch_up():
        pass
    line = hooked.status(now)
    told["hooks"] = (str(line["status"]), str(line["ending"]), told["watch"][2])
    return told


def test_outputs_agree_at_the_end_of_a_log_cut_anywhere(shared_data: Path, tmp_path: Path) -> None:
    """The watch, metrics, the fleet, `frame` and the hook server (status line and MCP read it)."""
    compared = 0
    for number, session in enumerate(real_sessions(shared_data)):
        for path in cut_copies(session, tmp_path / str(number)):
            told = statuses(path)
            assert len(set(told.values())) <= 1, (session.path, path.parent.name, told)
            compared += len(told)
    assert compared > 100
