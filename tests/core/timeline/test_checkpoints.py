"""Checkpoints on disk: as many as the setting says, and a return that is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.workload import session
from core.errors import StoreError
from core.settings import Settings
from core.settings.layers import with_value
from core.store.bookmarks import Bookmarks
from core.timeline.checkpoints import Checkpoints, take_checkpoint
from core.timeline.timeline import Timeline


def recorded(count: int, settings: Settings | None = None) -> Timeline:
    timeline = Timeline(settings or Settings())
    timeline.extend(session(count))
    return timeline


def store(folder: Path, kept: int = 16) -> Checkpoints:
    return Checkpoints(Bookmarks("one", folder), kept)


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_as_many_states_are_kept_as_the_setting_says(tmp_path: Path, kept: int) -> None:
    timeline, names = recorded(20), ["a", "b", "c"]
    for number, name in enumerate(names):
        store(tmp_path, kept).make(timeline, number, name, created=float(number))
    assert store(tmp_path, kept).saved_names() == tuple(names[-kept:])
    assert [one.name for one in store(tmp_path, kept).bookmarks.read()] == names
    found = store(tmp_path, kept).back(timeline, "a")
    assert found.standing == "same"
    assert (found.saved is None) == (kept < 3)


def test_a_name_is_kept_once_where_it_stands(tmp_path: Path) -> None:
    timeline, kept = recorded(20), store(tmp_path, 3)
    for number, name in enumerate("abc"):
        kept.make(timeline, number, name, created=float(number))
    kept.make(timeline, 19, "a", "later", created=9.0)
    assert kept.saved_names() == ("a", "b", "c")
    kept.make(timeline, 5, "d", created=10.0)
    assert kept.saved_names() == ("b", "c", "d")
    (again,) = [one for one in kept.bookmarks.read() if one.name == "a"]
    assert (again.place, again.note) == (19, "later")


def test_automatic_ones_make_room_for_the_persons_own(tmp_path: Path) -> None:
    timeline, kept = recorded(20), store(tmp_path, 3)
    kept.make(timeline, 1, "mine", created=1.0)
    for number in range(2, 6):
        automatic = take_checkpoint(timeline, f"auto {number}", float(number), number)
        assert kept.keep_automatic(automatic, 0.0, "saved automatically")
    assert kept.saved_names() == ("mine", "auto 4", "auto 5")
    kept.make(timeline, 6, "mine too", created=6.0)
    kept.make(timeline, 7, "and mine", created=7.0)
    assert kept.saved_names() == ("mine", "mine too", "and mine")
    assert not kept.keep_automatic(take_checkpoint(timeline, "auto 8", 8.0, 8), 0.0)
    assert [one.name for one in kept.bookmarks.read()] == ["mine", "mine too", "and mine"]
    kept.make(timeline, 9, "newest", created=9.0)
    assert kept.saved_names() == ("mine too", "and mine", "newest")
    assert [one.name for one in kept.bookmarks.read()] == ["mine", "mine too", "and mine", "newest"]


def test_a_return_is_checked_against_the_recording(tmp_path: Path) -> None:
    kept = store(tmp_path)
    made = kept.make(recorded(60), 40, "here", "why", created=1.0)
    assert made.checkpoint and made.note == "why"
    assert kept.back(recorded(60), "here").standing == "same"
    assert kept.back(recorded(40), "here").standing == "same"
    assert kept.back(recorded(39), "here").standing == "gone"
    other = kept.back(recorded(60, with_value(Settings(), "receptor.emotion.half_life.frustration", 20.0)), "here")
    assert other.standing == "differs" and other.saved is not None
    assert "differs from the saved one" in other.words


def test_a_damaged_state_is_refused_and_others_stay(tmp_path: Path) -> None:
    timeline, kept = recorded(20), store(tmp_path)
    kept.make(timeline, 5, "bad", created=1.0)
    (path,) = tmp_path.rglob("*.checkpoint")
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))
    kept.make(timeline, 6, "good", created=2.0)
    with pytest.raises(StoreError, match="'bad' is damaged"):
        kept.back(timeline, "bad")
    assert kept.back(timeline, "good").standing == "same"
    path.write_bytes(b"\xc1 not a checkpoint")
    with pytest.raises(StoreError, match="damaged"):
        kept.back(timeline, "bad")
    assert kept.saved_names() == ("good",) and "not changed" in kept.bookmarks.notices[0]


def test_a_bookmark_without_a_state_and_an_unknown_name(tmp_path: Path) -> None:
    timeline, kept = recorded(20), store(tmp_path)
    kept.make(timeline, 5, "gone", created=1.0)
    assert kept.remove("gone") and not kept.remove("gone")
    assert not list(tmp_path.rglob("*.checkpoint"))
    with pytest.raises(StoreError, match="no bookmark is named 'gone'"):
        kept.back(timeline, "gone")
