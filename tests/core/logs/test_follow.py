"""A log that grows gives every event exactly once, whatever happens to it."""

from __future__ import annotations

import errno
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.registry import make_kit
from core.events import Event, Prompt, SessionStart, ToolUse
from core.logs.finder import sessions
from core.logs.follow import Follower, file_changes, watch
from core.logs.format import Diagnostics, Kit
from core.logs.session import read_session
from core.settings.program import FollowSettings, IngestSettings, LineSettings
from tests.core.logs import log_lines as logs

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress

KIT = make_kit()
"""The tables are read once; faults are looked at only where a test makes its own kit."""

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a kernel that announces changes")

WHOLE = (
    logs.session(2)
    + b"not json\n\r\n\0\0\n"
    + logs.call(60, "wait")
    + logs.prompt(61, "näher, größer, weiter")
    + logs.call(70, "glued").rstrip(b"\n")
    + logs.result(71, "glued").rstrip(b"\n")
    + b" "
    + logs.prompt(72, "third of a line")
    + b'{"type":"summary","summary":"an aside"}'
    + logs.prompt(73, "behind it")
    + logs.prompt(74, "before half a line").rstrip(b"\n")
    + b'{"type":"us\n'
    + logs.session(2, first=80).replace(b"\n", b"\r\n")
    + logs.call(200, "open")
    + logs.prompt(201, "unended").rstrip(b"\n")
)


def fresh_kit() -> Kit:
    return KIT.counting(Diagnostics())


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def uses(events: list[Event]) -> list[str]:
    return [event.id for event in events if isinstance(event, ToolUse)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, len(WHOLE) - 1), max_size=12).map(sorted))
