"""Documents, folders and databases that grow: read again, and only what is new passed on."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.events import ToolUse, Where
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.records import read_excerpt
from core.logs.session import read_session
from core.logs.tail import PATIENCE
from tests.core.logs import log_lines as logs
from tests.core.logs.test_follow import KIT, fresh_kit, uses


def test_a_document_is_read_again_and_only_news_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    path.write_bytes(logs.gemini(2, running=True))
    follower = Follower(path, fresh_kit())
    assert uses(follower.poll()) == ["c0", "c1"]
    path.write_bytes(logs.gemini(3)[:-30])
    assert follower.poll() == []
    path.write_bytes(logs.gemini(3))
    assert uses(follower.poll()) == ["c2"]
    assert follower.poll() == []
    assert follower.kit.diagnostics.counts == {}


@pytest.mark.parametrize(
    ("content", "why"),
    [(b'{"sessionId": oops }', "not JSON"), (b"", "is empty"), (logs.gemini(3)[:-30], "ends in the middle")],
    ids=["not JSON", "empty", "half"],
)
def test_a_document_that_cannot_be_read_is_said_once_and_that_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, why: str
) -> None:
    clock = [100.0]
    monkeypatch.setattr("core.logs.tail.time.monotonic", lambda: clock[0])
    path = tmp_path / "session-1.json"
    path.write_bytes(logs.gemini(2))
    follower = Follower(path, fresh_kit())
    assert uses(follower.poll()) == ["c0", "c1"]
    path.write_bytes(content)
    said: list[str] = []
    for passed in (0.0, PATIENCE - 0.01, 0.01, 9.0):
        clock[0] += passed
        assert follower.poll() == []
        said += follower.notices()
        if why != "not JSON" and clock[0] < 100.0 + PATIENCE:
            assert said == []
    assert said == [f"session-1.json: {why}; trying again"]
    path.write_bytes(logs.gemini(3))
    assert uses(follower.poll()) == ["c2"]
    assert follower.notices() == ["session-1.json: is back"]


def test_a_document_with_a_folder_in_its_place_is_said_and_what_comes_back_is_read_again(tmp_path: Path) -> None:
    path, aside = tmp_path / "session-1.json", tmp_path / "aside"
    path.write_bytes(logs.gemini(2))
    follower = Follower(path, fresh_kit())
    follower.poll()
    path.rename(aside)
    path.mkdir()
    assert follower.poll() == follower.poll() == []
    (said,) = follower.notices()
    assert said.endswith("; trying again")
    path.rmdir()
    aside.rename(path)
    assert follower.poll() == []
    assert follower.notices() == ["session-1.json: is back"]


def test_a_document_between_a_mark_and_blanks_reads_like_a_plain_one(tmp_path: Path) -> None:
    """Windows writes a mark before a text, and a lost write leaves NUL bytes behind it."""
    plain, odd = tmp_path / "plain.json", tmp_path / "odd.json"
    plain.write_bytes(logs.gemini(3))
    odd.write_bytes(b"\xef\xbb\xbf\r\n" + logs.gemini(3) + b"\r\n" + b"\0" * 5000)
    for path in (plain, odd):
        kit = fresh_kit()
        [session] = sessions([path], kit)
        assert session.id == "g-1"
        told = list(read_session(session, kit))
        assert uses(told) == uses(Follower(path, fresh_kit()).poll()) == ["c0", "c1", "c2"]
        assert kit.diagnostics.counts == {}
        [*_, last] = [event for event in told if isinstance(event, ToolUse)]
        assert last.where is not None and not read_excerpt(last.where).fault


def test_a_document_that_stays_cut_off_is_counted_once_nobody_writes_it_any_more(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    path.write_bytes(logs.gemini(3)[:-30])
    follower = Follower(path, fresh_kit())
    assert follower.poll() == [] and follower.kit.diagnostics.counts == {}
    os.utime(path, (1e9, 1e9))
    assert follower.poll() == follower.poll() == []
    assert follower.kit.diagnostics.counts == {"not JSON": 1}
    assert follower.notices() == ["session-1.json: ends in the middle; trying again"]
    path.write_bytes(logs.gemini(3))
    assert uses(follower.poll()) == ["c0", "c1", "c2"]
    assert follower.notices() == ["session-1.json: is back"]


def test_a_call_that_a_document_tells_twice_is_passed_on_when_it_is_over(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    times = [{"timestamp": logs.stamp(number)[:-1], "id": number} for number in range(4)]
    steps: list[dict[str, Any]] = [
        {**times[0], "source": "user", "action": "message", "args": {"content": "go"}},
        {**times[1], "source": "agent", "action": "run", "args": {"command": "ls"}},
        {**times[2], "source": "agent", "observation": "run", "cause": 1, "content": "x", "extras": {"exit_code": 0}},
        {**times[3], "source": "agent", "action": "run", "args": {"command": "pwd"}},
    ]
    path.write_bytes(json.dumps(steps[:2]).encode())
    follower = Follower(path, fresh_kit())
    assert uses(follower.poll()) == []
    assert [call.outcome for call in follower.in_flight()] == ["pending"]
    path.write_bytes(json.dumps(steps).encode())
    told = [event for event in follower.poll() if isinstance(event, ToolUse)]
    assert [(event.id, event.outcome) for event in told] == [("1", "success")]
    assert [call.id for call in follower.in_flight()] == ["3"]
    assert uses(follower.finish()) == ["3"]


def hands(number: int, **fields: Any) -> bytes:
    """One event of an OpenHands conversation."""
    return json.dumps({"id": f"e{number}", "timestamp": logs.stamp(number)[:-1], **fields}).encode()


def test_a_folder_of_events_is_followed_file_by_file(tmp_path: Path) -> None:
    folder = tmp_path / "c-1" / "events"
    folder.mkdir(parents=True)
    action = {"kind": "TerminalAction", "command": "ls"}
    seen = {"kind": "TerminalObservation", "content": [{"type": "text", "text": "a"}], "exit_code": 0}

    def act(number: int) -> bytes:
        fields = {"tool_name": "terminal", "tool_call_id": f"c{number}", "action": action}
        return hands(number, kind="ActionEvent", source="agent", **fields)

    def observe(number: int, of: int) -> bytes:
        fields = {"tool_name": "terminal", "tool_call_id": f"c{of}", "action_id": f"e{of}", "observation": seen}
        return hands(number, kind="ObservationEvent", source="environment", **fields)

    (folder / "event-00000-a.json").write_bytes(act(0))
    (folder / "event-00001-b.json").write_bytes(observe(1, 0))
    follower = Follower(folder, KIT)
    assert len(uses(follower.poll())) == 1
    (folder / "event-00002-c.json").write_bytes(act(2))
    assert uses(follower.poll()) == []
    (folder / "event-00003-d.json").write_bytes(observe(3, 2)[:20])
    assert uses(follower.poll()) == []
    (folder / "event-00003-d.json").write_bytes(observe(3, 2))
    assert len(uses(follower.poll())) == 1
    assert follower.poll() == []
    [session] = sessions([tmp_path], KIT)
    assert len(uses(list(read_session(session, KIT)))) == 2


def test_a_file_that_was_never_ended_does_not_hide_those_after_it(tmp_path: Path) -> None:
    """As a replay reads them; only the newest may still be written."""
    folder = tmp_path / "c-1" / "events"
    folder.mkdir(parents=True)

    def say(number: int) -> bytes:
        message = {"role": "user", "content": [{"type": "text", "text": f"prompt {number}"}]}
        return hands(number, kind="MessageEvent", source="user", llm_message=message)

    (folder / "event-00000-a.json").write_bytes(say(0))
    follower = Follower(folder, fresh_kit())
    assert len(follower.poll()) == 2
    (folder / "event-00001-b.json").write_bytes(say(1)[:40])
    assert follower.poll() == []
    assert follower.kit.diagnostics.total == 0
    (folder / "event-00002-c.json").write_bytes(say(2))
    assert [event.at for event in follower.poll()] == [logs.START + 2]
    assert follower.kit.diagnostics.total == 1


def test_a_folder_with_a_file_in_its_place_is_said_and_that_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "c-1" / "events"
    folder.mkdir(parents=True)
    (folder / "event-00000-a.json").write_bytes(hands(0, kind="PauseEvent", source="user"))
    follower = Follower(folder, fresh_kit())
    follower.poll()
    folder.rename(tmp_path / "aside")
    folder.write_text("{}")
    assert follower.poll() == follower.poll() == []
    assert follower.notices() == ["events: not a directory; trying again"]
    folder.unlink()
    (tmp_path / "aside").rename(folder)
    follower.poll()
    assert follower.notices() == ["events: is back"]


def test_a_database_is_followed_by_the_time_of_change(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"

    def part(number: int, status: str) -> str:
        state = {"status": status, "input": {"command": "ls"}, "output": "x", "time": {"start": 1, "end": 2}}
        return json.dumps({"type": "tool", "callID": f"c{number}", "tool": "bash", "state": state})

    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, time_updated, data);"
            "CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);"
            "INSERT INTO session VALUES ('ses_1', NULL, '/one', 't', '1', 1000, 1000);"
            "INSERT INTO session VALUES ('ses_2', NULL, '/two', 't', '1', 2000, 2000);"
        )
        answer = json.dumps({"role": "assistant", "modelID": "m", "time": {"created": 1000}})
        for name in ("1", "2"):
            row = (f"msg_{name}", f"ses_{name}", 1000, 1000, answer)
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        put = "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)"
        database.execute(put, ("prt_1", "msg_1", "ses_1", 1100, 1100, part(1, "completed")))
        database.execute(put, ("prt_2", "msg_1", "ses_1", 1200, 1200, part(2, "running")))
        database.execute(put, ("prt_9", "msg_2", "ses_2", 1200, 1200, part(9, "completed")))
        database.commit()
        first, second = sessions([path], KIT)
        assert (first.id, second.id) == ("ses_1", "ses_2")
        follower, other = Follower(first, KIT), Follower(second, KIT)
        assert uses(follower.poll()) == ["prt_1"]
        assert uses(other.poll()) == ["prt_9"]
        assert follower.poll() == []
        database.execute("UPDATE part SET time_updated = 1300, data = ? WHERE id = 'prt_2'", (part(2, "completed"),))
        database.execute(put, ("prt_3", "msg_1", "ses_1", 1300, 1300, part(3, "error")))
        database.commit()
        assert uses(follower.poll()) == ["prt_2", "prt_3"]
        assert uses(other.poll()) == []
        good = path.read_bytes()
        path.write_bytes(b"no database" * 100)
        assert follower.poll() == follower.poll() == []
        (said,) = follower.notices()
        assert said.startswith("opencode.db: the database cannot be read") and said.endswith("trying again")
        path.write_bytes(good)
        assert follower.poll() == []
        assert follower.notices() == ["opencode.db: is back"]
    told = list(read_session(first, KIT))
    assert uses(told) == ["prt_1", "prt_2", "prt_3"]
    places = [event.where for event in told if isinstance(event, ToolUse)]
    assert [json.loads(read_excerpt(where).text)["callID"] for where in places if where] == ["c1", "c2", "c3"]
    assert read_excerpt(Where(str(path), entry="part/none")).fault == "changed since it was read"
