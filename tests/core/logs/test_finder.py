"""Paths become sessions, and sessions events, whatever lies there."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.claude_code.reader import ClaudeCode
from core.agents.registry import make_kit
from core.errors import UnreadableLog
from core.events import AgentStart, Event, Prompt, SessionStart, ToolUse, Turn
from core.logs import lines, records
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.format import Agent, Format, Sample, recognise
from core.logs.lines import Line, line_batches
from core.logs.session import LogSession, identity, merge, read_session, rows
from tests.core.agents.real_logs import FOLDERS
from tests.core.logs import log_lines as logs

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def events_of(path: Path, **faults: int) -> list[Event]:
    """All events of all sessions of a path, with exactly these faults."""
    kit = make_kit()
    found = [event for session in sessions([path], kit) for event in read_session(session, kit)]
    assert kit.diagnostics.counts == {name.replace("_", " "): count for name, count in faults.items()}
    return found


def uses(events: list[Event]) -> list[str]:
    return [event.id for event in events if isinstance(event, ToolUse)]


def test_a_file_a_folder_and_a_pattern_give_the_same(tmp_path: Path) -> None:
    log = tmp_path / "project" / "s-1.jsonl"
    log.parent.mkdir()
    log.write_bytes(logs.session(3))
    whole = events_of(log)
    assert uses(whole) == ["t0", "t1", "t2"]
    assert events_of(tmp_path) == whole
    assert events_of(tmp_path / "*" / "*.jsonl") == whole
    [session] = sessions([log, tmp_path, log.parent], make_kit())
    assert (session.id, session.tool, session.path) == ("s-1", "claude-code", log)


def test_a_name_says_nothing(tmp_path: Path) -> None:
    log = tmp_path / "notes.txt"
    log.write_bytes(logs.session(2))
    assert uses(events_of(log)) == ["t0", "t1"]


def test_a_log_is_known_though_its_only_line_holds_several_objects(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(2).replace(b"\n", b""))
    [session] = sessions([path], make_kit())
    assert session.tool == "claude-code"


def test_a_packed_log_reads_like_a_plain_one_and_does_not_count_beside_it(tmp_path: Path) -> None:
    plain, packed = tmp_path / "s-1.jsonl", tmp_path / "s-1.jsonl.zst"
    packed.write_bytes(compress(logs.session(4)))
    assert uses(events_of(packed)) == ["t0", "t1", "t2", "t3"]
    plain.write_bytes(logs.session(4))
    assert [session.path for session in sessions([tmp_path], make_kit())] == [plain]
    assert uses(events_of(tmp_path)) == ["t0", "t1", "t2", "t3"]


def test_sub_agents_are_woven_in_by_time(tmp_path: Path) -> None:
    main = tmp_path / "s-1.jsonl"
    nested = tmp_path / "s-1" / "subagents"
    nested.mkdir(parents=True)
    main.write_bytes(logs.session(5))
    (nested / "agent-a1.jsonl").write_bytes(
        logs.call(3.5, "x1", agentId="a1", isSidechain=True) + logs.result(4.5, "x1", agentId="a1", isSidechain=True)
    )
    (nested / "agent-acompact-1.jsonl").write_bytes(logs.session(2, agentId="acompact-1", isSidechain=True))
    [session] = sessions([tmp_path], make_kit())
    assert len(session.logs) == 2
    found = events_of(tmp_path)
    assert uses(found) == ["t0", "t1", "x1", "t2", "t3", "t4"]
    assert {event.agent for event in found if isinstance(event, ToolUse) and event.id == "x1"} == {"a1"}
    assert events_of(main) == found


def test_a_copied_beginning_counts_once_in_a_folder_and_fully_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "s-1.jsonl", tmp_path / "s-2.jsonl"
    first.write_bytes(logs.session(3) + logs.call(90, "own") + logs.result(91, "own"))
    second.write_bytes(logs.session(3, session="s-2") + logs.session(2, first=10, session="s-2"))
    os.utime(first, (1000, 1000))
    os.utime(second, (2000, 2000))
    assert Counter(uses(events_of(tmp_path))) == Counter(["t0", "t1", "t2", "own", "t10", "t11"])
    assert uses(events_of(second)) == ["t0", "t1", "t2", "t10", "t11"]
    os.utime(first, (3000, 3000))
    kit = make_kit()
    told = {session.id: uses(list(read_session(session, kit))) for session in sessions([tmp_path], kit)}
    assert told == {"s-1": ["own"], "s-2": ["t0", "t1", "t2", "t10", "t11"]}


def test_a_call_cut_off_in_the_original_is_told_by_the_copy(tmp_path: Path) -> None:
    first, second = tmp_path / "s-1.jsonl", tmp_path / "s-2.jsonl"
    first.write_bytes(logs.session(2) + logs.call(50, "late"))
    second.write_bytes(
        logs.session(2, session="s-2") + logs.call(50, "late", session="s-2") + logs.result(99, "late", session="s-2")
    )
    os.utime(first, (1000, 1000))
    kit = make_kit()
    later = sessions([tmp_path], kit)[1]
    assert [(event.id, event.outcome) for event in read_session(later, kit) if isinstance(event, ToolUse)] == [
        ("late", "success")
    ]


def test_a_call_that_is_open_in_the_original_and_the_copy_counts_once(tmp_path: Path) -> None:
    first, second = tmp_path / "s-1.jsonl", tmp_path / "s-2.jsonl"
    first.write_bytes(logs.session(2) + logs.call(50, "late"))
    second.write_bytes(
        logs.session(2, session="s-2") + logs.call(50, "late", session="s-2") + logs.call(99, "own", session="s-2")
    )
    os.utime(first, (1000, 1000))
    assert Counter(uses(events_of(tmp_path))) == Counter(["t0", "t1", "late", "own"])


def test_logs_that_share_a_beginning_are_read_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    genuine = line_batches

    def counted(path: Path, *more: Any) -> Iterator[list[Line]]:
        opened.append(path.stem)
        return genuine(path, *more)

    for age in range(4):
        path = tmp_path / f"s-{age}.jsonl"
        path.write_bytes(logs.session(2 + age, session=f"s-{age}"))
        os.utime(path, (1000 + age, 1000 + age))
    found = sessions([tmp_path], make_kit())
    assert [session.family for session in found] == [(tmp_path / "s-0.jsonl", age) for age in range(4)]
    assert [session.repeated for session in found] == [True, True, True, False]
    monkeypatch.setattr(lines, "line_batches", counted)
    assert [uses(list(read_session(session, make_kit()))) for session in found] == [
        ["t0", "t1"],
        ["t2"],
        ["t3"],
        ["t4"],
    ]
    assert opened == ["s-0", "s-1", "s-2", "s-3"]
    (tmp_path / "s-1.jsonl").write_bytes(logs.session(4, session="s-1"))
    assert uses(list(read_session(found[2], make_kit()))) == []
    assert opened[4:] == ["s-1", "s-2"]


def test_unrelated_sessions_are_no_copies(tmp_path: Path) -> None:
    (tmp_path / "s-1.jsonl").write_bytes(logs.session(2))
    (tmp_path / "s-2.jsonl").write_bytes(logs.session(2, first=40, session="s-2"))
    assert [session.copied for session in sessions([tmp_path], make_kit())] == [(), ()]
    assert uses(events_of(tmp_path)) == ["t0", "t1", "t40", "t41"]


def test_the_same_prompt_at_the_same_moment_makes_no_copy(tmp_path: Path) -> None:
    """Two runs that a script starts at once ask for the same, and then go their own ways."""
    one, other = tmp_path / "s-1.jsonl", tmp_path / "s-2.jsonl"
    one.write_bytes(logs.prompt(0) + logs.call(1, "a") + logs.result(2, "a"))
    other.write_bytes(
        logs.prompt(0, session="s-2") + logs.call(1, "b", session="s-2") + logs.result(2, "b", session="s-2")
    )
    found = sessions([tmp_path], make_kit())
    assert [(session.copied, session.repeated) for session in found] == [((), False), ((), False)]
    assert sum(isinstance(event, Prompt) for event in events_of(tmp_path)) == 2
    fork = tmp_path / "s-3.jsonl"
    fork.write_bytes(one.read_bytes().replace(b"s-1", b"s-3"))
    os.utime(fork, (1000, 1000))
    found = sessions([tmp_path], make_kit())
    assert [len(session.copied) for session in found] == [1, 0, 0], "of these the fork is the oldest"


def test_bad_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(
        logs.session(1) + b"not json\n" + b"\0\0\0\n" + b'{"half":\n' + logs.session(1, first=5) + b'{"type":"us'
    )
    kit = make_kit()
    [session] = sessions([log], kit)
    assert uses(list(read_session(session, kit))) == ["t0", "t5"]
    assert kit.diagnostics.counts == {"not JSON": 3, "only NUL bytes": 1}
    assert sorted(fault.line for fault in kit.diagnostics.first) == [4, 5, 6, 10]


def test_a_file_with_several_runs_is_several_sessions(shared_data: Path) -> None:
    path = shared_data / "real_sessions" / "openhands" / "resolver-output.jsonl"
    kit = make_kit()
    found = sessions([path], kit)
    runs = [list(read_session(session, kit)) for session in found]
    assert len(found) == len(path.read_bytes().splitlines()) == 2
    for session, run in zip(found, runs, strict=True):
        starts = [event for event in run if isinstance(event, SessionStart)]
        assert run[0] == starts[0]
        assert [start.session for start in starts] == [session.id]
    whole = LogSession("all", "openhands", (found[0].logs[0]._replace(start=0, line=1, end=None),))
    assert list(read_session(whole, kit)) == [event for run in runs for event in run]


@pytest.mark.parametrize(
    ("ids", "names", "ends"),
    [
        ([{"id": "x"}] * 3, ["x", "x-2", "x-3"], "\n\n\n"),
        ([{"id": "x"}, {"id": "y"}, {"id": "x"}], ["x", "y", "x-2"], "\n\n\n"),
        ([{"id": "x"}, {"id": "x-2"}, {"id": "x"}], ["x", "x-2", "x-3"], "\n\n\n"),
        ([{}, {}, {}], ["runs", "runs-2", "runs-3"], "\n\n\n"),
        ([{"id": "x"}, {"id": "y"}, {"id": "x"}], ["x", "y", "x-2"], "\n \n"),
    ],
)
def test_runs_of_the_same_name_lose_nothing_and_have_names_of_their_own(
    tmp_path: Path, ids: list[dict[str, str]], names: list[str], ends: str
) -> None:
    runs = [
        {**one, "messages": [{"role": "user", "content": "go " * 9}, {"role": "assistant", "content": str(n)}]}
        for n, one in enumerate(ids)
    ]
    log = tmp_path / "runs.jsonl"
    log.write_text("".join(json.dumps(run) + end for run, end in zip(runs, ends, strict=True)))
    kit = make_kit()
    found = sessions([log], kit)
    assert [session.id for session in found] == names
    for session in found:
        told, live = list(read_session(session, kit)), Follower(session, kit)
        assert live.poll()[0] == told[0]
        assert [type(event) for event in told] == [SessionStart, Prompt, Turn]
        assert isinstance(told[0], SessionStart) and told[0].session == session.id


def test_every_real_log_is_read_without_a_reader_failing(shared_data: Path) -> None:
    kit = make_kit()
    found = sessions(FOLDERS, kit)
    assert {session.tool for session in found} >= {"claude-code", "gemini", "pi", "openhands", "swe-agent"}
    for session in found:
        told = list(read_session(session, kit))
        assert sum(isinstance(event, SessionStart) for event in told) >= 1
        assert any(isinstance(event, Prompt | ToolUse) for event in told)
        children = {event.child for event in told if isinstance(event, AgentStart)}
        assert {log.agent for log in session.logs[1:]} <= children | {"main"}
    assert not [reason for reason in kit.diagnostics.counts if reason.startswith("not understood")]


def test_a_session_has_the_name_that_its_log_gives_it(shared_data: Path) -> None:
    kit = make_kit()
    named = {
        session.id: next(event for event in read_session(session, kit) if isinstance(event, SessionStart))
        for session in sessions([shared_data / "real_sessions"], kit)
    }
    assert {name: start.session for name, start in named.items()} == {name: name for name in named}
    assert {start.tool for start in named.values()} >= {"cline", "gemini", "opencode"}


@pytest.mark.parametrize("before", [0, 200_000])
@pytest.mark.parametrize("cut", [False, True])
def test_a_document_names_its_session_wherever_the_name_stands(tmp_path: Path, before: int, cut: bool) -> None:
    wrong = {"id": "m-1", "type": "user", "sessionId": "wrong", "content": "x" * before}
    document = {"projectHash": "f" * 64, "messages": [wrong], "sessionId": "g-1", "more": "y"}
    log = tmp_path / "session-1.two.json"
    data = json.dumps(document).encode()
    log.write_bytes(data[:-4] if cut else b"\xef\xbb\xbf" + data + b"\0" * 9)
    [session] = sessions([log], make_kit())
    assert session.id == ("session-1" if cut and before else "g-1")


def test_merging_keeps_each_log_in_its_own_order() -> None:
    ahead: list[Event] = [Prompt(at=at, characters=1) for at in (5.0, 1.0, 9.0)]
    other: list[Event] = [Prompt(at=at, characters=2) for at in (2.0, 5.0, 6.0)]
    kind = Format("test", "lines", lambda _: 0, ClaudeCode)
    one, two = records.Log(Path("a"), kind), records.Log(Path("b"), kind, agent="b")
    merged = [row[2] for row in merge([rows(one, ahead), rows(two, other)])]
    assert [event for event in merged if event in ahead] == ahead
    assert [event for event in merged if event in other] == other
    assert [event.at for event in merged] == [2.0, 5.0, 1.0, 5.0, 6.0, 9.0]


def test_identity_does_not_depend_on_the_place() -> None:
    use = ToolUse(at=1.0, id="a", outcome="success")
    assert identity(use) == identity(ToolUse(at=2.0, id="a", outcome="failure"))
    assert identity(use) != identity(ToolUse(at=1.0, id="b"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\n \0\n", "empty"),
        (bytes(range(256)) * 64, "a binary file"),
        ('{"a": 1}'.encode("utf-16"), "text in UTF-16; save it as UTF-8"),
        (b"just some words\n", "no log of a known format"),
        (b'{"hello": "world"}\n', "no log of a known format"),
        (b"[1, 2, 3]", "no log of a known format"),
        (b"\x28\xb5\x2f\xfd\0\0\0broken", "damaged archive"),
    ],
)
def test_what_is_no_log_is_said(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "thing.jsonl"
    path.write_bytes(content)
    with pytest.raises(UnreadableLog, match=f"thing.jsonl: {reason}"):
        sessions([path], make_kit())


def test_missing_empty_and_locked_places_are_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match="no such file"):
        sessions([tmp_path / "nothing.jsonl"], make_kit())
    with pytest.raises(UnreadableLog, match="a folder without logs"):
        sessions([tmp_path], make_kit())
    with pytest.raises(UnreadableLog, match="no log matches"):
        sessions([str(tmp_path / "*.jsonl")], make_kit())
    with pytest.raises(UnreadableLog, match="no path given"):
        sessions([], make_kit())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableLog, match="not a regular file"):
        sessions([tmp_path / "pipe"], make_kit())


@pytest.mark.skipif(ROOT, reason="root may read everything")
def test_a_file_without_permission_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(logs.session(1))
    path.chmod(0)
    with pytest.raises(UnreadableLog, match="no permission"):
        sessions([path], make_kit())


def test_one_bad_path_among_good_ones_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(logs.session(1))
    kit = make_kit()
    assert len(sessions([log, tmp_path / "gone.jsonl"], kit)) == 1
    assert kit.diagnostics.counts == {"no such file": 1}


def test_a_file_that_vanishes_before_it_is_read_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "s-1.jsonl"
    log.write_bytes(logs.session(1))
    kit = make_kit()
    [session] = sessions([log], kit)
    log.unlink()
    assert list(read_session(session, kit)) == []
    assert kit.diagnostics.counts == {"vanished": 1}


def test_no_format_is_asked_after_a_certain_one() -> None:
    asked: list[str] = []

    def format_(name: str, sure: int) -> Format:
        def sniff(_sample: Sample) -> int:
            asked.append(name)
            return sure

        return Format(name, "lines", sniff, ClaudeCode)

    def found(*sure: int) -> str:
        asked.clear()
        agents = [Agent(str(place), str(place), (format_(str(place), one),)) for place, one in enumerate(sure)]
        best = recognise(Sample(b"{}", Path("x")), tuple(agents))
        return best.name if best else ""

    assert (found(80, 99, 99), asked) == ("1", ["0", "1", "2"])
    assert (found(80, 100, 100), asked) == ("1", ["0", "1"])
    assert (found(0, 0), asked) == ("", ["0", "1"])


def test_objects_of_a_head_are_those_of_its_lines_however_they_are_asked_for() -> None:
    head = b'\n[1]\n{"n":0}\n{broken\n {"n":1}\n"x"\n{"n":2}\n{"n":3'
    wanted = [{"n": 0}, {"n": 1}, {"n": 2}]
    assert list(Sample(head, Path()).records) == wanted
    for first in (0, 1, 2, -1, slice(2), slice(1, None), slice(-2, None), slice(9), slice(0)):
        records = Sample(head, Path()).records
        assert records[first] == wanted[first]
        assert records
        assert len(records) == 3
        assert list(records) == wanted
    assert not Sample(b"[1]\n", Path()).records
    with pytest.raises(IndexError):
        Sample(head, Path()).records[3]


def test_a_record_that_a_reader_fails_on_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(logs.session(4))
    whole = events_of(path)
    genuine = ClaudeCode._result

    def failing(self: ClaudeCode, line: Any, block: Any, *more: Any) -> None:
        genuine(self, line, block, *more)
        if block.tool_use_id == "t1":
            raise ValueError

    monkeypatch.setattr(ClaudeCode, "_result", failing)
    kit = make_kit()
    (session,) = sessions([path], make_kit())
    left = list(read_session(session, kit))
    assert left == [event for event in whole if not (isinstance(event, ToolUse) and event.id == "t1")]
    (fault,) = kit.diagnostics.first
    assert fault.reason == "not understood (ValueError)"
    assert b'"t1"' in path.read_bytes().splitlines()[fault.line - 1]
