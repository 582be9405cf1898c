"""What lies on a machine is found by names, heads and tails."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from core.agents.crush import CrushReader
from core.agents.open_events import write
from core.agents.registry import AGENTS, make_kit
from core.events import SessionStart, ToolUse
from core.logs import lines
from core.logs.discovery import describe_sessions, find
from core.logs.finder import sessions
from core.logs.format import roots
from core.logs.session import log_events
from core.settings.program import LineSettings
from tests.core.agents import samples_wider as wider
from tests.core.agents.real_logs import FOLDERS
from tests.core.agents.samples import encoded
from tests.core.logs import log_lines as logs

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress

NOW = 2_000_000_000.0


def put(path: Path, data: bytes, age: float = 0.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (NOW - age, NOW - age))
    return path


def codex(session: str, cwd: str) -> bytes:
    meta = {"id": session, "cwd": cwd, "cli_version": "0.47.0", "timestamp": logs.stamp(0)}
    output = {"type": "function_call_output", "call_id": "c", "output": "x"}
    return b"".join(
        json.dumps({"timestamp": logs.stamp(number), "type": kind, "payload": payload}).encode() + b"\n"
        for number, (kind, payload) in enumerate([("session_meta", meta), ("response_item", output)])
    )


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert find(AGENTS, {}, tmp_path) == []
    assert roots(AGENTS, {}, tmp_path) == []


def test_each_agent_is_found_in_its_place(tmp_path: Path) -> None:
    uuid = "019a085e-04c1-7f81-a09e-9555f6a1fb40"
    put(tmp_path / ".claude/projects/-srv-project/s-1.jsonl", logs.session(3), age=10)
    put(tmp_path / ".claude/projects/-srv-project/agent-x.jsonl", logs.session(3), age=10)
    put(tmp_path / ".claude/projects/-srv-project/s-1/subagents/agent-a.jsonl", logs.session(9), age=5)
    put(tmp_path / ".claude/projects/-srv-project/s-1/subagents/agent-acompact-b.jsonl", logs.session(9), age=1)
    put(tmp_path / f".codex/sessions/2025/10/21/rollout-2025-10-21T20-02-50-{uuid}.jsonl", codex(uuid, "/c"), age=20)
    put(
        tmp_path / ".gemini/tmp/abc/chats/session-1.json",
        json.dumps({"sessionId": "g-1", "projectHash": "f" * 64, "messages": []}).encode(),
        age=30,
    )
    put(
        tmp_path / ".pi/agent/sessions/--p--/2025_p-1.jsonl",
        b'{"type":"session","version":3,"id":"p-1","cwd":"/pi"}\n',
        age=40,
    )
    put(
        tmp_path / ".copilot/session-state/k-1/events.jsonl",
        b'{"type":"session.start","data":{"sessionId":"k-1","context":{"cwd":"/cop"}}}\n',
        age=50,
    )
    put(tmp_path / ".openhands/conversations/h-1/events/event-00000-a.json", b"{}", age=60)
    os.utime(tmp_path / ".openhands/conversations/h-1/events", (NOW - 60, NOW - 60))
    put(tmp_path / ".openhands/conversations/h-1/base_state.json", b'{"workspace":{"working_dir":"/oh"}}')
    put(
        tmp_path / ".local/share/opencode/storage/session/pr/ses_1.json",
        json.dumps(
            {"id": "ses_1", "projectID": "pr", "directory": "/oc", "time": {"updated": (NOW - 70) * 1000}}
        ).encode(),
    )
    put(tmp_path / ".local/share/opencode/storage/message/ses_1/msg_1.json", b"{}")
    found = find(AGENTS, {}, tmp_path, now=NOW)
    assert [(one.agent, one.session, one.project) for one in found] == [
        ("claude-code", "s-1", "/srv/project"),
        ("codex", uuid, "/c"),
        ("gemini", "g-1", "f" * 12),
        ("pi", "p-1", "/pi"),
        ("copilot-cli", "k-1", "/cop"),
        ("openhands", "h-1", "/oh"),
        ("opencode", "ses_1", "/oc"),
    ]
    first = found[0]
    assert first.modified == NOW - 5
    assert [path.name for path in first.paths] == ["s-1.jsonl", "agent-a.jsonl"]
    assert first.size == sum(path.stat().st_size for path in first.paths)
    assert {agent for agent, _ in roots(AGENTS, {}, tmp_path)} == {one.agent for one in found}


@pytest.mark.parametrize(
    ("variable", "place", "data"),
    [
        ("CLAUDE_CONFIG_DIR", "projects/p/s-1.jsonl", logs.session(1)),
        ("CODEX_HOME", "sessions/2025/10/21/rollout-x.jsonl", codex("x", "/c")),
        ("CODEX_HOME", "archived_sessions/rollout-x.jsonl", codex("x", "/c")),
        ("GEMINI_CLI_HOME", ".gemini/tmp/abc/chats/session-1.jsonl", b'{"sessionId":"g"}\n'),
        ("XDG_DATA_HOME", "opencode/storage/session/p/ses_1.json", b'{"id":"ses_1"}'),
        ("PI_CODING_AGENT_DIR", "sessions/--p--/a.jsonl", b'{"type":"session"}\n'),
        ("OPENHANDS_CONVERSATIONS_DIR", "h/events/event-0.json", b"{}"),
        ("COPILOT_HOME", "session-state/k/events.jsonl", b"{}\n"),
    ],
)
def test_the_environment_is_honoured(tmp_path: Path, variable: str, place: str, data: bytes) -> None:
    put(tmp_path / "elsewhere" / place, data)
    if "opencode" in place:
        put(tmp_path / "elsewhere/opencode/storage/message/ses_1/m.json", b"{}")
    home = tmp_path / "home"
    home.mkdir()
    assert find(AGENTS, {}, home) == []
    assert len(find(AGENTS, {variable: str(tmp_path / "elsewhere")}, home)) == 1
    assert len(find(AGENTS, {variable: ""}, tmp_path / "elsewhere")) in (0, 1)


_LINES: dict[str, bytes] = {
    name: b"".join(encoded(line) + b"\n" for line in log[1]) for name, log in wider.LOGS.items()
}


@pytest.mark.parametrize(
    ("agent", "place", "data"),
    [
        *(("claude-code", f"{root}/projects/p/s-1.jsonl", logs.session(3)) for root in (".openclaude", ".iflow")),
        (
            "claude-code",
            ".config/Claude/local-agent-mode-sessions/o/w/local_1/.claude/projects/p/s.jsonl",
            logs.session(3),
        ),
        *(
            ("codex", f"{root}/sessions/rollout-x.jsonl", codex("x", "/c"))
            for root in (".trae/cli", ".openinterpreter")
        ),
        *(
            ("pi", f"{root}/sessions/p/a.jsonl", b'{"type":"session","version":3,"id":"p-1","cwd":"/pi"}\n')
            for root in (".omp/agent", ".omp/profiles/p/agent", ".prime/agent")
        ),
        *(("qwen", f"{root}/projects/p/chats/a.jsonl", b'{"type":"user"}\n') for root in (".qoder", ".qoderwork")),
        *(("codebuddy", f"{root}/projects/p/a.jsonl", _LINES["codebuddy"]) for root in (".codebuddy", ".workbuddy")),
        ("hermes", ".hermes/sessions/h.jsonl", _LINES["hermes"]),
        *(("openclaw", f"{root}/agents/m/sessions/a.jsonl", _LINES["openclaw"]) for root in (".openclaw", ".moltbot")),
        ("vscode-chat", ".config/Code/User/workspaceStorage/x/chatSessions/v.jsonl", _LINES["vscode-chat"]),
        ("grok", ".grok/sessions/%2Fw/g-1/updates.jsonl", _LINES["grok"]),
        ("kiro", ".kiro/sessions/cli/k.jsonl", _LINES["kiro"]),
        ("mistral-vibe", ".vibe/logs/session/session_1/messages.jsonl", _LINES["mistral-vibe"]),
        ("devin", ".local/share/devin/cli/transcripts/d.json", encoded(wider.DEVIN)),
        ("kimi", ".kimi-code/sessions/w/conv-1/agents/main/wire.jsonl", b'{"type":"turn.prompt","time":1}\n'),
        ("", ".kimi-code/sessions/w/ctitle-1/agents/main/wire.jsonl", b'{"type":"turn.prompt","time":1}\n'),
        ("acp", ".local/share/nooscope/acp/s.jsonl", _LINES["acp"]),
    ],
)
def test_forks_and_newer_agents_are_found_in_their_places(tmp_path: Path, agent: str, place: str, data: bytes) -> None:
    put(tmp_path / place, data)
    assert [one.agent for one in find(AGENTS, {}, tmp_path, now=NOW)] == ([agent] if agent else [])


@pytest.mark.parametrize("name", ["opencode/opencode.db", "kilo/kilo.db", "mimocode/mimocode.db"])
def test_databases_of_forks_are_found_by_what_is_in_them(tmp_path: Path, name: str) -> None:
    path = tmp_path / ".local/share" / name
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id, parent_id, directory, title, time_created, time_updated)")
        database.execute("CREATE TABLE message (id, session_id, data)")
        database.execute("CREATE TABLE part (id, session_id, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', NULL, '/w', 'Mill', 1, 2)")
        database.commit()
    path.with_name("other.db").write_bytes(b"x")
    assert [(one.agent, one.session) for one in find(AGENTS, {}, tmp_path, now=NOW)] == [("opencode", "ses_1")]


def test_a_packed_log_is_found_unless_it_is_there_unpacked_too(tmp_path: Path) -> None:
    folder = tmp_path / ".claude/projects/-mill"
    packed = put(folder / "s-1.jsonl.zst", compress(logs.session(4, session="s-1")))
    inner = put(folder / "s-1/subagents/agent-a.jsonl.zst", compress(logs.session(1, session="s-1")))
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert (one.path, one.session, one.paths, one.events > 0) == (packed, "s-1", (packed, inner), True)
    plain = put(folder / "s-1.jsonl", logs.session(4, session="s-1"))
    assert [one.path for one in find(AGENTS, {}, tmp_path, now=NOW)] == [plain]


def test_active_means_lately_changed_and_lately_written(tmp_path: Path) -> None:
    claude = tmp_path / ".claude/projects/p"
    lately = logs.prompt(0, timestamp="2033-05-18T03:30:00.000Z")
    put(claude / "fresh.jsonl", lately, age=299)
    put(claude / "stale.jsonl", lately, age=301)
    put(claude / "restored.jsonl", logs.session(2), age=1)
    put(tmp_path / ".copilot/a/events.jsonl", b'{"type":"session.shutdown","data":{}}\n', age=1)
    put(tmp_path / ".copilot/b/events.jsonl", b'{"type":"user.message","data":{}}\n', age=1)
    active = {f"{one.path.parent.name}/{one.path.stem}": one.active for one in find(AGENTS, {}, tmp_path, now=NOW)}
    assert active == {"p/fresh": True, "p/stale": False, "p/restored": False, "a/events": False, "b/events": True}


def test_the_number_of_events_is_a_fair_guess(tmp_path: Path) -> None:
    put(tmp_path / ".claude/projects/p/s.jsonl", logs.session(2000))
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert 3000 <= one.events <= 6000


def test_a_database_is_listed_without_reading_what_was_said(tmp_path: Path) -> None:
    path = tmp_path / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, time_updated, data);"
            "CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);"
        )
        told = [("ses_1", None, "/one", 10), ("ses_2", "ses_1", "/one", 5), ("ses_3", None, "/three", 900)]
        for name, parent, folder, age in told:
            row = (name, parent, folder, int(NOW - age) * 1000)
            database.execute("INSERT INTO session VALUES (?, ?, ?, 'title', '1', 0, ?)", row)
        database.commit()
    found = find(AGENTS, {}, tmp_path, now=NOW)
    assert [(one.session, one.project, one.active) for one in found] == [
        ("ses_1", "/one", True),
        ("ses_3", "/three", False),
    ]


def test_a_session_of_a_damaged_database_is_listed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path
) -> None:
    path = tmp_path / "crush.db"
    path.write_bytes((shared_data / "real_sessions/crush/Starmel_OpenSuperWhisper/crush.db").read_bytes())
    listed = sessions([path], make_kit())
    [sound] = describe_sessions(AGENTS, listed, NOW)

    def damaged(_: Path) -> list[object]:
        raise OSError("database disk image is malformed")

    monkeypatch.setattr(CrushReader, "listing", staticmethod(damaged))
    [one] = describe_sessions(AGENTS, listed, NOW)
    assert (one.agent, one.session, one.size) == (sound.agent, sound.session, sound.size)


def test_many_files_are_glanced_at_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = logs.session(400)
    assert len(data) > 200_000
    for number in range(500):
        put(tmp_path / f".claude/projects/p{number % 20}/s-{number}.jsonl", data, age=number)
    taken = 0
    take = lines.read_bytes

    def counted(stream: object, size: int = -1) -> bytes:
        nonlocal taken
        got = take(stream, size)  # type: ignore[arg-type]
        taken += len(got)
        return got

    monkeypatch.setattr("core.logs.discovery.read_bytes", counted)
    monkeypatch.setattr("core.logs.glimpse.read_bytes", counted)
    begun = time.process_time()
    found = find(AGENTS, {}, tmp_path, now=NOW)
    spent = time.process_time() - begun
    assert [one.path.stem for one in found] == [f"s-{number}" for number in range(500)]
    assert taken < 12_500_000 + 33_600_000
    assert spent < 5.0


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    put(tmp_path / ".claude/projects/p/s.jsonl", logs.session(2))
    put(tmp_path / ".claude/projects/p/empty.jsonl", b"")
    put(tmp_path / ".claude/projects/p/odd.jsonl", b"\xff\0" * 40_000)
    (tmp_path / ".claude/projects/p/gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".claude/projects/p/folder.jsonl").mkdir()
    found = {one.path.name: one for one in find(AGENTS, {}, tmp_path, now=NOW)}
    assert found["s.jsonl"].project == "/srv/project"
    assert "gone.jsonl" not in found
    assert found["empty.jsonl"].events == 0


def test_sessions_found_by_path_are_described_alike(shared_data: Path) -> None:
    found = describe_sessions(AGENTS, sessions(FOLDERS, make_kit()), NOW)
    assert len({one.path for one in found}) > 20
    assert all(one.size > 0 and one.modified > 0 and not one.active for one in found)
    runs = [one for one in found if one.path.name == "resolver-output.jsonl"]
    assert len(runs) == 2
    assert sum(one.size for one in runs) == runs[0].path.stat().st_size
    assert all(one.events > 0 for one in found)
    assert {one.project for one in found if one.agent == "pi"} == {
        "/Users/badlogic/workspaces/pi-mono",
        "/Users/raquezha/Developer/pi.dev",
    }


def test_the_order_of_keys_does_not_matter(tmp_path: Path) -> None:
    told = {"type": "user", "message": {"role": "user", "content": [{"cwd": "/wrong", "sessionId": "wrong"}]}}
    for place, record in enumerate(
        [
            {**told, "cwd": "/right", "sessionId": "right"},
            {"sessionId": "right", **told, "cwd": "/right"},
            {"toolUseResult": {"cwd": "/wrong", "session_id": "wrong"}, "sessionId": "right", "cwd": "/right"},
        ]
    ):
        put(tmp_path / f".claude/projects/p/s-{place}.jsonl", json.dumps(record).encode() + b"\n")
    found = find(AGENTS, {}, tmp_path, now=NOW)
    assert {(one.project, one.session) for one in found} == {("/right", "right")}
    assert len(found) == 3


def test_a_long_first_line_hides_nothing_whatever_the_order_of_its_keys(tmp_path: Path) -> None:
    said = {"type": "user", "message": {"role": "user", "content": "x" * 40_000}}
    record = {**said, "cwd": "/right", "sessionId": "right"}
    put(tmp_path / ".claude/projects/p/s-1.jsonl", json.dumps(record).encode() + b"\n")
    document = {"messages": [{"content": "y" * 40_000}], "projectHash": "f" * 64, "sessionId": "g-1"}
    put(tmp_path / ".gemini/tmp/abc/chats/session-1.json", json.dumps(document).encode())
    found = find(AGENTS, {}, tmp_path, now=NOW)
    assert {(one.project, one.session) for one in found} == {("/right", "right"), ("f" * 12, "g-1")}


def test_a_document_that_goes_on_beyond_its_head_is_described_by_its_outer_keys(tmp_path: Path) -> None:
    document = {
        "messages": [{"type": "user", "sessionId": "wrong", "content": "x"}],
        "projectHash": "f" * 64,
        "sessionId": "g-1",
        "more": ["y" * 40_000],
    }
    put(tmp_path / ".gemini/tmp/abc/chats/session-1.json", json.dumps(document).encode())
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert (one.session, one.project) == ("g-1", "f" * 12)


def test_a_touched_log_is_as_old_as_its_own_clock_says(tmp_path: Path) -> None:
    path = put(tmp_path / ".claude/projects/p/s-1.jsonl", logs.session(30))
    sub = put(tmp_path / ".claude/projects/p/s-1/subagents/agent-a.jsonl", logs.session(9))
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert (one.modified, one.active) == (NOW, False)
    assert logs.START < one.last < logs.START + 100
    put(sub, logs.prompt(0, timestamp="2033-05-18T03:33:00.000Z"))
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert (one.last, one.active) == (NOW - 20, True)
    put(path, b"{}\n")
    sub.unlink()
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert (one.last, one.active) == (NOW, True)


def test_a_log_whose_clock_was_never_set_is_as_old_as_its_file(tmp_path: Path) -> None:
    for moment, last, active in (("2001-09-09T01:46:39", NOW, True), ("2001-09-09T01:46:40", 1e9, False)):
        put(tmp_path / ".claude/projects/p/s-1.jsonl", logs.prompt(0, timestamp=f"{moment}.000Z"))
        [one] = find(AGENTS, {}, tmp_path, now=NOW)
        assert (one.last, one.active) == (last, active)


def test_a_copied_history_without_json_is_as_old_as_it_says(tmp_path: Path) -> None:
    told = "\n# aider chat started at 2026-03-01 10:00:00\n\n#### mend the mill  \n\nDone.\n"
    path = put(tmp_path / ".aider.chat.history.md", told.encode())
    [one] = describe_sessions(AGENTS, sessions([path], make_kit()), NOW)
    assert (one.modified, one.active) == (NOW, False) and one.last < NOW - 86_400


def test_lines_without_times_at_the_end_do_not_hide_the_last_one(tmp_path: Path) -> None:
    aside = json.dumps({"type": "file-history-snapshot", "x": "y" * 3000}).encode() + b"\n"
    put(tmp_path / ".claude/projects/p/s-1.jsonl", logs.session(30) + aside * 6)
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert logs.START < one.last < logs.START + 100


def test_events_are_counted_within_a_quarter_on_real_logs(shared_data: Path) -> None:
    kit = make_kit()
    listed = sessions([shared_data / "real_sessions"], kit)
    found = {(one.path, one.session): one for one in describe_sessions(AGENTS, listed, NOW)}
    checked = 0
    for session in listed:
        told = sum(1 for log in session.logs for _ in log_events(log, kit, LineSettings()))
        one = found[session.logs[0].path, session.id]
        assert abs(one.events - told) <= max(0.25 * told, 6), session.id
        checked += told > 24
    assert checked > 30


def test_samples_guess_what_is_too_long_to_be_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / ".claude/projects/p/s.jsonl", logs.session(2000))
    monkeypatch.setattr("core.logs.glimpse.EXACT", 1000)
    [one] = find(AGENTS, {}, tmp_path, now=NOW)
    assert 3000 <= one.events <= 6000


def test_a_folder_that_is_called_like_a_log_is_none(tmp_path: Path) -> None:
    """It would be the newest session, and `nooscope` alone would open it and see nothing."""
    good = put(tmp_path / ".claude/projects/-p/s-1.jsonl", logs.session(3), age=10)
    (tmp_path / ".claude/projects/-p/zz.jsonl").mkdir()
    assert [one.path for one in find(AGENTS, {}, tmp_path, now=NOW)] == [good]


def test_a_session_that_was_received_too_is_listed_once_by_its_own_log(tmp_path: Path) -> None:
    put(tmp_path / ".claude/projects/-srv-project/s-1.jsonl", logs.session(3), age=10)
    (own,) = find(AGENTS, {}, tmp_path, now=time.time())
    received = tmp_path / ".local/share/nooscope/received"
    for session in (own.session, "elsewhere"):
        start = SessionStart(at=time.time(), session=session, tool="claude-code")
        use = ToolUse(at=time.time(), action="shell_exec", tool="Bash")
        put(received / f"{session}.jsonl", b"".join(write(one, session) + b"\n" for one in (start, use)), age=5)
    assert {(one.agent, one.session) for one in find(AGENTS, {}, tmp_path, now=time.time())} == {
        ("claude-code", own.session),
        ("nooscope", "elsewhere"),
    }
    paths = [tmp_path / ".claude/projects", received]
    assert {one.path.name for one in sessions(paths, make_kit())} == {"s-1.jsonl", "elsewhere.jsonl"}
    assert [one.path.name for one in sessions([received / f"{own.session}.jsonl"], make_kit())]
