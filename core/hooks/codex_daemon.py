"""A client of Codex's daemon, which reports approvals and questions and takes answers."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import secrets
import shlex
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from core.agents.normalizer import Sorted
from core.agents.values import items, table, text
from core.hooks.agent_answers import SILENCE, HookCall, HookReply
from core.hooks.guard import QUESTION_TOOL, Answers

_LARGEST = 16 * 1024 * 1024  # Bytes of one message; a longer one ends the connection.
_PATIENCE = 5.0  # Seconds a connection may take to be made.
_TRY_AGAIN = 2.0  # Seconds between two attempts to connect.
_COMMAND = "item/commandExecution/requestApproval"
_FILES = "item/fileChange/requestApproval"
_QUESTION = "item/tool/requestUserInput"
_CLIENT = {
    "clientInfo": {"name": "nooscope", "title": "nooscope", "version": "0"},
    "capabilities": {"experimentalApi": True},
}


def daemon_socket(environment: Mapping[str, str], home: Path) -> Path:
    """The socket of Codex's daemon."""
    own = environment.get("CODEX_HOME")
    folder = Path(own) if own else home / ".codex"
    return folder / "app-server-control" / "app-server-control.sock"


class CodexDaemon:
    """A second client of the daemon, for the threads whose prompts may be answered from here.

    Codex's permission hook hides the dialog while it waits. The daemon does not: whoever answers first wins, and
    everybody is told.
    """

    def __init__(
        self,
        path: Path,
        answers: Answers,
        sort: Callable[[HookCall], Sorted],
        changed: Callable[[HookCall | None], None],
        adopt: Callable[[HookCall], object],
        patience: float,
    ) -> None:
        self._path = path
        self._answers = answers
        self._sort = sort
        self._changed = changed  # Called when something changed, with the prompt that is over if one is.
        self._adopt = adopt  # Called with the start of a thread that runs already.
        self._patience = patience  # Seconds a prompt may be answered from here.
        self.all_threads = False  # Prompts of threads that no hook has called for are answered too.
        self._wanted: set[str] = set()
        self._subscribed: set[str] = set()
        self._asked_for: dict[object, str] = {}  # Threads by the number of the message that subscribes to them.
        self._refused: set[str] = set()  # Threads the daemon could not resume yet, as they have no log.
        self._line: WebSocket | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiting: dict[object, asyncio.Task[None]] = {}  # Requests of the daemon that wait for the person, by id.
        self._resolved: set[object] = set()
        self._numbers = 0

    @property
    def connected(self) -> bool:
        """Whether prompts can be answered now."""
        return self._line is not None

    async def follow(self, threads: Iterable[str]) -> None:
        """Subscribe to threads, and connect if there are any."""
        self._wanted = set(threads)
        if (self._wanted or self.all_threads) and self._task is None:
            self._task = asyncio.create_task(self._run())
        if self._line is not None:
            await self._subscribe(self._line)

    async def close(self) -> None:
        """Hang up; what waits is left to Codex's own dialog."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        while self._wanted or self.all_threads:
            try:
                async with asyncio.timeout(_PATIENCE):
                    line = await WebSocket.connect(self._path)
                    await self._send(line, "initialize", _CLIENT)
                    await line.send({"method": "initialized"})
                self._line, self._subscribed = line, set()
                await self._subscribe(line)
                if self.all_threads:
                    await self._send(line, "thread/loaded/list", {})
                while (message := await line.receive()) is not None:
                    await self._read_message(line, message)
            except (OSError, EOFError, TimeoutError, ValueError):
                pass
            finally:
                self._hang_up()
            await asyncio.sleep(_TRY_AGAIN)
        self._task = None

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
        for task in self._waiting.values():
            task.cancel()
        self._waiting.clear()
        self._resolved.clear()
        self._changed(None)

    async def _subscribe(self, line: WebSocket) -> None:
        for thread in sorted(self._wanted - self._subscribed):
            self._subscribed.add(thread)
            self._asked_for[self._numbers + 1] = thread
            await self._send(line, "thread/resume", {"threadId": thread, "excludeTurns": True})

    async def _send(self, line: WebSocket, method: str, parameters: Mapping[str, Any]) -> None:
        self._numbers += 1
        await line.send({"id": self._numbers, "method": method, "params": parameters})

    async def _read_message(self, line: WebSocket, message: Mapping[str, Any]) -> None:
        method, parameters, number = message.get("method"), table(message.get("params")), message.get("id")
        if method == "serverRequest/resolved":
            self._resolved.add(parameters.get("requestId"))
        elif method in (_COMMAND, _FILES, _QUESTION) and isinstance(number, int | str):
            call = _call(method, parameters)
            if call.session in self._wanted and number not in self._waiting:
                self._resolved.discard(number)
                work = self._answer(line, number, method, parameters, call)
                self._waiting[number] = asyncio.create_task(work)
        elif method == "thread/status/changed" and (thread := text(parameters.get("threadId"))) in self._refused:
            self._refused.remove(thread)
            self._subscribed.discard(thread)
            await self._subscribe(line)
        elif method is None:
            resumed = self._asked_for.pop(number, "")
            if resumed and "error" in message:
                self._refused.add(resumed)
            await self._hear_threads(line, table(message.get("result")))

    async def _hear_threads(self, line: WebSocket, result: Mapping[str, Any]) -> None:
        """Ask for each listed thread, and adopt those with a log; helpers such as title makers have none."""
        for thread in items(result.get("data")):
            await self._send(line, "thread/read", {"threadId": thread})
        thread = table(result.get("thread"))
        if log := text(thread.get("path")):
            name, project = text(thread.get("id"))[:200], text(thread.get("cwd"))
            self._adopt(HookCall("session_start", "SessionStart", name, project=project, transcript=log))

    async def _answer(
        self, line: WebSocket, number: int | str, method: str, parameters: Mapping[str, Any], call: HookCall
    ) -> None:
        """Put one request to the person, and send the answer unless it was given elsewhere."""
        try:
            put = self._answers.put(call, self._sort(call), self._patience)
            self._changed(None)
            reply = put if isinstance(put, HookReply) else await self._wait(put, number)
            result = _result(method, parameters, reply)
            if result is not None and number not in self._resolved:
                await line.send({"id": number, "result": result})
        except OSError:
            pass  # the daemon went away: its own dialog decides
        finally:
            self._waiting.pop(number, None)
            self._changed(call)

    async def _wait(self, question: int, number: int | str) -> HookReply:
        try:
            waited = await self._answers.wait(question, lambda: number in self._resolved)
        except asyncio.CancelledError:
            self._answers.close(question, "the connection to Codex ended")
            raise
        return SILENCE if waited is None else waited[1]


def _call(method: str, parameters: Mapping[str, Any]) -> HookCall:
    """A request of the daemon as a call that asks for permission."""
    tool = "Bash"
    arguments: dict[str, Any] = {"command": _inner_command(text(parameters.get("command")))}
    if method == _FILES:
        tool, arguments = "apply_patch", {"path": text(parameters.get("grantRoot")) or "files of the project"}
    elif method == _QUESTION:
        tool, arguments = QUESTION_TOOL, {"questions": items(parameters.get("questions"))}
    return HookCall(
        "permission",
        "PermissionRequest",
        text(parameters.get("threadId"))[:200],
        project=text(parameters.get("cwd")),
        tool=tool,
        arguments=arguments,
        id=text(parameters.get("itemId")),
        said=text(parameters.get("reason")),
    )


def _inner_command(command: str) -> str:
    """The command that Codex wraps into a call of the person's shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    wrapped = len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc")
    return words[2] if wrapped else command


