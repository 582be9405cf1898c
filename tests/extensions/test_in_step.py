"""An extension in the step: part of the state, of the recording's identity, and of every replay."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import ClassVar

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workload import session
from core.engine.society import Society
from core.engine.society.engine import Engine, Step
from core.events import Event, ToolUse
from core.extension import Detection, ExtendedEngine, StepExtension
from core.extension.registry import StepRef
from core.settings import Settings
from core.timeline import initial_state
from core.timeline.initial_state import InitialState
from core.timeline.opening import Cache
from core.timeline.rerun import prove
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf
from tests.core.strategies import events

SETTINGS = Settings()


class Every(StepExtension):
    """Finds something at every seventh call."""

    name: ClassVar[str] = "every"
    STATE = ("calls", "stages")

    def __init__(self) -> None:
        self.calls = 0
        self.stages = ""

    def before_receptor(self, event: Event) -> None:
        self.stages = "r"

    def after_mind(self, event: Event, thought: object) -> None:
        self.stages += "m"

    def before_governor(self, event: Event, thought: object) -> None:
        self.stages += "g"

    def after_response(self, event: Event, reaction: object) -> None:
        self.stages += "R"

    def find(self, event: Event, step: Step) -> list[Detection]:
        assert self.stages == "rmgR"
        self.calls += isinstance(event, ToolUse)
        found = isinstance(event, ToolUse) and self.calls % 7 == 0
        return [Detection("seventh", f"call {self.calls}", weight=0.5)] if found else []


class Faulty(StepExtension):
    name: ClassVar[str] = "faulty"
    STATE = ("seen",)

    def __init__(self) -> None:
        self.seen = 0

    def find(self, event: Event, step: Step) -> list[Detection]:
        self.seen += 1
        if self.seen % 2 == 0:
            raise ValueError("every second event")
        return []


class Lost(Every):
    """Cannot tell its state from the tenth call on."""

    name: ClassVar[str] = "lost"

    def dump(self) -> object:
        if self.calls >= 10:
            raise ValueError("no state")
        return self.calls, self.stages


class Forgetful(Every):
    """Keeps something that STATE does not name."""

    name: ClassVar[str] = "forgetful"
    STATE = ("stages",)  # type: ignore[assignment]


class Clocked(Every):
    """Finds what the clock says."""

    name: ClassVar[str] = "clocked"

    def find(self, event: Event, step: Step) -> list[Detection]:
        Clocked.moment += 1
        return [Detection("now", str(Clocked.moment))] if isinstance(event, ToolUse) else []

    moment = 0


REF = StepRef("every", "1", "code")


@pytest.fixture
def extended(monkeypatch: pytest.MonkeyPatch) -> InitialState:
    monkeypatch.setattr(initial_state, "step_makers", lambda refs: ([Every] if refs else [], []))
    return InitialState(seed=3, extensions=(REF,))


def minds(*kinds: type[StepExtension]) -> Society:
    return Society(SETTINGS, make_engine=partial(ExtendedEngine, extensions=kinds))


def dumped(society: Society) -> bytes:
    return cbor2.dumps(society.dump(), canonical=True)


@given(events(60), st.integers(0, 59))
def test_load_dump_goes_on_exactly(stream: list[Event], cut: int) -> None:
    whole, first = minds(Every, Faulty), minds(Every, Faulty)
    for event in stream:
        whole.step(event)
    for event in stream[:cut]:
        first.step(event)
    second = minds(Every, Faulty)
    second.load(cbor2.loads(cbor2.dumps(first.dump())))
    for event in stream[cut:]:
        second.step(event)
    assert dumped(second) == dumped(whole)


@given(events(60), st.sets(st.integers(0, 59)))
def test_a_dump_only_reads_also_where_a_state_cannot_be_told(stream: list[Event], looked: set[int]) -> None:
    alone, watched = minds(Lost, Every), minds(Lost, Every)
    for place, event in enumerate(stream):
        told = watched.step(event)
        if place in looked:
            watched.dump()
        assert alone.step(event).reaction == told.reaction
    assert dumped(alone) == dumped(watched)


def test_it_changes_nothing_of_the_mind_and_only_adds() -> None:
    plain, extended = Society(SETTINGS), minds(Every)
    added = 0
    for event in session(400):
        one, other = plain.step(event), extended.step(event)
        assert replace(other, reaction=one.reaction) == one
        mine = [each for each in other.reaction.fired if each.method == "every.seventh"]
        assert [each for each in other.reaction.fired if each not in mine] == list(one.reaction.fired)
        assert len(other.reaction.notices) == len(one.reaction.notices) + len(mine)
        added += len(mine)
    assert added > 10
    engine = extended.engine().dump()
    engine.pop("extended")
    assert engine == plain.engine().dump()


def test_a_faulty_one_is_switched_off_at_the_same_event_in_every_run() -> None:
    society = minds(Faulty)
    stream = [event for event in session(60) if event.agent == "main"]
    seen = []
    for event in stream:
        society.step(event)
        engine = society.engine()
        assert isinstance(engine, ExtendedEngine)
        seen.append(engine.faults["faulty"])
    assert seen[:8] == [0, 1, 1, 2, 2, 3, 3, 3] and seen[-1] == 3


def test_any_seek_equals_replaying_from_the_start(extended: InitialState) -> None:
    stream = session(500)
    timeline = Timeline(SETTINGS, initial=extended, every=64)
    timeline.extend(stream)
    assert [mark for mark in timeline.marks if mark.name == "every.seventh"]
    for place in (499, 3, 250, 64, 63, 65, 499):
        fresh = extended.society(SETTINGS)
        for event in stream[:place]:
            fresh.step(event)
        assert dumped(timeline.society_at(place)) == dumped(fresh)


def test_it_is_part_of_what_a_recording_is(extended: InitialState, tmp_path: Path) -> None:
    plain = InitialState(seed=3)
    assert not extended.plain and plain.plain
    assert extended.packed() != plain.packed()
    assert InitialState.from_content(cbor2.loads(extended.packed())) == extended
    assert "extensions" not in plain.content()
    cache = Cache(tmp_path, 10_000_000)
    timeline = Timeline(SETTINGS, initial=extended)
    timeline.extend(session(300))
    assert cache.save("s", timeline, ())
    assert cache.load("s", SETTINGS, plain) is None
    changed = extended._replace(extensions=(REF._replace(code="other"),))
    assert cache.load("s", SETTINGS, changed) is None
    kept = cache.load("s", SETTINGS, extended)
    assert kept is not None and dumped(kept.timeline.society) == dumped(timeline.society)


def test_a_what_if_runs_it_too(extended: InitialState) -> None:
    timeline = Timeline(SETTINGS, initial=extended)
    timeline.extend(session(300))
    whatif = WhatIf(timeline, {"receptor.half_life.frustration": 300.0})
    whatif.run(lambda _: None, lambda: False)
    rows = whatif.result().difference.table()
    kept, gained, lost, moved = rows["every.seventh"]
    assert kept > 5 and (gained, lost, moved) == (0, 0, 0)


def test_without_one_the_plain_engine_is_used() -> None:
    society = InitialState().society(SETTINGS)
    assert type(society.engine()) is Engine


@pytest.mark.parametrize(
    ("kind", "sound", "said"),
    [
        (Every, True, "two runs give the same result"),
        (Faulty, False, "3 faults"),
        (Forgetful, False, "state is NOT complete"),
        (Clocked, False, "NOT deterministic"),
    ],
)
def test_the_check_finds_what_would_break_a_replay(kind: type[StepExtension], sound: bool, said: str) -> None:
    proof = prove(kind, session(200))
    assert proof.sound is sound
    assert any(said in sentence for sentence in proof.sentences), proof.sentences
