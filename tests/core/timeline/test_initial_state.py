"""A recording that began with what earlier sessions left seeks as exactly as any other."""

from __future__ import annotations

from pathlib import Path

import cbor2
import pytest

from bench.workload import session
from core.engine.society import Society
from core.events import MAIN
from core.settings import Settings
from core.timeline.initial_state import InitialState
from core.timeline.opening import Cache
from core.timeline.rerun import sim, with_edits
from core.timeline.timeline import SettingsChange, Timeline

STREAM = session(700)


def heir() -> InitialState:
    """What an earlier session leaves."""
    earlier = Timeline(Settings(), seed=1)
    earlier.extend(session(1500, seed=9))
    past = earlier.society.engine(MAIN).mind.heart.episodes.history
    assert past
    return InitialState(2, prior={"frustration": 0.2, "flow": 0.1}, past=tuple(past))


def bytes_of(society: Society) -> bytes:
    return cbor2.dumps(society.dump(), canonical=True)


@pytest.mark.parametrize("index", [0, 1, 255, 256, 300, 699])
def test_a_seek_equals_a_replay_from_the_same_beginning(index: int) -> None:
    initial = heir()
    timeline = Timeline(Settings(), initial=initial)
    timeline.extend(STREAM)
    alone = initial.society(Settings())
    for event in STREAM[:index]:
        alone.step(event)
    assert bytes_of(timeline.society_at(index)) == bytes_of(alone)
    again = timeline.society_at(index).engine(MAIN).mind.recall(3)
    assert again == alone.engine(MAIN).mind.recall(3)


def test_a_prior_moves_the_first_thresholds_and_the_past_what_is_recalled() -> None:
    plain, given = InitialState(2).society(Settings()), heir().society(Settings())
    first = [society.engine(MAIN).receptor.levels()[0] for society in (plain, given)]
    assert first[1] > first[0]
    for event in STREAM[:200]:
        plain.step(event)
        given.step(event)
    assert len(given.engine(MAIN).mind.recall(50)) > len(plain.engine(MAIN).mind.recall(50))


def test_a_what_if_begins_as_the_recording_did() -> None:
    timeline = Timeline(Settings(), initial=heir())
    timeline.extend(STREAM)
    branch = sim(timeline, timeline.settings)
    assert branch.grow() and branch.difference().equal


def test_a_kept_recording_is_known_by_what_it_was_given(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 10**9)
    other = with_edits(Settings(), {"receptor.ambient.offset.frustration": 0.05})
    given = [
        (InitialState(2), ()),
        (heir(), ()),
        (heir(), (SettingsChange(30, other),)),
        (heir(), (SettingsChange(50, other),)),
    ]
    states = []
    for initial, later in given:
        assert cache.load("story", Settings(), initial, later) is None
        timeline = Timeline(Settings(), initial=initial, later=later)
        timeline.extend(STREAM[:50])
        assert cache.save("story", timeline, (), later)
        states.append((bytes_of(timeline.society), timeline.changes))
    for (initial, later), (state, changes) in zip(given, states, strict=True):
        kept = cache.load("story", Settings(), initial, later)
        assert kept is not None
        assert (bytes_of(kept.timeline.society), kept.timeline.changes) == (state, changes)
        assert bytes_of(kept.timeline.society_at(40)) == bytes_of(kept.timeline.branch_point(40))


def test_what_was_applied_besides_is_not_kept(tmp_path: Path) -> None:
    timeline = Timeline(Settings(), initial=heir())
    timeline.extend(STREAM[:50])
    timeline.apply(with_edits(Settings(), {"receptor.ambient.offset.frustration": 0.05}))
    assert not Cache(tmp_path, 10**9).save("story", timeline, ())
