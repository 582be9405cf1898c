"""What passes from one live session to the next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.workload import session
from core.events import MAIN
from core.live.carry_over import CarryOver
from core.settings import Settings
from core.store.carry_over import EpisodeStore
from core.timeline.timeline import Timeline

LATER = 7 * 3600.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


def lived(carry_over: CarryOver, name: str, seed: int, count: int = 1500) -> Timeline:
    """A whole session on the screen, from its first event to its last."""
    events = session(count, seed=seed)
    timeline = Timeline(Settings(), initial=carry_over.initial_state(name, seed, events[0].at))
    for event in events:
        carry_over.on_event(event, timeline.add(event), timeline.society)
    carry_over.on_rest(timeline.society)
    carry_over.on_shutdown(timeline.society)
    return timeline


def heir(use: bool = True) -> CarryOver:
    return CarryOver(Settings(), use=use)


def test_the_next_session_begins_where_the_last_one_ended() -> None:
    first = lived(heir(), "one", 1)
    assert first.initial.prior is None and first.initial.past == ()
    with EpisodeStore() as store:
        assert store.count() > 0
    second = heir().initial_state("two", 2, first.time_of(len(first)) + LATER)
    assert second.prior and second.past
    seeded = second.society(Settings()).engine(MAIN).receptor.levels()
    plain = Timeline(Settings()).society.engine(MAIN).receptor.levels()
    assert seeded != plain


def test_who_wants_none_of_it_gets_and_leaves_none() -> None:
    lived(heir(), "one", 1)
    with EpisodeStore() as store:
        before = store.count()
    second = lived(heir(use=False), "two", 2)
    assert second.initial.prior is None and second.initial.past == ()
    with EpisodeStore() as store:
        assert store.count() == before


def test_a_session_opened_again_does_not_learn_from_itself() -> None:
    lived(heir(), "one", 1)
    assert heir().initial_state("one", 1, 0.0).past == ()


def test_a_store_that_cannot_be_written_is_said_and_does_no_harm(home: Path) -> None:
    (home / "xdg_data_home").write_text("in the way")
    carry_over = heir()
    assert len(lived(carry_over, "one", 1)) == 1500
    assert carry_over.problems


def _cut(body: bytes) -> bytes:
    return body[: len(body) // 2]


def _torn(body: bytes) -> bytes:
    return body[:100] + b"\xff" * 4000 + body[4100:]


@pytest.mark.parametrize(
    "damage",
    [_cut, _torn, lambda body: b"\0" * len(body), lambda _: b"no database at all", lambda body: body[:16]],
    ids=["cut", "torn", "zeroed", "other", "head"],
)
def test_a_damaged_database_is_named_and_put_aside(home: Path, damage: Callable[[bytes], bytes]) -> None:
    first = lived(heir(), "one", 1, 400)
    with EpisodeStore() as store:
        assert store.count() > 0
    path = EpisodeStore().path
    for more in ("-wal", "-shm"):
        path.with_name(path.name + more).unlink(missing_ok=True)
    body = damage(path.read_bytes())
    path.write_bytes(body)
    carry_over = heir()
    assert carry_over.initial_state("two", 2, first.time_of(len(first)) + LATER).past == ()
    (said,) = [problem for problem in carry_over.problems if "damaged" in problem]
    aside = path.with_name("episodes.sqlite.damaged")
    assert str(path) in said and aside.name in said
    assert aside.read_bytes() == body
    lived(heir(), "two", 2, 400)
    with EpisodeStore() as store:
        assert store.count() > 0 and store.notices == []
