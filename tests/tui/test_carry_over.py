"""A replay equals the live run, with what that was given at its start."""

from __future__ import annotations

import io
import json
import threading
from contextlib import redirect_stderr
from pathlib import Path

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from textual.message import Message

from bench.workload import session
from core.agents.open_events import write
from core.agents.registry import make_kit
from core.errors import UnreadableLog
from core.events import Event, SessionStart
from core.live.carry_over import CarryOver
from core.live.fleet.roster import Roster, once
from core.live.source import Target
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from core.store.carry_over import CarryOverStore
from core.timeline.marks import Mark
from core.timeline.opening import seed_of
from core.timeline.rerun import with_edits
from core.timeline.run_inputs import InitialStates
from core.timeline.timeline import Timeline
from tests.tui.feed.test_feed import PATIENCE, Mail
from tui.cli import main
from tui.cli.recordings import recording_at
from tui.feed.feed import Feed
from tui.feed.messages import Apply, Arrived

LATER = 7 * 3600.0
_SMALL = 600_000
_REAL = 18
SETTING = "receptor.ambient.offset.frustration"


@pytest.fixture(autouse=True)
def apart(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(home / "settings.toml"))
    return home


def story(number: int, events: int = 700) -> list[Event]:
    """One of several sessions, hours apart."""
    made = session(events, seed=number + 1, agents=1 + number % 2)
    return [replace(event, at=event.at + number * LATER, **_named(event, number)) for event in made]


def _named(event: Event, number: int) -> dict[str, str]:
    return {"session": f"s-{number}"} if isinstance(event, SessionStart) else {}


def lines(events: list[Event], number: int) -> bytes:
    return b"".join(write(event, f"s-{number}") + b"\n" for event in events)


class Live:
    """The feed as the screen has it, with what passes from session to session."""

    def __init__(self, path: Path, chosen: Settings | None = None) -> None:
        chosen = chosen or Settings()
        self.mail = Mail()
        self.timeline = Timeline(chosen)
        initial_states = InitialStates(chosen, store=CarryOverStore())
        carry_over = CarryOver(chosen)
        self.feed = Feed(Target(path), chosen, self._post, carry_over=carry_over, initial_states=initial_states)
        self.feed.first_painted()
        self._thread = threading.Thread(target=self.feed.run)

    def _post(self, message: Message) -> None:
        if isinstance(message, Arrived) and message.recording is not None:
            self.timeline = message.recording
        self.mail.post(message)

    def __enter__(self) -> Live:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.feed.stop()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def until(self, events: int) -> None:
        self.mail.view(lambda view: view.total == events)


def watched(path: Path, events: list[Event], number: int, chosen: Settings | None = None) -> Timeline:
    """Half of it is there when the watch begins, the rest is written while it goes on."""
    half = len(events) // 2
    path.write_bytes(lines(events[:half], number))
    with Live(path, chosen) as live:
        live.until(half)
        with path.open("ab") as file:
            file.write(lines(events[half:], number))
        live.until(len(events))
    return live.timeline


def replayed(path: Path, *, plain: bool = False, chosen: Settings | None = None) -> Timeline:
    store = None if plain else CarryOverStore()
    return recording_at(str(path), InitialStates(chosen or Settings(), store=store))


def ran(timeline: Timeline) -> tuple[bytes, list[Mark]]:
    """All a run comes to: its end state and all its marks."""
    return cbor2.dumps(timeline.society.dump(), canonical=True), list(timeline.marks)


def test_sessions_in_a_row_are_replayed_as_they_were_watched(home: Path) -> None:
    differ = 0
    for number in range(4):
        path = home / f"{number}.jsonl"
        live = watched(path, story(number), number)
        assert ran(replayed(path)) == ran(live)
        assert ran(replayed(path)) == ran(live), "from the cache"
        differ += ran(replayed(path, plain=True)) != ran(live)
    assert differ, "what is carried over must matter, or this shows nothing"


def test_what_was_learned_since_changes_no_replay(home: Path) -> None:
    first, second = home / "0.jsonl", home / "1.jsonl"
    live = watched(first, story(0), 0)
    watched(second, story(1), 1)
    assert ran(replayed(first)) == ran(live)


