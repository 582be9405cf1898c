"""The folder, socket and token through which agents and people reach the running hook server."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import socket
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.store import atomic

_PRIVATE = 0o700
_LONGEST_SOCKET = 103  # Bytes a socket's path may have on every system.
HEADER = "x-nooscope-token"
TEST_EVENT = "NooscopeTest"  # The event of a test call, which the server answers with the mode it came for.


class IntakeFolder:
    """The folder of the intake."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "socket"
        self.token_file = folder / "token"  # A header line, as curl reads it from a file.
        self.halted_file = folder / "halted"  # Sessions whose calls the stub denies if nobody answers, one per line.

    def prepare(self) -> str:
        """Create the folder and the token if they are missing, and return the token.

        Raises `StoreError` if other users could enter it.
        """
        if len(os.fsencode(self.socket)) > _LONGEST_SOCKET:
            raise StoreError(f"{self.socket}: the path is too long for a socket; set XDG_DATA_HOME to a shorter one")
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
            status = self.folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                raise StoreError(f"{self.folder}: the folder belongs to someone else; nothing is served from it")
            if stat.S_IMODE(status.st_mode) != _PRIVATE:
                self.folder.chmod(_PRIVATE)
            return self.token() or self._renew_token()
        except OSError as error:
            raise StoreError(f"{self.folder}: {error.strerror or error}") from error

    def token(self) -> str:
        """The token; blank if there is none, or if other users can read it."""
        try:
            status = self.token_file.lstat()
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
                return ""
            name, _, token = self.token_file.read_text("ascii").strip().partition(": ")
        except (OSError, UnicodeDecodeError):
            return ""
        return token if name.lower() == HEADER and len(token) >= 32 else ""

    def take_unanswered(self) -> list[tuple[float, str, str, str]]:
        """Calls that got no answer since the last look: when, `down` or `late`, session and tool."""
        noted, aside = self.folder / "unanswered", self.folder / "unanswered.taken"
        calls = []
        with contextlib.suppress(OSError):
            noted.replace(aside)
            for line in aside.read_text("utf-8", "replace").splitlines():
                at, why, session, tool = (line.split(" ", 3) + [""] * 4)[:4]
                if at.isdecimal() and why in ("down", "late"):
                    calls.append((float(at), why, session, tool))
            aside.unlink()
        return calls

    def _renew_token(self) -> str:
        import secrets

        token = secrets.token_urlsafe(32)
        with contextlib.suppress(FileNotFoundError):
            self.token_file.unlink()
        atomic.replace(self.token_file, f"{HEADER}: {token}\n".encode())
        return token


def process_line(process: int) -> Iterator[tuple[int, str]]:
    """A process and its ancestors, each with its start time; nothing if the system does not report them."""
    while process > 1:
        try:
            fields = Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            return
        yield process, fields[19]
        process = int(fields[1])


def default_place() -> IntakeFolder:
    """The person's own."""
    from platformdirs import user_data_path

    return IntakeFolder(user_data_path("nooscope", appauthor=False) / "intake")


_LONGEST_ANSWER = 4 * 1024 * 1024


def call(place: IntakeFolder, path: str, body: Any, patience: float = 1.0) -> Any:
    """Post to the hook server and return its answer, or None if there is none in time."""
    token = place.token()
    if not token:
        return None
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = (
        f"POST /{path} HTTP/1.1\r\nHost: localhost\r\n{HEADER}: {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    received = bytearray()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(patience)
            line.connect(str(place.socket))
            line.sendall(head.encode("ascii") + data)
            while len(received) < _LONGEST_ANSWER and (piece := line.recv(65_536)):
                received += piece
    except OSError:
        return None
    top, _, answer = received.partition(b"\r\n\r\n")
    if not top.startswith(b"HTTP/1.1 200"):
        return None
    if b"application/json" not in top.lower():
        return answer.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        return json.loads(answer) if answer else {}
    return None


def decision(
    number: int, choice: str, reason: str = "", where: str = "", answers: Sequence[str] = ()
) -> dict[str, Any]:
    """An answer as it is sent, with who gave it and from where."""
    try:
        who = pwd.getpwuid(os.getuid()).pw_name
    except (KeyError, OSError):
        who = "unknown"
    by = f"{who}, {where}" if where else who
    return {"number": number, "choice": choice, "reason": reason, "by": by, "answers": list(answers)}


def chosen_option(text: str, options: Sequence[str]) -> str:
    """The option a person names by its number, else their own words."""
    place = int(text) - 1 if text.isdecimal() else -1
    return options[place] if 0 <= place < len(options) else text
