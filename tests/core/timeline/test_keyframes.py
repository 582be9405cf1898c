"""Key frames: what was kept comes back, and damage is found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import StoreError
from core.timeline import keyframes
from core.timeline.keyframes import (
    KeyFrame,
    KeyFrames,
    apply,
    encode,
    join,
    split_state,
    state_changes,
    state_identity,
    unpack,
)

leaves = st.one_of(st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1), st.text(max_size=8), st.none())
names = st.text("abcdefgh", min_size=1, max_size=4)
states = st.dictionaries(
    names,
    st.one_of(
        leaves,
        st.lists(leaves, max_size=4),
        st.dictionaries(names, leaves, max_size=4),
        st.integers(0, 200).map(lambda count: {f"src/{row}.py": [row, 0.5] for row in range(count)}),
    ),
    min_size=1,
    max_size=5,
)


@given(states)
def test_a_state_cut_and_joined_is_the_same(state: dict[str, Any]) -> None:
    assert encode(join(split_state(state))) == encode(state)


@given(states, states)
def test_changes_lead_from_one_state_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    old, new = split_state(before), split_state(after)
    assert apply(old, state_changes(old, new)) == new
    assert state_changes(new, new) == []
    assert (state_identity(old) == state_identity(new)) == (encode(before) == encode(after))


@given(st.lists(states, min_size=1, max_size=25))
def test_every_frame_comes_back_whole(run: list[dict[str, Any]]) -> None:
    frames = KeyFrames()
    for number, state in enumerate(run):
        frames.add(number * 10, state)
    for number, state in enumerate(run):
        frame = frames.nearest(number * 10 + 9)
        assert frame is not None and frame.after == number * 10
        assert encode(frames.restore(frame)) == encode(state)


@pytest.mark.plain
def test_a_frame_is_read_while_the_next_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = KeyFrames()
    first = frames.add(10, {"number": 1})
    read: list[Any] = []
    real = keyframes.packed_identity

    def read_meanwhile(state: bytes) -> str:
        read.append(frames.restore(first))
        return real(state)

    monkeypatch.setattr(keyframes, "packed_identity", read_meanwhile)
    frames.add(20, {"number": 2})
    assert read == [{"number": 1}]


def slow(number: int) -> dict[str, Any]:
    return {"still": list(range(200)), "moving": number}


def test_an_i_frame_comes_first_after_ten_p_frames_and_when_the_regime_turns() -> None:
    frames = KeyFrames()
    kinds = "".join(frames.add(number, slow(number), "calm").kind for number in range(14))
    assert kinds == "I" + "P" * 10 + "I" + "PP"
    assert frames.add(14, slow(14), "crisis").kind == "I"
    assert frames.add(15, slow(15), "crisis").kind == "P"
    assert frames.add(16, slow(16), "crisis", whole=True).kind == "I"


def test_a_great_change_makes_an_i_frame() -> None:
    frames = KeyFrames()
    frames.add(0, {"a": "x" * 70, "b": "y" * 30})
    assert frames.add(1, {"a": "x" * 70, "b": "z" * 20}).kind == "I"
    assert frames.add(2, {"a": "x" * 70, "b": "z" * 20, "c": "1"}).kind == "P"


@pytest.mark.parametrize("place", range(6))
def test_a_flipped_bit_is_found_and_named(place: int) -> None:
    frames = KeyFrames()
    for number in range(6):
        frames.add(number * 100, slow(number))
    kept = list(frames)
    packed = bytearray(kept[place].packed)
    packed[len(packed) // 2] ^= 4
    damaged = KeyFrames()
    damaged.adopt(kept)
    damaged._frames[place] = KeyFrame(kept[place].after, kept[place].kind, kept[place].id, bytes(packed))
    damaged._tip = (-1, {})
    with pytest.raises(StoreError, match=f"after {place * 100} events"):
        damaged.restore(damaged._frames[place])


def busy(number: int) -> dict[str, Any]:
    return {"moving": [(number + row) * 7919 % 10007 / 7 for row in range(400)], "still": "x" * 4000, "at": number}


def test_whole_frames_lean_on_one_that_stands_alone_and_are_smaller_for_it() -> None:
    frames = KeyFrames(p_frames=0)
    for number in range(200):
        frames.add(number, busy(number))
    kept = list(frames)
    assert {frame.kind for frame in kept} == {"I"}
    alone = [frame.after for frame in kept if frame.leans < 0]
    assert alone == [0, 96, 192]
    leans = {frame.after: frame.leans for frame in kept}
    assert [leans[number] for number in (1, 2, 3, 11, 13, 23, 95, 97)] == [0, 1, 2, 10, 12, 22, 94, 96]
    assert [leans[number] for number in (12, 24, 36, 48, 60, 84, 108)] == [0, 0, 24, 0, 48, 72, 96]
    assert sum(len(frame.packed) for frame in kept if frame.leans >= 0) / 197 < 0.3 * len(kept[0].packed)
    assert all(encode(frames.restore(frame)) == encode(busy(frame.after)) for frame in kept)


def test_frames_kept_elsewhere_lean_as_before_and_later_ones_begin_again() -> None:
    frames, again = KeyFrames(p_frames=0), KeyFrames(p_frames=0)
    for number in range(20):
        frames.add(number, busy(number))
    again.adopt(list(frames))
    added = again.add(20, busy(20))
    assert added.leans == -1
    assert all(encode(again.restore(frame)) == encode(busy(frame.after)) for frame in again)


@pytest.mark.parametrize("broken", [b"", b"not packed at all"])
def test_a_frame_that_leans_on_a_damaged_one_is_damaged_too(broken: bytes) -> None:
    frames, again = KeyFrames(p_frames=0), KeyFrames(p_frames=0)
    for number in range(100):
        frames.add(number, busy(number))
    rows = list(frames)
    again.adopt([rows[0]._replace(packed=broken), *rows[1:]])
    with pytest.raises(StoreError, match="damaged"):
        again.restore(rows[5])
    again.adopt(rows[1:])
    with pytest.raises(StoreError, match="compressed against is gone"):
        again.restore(rows[5])
    assert encode(again.restore(rows[98])) == encode(busy(98))


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**40])
def test_a_number_of_any_size_is_kept(number: int) -> None:
    """At, below and above what MessagePack has room for."""
    state = {"one": {"count": number}, "two": (1, 1.0, -0.0, None, True, b"x", "x")}
    frames = KeyFrames()
    kept = frames.add(1, state)
    frames.add(2, {"one": {"count": 0}})
    found = frames.restore(kept)
    assert found["one"] == {"count": number}
    assert repr(found["two"]) == repr([1, 1.0, -0.0, None, True, b"x", "x"])


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\xc1\xff", b"\x92\x01", b"\xa1\xff"])
def test_what_was_never_packed_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(content)
