"""The intake from outside: who gets in, who does not, and what a hostile caller costs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import StoreError
from core.extension import Extension, Registry
from core.hooks import server as module
from core.hooks.connection import IntakeFolder, call
from core.hooks.receiver import Answer, Receiver
from core.hooks.server import IntakeServer
from core.settings import Settings
from core.settings.layers import with_value
from core.store.journals import PermitJournal, SaidStore
from tests.core.hooks.calls import failure, hook, tool

ALLOWED = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": "the person allowed it in nooscope",
    }
}
"""What Claude Code is answered about a call that the person let pass: it need not ask again."""


class Clock:
    """Moves when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Curt(Extension):
    """Keeps rants back."""

    name = "curt"

    def on_input(self, session: str, words: str) -> str:
        return "" if "rant" in words else words


def make(folder: Path, settings: Settings | None = None) -> IntakeServer:
    return IntakeServer(settings or Settings(), IntakeFolder(folder / "intake"), Clock(), {}, folder)


@pytest.fixture
async def intake(tmp_path: Path) -> AsyncIterator[IntakeServer]:
    made = make(tmp_path, settings=with_value(Settings(), "response.guard.wait", 0.0))
    await made.start()
    yield made
    await made.close()


async def raw(intake: IntakeServer, data: bytes, *, end: bool = True) -> bytes:
    reader, writer = await asyncio.open_unix_connection(place_of(intake).socket)
    writer.write(data)
    if end:
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


def request(place: IntakeFolder, path: str, body: bytes = b"{}", /, **headers: str) -> bytes:
    told = {"Host": "127.0.0.1", "X-Nooscope-Token": place.token(), "Content-Length": str(len(body))}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value)
    return f"POST /{path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode() + body


async def ask(intake: IntakeServer, path: str, value: dict[str, Any]) -> Any:
    return await asyncio.to_thread(call, intake._place, path, value, 10.0)


def place_of(intake: IntakeServer) -> IntakeFolder:
    return intake._place


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, b"200"),
        ({"X_Nooscope_Token": ""}, b"401"),
        ({"X_Nooscope_Token": "wrong"}, b"401"),
        ({"Host": "evil.example"}, b"403"),
        ({"Host": ""}, b"403"),
        ({"Origin": "http://127.0.0.1"}, b"403"),
        ({"Sec_Fetch_Site": "cross-site"}, b"403"),
        ({"Content_Length": str(1 << 30)}, b"413"),
        ({"Content_Length": "x"}, b"411"),
    ],
)
async def test_who_gets_in(intake: IntakeServer, headers: dict[str, str], status: bytes) -> None:
    answer = await raw(intake, request(place_of(intake), "sessions", b"{}", **headers))
    assert answer.split(b" ")[1] == status
    assert place_of(intake).token().encode() not in answer


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("nothing", b"{}", b"404"),
        ("hook/nobody/advise", b"{}", b"404"),
        ("hook/claude/rule", b"{}", b"404"),
        ("hook/claude/advise", b"not json", b"400"),
        ("hook/claude/advise", b"[" * 100_000, b"400"),
        ("hook/claude/advise", b"[]", b"200"),
        ("hook/claude/advise", b"{}", b"200"),
    ],
)
async def test_what_is_taken(intake: IntakeServer, path: str, body: bytes, status: bytes) -> None:
    assert (await raw(intake, request(place_of(intake), path, body))).split(b" ")[1] == status


async def test_a_gigabyte_without_a_token_is_not_read(intake: IntakeServer) -> None:
    """It is refused by its first lines; what is sent on costs nothing."""
    data = request(place_of(intake), "hook/claude/advise", b"", X_Nooscope_Token="", Transfer_Encoding="chunked")
    reader, writer = await asyncio.open_unix_connection(place_of(intake).socket)
    writer.write(data)
    answer = await reader.read()
    assert b" 401 " in answer
    writer.close()


async def test_a_slow_drip_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    intake = make(tmp_path)
    await intake.start()
    try:
        for part in (b"POST /hook", request(place_of(intake), "sessions", b"{}", Content_Length="99")):
            assert b"200" not in await asyncio.wait_for(raw(intake, part, end=False), 30)
        assert await ask(intake, "sessions", {}) == []
    finally:
        await intake.close()


