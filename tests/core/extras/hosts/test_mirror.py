"""The mirror's logs: each message once, whole lines, nothing believed that a stranger wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import StoreError
from core.extras.hosts.mirror import HostRoster, Ledger, SignsOfLife, host_of
from core.extras.hosts.shipper import SenderFile
from core.extras.hosts.stream import Sender, StreamItem, session_subject, token
from core.live.fleet.roster import once
from core.settings import Settings
from tests.core.extras.hosts.servers import begins, use
from tests.no_room import room


def items(count: int, host: str = "h.1", session: str = "s") -> list[StreamItem]:
    sender = Sender(host, "claude-code", session)
    made = [sender.message(begins(session)), *(sender.message(use(number)) for number in range(count))]
    return [StreamItem(3 * place + 1, one.subject, one.id.hex(), one.payload, 0) for place, one in enumerate(made)]


def log_of(folder: Path) -> Path:
    (path,) = folder.glob("*/*/*.jsonl")
    return path


def test_the_place_is_kept(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(items(5))
    ledger.save()
    assert Ledger(tmp_path).place == ledger.place == 16


def test_after_a_crash_of_the_machine_the_place_on_the_disk_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(items(3))
    ledger.sync()
    ledger.add(items(5))
    ledger.save()
    assert Ledger(tmp_path).place == 16
    monkeypatch.setattr("core.extras.hosts.mirror._boot", lambda: "another start")
    after = Ledger(tmp_path)
    assert after.place == 10
    before = log_of(tmp_path).read_bytes()
    after.add([item for item in items(5) if item.sequence > 10])
    assert log_of(tmp_path).read_bytes() == before


@given(st.integers(0, 3000), st.integers(0, 6))
def test_a_crash_at_any_byte_loses_and_doubles_nothing(
    tmp_path_factory: pytest.TempPathFactory, cut: int, noted: int
) -> None:
    """The log is cut anywhere, the place says anything up to what the log holds."""
    folder = tmp_path_factory.mktemp("mirror")
    all_items = items(8)
    whole = Ledger(folder / "whole")
    whole.add(all_items)
    broken = Ledger(folder / "broken")
    broken.add(all_items)
    path = log_of(folder / "broken")
    content = path.read_bytes()
    path.write_bytes(content[: min(cut, len(content))])
    held = [json.loads(line)["seq"] for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    safe = [0, *held][min(noted, len(held))]
    again = Ledger(folder / "broken")
    again.add([item for item in all_items if item.sequence > safe])
    assert path.read_bytes() == log_of(folder / "whole").read_bytes()


@pytest.mark.parametrize(
    ("said", "data"),
    [
        ("noo.h.a.s", b"no json"),
        ("noo.h.a.s", b"[1]"),
        ("noo.h.a.s", b"{}"),
        ("noo.h.a.s", b'{"kind":"prompt"' + b" " * 1_000_001 + b"}"),
        ("noo.h.a", b'{"kind":"prompt"}'),
        ("noo.h.a.../../x", b'{"kind":"prompt"}'),
    ],
    ids=["text", "list", "empty", "long", "short subject", "path"],
)
def test_a_strangers_message_is_refused_and_counted(tmp_path: Path, said: str, data: bytes) -> None:
    ledger = Ledger(tmp_path)
    ledger.add([StreamItem(1, said, "", data, 0)])
    assert (ledger.refused, ledger.place) == (1, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_a_message_names_is_not_believed(tmp_path: Path) -> None:
    hostile = {
        "kind": "tool_use",
        "at": 1.0,
        "session": "s",
        "seq": 900,
        "where": {"file": "/etc/passwd", "length": 9},
        "called": {"file": "/etc/passwd"},
    }
    held = {"kind": "held", "at": 1.0, "events": [dict(hostile)]}
    ledger = Ledger(tmp_path)
    for place, told in enumerate((hostile, held), 1):
        ledger.add([StreamItem(place, session_subject("h", "a", "s"), "", json.dumps(told, indent=1).encode(), 0)])
    first, second = log_of(tmp_path).read_bytes().splitlines()
    assert b"passwd" not in first + second
    assert [json.loads(line)["seq"] for line in (first, second)] == [1, 2]


def test_a_log_is_as_old_as_its_last_event(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(items(5))
    assert log_of(tmp_path).stat().st_mtime == use(4).at


def test_old_logs_go_with_the_events_of_the_stream(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(items(2))
    ledger.tidy(7)
    assert log_of(tmp_path).exists()
    ledger.tidy(8)
    assert not list(tmp_path.glob("*/*/*.jsonl"))


@pytest.mark.parametrize(
    ("lost", "silent", "word", "why"),
    [
        ("", 40.0, "working", ""),
        ("", 40.1, "unreadable", "no sign of life from h.1"),
        ("gone", 0.0, "unreadable", "no data from the NATS server: gone"),
    ],
)
def test_a_host_that_is_lost_is_no_all_clear(
    tmp_path: Path, home: Path, lost: str, silent: float, word: str, why: str
) -> None:
    ledger = Ledger(tmp_path / "mirror")
    ledger.add(items(60))
    signs = SignsOfLife(lambda: 1000.0 + silent)
    signs.lost = lost
    signs.heard[token("h.1")] = 1000.0
    wall = 1_760_000_060.0
    os.utime(log_of(ledger.folder), (wall, wall))
    roster = HostRoster(Settings(), signs, ledger.folder, wall=lambda: wall)
    ((row,), _) = once(roster)
    assert row.host == "h.1" == host_of(row.path, ledger.folder)
    assert row.status.word == word if why else row.status.word != "unreadable"
    assert why in row.status.why


def test_another_stream_holds_nothing_of_ours(tmp_path: Path) -> None:
    place = SenderFile(tmp_path / "place.sqlite3")
    assert place.stream("monday", 0) == (1, False)
    place.add([("s", b"a" * 16, 4), ("s", b"b" * 16, 5)])
    assert place.stream("monday", 5) == (6, False)
    assert place.stream("monday", 4) == (5, True)
    assert place.sent("s") == {b"a" * 16} and place.has("s", b"a" * 16) and not place.has("s", b"b" * 16)
    assert place.stream("tuesday", 4) == (1, True)
    assert place.sent("s") == set()
    place.close()


def test_two_senders_of_one_host_are_one_too_many(tmp_path: Path) -> None:
    place = SenderFile(tmp_path / "place.sqlite3")
    key = place.key()
    with pytest.raises(StoreError, match="already"):
        SenderFile(tmp_path / "place.sqlite3")
    place.close()
    again = SenderFile(tmp_path / "place.sqlite3")
    assert again.key() == key
    again.close()


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("size", [0, 1, 200, 1500])
def test_a_full_disk_loses_and_doubles_nothing(tmp_path: Path, size: int, restarted: bool) -> None:
    """Some logs are written and one is not: nothing of what is missing counts as read."""
    all_items = sorted([*items(2), *items(20, session="long")], key=lambda item: item.sequence)
    all_items = [item._replace(sequence=place) for place, item in enumerate(all_items, 1)]
    whole, full = Ledger(tmp_path / "whole"), Ledger(tmp_path / "full")
    whole.add(all_items)
    with room(size), pytest.raises(OSError):
        full.add(all_items)
    assert full.place == 0
    assert all(path.stat().st_size for path in (tmp_path / "full").rglob("*.jsonl"))
    full.save()
    if restarted:
        full = Ledger(tmp_path / "full")
    full.add([item for item in all_items if item.sequence > full.place])
    for path in (tmp_path / "whole").rglob("*.jsonl"):
        other = tmp_path / "full" / path.relative_to(tmp_path / "whole")
        assert other.read_bytes() == path.read_bytes()


def test_what_cannot_be_noted_is_known_until_it_can(tmp_path: Path) -> None:
    place = SenderFile(tmp_path / "a.sqlite3")
    place.stream("then", 9)
    place.add([("s", b"1", 1)])
    with room(0):
        assert place.add([("s", b"2", 2)]) != ""
        assert place.has("s", b"2") and place.sent("s") == {b"1", b"2"}
    assert place.add([("s", b"3", 3)]) == ""
    place.close()
    again = SenderFile(tmp_path / "a.sqlite3")
    assert again.sent("s") == {b"1", b"2", b"3"} and again.stream("then", 9) == (4, False)
    again.close()


def test_what_was_not_noted_of_another_stream_is_forgotten(tmp_path: Path) -> None:
    place = SenderFile(tmp_path / "a.sqlite3")
    place.stream("then", 9)
    with room(0):
        place.add([("s", b"2", 2), ("s", b"8", 8)])
    assert place.stream("then", 5) == (3, True)
    with room(0):
        place.add([("s", b"4", 4)])
    assert place.stream("now", 9) == (1, True) and place.sent("s") == set()
    place.close()


def test_a_note_that_cannot_be_begun_is_said(tmp_path: Path) -> None:
    with room(0), pytest.raises(StoreError, match="cannot be written"):
        SenderFile(tmp_path / "a.sqlite3")
    place = SenderFile(tmp_path / "b.sqlite3")
    with room(0), pytest.raises(StoreError, match=r"b\.sqlite3"):
        place.key()
    with room(0), pytest.raises(StoreError, match=r"b\.sqlite3"):
        place.stream("then", 0)
    place.close()