def test_any_cut_gives_what_reading_it_whole_gives(cuts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s-1.jsonl")
        path.write_bytes(WHOLE)
        kit = fresh_kit()
        [session] = sessions([path], kit)
        whole = list(read_session(session, kit))
        path.write_bytes(b"")
        follower = Follower(path, fresh_kit())
        told = follower.poll()
        for start, end in zip([0, *cuts], [*cuts, len(WHOLE)], strict=True):
            append(path, WHOLE[start:end])
            told += follower.poll()
        assert follower.poll() == []
        assert told + follower.finish() == whole
        assert follower.notices() == []
        assert follower.kit.diagnostics.counts == kit.diagnostics.counts


def test_objects_on_one_line_are_read_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(WHOLE)
    kit = fresh_kit()
    [session] = sessions([path], kit)
    events = list(read_session(session, kit))
    assert "glued" in uses(events)
    said = [event.characters for event in events if isinstance(event, Prompt)]
    assert {len("third of a line"), len("behind it"), len("before half a line")} <= set(said)
    for event in events:
        if isinstance(event, Prompt) and event.where is not None:
            found = WHOLE[event.where.offset : event.where.offset + event.where.length]
            assert found.startswith(b"{") and found.endswith(b"}"), "its place is the object alone"
    assert kit.diagnostics.counts == {"not JSON": 2, "only NUL bytes": 1}


_IDLE = (
    b'{"type":"summary","summary":"an aside"}',
    b'{"type":"progress","data":{"type":"hook_progress"},"uuid":"p"}',
    b'{"parentUuid":null,"type":"progress","data":{"type":"bash_progress"},"uuid":"p"}',
    b'{"type":"queue-operation","operation":"enqueue","content":"hey"}',
    b'{"parentUuid":null,"type":"attachment","attachment":{"type":"x"},"uuid":"a"}',
    b'{"type":"file-history-snapshot","snapshot":{"a":{}}}',
    b'{"n":' + b"1" * 5000 + b"}",
)


@pytest.mark.parametrize("blank", [b"", b" ", b"\0\0", b"\t\r"])
@pytest.mark.parametrize("first", _IDLE, ids=range(len(_IDLE)))
@pytest.mark.parametrize("behind", [logs.prompt(9, "behind it"), b"\n"], ids=["prompt", "nothing"])
def test_what_stands_behind_an_object_is_told_alike_live_and_later(
    tmp_path: Path, first: bytes, blank: bytes, behind: bytes
) -> None:
    path = tmp_path / "s-1.jsonl"
    data = first + blank + behind
    path.write_bytes(data + logs.session(1))
    kit = fresh_kit()
    [session] = sessions([path], kit)
    whole = list(read_session(session, kit))
    path.write_bytes(first)
    follower = Follower(session, fresh_kit())
    told = follower.poll()
    append(path, data[len(first) :] + logs.session(1))
    assert told + follower.poll() + follower.finish() == whole
    assert follower.kit.diagnostics.counts == kit.diagnostics.counts
    behind_it = [event for event in whole if isinstance(event, Prompt) and event.characters == 9]
    assert len(behind_it) == (behind != b"\n")


def test_sessions_whose_lines_stand_between_each_other_are_followed_apart(tmp_path: Path) -> None:
    rows = [b'{"at":%d,"session":"s%d","tool":"bash","exit_code":0}' % (at, at % 2) for at in range(1000, 1009)]
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\n".join(rows[:-3]) + b"\n" + rows[-3] + rows[-2] + b" " + rows[-1] + b"\nno json\n")
    found = sessions([path], fresh_kit())
    assert [session.id for session in found] == ["s0", "s1"]
    for session, count in zip(found, (5, 4), strict=True):
        kit, later = fresh_kit(), fresh_kit()
        follower = Follower(session, kit)
        told = [*follower.poll(), *follower.finish()]
        assert [event.at % 2 for event in told if isinstance(event, ToolUse)] == [session.id == "s1"] * count
        assert told == list(read_session(session, later))
        assert kit.diagnostics.counts == later.diagnostics.counts == {"not JSON": 1}


_TWO_CHATS = b"""{"role":"user","content":"go"}[{"role":"user","content":"on"}]
{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{}"}}]}"""
_BEFORE_ANY_START = b"""{"kind":"prompt","at":1,"session":"a","characters":2,"call":"00000000000000ff"}
{"at":2,"session":"a","tool":"bash"}{"at":3,"session":"b","tool":"bash"}{"at":4,"session":"c","tool":"bash"}"""


@pytest.mark.parametrize("data", [_TWO_CHATS, _BEFORE_ANY_START], ids=["chats", "open events"])
def test_sessions_that_begin_on_one_line_are_followed_apart(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(data + b"\n")
    found = sessions([path], fresh_kit())
    assert [session.logs[0].run for session in found] == list(range(len(found))) != [0]
    for session in found:
        follower = Follower(session, fresh_kit())
        told = follower.poll()
        held = follower.pending_events()
        whole = list(read_session(session, fresh_kit()))
        assert told + held == told + follower.finish() == whole


@pytest.mark.parametrize("chunk", [4096, 65536])
def test_a_long_line_over_many_chunks_arrives_once(tmp_path: Path, chunk: int) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.prompt(0))
    follower = Follower(path, KIT, IngestSettings(lines=LineSettings(chunk=chunk)))
    follower.poll()
    append(path, logs.call(1, "t"))
    append(path, logs.result(2, "t", "x" * 300_000)[:-2])
    assert uses(follower.poll()) == []
    append(path, b"}\n")
    [use] = [event for event in follower.poll() if isinstance(event, ToolUse)]
    assert (use.id, use.size) == ("t", 300_000)


@pytest.mark.parametrize("end", [b"\n", b" \r\n", b"\n\n"])
def test_a_whole_last_line_is_read_before_its_end_is_written(tmp_path: Path, end: bytes) -> None:
    log = tmp_path / "s-1.jsonl"
    whole = logs.session(2) + logs.prompt(50, "and now?").rstrip(b"\n")
    log.write_bytes(whole[:-1])
    follower = Follower(log, fresh_kit())
    seen = follower.poll()
    assert not any(isinstance(event, Prompt) and event.characters == 8 for event in seen)
    append(log, whole[-1:])
    seen += follower.poll()
    assert isinstance(seen[-1], Prompt)
    assert follower.poll() == []
    append(log, end + b"not json\n" + logs.session(1, first=60))
    seen += [*follower.poll(), *follower.finish()]
    kit = fresh_kit()
    [session] = sessions([log], kit)
    assert seen == list(read_session(session, kit))
    assert follower.kit.diagnostics.first == kit.diagnostics.first, "with the same number of the line"


def test_what_comes_behind_a_last_line_that_was_read_is_a_line_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(logs.session(1) + logs.call(50, "a").rstrip(b"\n"))
    follower = Follower(log, fresh_kit())
    seen = follower.poll()
    append(log, logs.result(51, "a") + logs.session(1, first=60))
    seen += follower.poll()
    assert [event.id for event in seen if isinstance(event, ToolUse)] == ["t0", "a", "t60"]


def test_a_file_that_appears_later_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "later" / "s-1.jsonl"
    follower = Follower(path, KIT)
    assert follower.poll() == []
    assert follower.folders() == [tmp_path]
    path.parent.mkdir()
    path.touch()
    assert follower.poll() == []
    append(path, logs.session(1)[:20])
    assert follower.poll() == []
    append(path, logs.session(1)[20:])
    assert uses(follower.poll()) == ["t0"]
    assert follower.session is not None
    assert follower.session.id == "s-1"


def test_a_log_that_was_cut_short_is_read_again_but_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(3))
    follower = Follower(path, KIT)
    assert uses(follower.poll()) == ["t0", "t1", "t2"]
    path.write_bytes(logs.session(1))
    assert follower.poll() == []
    assert follower.notices() == ["s-1.jsonl: was cut short; reading it from the start"]
    append(path, logs.session(4, first=1))
    assert uses(follower.poll()) == ["t3", "t4"]