async def test_fifty_agents_at_once_are_all_answered(intake: IntakeServer) -> None:
    """Each is told of its own loop and of nobody else's."""

    async def agent(number: int) -> list[str]:
        told = []
        for turn in range(6):
            value = {**failure(turn, f"tool{number}"), "session_id": f"s-{number}"}
            body = json.dumps(value).encode()
            assert b" 200 " in await raw(intake, request(place_of(intake), "hook/claude/advise", body))
            batch = json.dumps(hook("PostToolBatch", f"s-{number}")).encode()
            answer = await raw(intake, request(place_of(intake), "hook/claude/advise", batch))
            told.append(answer.partition(b"\r\n\r\n")[2].decode())
        return [said for said in told if said]

    for number, told in enumerate(await asyncio.gather(*map(agent, range(50)))):
        assert len(told) == 1 and f"tool{number} failed" in told[0]


async def test_silent_callers_do_not_starve_the_socket(intake: IntakeServer) -> None:
    """All places are taken by silent callers; the one silent for longest makes room."""
    idle = [await asyncio.open_unix_connection(place_of(intake).socket) for _ in range(module._CONNECTIONS + 20)]
    assert await ask(intake, "sessions", {}) == []
    for _, writer in idle:
        writer.close()


async def test_nothing_is_served_to_others_on_the_machine(intake: IntakeServer) -> None:
    place = place_of(intake)
    assert place.folder.stat().st_mode & 0o777 == 0o700
    assert place.token_file.stat().st_mode & 0o777 == 0o600
    assert place.socket.stat().st_mode & 0o777 == 0o600


async def test_a_token_others_can_read_is_made_again(tmp_path: Path) -> None:
    place = IntakeFolder(tmp_path / "intake")
    first = place.prepare()
    assert place.prepare() == first and len(first) >= 32
    place.token_file.chmod(0o644)
    assert place.token() == "" and place.prepare() != first
    place.token_file.write_text("broken")
    place.token_file.chmod(0o600)
    assert place.token() == "" and len(place.prepare()) >= 32


async def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "intake").symlink_to(tmp_path / "real")
    with pytest.raises(StoreError, match="belongs to someone else"):
        IntakeFolder(tmp_path / "intake").prepare()


async def test_something_else_in_the_sockets_place_is_left_alone(tmp_path: Path) -> None:
    intake = make(tmp_path, None)
    place_of(intake).socket.write_text("mine")
    with pytest.raises(StoreError, match="something else"):
        await intake.start()
    assert place_of(intake).socket.read_text() == "mine"


async def test_a_newer_one_takes_over_and_the_older_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STAND_BY", 0.02)
    older, newer = make(tmp_path, None), make(tmp_path, None)
    await older.start()
    await newer.start()
    await ask(newer, "hook/claude/observe", hook("SessionStart", "s-9"))
    async with asyncio.timeout(30):
        while older.serving:
            await asyncio.sleep(0.01)
    assert list(newer.handler.sessions) == ["s-9"] and not older.handler.sessions
    await newer.close()
    async with asyncio.timeout(30):
        while not older.serving:
            await asyncio.sleep(0.01)
    assert await ask(older, "sessions", {}) == []
    await older.close()
    assert not place_of(older).socket.exists()


async def test_a_dead_ones_socket_is_taken(tmp_path: Path) -> None:
    import socket

    place = IntakeFolder(tmp_path / "intake")
    place.prepare()
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(place.socket))
    dead.close()
    intake = make(tmp_path, None)
    await intake.start()
    assert await ask(intake, "sessions", {}) == []
    await intake.close()


async def test_every_word_is_written_down_before_it_is_said(intake: IntakeServer) -> None:
    """Where it cannot be, nothing is said."""
    folder = place_of(intake).folder.parent
    (folder / "said.jsonl").mkdir()
    for number in range(6):
        await ask(intake, "hook/claude/advise", failure(number))
        assert await ask(intake, "hook/claude/advise", hook("PostToolBatch")) == {}
    assert intake.handler.problems
    (folder / "said.jsonl").rmdir()