def _result(method: str, parameters: Mapping[str, Any], reply: HookReply) -> dict[str, Any] | None:
    """The answer as the daemon understands it; None if nothing was decided."""
    if method == _QUESTION:
        chosen = table(table(reply.input).get("answers")) if reply.approved else {}
        questions = map(table, items(parameters.get("questions")))
        ids = {text(one.get("question")): text(one.get("id")) for one in questions}
        answers = {ids[words]: {"answers": [answer]} for words, answer in chosen.items() if words in ids}
        return {"answers": answers} if answers else None
    if reply.approved:
        return {"decision": "accept"}
    return {"decision": "decline"} if reply.verdict == "deny" else None


class WebSocket:
    """The client's side of a websocket over a socket of the file system; text messages of JSON only."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, path: Path) -> WebSocket:
        """Connect to a socket of this user's own; raises `OSError`, `EOFError` or `ValueError`."""
        place = path.resolve()
        if place.stat().st_uid != os.getuid():
            raise PermissionError(f"{place}: not a socket of your own")
        reader, writer = await asyncio.open_unix_connection(place, limit=_LARGEST)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        writer.write(
            f"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            writer.close()
            raise ValueError("no websocket is served there")
        return cls(reader, writer)

    async def send(self, value: Mapping[str, Any]) -> None:
        """Send one message."""
        await self._write(0x1, json.dumps(value).encode())

    async def _write(self, code: int, data: bytes) -> None:
        mask, size = secrets.token_bytes(4), len(data)
        if size < 126:
            length = struct.pack(">B", 0x80 | size)
        else:
            length = struct.pack(">BH", 0xFE, size) if size < 65_536 else struct.pack(">BQ", 0xFF, size)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self._writer.write(bytes((0x80 | code,)) + length + mask + masked)
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message that is a JSON object; None at the end."""
        message = b""
        while True:
            first, second = await self._reader.readexactly(2)
            size = second & 0x7F
            if size >= 126:
                size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
            if size + len(message) > _LARGEST or second & 0x80:
                raise ValueError("not a message of the daemon")
            data = await self._reader.readexactly(size)
            code = first & 0x0F
            if code == 0x8:
                return None
            if code == 0x9:
                await self._write(0xA, data)
            elif code in (0x0, 0x1):
                message += data
                if first & 0x80:
                    with contextlib.suppress(ValueError, RecursionError):
                        if isinstance(value := json.loads(message), dict):
                            return value
                    message = b""

    def close(self) -> None:
        """Hang up."""
        self._writer.close()