def test_a_log_that_was_replaced_passes_on_only_what_is_new(tmp_path: Path) -> None:
    path, other = tmp_path / "s-1.jsonl", tmp_path / "other"
    path.write_bytes(logs.session(2))
    follower = Follower(path, KIT)
    follower.poll()
    other.write_bytes(logs.session(3))
    other.replace(path)
    assert uses(follower.poll()) == ["t2"]
    assert follower.notices() == ["s-1.jsonl: was replaced; reading it from the start"]
    assert follower.poll() == []


def test_a_log_that_was_rewritten_in_place_and_grew_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(2))
    follower = Follower(path, KIT)
    follower.poll()
    path.write_bytes(logs.session(6, first=30))
    assert uses(follower.poll()) == [f"t{number}" for number in range(30, 36)]
    assert follower.notices() == ["s-1.jsonl: was rewritten; reading it from the start"]


def test_a_log_that_was_deleted_is_said_once_and_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(2))
    follower = Follower(path, KIT)
    follower.poll()
    path.unlink()
    assert follower.poll() == []
    assert follower.poll() == []
    assert follower.notices() == ["s-1.jsonl: vanished; waiting for it"]
    path.write_bytes(logs.session(3))
    assert uses(follower.poll()) == ["t2"]
    assert follower.notices()[0] == "s-1.jsonl: is back"


def test_a_log_that_can_be_read_again_is_said_to_be_back(tmp_path: Path) -> None:
    path, aside = tmp_path / "s-1.jsonl", tmp_path / "aside"
    path.write_bytes(logs.session(2))
    follower = Follower(path, fresh_kit())
    follower.poll()
    path.rename(aside)
    path.mkdir()
    assert follower.poll() == follower.poll() == []
    assert follower.notices()[-1] == "s-1.jsonl: not a regular file; trying again"
    path.rmdir()
    aside.rename(path)
    assert follower.poll() == []
    assert follower.notices() == ["s-1.jsonl: is back"]
    assert follower.poll() == []
    assert follower.notices() == []


