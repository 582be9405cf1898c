"""A session that is followed has the order of a saved one, whenever its logs were looked at."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from core.agents.registry import make_kit
from core.events import Event
from core.live.driver import Driver
from core.live.source import Followed
from core.logs.finder import sessions
from core.logs.session import LogSession, read_session
from core.settings import Settings
from core.settings.layers import with_value
from core.timeline.initial_state import InitialState
from core.timeline.opening import seed_of
from core.timeline.run_inputs import InitialStates, RunInputs
from core.timeline.timeline import Timeline
from tests.core.logs import log_lines as logs

SETTINGS = Settings()


class WrittenLine(NamedTuple):
    """A line of one of a session's logs, and when it was written."""

    at: str
    number: int
    path: Path
    data: bytes


class _Time(msgspec.Struct):
    timestamp: str = ""


def written(main: Path) -> list[WrittenLine]:
    """All lines of a session's logs in the order of their times; those without one follow the line before."""
    [session] = sessions([main], make_kit())
    lines: list[WrittenLine] = []
    for log in (*session.logs, *session.helpers):
        at = ""
        for number, data in enumerate(log.path.read_bytes().splitlines(keepends=True)):
            at = max(at, msgspec.json.decode(data, type=_Time).timestamp)
            lines.append(WrittenLine(at, number, log.path, data))
    return sorted(lines, key=lambda line: (line.at, str(line.path), line.number))


def write_in_chunks(source: Path, target: Path, rng: random.Random, lag: int) -> Iterator[None]:
    """Write the logs of a session anew, each a random number of lines behind the others; stop in between."""
    waiting: dict[Path, list[bytes]] = {}
    for line in written(source):
        waiting.setdefault(line.path, []).append(line.data)
        for path, data in waiting.items():
            if data and rng.random() < 1 / lag:
                _append(target / path.relative_to(source.parent), data)
        if rng.random() < 1 / lag:
            yield
    for path, data in waiting.items():
        _append(target / path.relative_to(source.parent), data)
        if rng.random() < 0.5:
            yield
    yield


def _append(path: Path, data: list[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(b"".join(data))
    data.clear()


def saved(session: LogSession) -> list[Event]:
    return list(read_session(session, make_kit()))


def placeless(events: list[Event]) -> list[bytes]:
    return [msgspec.json.encode(event) for event in events]


def check(source: Path, folder: Path, rng: random.Random, lag: int, *, record: bool) -> int:
    """Follow a session that is written in chunks; returns how often it was put into another order."""
    main = folder / source.name
    main.touch()
    inputs = RunInputs(SETTINGS, InitialState(seed_of(source.stem)))
    driver = Driver(Followed(main, make_kit(), SETTINGS), InitialStates(SETTINGS), inputs=inputs, record=record)
    went_back: list[int] = []
    go_back = driver.source.rewind
    assert go_back is not None

    def counted(place: int) -> int:
        went_back.append(place)
        return go_back(place)

    driver.source.rewind = counted
    told: list[Event] = []
    for _ in write_in_chunks(source, folder, rng, lag):
        told += [event for event, _ in driver.poll(10_000) if not driver.is_retaken(event)]
        again = [event for event, _ in driver.poll(10_000)]
        assert not again, "nothing comes twice"
    told += [event for event, _ in driver.finish() if not driver.is_retaken(event)]
    [session] = sessions([main], make_kit())
    events = saved(session)
    minds = inputs.initial.society(SETTINGS)
    for event in events:
        minds.step(event)
    assert sorted(placeless(told)) == sorted(placeless(events)), "every event once"
    if driver.timeline is not None:
        assert placeless(list(driver.timeline.events)) == placeless(events)
        middle = len(events) // 2
        half = inputs.initial.society(SETTINGS)
        for event in events[:middle]:
            half.step(event)
        assert driver.timeline.society_at(middle).dump() == half.dump()
    assert driver.count == driver.tracker.events == len(events)
    assert driver.society.dump() == minds.dump()
    return len(went_back)


REAL = ("0ccf1a04", "ae4a77f8", "8463c716")


@pytest.mark.parametrize("record", [True, False])
@pytest.mark.parametrize("name", REAL)
def test_a_real_session_with_sub_agents(shared_data: Path, tmp_path: Path, name: str, record: bool) -> None:
    [source] = (shared_data / "real_sessions" / "claude-code").glob(f"{name}*.jsonl")
    went_back = 0
    for seed, lag in enumerate((1, 2, 5, 20, 100)):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        went_back += check(source, folder, random.Random(f"{name} {seed}"), lag, record=record)  # noqa: S311
    assert went_back, "events do come late"


SIDE: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}


def two_logs(folder: Path, calls: int) -> Path:
    """A session whose sub-agent works beside it all the time."""
    main, side = folder / "s-1.jsonl", folder / "s-1" / "subagents" / "agent-a1.jsonl"
    side.parent.mkdir(parents=True)
    main.write_bytes(b"".join(logs.call(n, f"t{n}") + logs.result(n + 0.6, f"t{n}") for n in range(calls)))
    side.write_bytes(
        b"".join(logs.call(n + 0.3, f"x{n}", **SIDE) + logs.result(n + 0.8, f"x{n}", **SIDE) for n in range(calls))
    )
    return main


@pytest.mark.parametrize("record", [True, False])
def test_a_long_session(tmp_path: Path, record: bool) -> None:
    """Longer than what is remembered to put a late event in its place."""
    folder = tmp_path / "copy"
    folder.mkdir()
    assert check(two_logs(tmp_path, 1600), folder, random.Random(1), 80, record=record) > 5  # noqa: S311


def test_an_event_that_comes_far_too_late_is_not_lost(tmp_path: Path) -> None:
    main = two_logs(tmp_path, 3000)
    side = main.with_name("s-1") / "subagents" / "agent-a1.jsonl"
    lines = side.read_bytes()
    side.unlink()
    driver = Driver(Followed(main, make_kit(), SETTINGS), InitialStates(SETTINGS))
    first = len(list(driver.poll(10_000)))
    side.write_bytes(lines)
    while list(driver.poll(1_000)):
        pass
    list(driver.finish())
    [session] = sessions([main], make_kit())
    assert first < driver.count == driver.tracker.events == len(saved(session))


def test_settings_applied_between_two_events_stay_at_their_place(tmp_path: Path) -> None:
    main = two_logs(tmp_path, 40)
    side = main.with_name("s-1") / "subagents" / "agent-a1.jsonl"
    lines = side.read_bytes().splitlines(keepends=True)
    side.write_bytes(b"".join(lines[:40]))
    states = []
    for record in (True, False):
        side.write_bytes(b"".join(lines[:40]))
        driver = Driver(Followed(main, make_kit(), SETTINGS), InitialStates(SETTINGS), record=record)
        list(driver.poll(10_000))
        driver.apply(with_value(SETTINGS, "receptor.time.cap", 5.0))
        place = driver.count
        side.write_bytes(b"".join(lines))
        list(driver.poll(10_000))
        list(driver.finish())
        assert [change.after for change in driver.inputs.later] == [place]
        [session] = sessions([main], make_kit())
        assert driver.inputs.initial.seed == seed_of(session.id)
        replayed = Timeline(SETTINGS, initial=driver.inputs.initial, later=driver.inputs.later)
        replayed.extend(saved(session))
        assert replayed.society.dump() == driver.society.dump()
        states.append(driver.society.dump())
    assert states[0] == states[1]
