"""A log that was read before tells the same again; one that grew is read on from where it grew."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.claude import lines
from core.agents.registry import make_kit
from core.errors import UnreadableLog
from core.events import Event, Where
from core.logs.finder import sessions
from core.logs.format import Diagnostic, Reader
from core.logs.session import read_session
from core.settings import Settings
from core.store import kept_events
from core.store.kept_events import KeptEvents
from core.store.reading_cache import ReadingCache

Told = tuple[list[Event], list[Diagnostic], dict[str, int]]


@pytest.fixture(autouse=True)
def _small_logs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_events, "_LEAST", 1)


def told(path: Path, cache: ReadingCache | None, seen: list[bytes] | None = None) -> Told:
    """All events and faults of a log, and the records that were read for them."""
    kit = make_kit()
    kit.memory = KeptEvents(cache, b"").events if cache is not None else None
    (session,) = sessions([path], make_kit())
    reader = session.logs[0].format.reader
    real = reader.feed

    def recording_feed(self: Reader, record: bytes, where: Where, line: int) -> list[Event]:
        if seen is not None:
            seen.append(record)
        return real(self, record, where, line)

    reader.feed = recording_feed  # type: ignore[method-assign]
    try:
        events = list(read_session(session, kit))
    finally:
        reader.feed = real  # type: ignore[method-assign]
    return events, kit.diagnostics.first, kit.diagnostics.counts


def turns(count: int, seed: int = 1) -> list[bytes]:
    """Lines of a session whose answers end now and then."""
    made = list(islice(lines(seed), count))
    return [
        line.replace(b'"stop_reason":null', b'"stop_reason":"end_turn"')
        if number % 9 == 0 and b'"type":"text"' in line
        else line
        for number, line in enumerate(made)
    ]


def test_an_unchanged_log_is_not_read_again(tmp_path: Path) -> None:
    log, cache = tmp_path / "a.jsonl", ReadingCache(tmp_path / "r.db", 10_000_000)
    log.write_bytes(b"".join(turns(300)) + b"{broken\n")
    plain = told(log, None)
    assert told(log, cache) == plain
    seen: list[bytes] = []
    assert told(log, cache, seen) == plain
    assert not seen
    assert plain[2], "the broken line is counted each time"


def test_a_log_that_grew_is_read_on(tmp_path: Path) -> None:
    log, cache = tmp_path / "a.jsonl", ReadingCache(tmp_path / "r.db", 10_000_000)
    made = turns(900)
    log.write_bytes(b"".join(made[:800]))
    told(log, cache)
    log.write_bytes(b"".join(made))
    whole: list[bytes] = []
    plain = told(log, None, whole)
    seen: list[bytes] = []
    assert told(log, cache, seen) == plain
    assert 0 < len(seen) < len(whole) / 3
    again: list[bytes] = []
    assert told(log, cache, again) == plain
    assert not again


def _rewritten(content: bytes) -> bytes:
    return content.replace(b"api", b"app")


def _shorter(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _unended(content: bytes) -> bytes:
    return content[:-1]


@pytest.mark.parametrize("change", [_rewritten, _shorter, _unended])
def test_a_log_that_changed_otherwise_is_read_again(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    log, cache = tmp_path / "a.jsonl", ReadingCache(tmp_path / "r.db", 10_000_000)
    content = b"".join(turns(300))
    log.write_bytes(content)
    told(log, cache)
    log.write_bytes(change(content))
    assert told(log, cache) == told(log, None)


def test_an_unended_last_line_that_goes_on_is_read_again(tmp_path: Path) -> None:
    log, cache = tmp_path / "a.jsonl", ReadingCache(tmp_path / "r.db", 10_000_000)
    content = b"".join(turns(300))
    for cut in (7, 700, 1):
        log.write_bytes(content[:-cut])
        told(log, cache)
        log.write_bytes(content)
        assert told(log, cache) == told(log, None)


def test_what_is_kept_names_no_words_of_the_log(tmp_path: Path) -> None:
    log, cache = tmp_path / "a.jsonl", ReadingCache(tmp_path / "r.db", 10_000_000)
    secret = b"sk-ant-api03-" + b"a1B2" * 23
    log.write_bytes(b"".join(turns(300)).replace(b"parser", secret))
    told(log, cache)
    kit = make_kit()
    memory = KeptEvents(cache, b"")
    (session,) = sessions([log], kit)
    from core.settings.logs import LineSettings

    key = memory._key(session.logs[0], LineSettings(), session.id)
    value = cache.load([key])[key]
    assert secret not in value and b"reads each" not in value


@settings(max_examples=25)
@given(data=st.data())
def test_growing_by_any_lines_equals_reading_whole(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    log, cache = folder / "a.jsonl", ReadingCache(folder / "r.db", 10_000_000)
    made = turns(260, seed=data.draw(st.integers(1, 50)))
    cuts = sorted(data.draw(st.sets(st.integers(60, 259), min_size=1, max_size=4)))
    for cut in (*cuts, 260):
        log.write_bytes(b"".join(made[:cut]))
        assert told(log, cache) == told(log, None)


_LARGE = 3_000_000


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot-cli", "droid", "gemini", "pi", "qwen"])
def test_real_logs_grow_alike(shared_data: Path, tmp_path: Path, agent: str) -> None:
    resumed = 0
    folder = shared_data / "real_sessions" / agent
    for number, path in enumerate(sorted(folder.rglob("*.jsonl"))):
        if path.stat().st_size > (600_000 if agent == "claude-code" else _LARGE):
            continue
        content = path.read_bytes().splitlines(keepends=True)
        log, cache = tmp_path / f"{number}.jsonl", ReadingCache(tmp_path / f"{number}.db", 10_000_000)
        for share in (0.4, 0.8, 1.0):
            log.write_bytes(b"".join(content[: max(1, int(share * len(content)))]))
            try:
                plain = told(log, None)
            except UnreadableLog:
                break
            seen: list[bytes] = []
            assert told(log, cache, seen) == plain
            resumed += 0 < len(seen) < 0.8 * share * len(content)
            assert told(log, cache) == plain
    assert resumed, "none was read on from where it grew"


def test_every_event_of_real_logs_comes_back_as_it_was(shared_data: Path, tmp_path: Path) -> None:
    cache = ReadingCache(tmp_path / "r.db", 100_000_000)
    folders = [shared_data / "real_sessions" / name for name in ("codex", "pi", "copilot-cli", "qwen")]
    for session in sessions(folders, make_kit()):
        plain = list(read_session(session, make_kit()))
        for _ in range(2):
            kit = make_kit()
            kit.memory = KeptEvents(cache, b"").events
            assert list(read_session(session, kit)) == plain


def test_it_follows_the_setting_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual = Settings()
    assert kept_events.reading_kit(usual).memory is not None
    cache = usual.timeline.cache.replace(on=False)
    timeline = usual.timeline.replace(cache=cache)
    assert kept_events.reading_kit(usual.replace(timeline=timeline)).memory is None