def test_a_log_that_was_packed_goes_on_in_the_archive(tmp_path: Path) -> None:
    path, packed = tmp_path / "s-1.jsonl", tmp_path / "s-1.jsonl.zst"
    path.write_bytes(logs.session(2))
    follower = Follower(path, KIT)
    follower.poll()
    path.unlink()
    assert follower.poll() == []
    packed.write_bytes(compress(logs.session(3)))
    assert uses(follower.poll()) == ["t2"]
    assert follower.files() == [packed]
    packed.write_bytes(compress(logs.session(3) + logs.session(1, first=9)))
    assert uses(follower.poll()) == ["t9"]


def test_a_new_sub_agent_is_followed_and_its_events_come_in_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(1))
    follower = Follower(path, KIT)
    follower.poll()
    nested = tmp_path / "s-1" / "subagents" / "agent-a1.jsonl"
    nested.parent.mkdir(parents=True)
    nested.touch()
    assert follower.poll() == []
    side: dict[str, Any] = {"agentId": "a1", "isSidechain": True}
    append(nested, logs.call(10, "x1", **side) + logs.result(20, "x1", **side))
    append(path, logs.call(12, "y1") + logs.result(14, "y1") + logs.call(21, "y2") + logs.result(22, "y2"))
    told = follower.poll()
    assert uses(told) == ["y1", "x1", "y2"]
    assert {event.agent for event in told if isinstance(event, ToolUse)} == {"main", "a1"}
    assert nested.parent in follower.folders()


def test_catching_up_comes_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(50))
    [session] = sessions([path], KIT)
    whole = Follower(session, KIT).poll()
    follower = Follower(session, KIT)
    batches = []
    while batch := follower.poll(most=7):
        assert len(batch) <= 7
        batches += batch
    assert batches == whole
    assert not follower.behind


def test_calls_in_flight_are_shown_and_looking_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(1) + logs.call(20, "b") + logs.call(21, "c", "Read", {"file_path": "/x"}))
    looked_at, left_alone = Follower(path, fresh_kit()), Follower(path, fresh_kit())
    assert looked_at.poll() == left_alone.poll()
    for _ in range(3):
        assert [(one.id, one.outcome, one.tool) for one in looked_at.in_flight()] == [
            ("b", "pending", "Bash"),
            ("c", "pending", "Read"),
        ]
    append(path, logs.result(30, "b"))
    assert looked_at.poll() == left_alone.poll()
    assert [one.id for one in looked_at.in_flight()] == ["c"]
    assert looked_at.finish() == left_alone.finish()
    assert looked_at.kit.diagnostics.counts == left_alone.kit.diagnostics.counts == {}


_opened: list[tuple[str, int]] = []
_listening = threading.Event()


def _listen(name: str, arguments: tuple[Any, ...]) -> None:
    if name == "open" and _listening.is_set():
        _opened.append((str(arguments[0]), int(arguments[2] or 0)))


def test_nothing_is_opened_for_writing(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(WHOLE)
    (tmp_path / "g.json").write_bytes(logs.gemini(2))
    (tmp_path / "p.jsonl.zst").write_bytes(compress(logs.session(1, session="p")))
    before = sorted((file.name, file.stat().st_mtime_ns) for file in tmp_path.iterdir())
    sys.addaudithook(_listen)
    _listening.set()
    try:
        for file in tmp_path.iterdir():
            follower = Follower(file, KIT)
            assert follower.poll()
            follower.in_flight()
            follower.finish()
    finally:
        _listening.clear()
    ours = [flags for name, flags in _opened if name.startswith(str(tmp_path))]
    assert len(ours) >= 6
    assert not [flags for flags in ours if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND)]
    assert sorted((file.name, file.stat().st_mtime_ns) for file in tmp_path.iterdir()) == before


