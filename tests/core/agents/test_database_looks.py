"""Databases that are followed: a look costs what changed, and tells what reading all of it would."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from core.agents.registry import make_kit
from core.events import Event
from core.logs import database as databases
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.session import identity, read_session
from tests.core.agents.database_writers import WRITERS, Writer
from tests.core.agents.tables_of_databases import made

_FEW, _MANY = 10, 10_000


class Followed(NamedTuple):
    """A database that is written and followed."""

    writer: Writer
    follower: Follower
    path: Path

    def poll(self) -> list[Event]:
        self.writer.database.commit()
        return [event for batch in self.follower.drain() for event in batch]

    def whole(self) -> list[Event]:
        kit = make_kit()
        first = next(session for session in sessions([self.path], kit) if session.id in ("ses_1", "s1"))
        return list(read_session(first, kit))


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[[type[Writer], int], Followed]]:
    opened: list[sqlite3.Connection] = []

    def make(kind: type[Writer], count: int) -> Followed:
        path = tmp_path / f"{count}" / kind.file
        database = made(path, kind.schema, wal=True)
        opened.append(database)
        writer = kind(database)
        writer.fill(count)
        database.commit()
        kit = make_kit()
        first = next(session for session in sessions([path], kit) if session.id in ("ses_1", "s1"))
        return Followed(writer, Follower(first, kit), path)

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Callable[[Followed], int]:
    """Counts the instructions that SQLite takes for one look."""
    connect = databases.connect

    def look(followed: Followed) -> int:
        taken = []

        def counting(path: Path) -> sqlite3.Connection:
            database = connect(path)
            database.set_progress_handler(lambda: taken.append(1), 1)
            return database

        with monkeypatch.context() as patch:
            patch.setattr(databases, "connect", counting)
            assert followed.poll()
        return len(taken)

    return look


@pytest.mark.parametrize("kind", WRITERS)
def test_a_look_costs_what_changed_however_much_is_there(
    kind: type[Writer], follow: Callable[[type[Writer], int], Followed], steps: Callable[[Followed], int]
) -> None:
    """The first look reads all; those after a change cost no more at ten thousand rows than at ten."""
    costs = {}
    for count in (_FEW, _MANY):
        followed = follow(kind, count)
        assert followed.poll()
        for _ in range(4):
            followed.writer.fill(5)
            costs[count] = steps(followed)
        assert followed.poll() == []
    assert costs[_MANY] <= 1.5 * costs[_FEW] < _MANY


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("seed", range(4))
def test_following_tells_what_reading_whole_tells(
    kind: type[Writer], seed: int, follow: Callable[[type[Writer], int], Followed]
) -> None:
    """Rows that come, change in place far below the newest, are renumbered or taken back lose nothing."""
    dice = random.Random(seed)  # noqa: S311
    followed = follow(kind, 20)
    told = followed.poll()
    for number in range(150):
        followed.writer.act(dice)
        if not dice.randrange(3):
            told += followed.poll()
        if number % 50 == 49:
            followed.writer.aside()
            told += followed.poll()
            followed.writer.forget()
            followed.writer.act(dice)
            followed.writer.database.commit()
            if number == 99:
                followed.writer.database.execute("VACUUM")
    told += followed.poll()
    told += followed.follower.finish()
    assert Counter(map(identity, told)) == Counter(map(identity, followed.whole()))
    assert len(told) > 60