async def test_after_a_cut_the_agent_is_told_what_was_open(intake: IntakeServer) -> None:
    """At the hook that opens the new context, once, even though it was in flow or had been spoken to."""
    begin = hook("SessionStart", source="startup")
    assert await ask(intake, "hook/claude/advise", begin) == {}
    await ask(intake, "hook/claude/advise", hook("UserPromptSubmit", prompt="go"))
    await ask(intake, "hook/claude/advise", failure(1))
    cut = hook("SessionStart", source="compact")
    assert await ask(intake, "hook/claude/observe", cut) == {}
    told = await ask(intake, "hook/claude/advise", cut)
    words = told["hookSpecificOutput"]
    assert words["hookEventName"] == "SessionStart"
    assert "python3 failed" in words["additionalContext"]
    assert await ask(intake, "hook/claude/advise", cut) == {}
    assert await ask(intake, "hook/claude/advise", hook("PostToolBatch")) == {}


async def test_a_guarded_call_asks_waits_and_passes_once(tmp_path: Path) -> None:
    intake = make(tmp_path, with_value(Settings(), "response.guard.wait", 20.0))
    await intake.start()
    remove = tool("PreToolUse", 1, "rm -rf x")
    try:
        said = await ask(intake, "hook/claude/guard", remove)
        assert said == "wait 1 21\n"
        (question,) = await ask(intake, "questions", {})
        assert question["what"] == "rm -rf x" and question["reason"] == "this call of rm destroys something"
        waiting = asyncio.create_task(ask(intake, "wait/claude/1", remove))
        async with asyncio.timeout(30):
            while (await ask(intake, "decide", {"number": 1, "choice": "once"})) != {"done": True}:
                pass
        assert await waiting == ALLOWED
        assert await ask(intake, "hook/claude/guard", remove) == "wait 2 21\n"
        assert await ask(intake, "decide", {"number": 2, "choice": "deny", "reason": "no"}) == {"done": True}
        denied = await ask(intake, "hook/claude/guard", remove)
        assert denied["hookSpecificOutput"]["permissionDecisionReason"] == "the person denied it: no"
        late = await ask(intake, "decide", {"number": 2, "choice": "once"})
        assert late["done"] is False
    finally:
        await intake.close()


async def test_approved_for_a_session_holds_for_the_tool_there_alone(intake: IntakeServer) -> None:
    first = tool("PreToolUse", 1, "rm -rf x")
    assert (await ask(intake, "hook/claude/guard", first)).startswith("wait 1")
    assert await ask(intake, "decide", {"number": 1, "choice": "session"}) == {"done": True}
    assert await ask(intake, "hook/claude/guard", first) == ALLOWED
    assert await ask(intake, "hook/claude/guard", tool("PreToolUse", 2, "rm -rf y")) == {}
    other = {**tool("PreToolUse", 3, "rm -rf y"), "session_id": "s-2"}
    assert (await ask(intake, "hook/claude/guard", other)).startswith("wait 2")


