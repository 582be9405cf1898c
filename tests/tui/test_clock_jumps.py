"""A clock that jumps, on the wall or in the log, changes no run and calls nothing silent that is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import cbor2
import pytest
from msgspec.structs import replace

from bench.workload import session
from core.events import Event
from core.live.source import Target
from core.settings import Settings
from core.settings.layers import with_value
from core.store.bookmarks import Bookmarks
from core.timeline.opening import seed_of
from core.timeline.timeline import Timeline
from tests.tui.conftest import lines
from tests.tui.feed.test_feed import PATIENCE, Mail
from tui.feed.feed import Feed
from tui.feed.messages import Arrived
from tui.widgets.common.header import StatusHeader

DAY = 86_400.0
END = session(300)[-1].at


@contextmanager
def followed(path: Path, wall: Callable[[], float]) -> Iterator[Mail]:
    mail = Mail()
    settings = with_value(Settings(), "screen.idle", 0.1)
    feed = Feed(Target(path), settings, mail.post, bookmarks=lambda name: Bookmarks(name, path.parent), wall=wall)
    feed.first_painted()
    thread = threading.Thread(target=feed.run)
    thread.start()
    try:
        yield mail
    finally:
        feed.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def state(timeline: Timeline) -> bytes:
    return cbor2.dumps(timeline.society.dump(), canonical=True)


@pytest.mark.parametrize("jumps", [(0.0,), (END - DAY,), (END + 1.0, END - DAY, END + 30 * DAY), (4e9, -4e9)])
def test_the_wall_clock_may_jump(tmp_path: Path, jumps: tuple[float, ...]) -> None:
    path = tmp_path / "log.jsonl"
    events = session(300)
    path.write_bytes(lines(events[:200]))
    moments = cycle(jumps)
    with followed(path, lambda: next(moments)) as mail:
        mail.view(lambda view: view.total == 200)
        with path.open("ab") as file:
            file.write(lines(events[200:]))
        mail.view(lambda view: view.total == 300)
        recording: Timeline | None = None
        for _ in range(3):
            arrived = mail.next(Arrived)
            assert isinstance(arrived, Arrived)
            view, recording = arrived.view, arrived.recording
            assert view.at >= view.end, "nothing is shown as it was before the last event"
            text = "".join(text for line in StatusHeader().lines(view, 160, 2) for text, _ in line)
            assert "silent for -" not in text
    assert recording is not None
    alone = Timeline(Settings(), seed=seed_of("bench-1"))
    alone.extend(events)
    assert state(recording) == state(alone)


def jumped(events: list[Event], by: float) -> list[Event]:
    """From the middle on the log's own clock is another."""
    half = len(events) // 2
    return events[:half] + [replace(event, at=event.at + by) for event in events[half:]]


@pytest.mark.parametrize("by", [-1.0, -DAY, -30 * DAY, DAY, 3650 * DAY])
def test_the_clock_of_the_log_may_jump(by: float) -> None:
    events = jumped(session(300), by)
    timeline = Timeline(Settings())
    timeline.extend(events)
    times = [timeline.time_of(index) for index in range(1, 301)]
    assert times == sorted(times)
    for index in (0, 149, 150, 151, 299):
        alone = Timeline(Settings())
        alone.extend(events[:index])
        assert cbor2.dumps(timeline.society_at(index).dump(), canonical=True) == state(alone)
    for axis in timeline.at(300).receptor.axes:
        assert 0.0 <= axis.value <= 1.0
