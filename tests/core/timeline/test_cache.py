"""Opening a session: equal whether read, kept or grown; damage is found and made good."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import cbor2
import pytest

from bench.claude import lines as claude_lines
from core.agents.registry import make_kit
from core.engine.society import Society
from core.engine.society.engine import Engine
from core.engine.state import Stateful
from core.logs.finder import sessions
from core.logs.session import LogSession
from core.settings.layers import Given, Layer, resolve
from core.timeline.opening import Cache, Progress, last_screen, record
from core.timeline.timeline import Timeline
from tests.core.logs import log_lines

SETTINGS = resolve([Layer("test", (Given("timeline.cache.least", 0),))]).settings
MANY = 2500


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    return list(islice(claude_lines(1), MANY))


@pytest.fixture
def log(tmp_path: Path, lines: list[bytes]) -> Path:
    path = tmp_path / "logs" / "story.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(lines[:2000]))
    return path


def opened(path: Path, cache: Cache | None) -> Timeline:
    kit = make_kit(SETTINGS.ingest)
    timeline = record(found(path), SETTINGS, kit, cache=cache)
    assert timeline is not None
    return timeline


def found(path: Path) -> LogSession:
    (session,) = sessions([path], make_kit(SETTINGS.ingest))
    return session


def same(one: Timeline, other: Timeline) -> bool:
    return (
        list(one.events) == list(other.events)
        and list(one.marks) == list(other.marks)
        and cbor2.dumps(one.society.dump(), canonical=True) == cbor2.dumps(other.society.dump(), canonical=True)
        and one.at(777) == other.at(777)
        and (one.tracks["main"].columns.column("axis.flow") == other.tracks["main"].columns.column("axis.flow")).all()
    )


def test_a_recording_is_made_again_when_only_a_helper_has_spent_more(tmp_path: Path, log: Path) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    before = len(opened(log, cache).events)
    helper = log.parent / "story" / "subagents" / "agent-acompact-1.jsonl"
    helper.parent.mkdir(parents=True)
    helper.write_bytes(log_lines.call(11, "own", isSidechain=True, agentId="acompact-1"))
    assert len(opened(log, cache).events) == before + 1


def test_a_kept_recording_is_the_one_that_was_made(tmp_path: Path, log: Path) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    first = opened(log, cache)
    assert len(list(cache.folder.iterdir())) == 1
    assert same(opened(log, cache), first)
    assert same(opened(log, None), first)


@pytest.mark.parametrize("kind", [Engine, Society])
def test_a_recording_of_another_version_is_made_again(
    tmp_path: Path, log: Path, kind: type[Stateful], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    with monkeypatch.context() as patched:
        patched.setattr(kind, "VERSION", kind.VERSION - 1)
        first = opened(log, cache)
    (old,) = cache.folder.iterdir()
    old.write_bytes(b"what another version kept")
    assert same(opened(log, cache), first)
    assert old.read_bytes() == b"what another version kept"
    assert len(list(cache.folder.iterdir())) == 2


def test_a_log_that_grew_goes_on_from_what_was_kept(tmp_path: Path, log: Path, lines: list[bytes]) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    opened(log, cache)
    with log.open("ab") as file:
        file.writelines(lines[2000:])
    assert same(opened(log, cache), opened(log, None))


def test_a_log_that_was_rewritten_is_read_again(tmp_path: Path, log: Path, lines: list[bytes]) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    opened(log, cache)
    log.write_bytes(b"".join([*lines[:100], *lines[150:1500]]))
    assert same(opened(log, cache), opened(log, None))


@pytest.mark.parametrize("place", [3, 40, 5000, -5])
def test_a_flipped_bit_is_found_and_the_recording_made_again(tmp_path: Path, log: Path, place: int) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    first = opened(log, cache)
    (kept,) = cache.folder.iterdir()
    content = bytearray(kept.read_bytes())
    content[place] ^= 16
    kept.write_bytes(content)
    assert same(opened(log, cache), first)
    assert kept.read_bytes() != bytes(content)


def test_the_cache_stays_below_its_limit(tmp_path: Path, log: Path) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    opened(log, cache)
    (kept,) = cache.folder.iterdir()
    small = Cache(tmp_path / "cache", int(kept.stat().st_size * 1.5))
    other = log.with_name("other.jsonl")
    other.write_bytes(b"".join(islice(claude_lines(2), 2000)))
    opened(other, small)
    assert len(list(cache.folder.iterdir())) == 1
    assert not kept.exists()


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path, log: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    assert len(opened(log, Cache(tmp_path / "cache", 100_000_000))) > 500


def test_reading_can_be_stopped_and_tells_how_far_it_is(log: Path) -> None:
    told: list[Progress] = []

    def report(progress: Progress) -> bool:
        told.append(progress)
        return progress.events < 400

    assert record(found(log), SETTINGS, make_kit(), report=report) is None
    shares = [progress.share for progress in told]
    assert shares == sorted(shares) and 0.3 < shares[-1] < 0.9


def test_the_last_screen_needs_only_the_end(log: Path) -> None:
    whole = opened(log, None)
    tail = last_screen(found(log), SETTINGS, make_kit(), tail=log.stat().st_size // 4)
    assert 0 < len(tail) < len(whole) // 2
    assert tail.events[-1] == whole.events[-1]


CRASH = """
import os, signal, sys
from pathlib import Path
from core.agents.registry import make_kit
from core.engine.society.engine import Engine
from core.logs.finder import sessions
from core.store import atomic
from core.settings.layers import Given, Layer, resolve
from core.engine.society import Society
from core.engine.state import Stateful
from core.timeline.opening import Cache
from core.timeline.opening import record
settings = resolve([Layer("test", (Given("timeline.cache.least", 0),))]).settings
real = os.fsync
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
kit = make_kit()
record(sessions([sys.argv[1]], kit)[0], settings, kit, cache=Cache(Path(sys.argv[2]), 10**9))
"""


def test_a_crash_while_keeping_leaves_the_old_recording(tmp_path: Path, log: Path, lines: list[bytes]) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    opened(log, cache)
    (kept,) = cache.folder.iterdir()
    before = kept.read_bytes()
    with log.open("ab") as file:
        file.writelines(lines[2000:2100])
    crashed = subprocess.run([sys.executable, "-c", CRASH, str(log), str(cache.folder)], check=False)
    assert crashed.returncode == -signal.SIGKILL
    assert kept.read_bytes() == before
    assert same(opened(log, cache), opened(log, None))


def test_settings_have_recordings_of_their_own(tmp_path: Path, log: Path) -> None:
    cache = Cache(tmp_path / "cache", 100_000_000)
    opened(log, cache)
    kit = make_kit()
    plain = resolve([Layer("test", (Given("timeline.cache.least", 1), Given("timeline.play.idle", 9.0)))]).settings
    record(found(log), plain, kit, cache=cache)
    assert len(list(cache.folder.iterdir())) == 1
    eager = resolve(
        [Layer("test", (Given("timeline.cache.least", 0), Given("receptor.ambient.offset.flow", 0.1)))]
    ).settings
    record(found(log), eager, kit, cache=cache)
    assert len(list(cache.folder.iterdir())) == 2
