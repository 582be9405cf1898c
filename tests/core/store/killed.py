"""Writes to a store in forked processes, each killed with -9 one step later; prints what is left of each.

`python -m tests.core.store.killed FOLDER`: a line for each kill, the last of a store for a write let through.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.workload import session
from core.engine.receptor.persona import session_prior
from core.report.chrono import Trail
from core.settings import Settings
from core.settings.response import LearningSettings, PriorSettings
from core.store.bookmarks import Bookmark, Bookmarks, Label, Labels, TrailStore
from core.store.carry_over import (
    AffectLeft,
    AffectStore,
    CarryOverStore,
    EpisodeStore,
    LearnedStore,
    PersonaStore,
    PriorStore,
)
from core.store.model_spend import SpendStore
from core.store.profiles import ProfileFiles
from core.timeline.checkpoints import Checkpoints
from core.timeline.initial_state import InitialState
from core.timeline.opening import Cache
from core.timeline.timeline import Timeline
from tests.core.engine.receptor.test_persona import persona
from tests.core.store.test_episodes import episode

STEPS = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "fcntl.flock", "os.utime"))
"""What is counted as a step, beside each flush to the disk and each SQL statement."""


class Store(NamedTuple):
    """How to write the first and the second thing, and how to read what is there."""

    write: Callable[[Path, int], object]
    read: Callable[[Path], Any]


def _bookmarks(folder: Path, number: int) -> None:
    Bookmarks("s", folder).put(Bookmark(f"b{number}", number, 1.0, 2.0))


def _labels(folder: Path, number: int) -> None:
    Labels("s", folder).judge(Label(number, 1.0, "right", "x"))


def _read_bookmarks(folder: Path) -> list[str]:
    store = Bookmarks("s", folder)
    found = [mark.name for mark in store.read()]
    assert not store.notices, store.notices
    return found


def _read_labels(folder: Path) -> list[int]:
    store = Labels("s", folder)
    found = [label.place for label in store.judged()]
    assert not store.notices, store.notices
    return found


def _learned(folder: Path, number: int) -> None:
    LearnedStore(folder / "l.json").add({"frustration": 3 * number}, 7200.0, 10.0 * number, LearningSettings())


def _read_learned(folder: Path) -> int:
    store = LearnedStore(folder / "l.json")
    found = store.read().stretches
    assert not store.file.notices, store.file.notices
    return found


def _prior(folder: Path, number: int) -> None:
    given = session_prior(10.0 * number, {"flow": 0.5}, {"flow": 0.5}, {}, {"shell_exec": 1})
    PriorStore(folder / "p.json").settle(given, PriorSettings())


def _read_prior(folder: Path) -> int:
    store = PriorStore(folder / "p.json")
    found = store.read()
    assert not store.file.notices, store.file.notices
    return found.session_count if found else 0


def _personas(folder: Path) -> PersonaStore:
    return PersonaStore(folder / "shared", folder / "record.json")


def _read_persona(folder: Path) -> list[bool]:
    """All that lies there is ours, so that nobody ever meets oneself; whether one of it is whole."""
    store = _personas(folder)
    own = {store.record().own, store.record().former}
    whole = [path for path in sorted((folder / "shared").glob("persona-*.json")) if path.stem[8:] in own]
    assert store.others() == [] and store.skipped == 0
    return [bool(whole)]


def _shelf(folder: Path) -> ProfileFiles:
    return ProfileFiles(folder / "settings.toml", folder / "project", folder / "chains")


def _profiles(folder: Path, number: int) -> None:
    changed = {"receptor.ambient.offset.frustration": 0.1 * number}
    _shelf(folder).save_profile("mine", f"Number {number}.", changed, "user")


def _read_profiles(folder: Path) -> list[str]:
    from core.store.compensation import recover

    recover(folder / "chains")
    found = [each for each in _shelf(folder).profiles() if each.scope == "user"]
    assert not any(each.complaints for each in found)
    return [each.sentence for each in found]


def _episodes(folder: Path, number: int) -> None:
    with EpisodeStore(folder / "e.sqlite") as store:
        store.save(f"s{number}", "main", [episode(each) for each in range(3)])


def _read_episodes(folder: Path) -> int:
    with EpisodeStore(folder / "e.sqlite") as store:
        found = len(store.recent(100))
        assert not store.notices, store.notices
    return found


STREAM = session(60)


def _cache(folder: Path, number: int) -> None:
    timeline = Timeline(Settings(), initial=InitialState(3))
    timeline.extend(STREAM[: 30 * number])
    assert Cache(folder, 10**9).save("s", timeline, ())


def _read_cache(folder: Path) -> int:
    kept = Cache(folder, 10**9).load("s", Settings(), InitialState(3))
    return len(kept.timeline) if kept else 0


def _carry_over(folder: Path, number: int) -> None:
    store = CarryOverStore(folder)
    if number == 1:
        store.begin("s", b"first" * 100)
    else:
        store.change("s", number, b"second" * 100)


def _read_carry_over(folder: Path) -> list[int]:
    kept = CarryOverStore(folder).read("s")
    assert kept is None or kept.start == b"first" * 100
    return [] if kept is None else [len(each.content) for each in kept.later]


def _affect(folder: Path, number: int) -> None:
    AffectStore(folder).leave(
        "/p", AffectLeft(f"s{number}", "agent", float(number), (0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    )


def _read_affect(folder: Path) -> list[str]:
    store = AffectStore(folder)
    found = [one.session for one in store.neighbours("/p", "", 10.0, 100.0)]
    assert not store.notices and not store.faults(), store.notices
    return found


def _trail(folder: Path, number: int) -> None:
    trail = Trail()
    for each in range(number):
        trail.add(float(each), each, each + 1, "", "none", ())
    TrailStore("s", folder).write(trail.dump())


def _read_trail(folder: Path) -> int:
    trail = Trail()
    trail.load(TrailStore("s", folder).read())
    return len(trail)


RECORDED = Timeline(Settings())
RECORDED.extend(STREAM)


def _checkpoints(folder: Path, number: int) -> None:
    Checkpoints(Bookmarks("s", folder), 2).make(RECORDED, number, f"c{number}", created=float(number))


def _read_checkpoints(folder: Path) -> list[str]:
    """Every bookmark can be returned to, whether or not its state is still kept."""
    store = Checkpoints(Bookmarks("s", folder), 2)
    found = [one.name for one in store.bookmarks.read()]
    assert all(store.back(RECORDED, name).standing == "same" for name in found)
    assert not store.bookmarks.notices, store.bookmarks.notices
    return found


def _spend(folder: Path, number: int) -> None:
    assert SpendStore(folder / "spend.json").reserve(1e9, 0.01 * number, number, 1.0, 1000)


STORES = {
    "affect": Store(_affect, _read_affect),
    "trail": Store(_trail, _read_trail),
    "checkpoints": Store(_checkpoints, _read_checkpoints),
    "spend": Store(_spend, lambda folder: SpendStore(folder / "spend.json").read(1e9).tokens),
    "bookmarks": Store(_bookmarks, _read_bookmarks),
    "labels": Store(_labels, _read_labels),
    "learned": Store(_learned, _read_learned),
    "prior": Store(_prior, _read_prior),
    "persona": Store(lambda folder, n: _personas(folder).leave(persona(mean=n / 10)), _read_persona),
    "profiles": Store(_profiles, _read_profiles),
    "episodes": Store(_episodes, _read_episodes),
    "cache": Store(_cache, _read_cache),
    "carry_over": Store(_carry_over, _read_carry_over),
}


def _arm(steps: int) -> None:
    """Let this process be killed before its step of that number."""
    left = [steps]

    def step(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, _: tuple[Any, ...]) -> None:
        if event in STEPS:
            step()

    flush, connect = os.fsync, sqlite3.connect

    def counted_flush(handle: Any) -> None:
        step()
        flush(handle)

    def counted_connect(*given: Any, **named: Any) -> sqlite3.Connection:
        link: sqlite3.Connection = connect(*given, **named)
        link.set_trace_callback(step)
        return link

    os.fsync = counted_flush  # type: ignore[assignment]
    sqlite3.connect = counted_connect  # type: ignore[assignment]
    sys.addaudithook(heard)


def _killed(write: Callable[[], object], steps: int) -> bool:
    child = os.fork()
    if child == 0:
        _arm(steps)
        write()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def main(name: str, top: Path) -> None:
    """Kill a second write after every step; a third one, let through, shows that the store goes on."""
    store, steps, again = STORES[name], 0, True
    while again:
        folder = top / str(steps)
        folder.mkdir(parents=True)
        store.write(folder, 1)
        before = store.read(folder)
        again = _killed(lambda folder=folder: store.write(folder, 2), steps)  # type: ignore[misc]
        after = store.read(folder)
        store.write(folder, 3)
        told = {"store": name, "before": before, "after": after, "next": store.read(folder), "killed": again}
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
        steps += 1


if __name__ == "__main__":
    for known in STORES:
        main(known, Path(sys.argv[1]) / known)
