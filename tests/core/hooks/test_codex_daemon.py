"""Codex's daemon, played by a small websocket server: its approvals are answered beside its own dialog."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.hooks import codex_daemon
from core.hooks.server import IntakeServer
from core.settings import Settings
from core.settings.layers import with_value
from core.store.journals import PermitJournal
from tests.core.hooks.calls import hook
from tests.core.hooks.test_server import ask, make

REQUEST = {"threadId": "t-1", "turnId": "u", "itemId": "call_1", "command": "/bin/bash -lc 'touch /x'", "cwd": "/w"}
COMMAND = "item/commandExecution/requestApproval"
QUESTIONS = [{"id": "q1", "question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}]


class FakeDaemon:
    """What the daemon says and what it was told."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.writers: list[asyncio.StreamWriter] = []

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        self.writers.append(writer)
        try:
            while True:
                first, second = await reader.readexactly(2)
                size = second & 0x7F
                if size == 126:
                    size = int.from_bytes(await reader.readexactly(2), "big")
                mask = await reader.readexactly(4)
                data = await reader.readexactly(size)
                if first == 0x81:
                    plain = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
                    self.heard.put_nowait(json.loads(plain))
        except EOFError:
            writer.close()

    def say(self, **message: Any) -> None:
        data = json.dumps(message).encode()
        head = bytes((0x81, len(data))) if len(data) < 126 else b"\x81\x7e" + len(data).to_bytes(2, "big")
        self.writers[-1].write(b"\x89\x01x" + head + data)

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(5):
            while True:
                message = await self.heard.get()
                if "result" in message or message.get("method") == "thread/resume":
                    return message


Pair = tuple[IntakeServer, FakeDaemon]


@pytest.fixture
async def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    monkeypatch.setattr(codex_daemon, "_TRY_AGAIN", 0.05)
    fake = FakeDaemon()
    folder = Path(tempfile.mkdtemp())
    serving = await asyncio.start_unix_server(fake.meet, folder / "s")
    place = codex_daemon.daemon_socket({}, tmp_path)
    place.parent.mkdir(parents=True)
    place.symlink_to(folder / "s")
    server = make(tmp_path, settings=with_value(Settings(), "response.guard.wait", 0.0))
    await server.start()
    await ask(server, "hook/codex/observe/answer", hook("UserPromptSubmit", "t-1", prompt="go"))
    assert (await fake.next())["params"]["threadId"] == "t-1"
    yield server, fake
    await server.close()
    serving.close()
    shutil.rmtree(folder)


async def question(server: IntakeServer) -> dict[str, Any]:
    async with asyncio.timeout(5):
        while not (waiting := await ask(server, "questions", {})):
            await asyncio.sleep(0.02)
    return dict(waiting[0])


@pytest.mark.parametrize(("choice", "decision"), [("once", "accept"), ("session", "accept"), ("deny", "decline")])
async def test_an_approval_is_answered_from_here(codex: Pair, choice: str, decision: str, tmp_path: Path) -> None:
    server, fake = codex
    fake.say(id=0, method=COMMAND, params=REQUEST)
    waits = await question(server)
    assert (waits["kind"], waits["session"], waits["what"]) == ("permission", "t-1", "touch /x")
    done = await ask(server, "decide", {"number": waits["number"], "choice": choice, "by": "ann, test"})
    assert done["done"] and await fake.next() == {"id": 0, "result": {"decision": decision}}
    entries = [(one.what, one.by) for one in PermitJournal(tmp_path / "permits.jsonl").read()]
    assert ("denied" if choice == "deny" else "approved", "ann, test") in entries
    fake.say(id=1, method=COMMAND, params=REQUEST)
    if choice == "session":
        assert await fake.next() == {"id": 1, "result": {"decision": "accept"}}
        fake.say(id=2, method=COMMAND, params={**REQUEST, "command": "/bin/bash -lc 'mv /x /y'"})
        assert (await question(server))["what"] == "mv /x /y", "another program is another kind"
    else:
        assert (await question(server))["number"] > waits["number"]


async def test_the_first_answer_wins_and_a_lost_daemon_decides_nothing(codex: Pair) -> None:
    server, fake = codex
    fake.say(id=0, method="item/fileChange/requestApproval", params=REQUEST)
    waits = await question(server)
    fake.say(method="serverRequest/resolved", params={"threadId": "t-1", "requestId": 0})
    async with asyncio.timeout(5):
        while await ask(server, "questions", {}):
            await asyncio.sleep(0.02)
    late = await ask(server, "decide", {"number": waits["number"], "choice": "once"})
    assert not late["done"]
    fake.say(id=0, method=COMMAND, params=REQUEST)
    await question(server)
    fake.writers[-1].close()
    assert (await fake.next())["method"] == "thread/resume", "it connects again"
    assert not await ask(server, "questions", {})
    fake.say(id=0, method=COMMAND, params={**REQUEST, "threadId": "other"})
    fake.say(id=1, method=COMMAND, params=REQUEST)
    assert (await question(server))["session"] == "t-1", "only threads with --answer hooks are heard"


async def test_a_thread_that_has_no_log_yet_is_asked_for_again(codex: Pair) -> None:
    server, fake = codex
    await ask(server, "hook/codex/observe/answer", hook("SessionStart", "t-2", source="startup"))
    first = await fake.next()
    assert first["params"]["threadId"] == "t-2"
    fake.say(id=first["id"], error={"code": -32600, "message": "no rollout found"})
    for thread in ("t-1", "t-2"):
        fake.say(method="thread/status/changed", params={"threadId": thread, "status": {"type": "active"}})
    again = await fake.next()
    assert again["params"]["threadId"] == "t-2" and again["id"] > first["id"]


async def test_a_question_is_answered_with_its_options(codex: Pair) -> None:
    server, fake = codex
    fake.say(id=7, method="item/tool/requestUserInput", params={"threadId": "t-1", "questions": QUESTIONS})
    waits = await question(server)
    assert waits["kind"] == "question" and waits["choices"][0]["options"] == ["Red", "Blue"]
    await ask(server, "decide", {"number": waits["number"], "choice": "once", "answers": ["Blue"]})
    assert await fake.next() == {"id": 7, "result": {"answers": {"q1": {"answers": ["Blue"]}}}}


async def test_its_hook_never_holds_the_dialog_back(codex: Pair) -> None:
    server, _ = codex
    call = hook("PermissionRequest", "t-1", tool_name="Bash", tool_input={"command": "touch /x"})
    assert await ask(server, "hook/codex/observe/answer", call) == {}
    assert not await ask(server, "questions", {})


async def test_a_socket_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(OSError, match=r"\w"):
            await codex_daemon.WebSocket.connect(path)
