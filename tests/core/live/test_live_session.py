"""What passes from one live session to the next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.workload import session
from core.events import MAIN
from core.live.live_session import Heritage
from core.live.notices import Told
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.store.episodes import EpisodeStore
from core.timeline.timeline import Timeline

LATER = 7 * 3600.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


def lived(heritage: Heritage, name: str, seed: int) -> Timeline:
    """A whole session on the screen, from its first event to its last."""
    events = session(1500, seed=seed)
    timeline = Timeline(Settings(), beginning=heritage.beginning(name, seed, events[0].at))
    for event in events:
        heritage.take(event, timeline.add(event))
    heritage.close(timeline.society)
    return timeline


def heir(use: bool = True, told: list[Told] | None = None, now: float = 0.0) -> Heritage:
    settings = resolve([Layer("test", (Given("response.notices.bell", False),))]).settings
    return Heritage(settings, use=use, app=None if told is None else told.append, wall=lambda: now)


def test_the_next_session_begins_where_the_last_one_ended() -> None:
    first = lived(heir(), "one", 1)
    assert first.beginning.prior is None and first.beginning.past == ()
    with EpisodeStore() as store:
        assert store.count() > 0
    second = heir().beginning("two", 2, first.time_of(len(first)) + LATER)
    assert second.prior and second.past
    seeded = second.society(Settings()).engine(MAIN).receptor.levels()
    plain = Timeline(Settings()).society.engine(MAIN).receptor.levels()
    assert seeded != plain


def test_who_wants_none_of_it_gets_and_leaves_none() -> None:
    lived(heir(), "one", 1)
    with EpisodeStore() as store:
        before = store.count()
    second = lived(heir(use=False), "two", 2)
    assert second.beginning.prior is None and second.beginning.past == ()
    with EpisodeStore() as store:
        assert store.count() == before


def test_a_session_opened_again_does_not_learn_from_itself() -> None:
    lived(heir(), "one", 1)
    assert heir().beginning("one", 1, 0.0).past == ()


def test_history_is_no_news() -> None:
    stale: list[Told] = []
    lived(heir(told=stale, now=4e9), "one", 1)
    assert stale == []
    fresh: list[Told] = []
    lived(heir(told=fresh), "two", 1)
    assert fresh


def test_a_store_that_cannot_be_written_is_said_and_does_no_harm(home: Path) -> None:
    (home / "xdg_data_home").write_text("in the way")
    heritage = heir()
    assert len(lived(heritage, "one", 1)) == 1500
    assert heritage.problems


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
    first = lived(heir(), "one", 1)
    path = EpisodeStore().path
    for more in ("-wal", "-shm"):
        path.with_name(path.name + more).unlink(missing_ok=True)
    body = damage(path.read_bytes())
    path.write_bytes(body)
    heritage = heir()
    assert heritage.beginning("two", 2, first.time_of(len(first)) + LATER).past == ()
    (said,) = [problem for problem in heritage.problems if "damaged" in problem]
    aside = path.with_name("episodes.damaged-1.sqlite")
    assert str(path) in said and aside.name in said
    assert aside.read_bytes() == body
    lived(heir(), "two", 2)
    with EpisodeStore() as store:
        assert store.count() > 0 and store.notices == []
