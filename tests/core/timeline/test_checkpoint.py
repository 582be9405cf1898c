"""Checkpoints: go on exactly from there, and never from a damaged one."""

from __future__ import annotations

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workload import session
from core.engine.society import Society
from core.errors import StoreError
from core.events import Event
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.timeline.checkpoints import has_state, restore_checkpoint, state_hash, take_checkpoint
from core.timeline.keyframes import encode
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
    minds = restore_checkpoint(take_checkpoint(timeline, "here", 5.0, place), timeline)
    assert canonical(minds) == canonical(timeline.society_at(place))
    for event in stream[place:]:
        minds.step(event)
    assert canonical(minds) == canonical(timeline.society)


def test_the_hash_is_of_the_state_alone() -> None:
    timeline = recorded(session(60))
    first, later = take_checkpoint(timeline, "a", 1.0, 30), take_checkpoint(timeline, "b", 2.0, 30)
    assert first.content_hash == later.content_hash == blake3(canonical(timeline.society_at(30))).hexdigest()
    assert take_checkpoint(timeline, "a", 1.0, 31).content_hash != first.content_hash
    assert take_checkpoint(timeline, "edge", 1.0).place == 60
    assert has_state(timeline, 30, first.content_hash)
    assert not has_state(timeline, 31, first.content_hash) and not has_state(timeline, 61, first.content_hash)
    assert state_hash(timeline.society_at(30)) == first.content_hash


def test_settings_changed_later_do_not_reach_back() -> None:
    stream = session(80)
    timeline = recorded(stream[:40])
    before = take_checkpoint(timeline, "before", 1.0)
    timeline.apply(EAGER)
    timeline.extend(stream[40:60])
    after = take_checkpoint(timeline, "after", 2.0)
    timeline.extend(stream[60:])
    minds = restore_checkpoint(after, timeline)
    assert minds.settings == EAGER
    for event in stream[60:]:
        minds.step(event)
    assert canonical(minds) == canonical(timeline.society)
    assert restore_checkpoint(before, timeline).settings == EAGER


@settings(max_examples=30)
@given(st.integers(0, 10**9), st.integers(0, 7))
def test_any_flipped_bit_is_refused_by_name(spot: int, bit: int) -> None:
    timeline = recorded(session(30))
    whole = take_checkpoint(timeline, "fragile", 1.0)
    state = bytearray(whole.state)
    state[spot % len(state)] ^= 1 << bit
    with pytest.raises(StoreError, match="'fragile' is damaged"):
        restore_checkpoint(replace(whole, state=bytes(state)), timeline)
    assert canonical(restore_checkpoint(whole, timeline)) == canonical(timeline.society)


def test_a_state_of_another_kind_is_refused_by_name() -> None:
    timeline = recorded(session(10))
    for content in (b"\xa0", encode([1, 2]), b"\xff\xff", encode({"version": 99})):
        fake = replace(take_checkpoint(timeline, "odd", 1.0), state=content, content_hash=blake3(content).hexdigest())
        with pytest.raises(StoreError, match="'odd' does not fit"):
            restore_checkpoint(fake, timeline)