def test_a_session_watched_again_begins_as_it_did_first(home: Path) -> None:
    for number in range(2):
        path = home / f"{number}.jsonl"
        events = story(number)
        live = watched(path, events[:500], number)
    watched(home / "2.jsonl", story(2), 2)
    with Live(path) as again:
        again.until(500)
        assert ran(again.timeline) == ran(live)
        with path.open("ab") as file:
            file.write(lines(events[500:], 1))
        again.until(len(events))
    assert ran(replayed(path)) == ran(again.timeline)


@pytest.mark.parametrize("after", [350, 700])
def test_settings_applied_live_are_applied_at_the_same_place(home: Path, after: int) -> None:
    path, events = home / "0.jsonl", story(0)
    path.write_bytes(lines(events[:after], 0))
    other = with_edits(Settings(), {SETTING: 0.02})
    with Live(path) as live:
        live.until(after)
        live.feed.ask(Apply(other))
        while live.timeline.settings != other:
            live.mail.next(Arrived)
        with path.open("ab") as file:
            file.write(lines(events[after:], 0))
        live.until(len(events))
    again = replayed(path)
    assert ran(again) == ran(live.timeline)
    assert [change.after for change in again.changes] == [0, after]
    assert ran(replayed(path)) == ran(live.timeline), "from the cache"


def test_settings_of_today_hold_from_the_next_new_event(home: Path) -> None:
    path, events = home / "0.jsonl", story(0)
    watched(path, events[:400], 0)
    today = with_edits(Settings(), {SETTING: 0.02})
    with Live(path, today) as again:
        again.until(400)
        assert again.timeline.settings == Settings()
        with path.open("ab") as file:
            file.write(lines(events[400:], 0))
        again.until(len(events))
    assert [change.after for change in again.timeline.changes] == [0, 400]
    assert ran(replayed(path, chosen=today)) == ran(again.timeline)


def test_a_replay_keeps_the_settings_of_then_and_says_so(home: Path) -> None:
    path = home / "0.jsonl"
    live = watched(path, story(0), 0)
    (home / "settings.toml").write_text("[receptor.ambient.offset]\nfrustration = 0.02\n")
    today = with_edits(Settings(), {SETTING: 0.02})
    with redirect_stderr(io.StringIO()) as said:
        assert ran(replayed(path, chosen=today)) == ran(live)
    assert f"today's {SETTING} would differ" in said.getvalue()
    assert replayed(path, plain=True, chosen=today).settings == today


def frames(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["frame", str(path), "--json", *words]) == 0
    return capsys.readouterr().out