@pytest.mark.parametrize("kernel", [False, pytest.param(True, marks=ON_LINUX)])
@pytest.mark.parametrize("writes", [lambda data: [data], lambda data: [data[:30], data[30:]]])
def test_a_watching_thread_passes_on_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: Callable[[bytes], list[bytes]], kernel: bool
) -> None:
    monkeypatch.setattr("core.logs.follow._kernel_announces", lambda: kernel)
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(1))
    arrived: queue.Queue[Event] = queue.Queue()
    stop = threading.Event()

    def run() -> None:
        for events in watch(Follower(path, KIT), stop):
            for event in events:
                arrived.put(event)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert isinstance(arrived.get(timeout=20), SessionStart)
        for number in range(5, 8):
            for data in writes(logs.session(1, first=number)):
                append(path, data)
            while getattr(arrived.get(timeout=20), "id", "") != f"t{number}":
                pass
    finally:
        stop.set()
        thread.join(timeout=20)
    assert not thread.is_alive()


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (OSError("OS file watch limit reached. about x"), "the limit fs.inotify.max_user_watches is reached"),
        (OSError(errno.ENOSPC, "no space"), "the limit fs.inotify.max_user_watches is reached"),
        (
            OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
            "the limit fs.inotify.max_user_instances, or that of open files, is reached",
        ),
        (
            RuntimeError("Error creating recommended watcher: Too many open files (os error 24)"),
            "the limit fs.inotify.max_user_instances, or that of open files, is reached",
        ),
        (RuntimeError("something else\nat length"), "something else"),
    ],
)
def test_without_file_events_it_looks_by_itself_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, why: str, kernel: bool
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise fault

    monkeypatch.setattr("core.logs.follow._kernel_announces", lambda: kernel)
    monkeypatch.setattr("core.logs.follow.Inotify" if kernel else "watchfiles.watch", refuse)
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(1))
    follower = Follower(path, KIT, IngestSettings(follow=FollowSettings(poll=0.05)))
    stop = threading.Event()
    batches = watch(follower, stop)
    assert uses(next(batches)) == ["t0"]
    for number in (1, 2):
        append(path, logs.session(1, first=number))
        assert uses(next(batches)) == [f"t{number}"]
    stop.set()
    assert follower.notices() == [f"no file events ({why}); looking every 0.05 s instead"]


def test_a_folder_that_may_not_be_watched_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def refuse(*_: object, ignore_permission_denied: bool, **__: object) -> Iterator[set[object]]:
        asked.append(ignore_permission_denied)
        if not ignore_permission_denied:
            raise PermissionError("closed")
        yield set()

    monkeypatch.setattr("core.logs.follow._kernel_announces", lambda: False)
    monkeypatch.setattr("watchfiles.watch", refuse)
    said: list[str] = []
    assert list(file_changes([tmp_path], threading.Event(), FollowSettings(), recursive=True, tell=said.append)) == [
        set()
    ]
    assert (asked, said) == ([False, True], [])


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no such signal here")
def test_what_is_written_while_it_is_stopped_is_read_when_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(1))
    script = """
import sys, threading
from pathlib import Path
from core.events import ToolUse
from core.logs.follow import file_changes
from core.logs.follow import Follower, watch
from core.agents.registry import make_kit
stop = threading.Event()
for batch in watch(Follower(Path(sys.argv[1]), make_kit()), stop):
    for event in batch:
        if isinstance(event, ToolUse):
            print(event.id, flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "t0\n"
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            for number in range(1, 200):
                append(path, logs.session(1, first=number))
            path.rename(tmp_path / "old")
            path.write_bytes(logs.session(1, first=200))
            process.send_signal(signal.SIGCONT)
            assert [process.stdout.readline() for _ in range(200)] == [f"t{at}\n" for at in range(1, 201)]
        finally:
            process.kill()
