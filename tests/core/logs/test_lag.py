"""How far behind a reading is, and when that is said."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from bench.workload import session
from core.agents.registry import make_kit
from core.logs.follow import SAID, UNKNOWN, Follower, events_behind, is_late
from core.settings import Settings
from tests.tui.conftest import lines


@pytest.mark.parametrize(("events", "said"), [(0, False), (SAID - 1, False), (SAID, True), (UNKNOWN, True)])
def test_the_level_at_which_it_is_said(events: int, said: bool) -> None:
    assert is_late(events) is said


@pytest.mark.parametrize(
    ("unread", "behind"), [(1, 1), (10 * SAID - 10, SAID - 1), (10 * SAID, SAID), (102_400, 10_240)]
)
def test_events_are_told_from_bytes(unread: int, behind: int) -> None:
    assert events_behind(unread, 500, 50) == behind


@pytest.mark.parametrize("told", [(None, 500, 50), (0, 500, 50), (10, 0, 0), (10, 10, 0)])
def test_what_cannot_be_measured_is_not_called_nothing(told: tuple[int | None, int, int]) -> None:
    assert events_behind(*told) == UNKNOWN


def test_a_follower_knows_what_it_has_not_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(session(400)))
    settings = Settings().ingest
    follower = Follower(path, make_kit(settings), settings)
    for done in (100, 200, 300):
        assert len(follower.poll(100)) == 100
        read, unread = follower.extent()
        assert follower.behind and unread is not None
        assert read + unread == path.stat().st_size
        assert abs(events_behind(unread, read, done) - (400 - done)) < 30
    follower.poll(1000)
    assert not follower.behind
    assert follower.extent() == (path.stat().st_size, 0)


def test_following_for_long_takes_a_few_bytes_an_event(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    settings = Settings().ingest
    path.write_bytes(lines(session(2000)))
    follower = Follower(path, make_kit(settings), settings)
    sum(map(len, follower.drain()))
    body = lines(session(3_000)[1:])
    tracemalloc.start()
    try:
        before = 0
        for number in range(5):
            with path.open("ab") as file:
                file.write(body.replace(b'"id":"', b'"id":"%d-' % number))
            came = sum(map(len, follower.drain()))
            assert came == 2_999
            if number == 2:
                before = tracemalloc.get_traced_memory()[0]
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 2 * came * 16
