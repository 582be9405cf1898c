"""Checkpoints: go on exactly from there, and never from a damaged one."""

from __future__ import annotations

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workload import session
from core.errors import StoreError
from core.events import Event
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.society import Society
from core.timeline.checkpoint import CheckpointRegistry, agrees, state_hash, take_checkpoint
from core.timeline.snapshot import encode
from core.timeline.timeline import Timeline
from tests.core.strategies import events

EAGER = resolve([Layer("test", (Given("receptor.ambient.offset.frustration", 0.05),))]).settings


def recorded(stream: list[Event]) -> Timeline:
    timeline = Timeline(Settings())
    timeline.extend(stream)
    return timeline


def canonical(society: Society) -> bytes:
    return encode(society.dump())


@settings(max_examples=20)
@given(events(min_size=1, max_size=50, agents=("main", "child-x")), st.integers(0, 50))
def test_a_restored_society_goes_on_exactly(stream: list[Event], place: int) -> None:
    timeline = recorded(stream)
    registry = CheckpointRegistry()
    registry.save(take_checkpoint(timeline, "here", 5.0, place))
    restored = registry.restore(timeline, "here")
    assert canonical(restored) == canonical(timeline.society_at(place))
    for event in stream[place:]:
        restored.step(event)
    assert canonical(restored) == canonical(timeline.society)


def test_the_hash_is_of_the_state_alone() -> None:
    timeline = recorded(session(60))
    first, later = take_checkpoint(timeline, "a", 1.0, 30), take_checkpoint(timeline, "b", 2.0, 30)
    assert first.content_hash == later.content_hash == blake3(canonical(timeline.society_at(30))).hexdigest()
    assert take_checkpoint(timeline, "a", 1.0, 31).content_hash != first.content_hash
    assert take_checkpoint(timeline, "edge", 1.0).place == 60
    assert agrees(timeline, 30, first.content_hash)
    assert not agrees(timeline, 31, first.content_hash) and not agrees(timeline, 61, first.content_hash)
    assert state_hash(timeline.society_at(30)) == first.content_hash


def test_settings_changed_later_do_not_reach_back() -> None:
    stream = session(80)
    timeline = recorded(stream[:40])
    registry = CheckpointRegistry()
    registry.save(take_checkpoint(timeline, "before", 1.0))
    timeline.apply(EAGER)
    timeline.extend(stream[40:60])
    registry.save(take_checkpoint(timeline, "after", 2.0))
    timeline.extend(stream[60:])
    assert registry.restore(timeline, "after").settings == EAGER
    restored = registry.restore(timeline, "after")
    for event in stream[60:]:
        restored.step(event)
    assert canonical(restored) == canonical(timeline.society)
    at_change = registry.restore(timeline, "before")
    assert at_change.settings == EAGER


@settings(max_examples=30)
@given(st.integers(0, 10**9), st.integers(0, 7))
def test_any_flipped_bit_is_refused_by_name(spot: int, bit: int) -> None:
    timeline = recorded(session(30))
    registry = CheckpointRegistry()
    whole = take_checkpoint(timeline, "fragile", 1.0)
    state = bytearray(whole.state)
    state[spot % len(state)] ^= 1 << bit
    registry.save(replace(whole, state=bytes(state)))
    registry.save(take_checkpoint(timeline, "good", 1.0))
    with pytest.raises(StoreError, match="'fragile' is damaged"):
        registry.restore(timeline, "fragile")
    assert canonical(registry.restore(timeline, "good")) == canonical(timeline.society)


def test_a_state_of_another_kind_is_refused_by_name() -> None:
    timeline = recorded(session(10))
    registry = CheckpointRegistry()
    for content in (b"\xa0", encode([1, 2]), b"\xff\xff", encode({"version": 99})):
        fake = replace(
            take_checkpoint(timeline, "odd", 1.0), state=content, content_hash=blake3(content).hexdigest()
        )
        registry.save(fake)
        with pytest.raises(StoreError, match="'odd' does not fit"):
            registry.restore(timeline, "odd")


def test_the_first_saved_go_first_and_a_name_is_kept_once() -> None:
    timeline = recorded(session(20))
    registry = CheckpointRegistry(kept=3)
    for number, name in enumerate("abc"):
        assert registry.save(take_checkpoint(timeline, name, float(number), number)) == []
    registry.save(take_checkpoint(timeline, "a", 9.0, 19))
    assert len(registry) == 3 and registry.get("a").place == 19
    assert [each.name for each in registry.save(take_checkpoint(timeline, "d", 4.0))] == ["a"]
    assert [each.name for each in registry] == ["b", "c", "d"]
    removed = registry.remove("c")
    assert removed is not None and removed.name == "c"
    assert "c" not in registry and registry.remove("c") is None
    with pytest.raises(StoreError, match="no checkpoint 'c'"):
        registry.restore(timeline, "c")
