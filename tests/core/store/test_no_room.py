"""A disk that is full in the middle of a write: what was there stays, whole, and nothing half is added."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from core.engine.society import Society
from core.errors import NooscopeError, StoreError
from core.events import Prompt
from core.extras.telemetry.intake import Inbox, TelemetryEvent
from core.hooks.agent_answers import HOOKS
from core.hooks.connection import IntakeFolder
from core.hooks.install import Installer
from core.settings import Settings
from core.store import atomic
from core.store.bookmarks import Bookmark, Bookmarks, Label, Labels, TrailStore
from core.store.compensation import Chain, ChainEntry, Journal
from core.store.journals import PermitEntry, PermitJournal, Said, SaidStore
from core.store.profiles import ProfileFiles
from core.timeline.checkpoints import Checkpoints, checkpoint_of
from tests.no_room import room


def said(sentence: str) -> Said:
    return Said(1.0, "claude", "s", "loop_alert", sentence, 1)


def permit(number: int) -> PermitEntry:
    return PermitEntry(1.0, "permitted", "s", "Bash", "a" * 16, "b" * 16, number=number)


def test_lines_are_added_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    atomic.append(path, b"first\n")
    with room(9), pytest.raises(OSError):
        atomic.append(path, b"second\n")
    assert path.read_bytes() == b"first\n"
    atomic.append(path, b"third\n")
    assert path.read_bytes() == b"first\nthird\n"


def test_what_was_said_before_and_after_can_be_read(tmp_path: Path) -> None:
    store = SaidStore(tmp_path / "said.jsonl")
    store.add(said("one"))
    with room(store.path.stat().st_size + 20), pytest.raises(StoreError):
        store.add(said("two"))
    store.add(said("three"))
    assert [each.sentence for each in store.read()] == ["one", "three"]


def test_a_journal_of_permits_stays_unbroken(tmp_path: Path) -> None:
    journal = PermitJournal(tmp_path / "permits")
    journal.add(permit(1))
    with room(journal.path.stat().st_size + 80), pytest.raises(StoreError):
        journal.add(permit(2))
    journal.add(permit(3))
    assert journal.check()[:2] == (2, "")
    assert [entry.number for entry in journal.read()] == [1, 3]


def test_received_events_are_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    told = [TelemetryEvent("s", "", Prompt(at=float(at), characters=3)) for at in range(3)]
    inbox.add(told)
    before = inbox.path("s").read_bytes()
    with room(len(before) + 30), pytest.raises(OSError):
        inbox.add(told)
    assert inbox.path("s").read_bytes() == before and inbox.written == 3


def test_of_several_sessions_all_are_kept_or_none(tmp_path: Path) -> None:
    """Whoever sent them sends all of them again."""
    inbox = Inbox(tmp_path)
    long = [TelemetryEvent("long", "", Prompt(at=float(at), characters=3)) for at in range(50)]
    with room(1000), pytest.raises(OSError):
        inbox.add([TelemetryEvent("short", "", Prompt(at=1.0, characters=3)), *long])
    assert not any(path.stat().st_size for path in tmp_path.iterdir())


def test_a_token_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    place = IntakeFolder(tmp_path / "intake")
    with room(10), pytest.raises(StoreError):
        place.prepare()
    assert list(place.folder.iterdir()) == []
    assert place.prepare() == place.token() != ""


@pytest.mark.parametrize("failing", range(1, 9))
def test_a_chain_is_undone_though_its_log_cannot_be_written(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills up at any line of the log, and stays full."""
    old, made, log = tmp_path / "old", tmp_path / "made", tmp_path / "log"
    old.write_bytes(b"old")
    add, count = Journal.add, 0

    def full(self: Journal, entry: ChainEntry) -> None:
        nonlocal count
        count += 1
        if count >= failing:
            raise OSError(errno.ENOSPC, "No space left on device")
        add(self, entry)

    monkeypatch.setattr(Journal, "add", full)
    done = False
    with contextlib.suppress(OSError), Chain("one", log) as chain:
        chain.write(old, b"new")
        chain.write(made, b"new")
        done = True
    assert old.read_bytes() == (b"new" if done else b"old")
    assert made.exists() is done
    assert list(log.iterdir()) == []


def test_a_log_that_cannot_hold_a_line_holds_none_of_it(tmp_path: Path) -> None:
    path = tmp_path / "old"
    with contextlib.suppress(OSError), Chain("one", tmp_path / "log") as chain:
        chain.write(path, b"x" * 50)
        with room((tmp_path / "log" / "one.chain").stat().st_size + 10):
            chain.write(path, b"y" * 50)
    assert not path.exists() and list((tmp_path / "log").iterdir()) == []


@pytest.mark.parametrize("size", range(0, 4000, 90))
def test_hooks_stay_as_they_were(size: int, tmp_path: Path) -> None:
    """Wherever the disk fills up, hooks that were there are there, and all of ours belongs together."""
    folder = tmp_path / "nooscope"
    installer = Installer(folder / "hooks", folder / "intake", {}, tmp_path)
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(b'{"model": "x"}\n')
    installer.install(HOOKS["claude"], "advise")
    before = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    done = False
    with room(size), contextlib.suppress(NooscopeError):
        installer.install(HOOKS["claude"], "guard")
        done = True
    assert installer.status(HOOKS["claude"]).mode == ("guard" if done else "advise")
    if not done:
        assert {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()} == before
    assert installer.uninstall(HOOKS["claude"])
    assert path.read_bytes() == b'{"model": "x"}\n'


def test_no_room_for_hooks_is_said_with_the_file_and_what_stands(tmp_path: Path) -> None:
    folder = tmp_path / "nooscope"
    installer = Installer(folder / "hooks", folder / "intake", {}, tmp_path)
    with room(0), pytest.raises(NooscopeError, match=r"hooks.*nothing was changed"):
        installer.install(HOOKS["claude"], "observe")


def test_moments_of_the_person_that_find_no_room_are_told_in_plain_words(tmp_path: Path) -> None:
    """A notice has few lines: the reason stands there once, without the name of the file again."""
    moment = Checkpoints(Bookmarks("s", tmp_path), 3)
    writes: dict[str, Callable[[], object]] = {
        "bookmarks": lambda: Bookmarks("s", tmp_path).put(Bookmark("b", 1, 1.0, 2.0)),
        "labels": lambda: Labels("s", tmp_path).judge(Label(1, 1.0, "right", "loop", "main", 5.0)),
        "checkpoints": lambda: moment.save(checkpoint_of(Society(Settings()), "c", 1.0, 0)),
        "trail": lambda: TrailStore("s", tmp_path).write([(1, 2)]),
    }
    for what, write in writes.items():
        with room(0), pytest.raises(StoreError) as told:
            write()
        assert str(told.value).endswith(" cannot be written (File too large)"), what
        assert str(told.value).count(str(tmp_path)) == 1, what


def test_a_profile_that_finds_no_room_is_told_in_plain_words(tmp_path: Path) -> None:
    files = ProfileFiles(tmp_path / "settings.toml", tmp_path, tmp_path / "chains")
    with room(0), pytest.raises(StoreError, match=r"^cannot be saved \(File too large\)$"):
        files.save_profile("mine", "", {"receptor.ambient.offset.frustration": 0.3}, "user")
