"""What watched sessions were given, on disk: by content, bounded, removable, refused where damaged."""

from __future__ import annotations

from pathlib import Path

import cbor2
import pytest

from bench.workload import session
from core.engine.affect.policy import Policy
from core.engine.response.rules import Learned, built_in
from core.errors import StoreError
from core.events import MAIN
from core.settings import Settings
from core.store.carry_over import CarryOverStore, KeptStart, Later
from core.timeline.initial_state import InitialState
from core.timeline.rerun import with_edits
from core.timeline.run_inputs import VERSION, InitialStates, pack_change, pack_start, unpack_inputs
from core.timeline.timeline import SettingsChange, Timeline


def blobs(store: CarryOverStore) -> list[Path]:
    return list(store.folder.glob("*.blob"))


def test_the_first_to_give_is_the_one_who_gave(tmp_path: Path) -> None:
    store = CarryOverStore(tmp_path)
    assert store.read("s") is None
    assert store.begin("s", b"first") == KeptStart(b"first")
    assert store.begin("s", b"second") == KeptStart(b"first") == store.read("s")
    store.change("s", 3, b"later")
    store.change("s", 9, b"last")
    assert store.read("s") == KeptStart(b"first", (Later(3, b"later"), Later(9, b"last")))
    store.change("s", 5, b"instead")
    assert store.read("s") == KeptStart(b"first", (Later(3, b"later"), Later(5, b"instead")))
    store.change("nobody", 1, b"x")
    assert store.read("nobody") is None


def test_the_same_content_is_kept_once_and_goes_with_its_last_session(tmp_path: Path) -> None:
    store = CarryOverStore(tmp_path)
    store.begin("a", b"same")
    store.begin("b", b"same")
    assert len(blobs(store)) == 1
    assert store.remove("a") and not store.remove("a")
    assert store.read("b") == KeptStart(b"same")
    assert store.clear() == 1
    assert (store.count(), blobs(store)) == (0, [])


def test_no_session_is_named_on_the_disk(tmp_path: Path) -> None:
    CarryOverStore(tmp_path).begin("secret-project", b"x")
    assert not any(b"secret" in path.read_bytes() or "secret" in path.name for path in tmp_path.iterdir())


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    import os

    store = CarryOverStore(tmp_path, limit=3_000)
    for number in range(12):
        store.begin(f"s{number}", os.urandom(400))
        os.utime(store._path(f"s{number}"), (number, number))
    kept = [number for number in range(12) if store.read(f"s{number}")]
    assert kept and kept == list(range(kept[0], 12)) and kept[0] > 0
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3_000 + 1_000


def everything() -> InitialState:
    earlier = Timeline(Settings(), seed=1)
    earlier.extend(session(1500, seed=9))
    return InitialState(
        seed=2**64 - 1,
        policy=Policy.parse({"name": "strict", "noise": {}}),
        rules=built_in(),
        learned=Learned({"frustration": 0.1 + 0.2}, {"flow": 1e-9}, 3, 1.5e9),
        prior={"frustration": 1 / 3, "flow": 0.1},
        past=tuple(earlier.society.engine(MAIN).mind.heart.episodes.history),
    )


def test_what_is_unpacked_is_what_was_packed() -> None:
    chosen = with_edits(
        Settings(), {"receptor.ambient.offset.frustration": 0.05, "mind.tiers.none_words": ["none", "x"]}
    )
    kept = KeptStart(pack_start(chosen, everything()), (Later(7, pack_change(SettingsChange(7, Settings()))),))
    today = with_edits(Settings(), {"screen.rate": 11, "receptor.ambient.offset.frustration": 0.7})
    start = unpack_inputs(kept, today)
    assert start.initial == everything()
    assert start.settings.receptor == chosen.receptor and start.settings.mind == chosen.mind
    assert start.settings.screen == today.screen, "what a run does not depend on is as today"
    assert start.later[0].settings.receptor == Settings().receptor
    assert pack_start(start.settings, start.initial) == kept.start


@pytest.mark.parametrize(
    "body", [b"", b"\xff", cbor2.dumps([]), cbor2.dumps({"version": VERSION}), cbor2.dumps({"version": VERSION + 1})]
)
def test_what_cannot_be_understood_is_refused(body: bytes) -> None:
    with pytest.raises(StoreError, match="stored start"):
        unpack_inputs(KeptStart(body), Settings())


def test_a_newer_one_is_left_alone_and_named(tmp_path: Path) -> None:
    store = CarryOverStore(tmp_path)
    store.begin("s", cbor2.dumps({"version": VERSION + 1}))
    initial_states = InitialStates(Settings(), store=store)
    assert initial_states.of("s").settings is initial_states.settings
    assert len(initial_states.notices) == 1 and f"version {VERSION + 1}" in initial_states.notices[0]


def test_a_folder_that_cannot_be_written_is_said_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    initial_states = InitialStates(Settings(), store=CarryOverStore(tmp_path / "file" / "kept"))
    start = initial_states.begin("s", InitialState)
    assert start.settings is initial_states.settings and start.initial.seed
    assert "cannot be written" in initial_states.notices[0]


def test_what_cannot_be_forgotten_is_said_and_nothing_is_made_where_nothing_is(tmp_path: Path) -> None:
    assert CarryOverStore(tmp_path / "none").clear() == 0
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    store = CarryOverStore(tmp_path / "file")
    for forget in (store.clear, lambda: store.remove("s")):
        with pytest.raises(StoreError, match="the starts of sessions cannot be deleted"):
            forget()
