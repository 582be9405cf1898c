"""The feed: reads, follows, seeks, and never loses what it was asked."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from textual.message import Message

from bench.workload import session
from core.live.source import Target
from core.report.chrono import Trail
from core.settings import Settings
from core.store.bookmarks import Bookmark, Bookmarks, TrailStore
from core.timeline.opening import seed_of
from core.timeline.places import TROUBLED
from core.timeline.timeline import Timeline
from tests.core.live.need_stories import OTHERS, STORIES
from tests.tui.conftest import lines
from tui.feed.feed import Feed, Sights
from tui.feed.messages import (
    Arrived,
    Bookmarked,
    Changed,
    Failed,
    GoLive,
    Jump,
    Noticed,
    RemoveBookmark,
    ReturnTo,
    Seek,
    SelectAgent,
    SetBookmark,
    StepBy,
    TogglePlay,
)
from tui.feed.view import View
from tui.feed.viewpoint import Playhead

PATIENCE = 20.0


class Mail:
    """What a feed posted, waited for without sleeping."""

    def __init__(self) -> None:
        self._posted: queue.Queue[Message] = queue.Queue()
        self.post = self._posted.put

    def view(self, fits: Callable[[View], bool]) -> View:
        while True:
            message = self._posted.get(timeout=PATIENCE)
            if isinstance(message, Arrived) and message.view.loading is None and fits(message.view):
                return message.view

    def next(self, kind: type[Message]) -> Message:
        while True:
            message = self._posted.get(timeout=PATIENCE)
            if isinstance(message, kind):
                return message


@contextmanager
def running(
    path: Path, *, live: bool, folder: Path | None = None, settings: Settings | None = None
) -> Iterator[tuple[Feed, Mail]]:
    mail = Mail()
    shelf = folder or path.parent / "bookmarks"
    chosen = settings or Settings()
    feed = Feed(Target(path, live), chosen, mail.post, bookmarks=lambda name: Bookmarks(name, shelf))
    feed.first_painted()
    thread = threading.Thread(target=feed.run)
    thread.start()
    try:
        yield feed, mail
    finally:
        feed.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def _holds_at(index: int, view: View) -> bool:
    return view.index == index and not view.playing


def test_what_is_shown_equals_a_replay_from_the_start(log: Path) -> None:
    events = session(300, agents=2)
    alone = Timeline(Settings(), seed=seed_of("bench-1"))
    alone.extend(events)
    with running(log, live=False) as (feed, mail):
        feed.ask(TogglePlay())
        mail.view(lambda view: view.total == 300)
        for index in (150, 149, 148, 12, 299, 0, 300, 147):
            feed.ask(Seek(index))
            view = mail.view(partial(_holds_at, index))
            assert view.frame == alone.at(index)
            assert view.people == alone.society_at(index).read()


def test_a_live_log_goes_on_while_the_screen_holds_still(log: Path) -> None:
    more = session(340, agents=2)[300:]
    with running(log, live=True) as (feed, mail):
        mail.view(lambda view: view.total == 300 and view.mode == "live")
        feed.ask(TogglePlay())
        held = mail.view(lambda view: view.mode == "paused")
        with log.open("ab") as file:
            file.write(lines(more))
        later = mail.view(lambda view: view.total == 340)
        assert (later.mode, later.index) == ("paused", held.index)
        assert later.frame == held.frame
        feed.ask(GoLive())
        assert mail.view(lambda view: view.mode == "live").index == 340


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "later.jsonl"
    with running(path, live=True) as (_, mail):
        assert "waiting" in mail.view(lambda view: bool(view.notice)).notice
        path.write_bytes(lines(session(40)))
        view = mail.view(lambda view: view.total == 40)
        assert view.notice == ""
        alone = Timeline(Settings(), seed=seed_of("bench-1"))
        alone.extend(session(40))
        assert view.frame.receptor.axes[0].baseline == alone.at(40).receptor.axes[0].baseline


def test_a_log_that_goes_away_is_said_and_nothing_is_lost(log: Path) -> None:
    with running(log, live=True) as (_, mail):
        mail.view(lambda view: view.total == 300)
        log.unlink()
        view = mail.view(lambda view: bool(view.notice))
        assert "waiting for it" in view.notice
        assert view.total == 300


def test_broken_lines_are_counted_and_the_rest_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    good = lines(session(50)).splitlines(keepends=True)
    path.write_bytes(b"".join([*good[:20], b"{ no json\n", b"\xff\xfe\n", *good[20:]]))
    with running(path, live=False) as (_, mail):
        view = mail.view(lambda view: view.total == 50)
        assert view.skipped == 2


def test_what_is_no_log_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n")
    with running(path, live=False) as (_, mail):
        failed = mail.next(Failed)
        assert isinstance(failed, Failed)
        assert failed.fatal
        assert "notes.txt" in failed.text


def test_a_jump_shows_whom_it_is_about_and_any_other_move_comes_back(log: Path) -> None:
    timeline = Timeline(Settings(), seed=seed_of("bench-1"))
    timeline.extend(session(300, agents=2))
    mark = next(
        mark for mark in timeline.marks if mark.kind == "signal" and mark.name in TROUBLED and mark.agent != "main"
    )
    with running(log, live=False) as (feed, mail):
        feed.ask(TogglePlay())
        mail.view(lambda view: view.total == 300)
        feed.ask(Seek(mark.place))
        mail.view(lambda view: view.index == mark.place)
        feed.ask(Jump(True))
        assert mail.view(lambda view: view.index == mark.place + 1).agent == mark.agent
        feed.ask(StepBy(-1))
        assert mail.view(lambda view: view.index == mark.place).agent == mark.agent
        feed.ask(Seek(200))
        assert mail.view(lambda view: view.index == 200).agent == "main"
        feed.ask(Seek(mark.place + 1, mark.agent))
        assert mail.view(lambda view: view.index == mark.place + 1).agent == mark.agent
        feed.ask(Seek(200))
        assert mail.view(lambda view: view.index == 200).agent == "main"
        feed.ask(SelectAgent(mark.agent))
        feed.ask(Seek(201))
        assert mail.view(lambda view: view.index == 201).agent == mark.agent


def test_a_bookmark_is_set_kept_and_taken_away(log: Path) -> None:
    for expected, asked in (([120], SetBookmark(120, "here it broke")), ([], RemoveBookmark(120))):
        with running(log, live=False) as (feed, mail):
            feed.ask(TogglePlay())
            mail.view(lambda view: view.total == 300)
            feed.ask(Seek(120))
            mail.view(lambda view: view.index == 120)
            feed.ask(asked)
            places: list[int] | None = None
            while places != expected:
                told = mail.next(Bookmarked)
                assert isinstance(told, Bookmarked)
                places = [mark.place for mark in told.bookmarks]


def test_a_bookmark_carries_state_and_note_and_a_return_checks_it(log: Path, tmp_path: Path) -> None:
    with running(log, live=False) as (feed, mail):
        feed.ask(TogglePlay())
        mail.view(lambda view: view.total == 300)
        feed.ask(Seek(120))
        mail.view(lambda view: view.index == 120)
        feed.ask(SetBookmark(120, "wrong turn: it went wrong here"))
        marks: tuple[Bookmark, ...] = ()
        while not marks:
            told = mail.next(Bookmarked)
            assert isinstance(told, Bookmarked)
            marks = told.bookmarks
        name = marks[0].name
        assert name == "wrong turn"
        assert (marks[0].note, len(marks[0].checkpoint)) == ("it went wrong here", 64)
        feed.ask(Seek(10))
        mail.view(lambda view: view.index == 10)
        feed.ask(ReturnTo(name))
        noticed = mail.next(Noticed)
        assert isinstance(noticed, Noticed) and noticed.text == "The state there is the one saved."
        mail.view(lambda view: view.index == 120)
        feed.ask(ReturnTo("nowhere"))
        failed = mail.next(Failed)
        assert isinstance(failed, Failed) and "no bookmark is named 'nowhere'" in failed.text


@pytest.mark.parametrize("live", [True, False])
def test_an_empty_log_says_so(tmp_path: Path, live: bool) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    with running(path, live=live) as (_, mail):
        if live:
            assert mail.view(lambda view: bool(view.notice)).total == 0
        else:
            failed = mail.next(Failed)
            assert isinstance(failed, Failed) and failed.fatal


def test_going_back_step_by_step_gives_the_same_frames() -> None:
    timeline = Timeline(Settings())
    timeline.extend(session(400))
    sights, alone = Sights(timeline), Timeline(Settings())
    alone.extend(session(400))
    for index in [390, *range(389, 340, -1), 120, 119, 118]:
        assert sights.at(index, "main").frame == alone.at(index)


class TestPlayhead:
    def head(self, *, live: bool, count: int = 10, playing: bool = False) -> Playhead:
        head = Playhead(Settings().timeline.play, live=live, playing=playing)
        for number in range(count):
            head.grow(float(number))
        head.loading = False
        return head

    def test_live_follows_holds_and_comes_back(self) -> None:
        head = self.head(live=True)
        assert (head.mode, head.index) == ("live", 10)
        head.toggle()
        head.grow(11.0)
        assert (head.mode, head.index, head.total) == ("paused", 10, 11)
        head.to_end()
        assert (head.mode, head.index) == ("live", 11)

    def test_a_step_beyond_the_end_follows_on(self) -> None:
        head = self.head(live=True)
        head.step(-1)
        assert (head.mode, head.index) == ("paused", 9)
        head.step(1)
        assert (head.mode, head.index) == ("paused", 10)
        head.step(1)
        assert head.mode == "live"

    def test_playing_up_to_the_live_edge_becomes_live(self) -> None:
        head = self.head(live=True)
        head.seek(5)
        head.toggle()
        assert head.mode == "replay"
        for _ in range(40):
            head.advance(0.25)
        assert (head.mode, head.index) == ("live", 10)

    def test_a_saved_film_ends_and_begins_again(self) -> None:
        head = self.head(live=False, playing=True)
        while head.advance(0.25) and head.playing:
            assert head.mode == "replay"
        assert (head.playing, head.index) == (False, 10)
        head.toggle()
        assert (head.playing, head.index) == (True, 0)

    def test_a_film_does_not_end_while_more_is_read(self) -> None:
        head = self.head(live=False, playing=True)
        head.loading = True
        for _ in range(80):
            head.advance(0.25)
        assert head.playing
        head.grow(10.0)
        head.advance(0.25)
        assert head.index == 11

    @pytest.mark.parametrize(("by", "index"), [(-100, 0), (100, 10), (-3, 7)])
    def test_steps_stay_inside(self, by: int, index: int) -> None:
        head = self.head(live=False)
        head.step(by)
        assert head.index == index


def test_being_behind_is_shown_until_all_is_read(log: Path) -> None:
    more = session(6300, agents=2)[300:]
    with running(log, live=True) as (_, mail):
        assert not mail.view(lambda view: view.total == 300).late
        with log.open("ab") as file:
            file.write(lines(more))
        late = mail.view(lambda view: view.late)
        assert late.total < 6300 and late.mode == "live" and late.in_flight == ()
        assert late.at == late.end, "nothing decays to a moment whose events are unread"
        assert abs(late.behind - (6300 - late.total)) < 0.1 * 6300
        assert not mail.view(lambda view: view.total == 6300 and not view.late).behind


def test_moves_are_chained_and_kept_over_visits(log: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    for places in ((20, 80), (40,)):
        with running(log, live=False, folder=shelf) as (feed, mail):
            feed.ask(TogglePlay())
            mail.view(lambda view: view.total == 300)
            for place in places:
                feed.ask(Seek(place))
                mail.view(partial(_holds_at, place))
    (path,) = (shelf / "trails").iterdir()
    trail = Trail()
    trail.load(TrailStore(folder=shelf, key=path.stem).read())
    assert trail.verify() is None
    moves = [(visit.origin, visit.place) for visit in trail.visits]
    assert [place for _, place in moves if place in (20, 80, 40)] == [20, 80, 40]
    assert [visit.number for visit in trail.visits] == list(range(1, len(moves) + 1))
    path.write_bytes(path.read_bytes().replace(b"forward", b"backward", 1))
    with running(log, live=False, folder=shelf) as (feed, mail):
        told = mail.next(Failed)
        assert isinstance(told, Failed) and "was changed or damaged" in told.text


def test_a_return_to_the_live_edge_says_what_came_meanwhile(tmp_path: Path) -> None:
    path, events = tmp_path / "live.jsonl", session(120)
    path.write_bytes(lines(events[:60]))
    with running(path, live=True) as (feed, mail):
        mail.view(lambda view: view.total == 60)
        feed.ask(Seek(30))
        mail.view(lambda view: view.index == 30)
        with path.open("ab") as file:
            file.write(lines(events[60:]))
        feed.ask(Changed())
        mail.view(lambda view: view.total == 120)
        feed.ask(GoLive())
        told = mail.next(Noticed)
        assert isinstance(told, Noticed) and told.title == "Meanwhile: 60 events"
        assert told.text.startswith("60 events in ")


@pytest.mark.parametrize(("still", "times"), [(0, 1), (9, 1), (10, 2), (500, 2)])
def test_pictures_come_half_as_often_once_nothing_has_come_for_a_while(tmp_path: Path, still: int, times: int) -> None:
    feed = Feed(Target(tmp_path / "log.jsonl", True), Settings(), Mail().post)
    feed._pace.still = still
    assert feed._pace.rest() == times * Settings().screen.idle


@pytest.mark.parametrize(("need", "name"), [*(("question", name) for name in STORIES), *OTHERS])
def test_a_need_is_shown_without_waiting_for_the_next_idle_picture(tmp_path: Path, need: str, name: str) -> None:
    """With a minute between idle pictures only the log's own change can bring it."""
    story = STORIES[name](tmp_path) if need == "question" else OTHERS[need, name](tmp_path)
    story.before()
    settings = Settings()
    seldom = settings.replace(screen=settings.screen.replace(idle=60.0))
    with running(story.path, live=True, folder=tmp_path / "kept", settings=seldom) as (_, mail):
        mail.view(lambda view: view.total > 0)
        story.ask()
        view = mail.view(lambda view: view.status is not None and view.status.needs_you)
        assert view.status is not None and view.status.need == need