async def test_where_nobody_answers_the_agent_asks_itself(intake: IntakeServer) -> None:
    remove = tool("PreToolUse", 1, "rm -rf x")
    await ask(intake, "hook/claude/guard", remove)
    said = (await ask(intake, "wait/claude/1", remove))["hookSpecificOutput"]
    assert said["permissionDecision"] == "ask" and "the person decides" in said["permissionDecisionReason"]
    alone = {**remove, "permission_mode": "bypassPermissions"}
    said = (await ask(intake, "wait/claude/1", alone))["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"


async def test_what_cannot_be_written_down_is_not_permitted(intake: IntakeServer) -> None:
    folder = place_of(intake).folder.parent
    (folder / "permits.jsonl").mkdir()
    said = await ask(intake, "hook/claude/guard", tool("PreToolUse", 1, "touch x"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert await ask(intake, "hook/claude/guard", tool("PreToolUse", 2, "ls")) == {}
    (folder / "permits.jsonl").rmdir()


async def test_a_word_of_the_persons_own_reaches_the_agent(intake: IntakeServer) -> None:
    await ask(intake, "hook/claude/advise", hook("UserPromptSubmit", prompt="go"))
    assert await ask(intake, "steer", {"session": "s-1", "message": "look at the mock"}) == {"done": True}
    assert await ask(intake, "steer", {"session": "s-2", "message": "x"}) == {"done": False}
    intake.handler._registry = Registry([Curt()])
    kept = {"done": False, "why": "an extension withholds it"}
    assert await ask(intake, "steer", {"session": "s-1", "message": "a rant"}) == kept
    intake.handler._registry = Registry()
    said = await ask(intake, "hook/claude/advise", hook("PostToolBatch"))
    assert said["hookSpecificOutput"]["additionalContext"] == "[nooscope] look at the mock"
    assert await ask(intake, "hook/claude/advise", hook("PostToolBatch")) == {}


async def test_a_steer_that_cancels_denies_the_next_call_under_guard_once(intake: IntakeServer, tmp_path: Path) -> None:
    await ask(intake, "hook/claude/guard", hook("UserPromptSubmit", prompt="go"))
    steer = {"session": "s-1", "message": "stop, wrong branch", "cancel": True}
    assert await ask(intake, "steer", steer) == {"done": True}
    denied = await ask(intake, "hook/claude/guard", tool("PreToolUse", 1, "ls"))
    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert denied["hookSpecificOutput"]["permissionDecisionReason"] == "[nooscope] stop, wrong branch"
    assert not intake.handler.sessions["s-1"].signs().open
    (entry,) = PermitJournal(tmp_path / "permits.jsonl").read()
    assert (entry.what, entry.reason) == ("denied", "[nooscope] stop, wrong branch")
    (said,) = SaidStore(tmp_path / "said.jsonl").read()
    assert (said.rule, said.sentence) == ("person", "[nooscope] stop, wrong branch")
    assert await ask(intake, "hook/claude/guard", tool("PreToolUse", 2, "ls")) == {}
    assert [one.id for one in intake.handler.sessions["s-1"].signs().open] == ["toolu_2"]
    await ask(intake, "hook/claude/advise", hook("UserPromptSubmit", "s-2", prompt="go"))
    told = await ask(intake, "steer", {**steer, "session": "s-2"})
    assert told == {"done": True, "why": "its hooks do not guard, so no call is denied"}


async def test_a_status_line_brings_the_true_window(intake: IntakeServer) -> None:
    await ask(intake, "hook/claude/observe", hook("UserPromptSubmit", prompt="go"))
    value = {
        "session_id": "s-1",
        "context_window": {"context_window_size": 1_000_000, "used_percentage": 42.4},
        "cost": {"total_cost_usd": 1.234},
        "rate_limits": {"five_hour": {"used_percentage": 61, "resets_at": 9e9}},
    }
    said = await ask(intake, "statusline", value)
    assert said.startswith(("● working · frustration 0.0", "● working · flow 0.0"))
    assert said.endswith(" · context 42% · $1.23 · 5h limit 61%")
    (status,) = await ask(intake, "sessions", {})
    assert (status["window"], status["five_hour"], status["cost"]) == (1_000_000, 0.61, 1.234)
    assert await ask(intake, "statusline", {**value, "session_id": "other"}) == "context 42% · $1.23 · 5h limit 61%"
    assert await ask(intake, "statusline", {"session_id": [], "cost": {"total_cost_usd": "x"}}) == ""
    new = {**value, "session_id": "new", "transcript_path": "/elsewhere/new.jsonl", "cwd": "/project"}
    assert " · context 42% · $1.23 · 5h limit 61%" in await ask(intake, "statusline", new)
    (board,) = [one for one in await ask(intake, "sessions", {}) if one["session"] == "new"]
    assert board["window"] == 1_000_000


def test_nobody_there_is_nobody_asked(tmp_path: Path) -> None:
    place = IntakeFolder(tmp_path / "intake")
    assert call(place, "sessions", {}) is None
    place.prepare()
    assert call(place, "sessions", {}) is None
    assert [path.name for path in place.folder.iterdir()] == ["token"]


@pytest.mark.parametrize(("choice", "verdict"), [("once", "allow"), ("session", "allow"), ("deny", "deny")])
async def test_an_answer_between_the_two_halves_of_a_call_holds(
    intake: IntakeServer, choice: str, verdict: str
) -> None:
    """The person is quicker than the agent's hook comes back to wait."""
    remove = tool("PreToolUse", 1, "rm -rf x")
    await ask(intake, "hook/claude/guard", remove)
    assert await ask(intake, "decide", {"number": 1, "choice": choice}) == {"done": True}
    said = await ask(intake, "wait/claude/1", remove)
    assert said.get("hookSpecificOutput", {}).get("permissionDecision", "") == verdict


async def test_waiting_for_one_call_lets_no_other_pass(intake: IntakeServer) -> None:
    """The number of an approved question is no way in for other arguments, nor is one made up."""
    await ask(intake, "hook/claude/guard", tool("PreToolUse", 1, "rm -rf x"))
    await ask(intake, "decide", {"number": 1, "choice": "once"})
    for number in (1, 99):
        said = await ask(intake, f"wait/claude/{number}", tool("PreToolUse", 2, "rm -rf /"))
        assert said["hookSpecificOutput"]["permissionDecision"] == "ask"


async def test_a_decision_that_cannot_be_written_down_is_not_made(intake: IntakeServer) -> None:
    remove = tool("PreToolUse", 1, "rm -rf x")
    await ask(intake, "hook/claude/guard", remove)
    journal = place_of(intake).folder.parent / "permits.jsonl"
    journal.rename(journal.with_suffix(".kept"))
    journal.mkdir()
    for choice in ("once", "session", "deny"):
        assert await ask(intake, "decide", {"number": 1, "choice": choice}) is None
    said = await ask(intake, "wait/claude/1", remove)
    assert said["hookSpecificOutput"]["permissionDecision"] == "ask"
    journal.rmdir()
    journal.with_suffix(".kept").rename(journal)
    assert [question["number"] for question in await ask(intake, "questions", {})] == [1]
    assert await ask(intake, "hook/claude/guard", remove) == "wait 1 1\n"
    assert await ask(intake, "decide", {"number": 1, "choice": "once"}) == {"done": True}
    assert await ask(intake, "hook/claude/guard", remove) == ALLOWED


@pytest.mark.parametrize(
    ("user", "answered"), [(os.getuid(), True), (0, True), (os.getuid() + 1, False), (None, False)]
)
async def test_a_port_for_telemetry_is_the_persons_own(user: int | None, answered: bool) -> None:
    """Another user's idle connections take no place, and nothing of theirs is read."""
    receiver = Receiver(lambda _: Answer(), port=0, connections=1, user_of=lambda *_: user)
    await receiver.start()
    lines = [await asyncio.open_connection("127.0.0.1", receiver.port) for _ in range(1 if answered else 5)]
    reader, writer = lines[-1]
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        assert bool(await reader.read()) is answered
    assert len(receiver._open) <= answered
    for _, one in lines:
        one.close()
    await receiver.close()


def test_a_log_is_known_by_its_place_before_the_agent_made_its_folder(tmp_path: Path) -> None:
    server = make(tmp_path)
    assert server._is_log(tmp_path / ".claude/projects/-w/s-1.jsonl")
    assert server._is_log(tmp_path / ".codex/sessions/2026/01/01/rollout-1.jsonl")
    assert not server._is_log(tmp_path / ".claude/other/s-1.jsonl")


async def test_a_steer_that_cannot_be_recorded_is_not_sent(intake: IntakeServer, tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").mkdir()
    await ask(intake, "hook/claude/guard", hook("UserPromptSubmit", prompt="go"))
    await ask(intake, "steer", {"session": "s-1", "message": "stop, wrong branch", "cancel": True})
    answer = await ask(intake, "hook/claude/guard", tool("PreToolUse", 1, "ls"))
    assert answer["hookSpecificOutput"]["permissionDecision"] == "ask"
