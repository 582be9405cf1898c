"""A transparent proxy between an ACP client, such as an editor, and an agent; it logs what passes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple

import msgspec

from core.agents.values import decode, table, text
from core.errors import UsageError
from core.extras.telemetry.intake import session_file
from core.logs.redact.text import redact, redact_torn
from core.logs.redact.values import redact_value
from core.store.atomic import append

Sender = Literal["client", "agent"]

_CHUNK = 65_536
_LONGEST_LINE = 32 << 20  # Bytes of one message that are kept for the log; a longer one is only forwarded.
_LONGEST_TEXT = 20_000  # Characters of one text that are logged.
_LEFT_OUT = frozenset(("data", "blob"))  # Names under which images, audio and files come as base64.
_DEEPEST = 32
_PATIENCE = 5.0  # Seconds that the log may take to be complete once the agent has ended.


class _Request(NamedTuple):
    """A request without an answer yet."""

    session: str
    line: bytes  # As it will be logged; only for a request that creates a session.


class AcpLog:
    """Appends the messages of each session to its file, in the order they passed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fault = ""  # Why nothing is logged any more.
        self._requests: dict[tuple[Sender, str], _Request] = {}

    def add(self, sender: Sender, line: bytes, at: float) -> None:
        """Log one message; a fault ends the logging, never the session."""
        message = decode(line)
        if not isinstance(message, dict) or self.fault:
            return
        try:
            self._add(sender, message, at)
        except (OSError, msgspec.EncodeError, RecursionError, ValueError) as fault:
            self.fault = str(fault)

    def _add(self, sender: Sender, message: dict[str, Any], at: float) -> None:
        entry = {"timestamp": at, "from": sender, "message": _redact_message(redact_value(message), 0)}
        line = msgspec.json.encode(entry) + b"\n"
        number, session = str(message.get("id", "")), text(table(message.get("params")).get("sessionId"))
        if "method" in message:
            if number:
                self._requests[sender, number] = _Request(session, b"" if session else line)
            if session:
                self._write(session, line)
            return
        other: Sender = "agent" if sender == "client" else "client"
        request = self._requests.pop((other, number), _Request("", b""))
        created = text(table(message.get("result")).get("sessionId"))
        if session := request.session or created:
            self._write(session, request.line + line)

    def _write(self, session: str, lines: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        append(session_file(self.folder, session), lines)


def _redact_message(value: Any, depth: int) -> Any:
    """A copy of a message without secrets and without binary data, its texts bounded."""
    if isinstance(value, str):
        if len(value) <= _LONGEST_TEXT:
            return redact(value)
        return redact_torn(value[:_LONGEST_TEXT])
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return [_redact_message(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            name: "" if name in _LEFT_OUT and isinstance(item, str) else _redact_message(item, depth + 1)
            for name, item in value.items()
        }
    return value


# Messages in the order they passed, for the thread that logs them; None is the end.
Passing = SimpleQueue[tuple[Sender, bytes, float] | None]


class _Pump(threading.Thread):
    """Copies one direction until its end; each whole line is queued before its end is forwarded.

    So a message is always queued before the answer to it.
    """

    def __init__(self, source: int, target: int, sender: Sender, passing: Passing, close: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._source, self._target, self._sender = source, target, sender
        self._passing, self._close = passing, close

    def run(self) -> None:
        rest = b""
        try:
            while chunk := os.read(self._source, _CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._passing.put((self._sender, line, time.time()))
                if len(rest) > _LONGEST_LINE:
                    rest = b""
                view = memoryview(chunk)
                while view:
                    view = view[os.write(self._target, view) :]
        except OSError:
            pass
        finally:
            self._close()


def _log_all(log: AcpLog, passing: Passing) -> None:
    while (message := passing.get()) is not None:
        log.add(*message)


def run_proxy(command: Sequence[str], folder: Path, source: int = 0, target: int = 1) -> tuple[int, str]:
    """Run an agent between two streams; return its exit code and why logging ended early, if it did.

    Bytes are forwarded at once and never changed. Each session's messages go to a file, with secrets redacted,
    which the fleet and the screens find and follow like any other log.
    """
    log, passing = AcpLog(folder), Passing()
    try:
        agent = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    except OSError as fault:
        raise UsageError(f"cannot run {command[0]!r}: {fault.strerror or fault}") from fault
    if agent.stdin is None or agent.stdout is None:
        raise UsageError(f"cannot run {command[0]!r}: its standard streams are missing")
    previous = {
        number: signal.signal(number, lambda received, _: agent.send_signal(received))
        for number in (signal.SIGTERM, signal.SIGHUP)
        if threading.current_thread() is threading.main_thread()
    }
    asking = _Pump(source, agent.stdin.fileno(), "client", passing, agent.stdin.close)
    answering = _Pump(agent.stdout.fileno(), target, "agent", passing, agent.stdout.close)
    logging = threading.Thread(target=_log_all, args=(log, passing), daemon=True)
    for thread in (asking, answering, logging):
        thread.start()
    try:
        answering.join()
        code = agent.wait()
    except KeyboardInterrupt:
        code = agent.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    passing.put(None)
    logging.join(_PATIENCE)
    return (code if code >= 0 else 128 - code), log.fault
