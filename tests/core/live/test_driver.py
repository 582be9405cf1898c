"""The one driver: notices are news, a need rings once, and a recording changes nothing."""

from __future__ import annotations

from pathlib import Path

import cbor2
import pytest
from msgspec.structs import replace

from bench.workload import session
from core.agents.open_events import write
from core.agents.registry import make_kit
from core.engine.response.reaction import Notice
from core.engine.response.rules import RuleSet, add_rules, built_in
from core.events import Event
from core.live.carry_over import CarryOver
from core.live.driver import FRESH, Driver
from core.live.notices import Notifier, ShownNotice
from core.live.source import Followed
from core.live.status import Status, Word
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.store.carry_over import CarryOverStore, EpisodeStore
from core.timeline.checkpoints import Checkpoints, state_hash
from core.timeline.initial_state import InitialState
from core.timeline.run_inputs import InitialStates

NOW = 1_760_000_000.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


def lines(events: list[Event], name: str) -> bytes:
    return b"".join(write(event, name) + b"\n" for event in events)


class Heard:
    """A driver on a log, and what it told."""

    def __init__(self, path: Path, *, record: bool = False, now: float = NOW, rules: RuleSet | None = None) -> None:
        settings = Settings()
        self.told: list[ShownNotice] = []
        self.past: list[Notice] = []
        self.driver = Driver(
            Followed(path, make_kit(settings.ingest), settings),
            InitialStates(settings, store=CarryOverStore()),
            record=record,
            carry_over=CarryOver(settings, initial=InitialState(rules=rules)),
            bookmarks=Bookmarks,
            notifier=Notifier(settings.response.notices, None, self.told.append),
            past=self.past.append,
            wall=lambda: now,
        )

    def read(self) -> None:
        more = True
        while more:
            list(self.driver.poll(100))
            more = self.driver.source.behind


@pytest.mark.parametrize(("age", "news"), [(FRESH - 0.5, True), (FRESH, False), (FRESH + 0.5, False)])
@pytest.mark.parametrize("live", [False, True])
def test_a_notice_of_what_was_there_before_is_given_while_it_is_fresh(
    home: Path, age: float, news: bool, live: bool
) -> None:
    one = Heard(home / "log.jsonl")
    one.driver.caught_up = live
    one.driver.tell(Notice(NOW - age, "main", "risk", "loop_alert", "Going round.", 60.0))
    assert (len(one.told), len(one.past)) == ((1, 0) if news or live else (0, 1))


def need(why: str = "asks you something (AskUserQuestion)", since: float = NOW, stale: bool = False) -> Status:
    return Status("needs you", 3, since, why, stale)


def test_a_need_rings_once_and_again_only_when_it_changes(home: Path) -> None:
    one = Heard(home / "log.jsonl")
    one.driver.caught_up = True
    for status, rung in (
        (Status("working", 1, NOW, "at work"), 0),
        (need(), 1),
        (need(), 1),
        (need(since=NOW + 5), 2),
        (need("ExitPlanMode shows a plan for you to approve", NOW + 5), 3),
        (Status("working", 1, NOW, "at work"), 3),
        (need(), 4),
        (Status("stuck", 3, NOW, "frustrated"), 4),
        (need(stale=True), 4),
    ):
        one.driver.ring(status)
        assert len(one.told) == rung
    assert {told.kind for told in one.told} == {"needs_you"}
    assert one.told[0].text == "Asks you something (AskUserQuestion)."


@pytest.mark.parametrize("why", ["which database?", "it waits", "it waits.", "stop!", "cut off…"])
def test_a_notice_ends_with_one_mark(home: Path, why: str) -> None:
    one = Heard(home / "log.jsonl")
    one.driver.caught_up = True
    one.driver.ring(need(why))
    assert one.told[0].text == why[:1].upper() + why[1:] + ("." if why[-1].isalpha() else "")


@pytest.mark.parametrize(("word", "line"), [("needs you", "▲ needs you: "), ("may need you", "△ may need you: ")])
def test_a_notice_is_as_certain_as_the_status(home: Path, word: Word, line: str) -> None:
    one = Heard(home / "log.jsonl")
    one.driver.caught_up = True
    one.driver.ring(replace(need(), word=word))
    assert one.told[0].line.startswith(line)


@pytest.mark.parametrize("record", [False, True])
def test_episodes_are_kept_and_recalled_with_and_without_a_recording(home: Path, record: bool) -> None:
    for number in range(2):
        path = home / f"{number}.jsonl"
        path.write_bytes(lines(session(900, seed=number + 1), f"s-{number}"))
        one = Heard(path, record=record)
        one.read()
        assert one.driver.count == 900
        assert bool(one.driver.inputs.initial.past) is bool(number)
        one.driver.close()
    with EpisodeStore() as store:
        assert store.count() > 0


def test_recorded_or_not_the_minds_are_the_same(home: Path) -> None:
    path = home / "log.jsonl"
    path.write_bytes(lines(session(500, seed=3), "s"))
    dumps = []
    for record in (False, True):
        one = Heard(path, record=record)
        one.read()
        dumps.append(cbor2.dumps(one.driver.society.dump(), canonical=True))
    assert dumps[0] == dumps[1]


def test_a_log_that_is_being_read_is_said_to_be(home: Path) -> None:
    path = home / "log.jsonl"
    path.write_bytes(lines(session(500, seed=3), "s"))
    one = Heard(path)
    list(one.driver.poll(100))
    assert one.driver.status(NOW).word == "idle"
    one.read()
    assert one.driver.status(NOW).word != "idle"


SNAPSHOTS = add_rules(
    built_in(),
    b"""{"methods": [{"id": "context_snapshot", "trigger": {
        "signals": ["frustration", "seeking", "compound", "fatigue"],
        "states": ["stuck", "exploring", "deep_work", "idle"], "sensitivity": 1.0, "frequency": "high"}}]}""",
    "rules of the test",
)


@pytest.mark.parametrize("record", [False, True])
def test_a_snapshot_that_a_method_asks_for_is_kept_while_it_is_news(home: Path, record: bool) -> None:
    path, events = home / "log.jsonl", session(900)
    path.write_bytes(lines(events[:450], "snap"))
    one = Heard(path, record=record, rules=SNAPSHOTS)
    one.read()
    store = Checkpoints(Bookmarks(one.driver.session), one.driver.settings.timeline.checkpoints.kept)
    assert one.driver.society.frame().response.checkpoints and store.bookmarks.read() == ()
    with path.open("ab") as file:
        file.write(lines(events[450:], "snap"))
    saved: dict[int, str] = {}
    one.driver.source.look()
    more = True
    while more:
        for _, step in one.driver.poll(100):
            if step.reaction.checkpoints:
                saved[one.driver.count] = state_hash(one.driver.society)
        more = one.driver.source.behind
    kept = store.bookmarks.read()
    assert saved and {mark.place: mark.checkpoint for mark in kept} == saved
    assert len({mark.name for mark in kept}) == len(kept)
    assert all(mark.note.startswith("saved automatically") for mark in kept)
    assert len(store.saved_names()) == min(16, len(kept))
    if one.driver.timeline is not None:
        assert store.back(one.driver.timeline, store.saved_names()[-1]).standing == "same"
    assert one.driver.problems() == []