def test_what_if_differs_by_what_is_asked_for_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(2):
        path = home / f"{number}.jsonl"
        watched(path, story(number), number)
    (home / "settings.toml").write_text("[receptor.ambient.offset]\nfrustration = 0.02\n")
    assert main(["whatif", str(path), "--json", "--set", "timeline.play.speed=2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["gained"], told["lost"], told["moved"]) == ([], [], [])
    assert frames(path, capsys) != frames(path, capsys, "--plain")


def test_bookmarks_the_cache_and_the_fleet_go_on_from_what_was_given(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "settings.toml").write_text("[timeline.cache]\nleast = 0\n")
    for number in range(2):
        path, events = home / f"{number}.jsonl", story(number)
        live = watched(path, events, number)
    saved, word = "the state there is the one saved", ["bookmarks", str(path)]
    assert main([*word, "--add", "end", "--at", str(len(events))]) == 0
    told = {}
    for extra in ((), ("--plain",), ()):  # twice: the second time from the cache
        capsys.readouterr()
        main([*word, "--return", "end", *extra])
        told[extra] = saved in capsys.readouterr().out
    assert told == {(): True, ("--plain",): False}
    expected = cbor2.dumps(live.society.dump(), canonical=True)
    for store, same in ((CarryOverStore(), True), (None, False)):
        roster = Roster(Settings(), {}, home, paths=[path])
        roster.initial_states = InitialStates(Settings(), store=store)
        once(roster)
        (member,) = roster._members.values()
        assert member._model is not None
        assert (cbor2.dumps(member._model.driver.society.dump(), canonical=True) == expected) is same


@pytest.mark.parametrize("which", ["blob", "json"])
def test_what_is_damaged_is_named_and_the_replay_is_plain(
    home: Path, which: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "0.jsonl"
    watched(path, story(0), 0)
    plain = frames(path, capsys, "--plain")
    (file,) = CarryOverStore().folder.glob(f"*.{which}")
    file.write_bytes(b"not what it was")
    assert main(["frame", str(path), "--json"]) == 0
    told = capsys.readouterr()
    assert told.out == plain
    assert str(file) in told.err and "replayed without" in told.err
    watched(path, story(0), 0)
    assert frames(path, capsys) and "lost" not in capsys.readouterr().err


def test_without_a_screen_it_is_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tui.cli.commands import watch

    for number in range(3):
        path, events = home / f"{number}.jsonl", story(number)
        path.write_bytes(lines(events, number))
        made: list[watch.Watch] = []

        class Seen(watch.Watch):
            def run(self) -> int:
                made.append(self)  # noqa: B023
                return super().run()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(watch, "Watch", Seen)
            assert main(["watch", "--headless", str(path), "--idle", "0.01"]) == 0
        (one,) = made
        assert one.driver.count == len(events)
        live = cbor2.dumps(one.driver.society.dump(), canonical=True)
        assert ran(replayed(path))[0] == live
    capsys.readouterr()


def test_real_sessions_in_a_row(shared_data: Path, home: Path) -> None:
    settings = Settings()
    kit = make_kit(settings.ingest)
    small = [path for path in sorted(shared_data.rglob("*.jsonl")) if 2_000 < path.stat().st_size < _SMALL]
    begun: list[tuple[float, Path, str]] = []
    for path in small:
        try:
            found = sessions([path], kit, settings.ingest.lines)
        except UnreadableLog:
            continue
        first = next((event.at for event in read_session(found[0], kit, settings.ingest.lines)), None)
        if len(found) == 1 and first is not None:
            begun.append((first, path, found[0].id))
    differ = seen = equal = 0
    for _, path, name in sorted(begun)[:_REAL]:
        with Live(path) as live:
            live.mail.view(lambda view: True)
        events, total = list(live.timeline.events), len(live.timeline)
        if not total:
            continue
        seen += 1
        again, plain = replayed(path), Timeline(settings, seed=seed_of(name))
        plain.extend(events)
        differ += ran(plain) != ran(live.timeline)
        start = InitialStates(settings, store=CarryOverStore()).of(name)
        alike = Timeline(start.settings, initial=start.initial, later=start.later)
        alike.extend(events)
        assert ran(alike) == ran(live.timeline), path.name
        if again.events[:total] == events:
            equal += 1
            assert ran_to(again, total) == ran_to(live.timeline, total), path.name
    assert not seen or (differ and 2 * equal > seen)


def ran_to(timeline: Timeline, total: int) -> tuple[bytes, list[Mark]]:
    """The same over the first events: the end of a log completes some that a live watch still waits for."""
    marks = [mark for mark in timeline.marks if mark.place < total]
    return cbor2.dumps(timeline.society_at(total).dump(), canonical=True), marks


@settings(max_examples=6)
@given(
    seeds=st.lists(st.integers(0, 10_000), min_size=2, max_size=3, unique=True),
    sizes=st.lists(st.integers(1, 400), min_size=3, max_size=3),
    value=st.sampled_from([0.01, 0.15, 0.3]),
)
def test_any_streams_in_a_row(
    tmp_path_factory: pytest.TempPathFactory, seeds: list[int], sizes: list[int], value: float
) -> None:
    folder = tmp_path_factory.mktemp("row")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(folder / name.lower()))
        chosen = with_edits(Settings(), {SETTING: value})
        for number, (seed, size) in enumerate(zip(seeds, sizes, strict=False)):
            events = [
                replace(event, at=event.at + number * LATER, **_named(event, number))
                for event in session(size + 2, seed=seed)
            ]
            path = folder / f"{number}.jsonl"
            live = watched(path, events, number, chosen)
            assert ran(replayed(path, chosen=chosen)) == ran(live)


def test_what_was_given_can_be_forgotten(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "0.jsonl"
    watched(path, story(0), 0)
    assert main(["doctor", "--forget-given"]) == 0
    assert capsys.readouterr().out == "deleted the starting state of 1 session\n"
    assert CarryOverStore().count() == 0
    assert frames(path, capsys) == frames(path, capsys, "--plain")
