"""The ring's law, late readers, and what a dump carries."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.engine.mind.fabric import MIND_EVENTS, EpisodeEnded, Fabric, RegimeChanged, SnapshotAsked, ToolReturned
from core.errors import StateError
from core.settings.mind import FabricSettings


def asked(number: int) -> SnapshotAsked:
    return SnapshotAsked(float(number), number, "test")


def test_10050_events_keep_10000_from_number_50() -> None:
    fabric = Fabric(FabricSettings())
    assert [fabric.emit(asked(number)) for number in range(10_050)] == list(range(10_050))
    kept = fabric.replay()
    assert len(kept) == len(fabric) == 10_000
    assert fabric.first == kept[0][0] == 50
    assert all(number == event.tick for number, event in kept if isinstance(event, SnapshotAsked))
    assert kept[-1] == (10_049, asked(10_049))


def test_a_late_reader_replays_from_a_number() -> None:
    fabric = Fabric(FabricSettings(capacity=100))
    for number in range(130):
        fabric.emit(asked(number))
    assert [number for number, _ in fabric.replay(127)] == [127, 128, 129]
    assert fabric.replay(130) == [] and fabric.replay(999) == []
    reader = fabric.subscribe(20)
    assert [number for number, _ in reader.poll()] == list(range(30, 130))
    assert reader.missed == 10
    assert reader.poll() == []


def test_a_reader_sees_each_event_once_and_changes_nothing() -> None:
    fabric = Fabric(FabricSettings())
    reader, from_start = fabric.subscribe(), fabric.subscribe(0)
    fabric.emit(asked(0))
    before = fabric.dump()
    assert reader.poll() == from_start.poll() == [(0, asked(0))]
    fabric.emit(asked(1))
    assert reader.poll() == [(1, asked(1))]
    assert fabric.dump() != before and from_start.next == 1
    assert reader.missed == 0


def test_a_slow_reader_is_told_what_it_missed() -> None:
    fabric = Fabric(FabricSettings(capacity=100))
    reader = fabric.subscribe()
    for number in range(250):
        fabric.emit(asked(number))
    assert len(reader.poll()) == 100
    assert reader.missed == 150


@given(st.integers(0, 400), st.integers(0, 60), st.integers(0, 200))
@settings(max_examples=50)
def test_a_loaded_fabric_numbers_and_shows_on_as_before(before: int, tail: int, after: int) -> None:
    group = FabricSettings(capacity=100, tail=tail)
    one, other = Fabric(group), Fabric(group)
    for number in range(before):
        one.emit(asked(number))
    other.load(cbor2.loads(cbor2.dumps(one.dump(), canonical=True)))
    for number in range(after):
        assert one.emit(asked(number)) == other.emit(asked(number))
    assert one.dump() == other.dump()
    assert one.recent() == other.recent()
    assert len(one.recent()) == min(tail, before + after)
    assert other.replay(other.first) == one.replay(other.first)


def test_every_kind_survives_a_dump_and_leaves_no_live_part_in_it() -> None:
    values = {"at": 1.5, "cost": None, "duration": None}
    events = [kind(*(values.get(field, field) for field in kind.__struct_fields__)) for kind in MIND_EVENTS]  # type: ignore[arg-type]
    one, other = Fabric(FabricSettings()), Fabric(FabricSettings())
    for event in events:
        one.emit(event)
    state = one.dump()
    one.emit(RegimeChanged(2.0, "calm", "crisis"))
    other.load(state)
    assert [event for _, event in other.replay()] == events
    assert [type(event) for _, event in other.replay()] == list(MIND_EVENTS)


def test_a_full_tail_stays_small() -> None:
    fabric = Fabric(FabricSettings())
    for number in range(20_000):
        fabric.emit(ToolReturned(1.7e9 + number, "Bash", "shell_exec", "success", 1.25))
        fabric.emit(EpisodeEnded(1.7e9, number, "turbulence", "loss", "pattern"))
    assert len(cbor2.dumps(fabric.dump())) < 8_000


def test_an_unknown_event_in_a_dump_is_refused() -> None:
    with pytest.raises(StateError):
        Fabric(FabricSettings()).load((1, [["Teleported", 1.0]]))
