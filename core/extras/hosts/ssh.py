"""Sessions of other machines over the person's own ssh: `ship --to -` runs there, and a mirror is kept here."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from core.errors import UsageError
from core.extras.hosts.mirror import Ledger
from core.extras.hosts.shipper import Sources
from core.extras.hosts.stream import ROOT, ShippedEvent, StreamItem, parts, token
from core.logs.follow import file_changes
from core.report.formatting import plain, span
from core.settings import Settings

_VERSION = 1
_PAUSES = (1.0, 2.0, 5.0, 15.0, 30.0)  # Seconds between two tries to reach a host.
_LONGEST = 1_200_000  # Bytes of a line that are read at most.
_SESSIONS = 2_000  # Sessions of one host that are mirrored at most.
_CHUNK = 65_536
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,252}")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}")
_NOT_FOUND = 127  # Exit code of a shell that does not find the program.


class PipeLine(msgspec.Struct, omit_defaults=True):
    """One line of the pipe: a greeting, an event or a sign.

    Every line of the pipe is JSON: a greeting, then events with their subject and id, and signs of life
    between.
    """

    nooscope: int = 0  # Version of this protocol, in the greeting alone.
    sign: str = ""  # `alive`, or `caught up` once all that was there has been sent.
    subject: str = ""
    id: str = ""
    event: msgspec.Raw = msgspec.Raw(b"")


class SshAddress(NamedTuple):
    """A machine that ssh can reach, and the program to run there."""

    host: str
    user: str = ""
    port: int = 0
    program: str = "nooscope"

    def command(self, ssh: Sequence[str], *, ask: bool) -> list[str]:
        """The command that ships the host's sessions; `ask` lets ssh prompt for a password."""
        options = ["-T", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10"]
        options += [] if ask else ["-o", "BatchMode=yes"]
        options += ["-p", str(self.port)] if self.port else []
        options += ["-l", self.user] if self.user else []
        ship = f"{shlex.quote(self.program)} ship --to - --host {shlex.quote(self.host)}"
        return [*ssh, *options, "--", self.host, ship]


def ssh_address(url: str) -> SshAddress:
    """Parse `ssh://[user@]host[:port][/path/to/nooscope]`; raises `UsageError`."""
    try:
        cut = urlsplit(url)
        port = cut.port or 0
    except ValueError:
        cut, port = urlsplit(""), 0
    host, user = cut.hostname or "", unquote(cut.username or "")
    fits = cut.scheme == "ssh" and _NAME.fullmatch(host) and (not user or _USER.fullmatch(user))
    if not fits or cut.query or cut.fragment or cut.password:
        raise UsageError(f"{plain(url)!r} is not an address for ssh; write ssh://[user@]host[:port]")
    return SshAddress(host, user, port, unquote(cut.path) if len(cut.path) > 1 else "nooscope")


class PipeShipper:
    """Writes this host's sessions to a stream, until its reader is gone or it is stopped."""

    def __init__(self, sources: Sources, out: IO[bytes], settings: Settings) -> None:
        self._sources = sources
        self._out = out
        self._settings = settings
        self._encode = msgspec.json.Encoder().encode
        self._signed = 0.0
        self.stop = threading.Event()
        self.sent = 0

    def run(self, *, once: bool = False) -> None:
        """Send what is there, then what comes; ends quietly if nobody reads any more."""
        with contextlib.suppress(BrokenPipeError):
            self._write(PipeLine(nooscope=_VERSION))
            self._sources.look()
            self._send(at_once=True)
            self._write(PipeLine(sign="caught up"))
            self._out.flush()
            while not (once or self.stop.is_set()):
                self._follow()

    def _follow(self) -> None:
        """Send what comes until the folders to watch change."""
        folders, looked = self._sources.folders, time.monotonic()
        follow = self._settings.ingest.follow
        for changed in file_changes(folders, self.stop, follow, recursive=True):
            if self.stop.is_set():
                return
            self._sources.notice(changed)
            if self._sources.lacking or time.monotonic() - looked >= self._settings.screen.fleet.search:
                self._sources.look()
                self._sources.settle()
                looked = time.monotonic()
            self._send()
            if time.monotonic() - self._signed >= self._settings.ingest.hosts.sign:
                self._signed = time.monotonic()
                self._write(PipeLine(sign="alive"))
            self._out.flush()
            if self._sources.folders != folders:
                return

    def _send(self, *, at_once: bool = False) -> None:
        for source in self._sources.open():
            while source.due and not self.stop.is_set():
                self._write_events(source.take(self._settings.ingest.hosts.batch))
            pending = source.pending_message(time.monotonic(), at_once=at_once)
            self._write_events([] if pending is None else [pending])

    def _write_events(self, messages: Sequence[ShippedEvent]) -> None:
        for one in messages:
            self._write(PipeLine(subject=one.subject, id=one.id.hex(), event=msgspec.Raw(one.payload)))
        self.sent += len(messages)

    def _write(self, line: PipeLine) -> None:
        self._out.write(self._encode(line) + b"\n")


class _Host:
    """One machine: runs ssh, writes what comes into the mirror, and tries again when the connection ends."""

    def __init__(self, address: SshAddress, ssh: Sequence[str], receive: Callable[[list[StreamItem]], None]) -> None:
        self.address = address
        self._ssh = ssh
        self._receive = receive
        self._stop = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._ids: set[str] = set()  # Events received before, which a new connection sends again.
        self._sessions: set[str] = set()
        self._greeted = False
        self.settled = threading.Event()  # All that was there has come, or the host could not be reached.
        self.heard = time.monotonic()
        self.away = ""  # Why nothing comes; blank while connected.
        self._thread = threading.Thread(target=self._run, name=f"nooscope-{address.host}", daemon=True)

    def start(self) -> None:
        """Connect in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Close the connection."""
        self._stop.set()
        if self._process is not None:
            self._process.terminate()
        self._thread.join(5.0)

    def _run(self) -> None:
        tries = 0
        while not self._stop.is_set():
            self._greeted = False
            try:
                reason = self._connection(ask=not tries and not self._ids)
            except Exception as fault:  # noqa: BLE001 other hosts and this machine must still be seen
                reason = str(fault) or type(fault).__name__
            self.away, tries = reason, 0 if self._greeted else tries + 1
            self.settled.set()
            self._stop.wait(_PAUSES[min(tries, len(_PAUSES) - 1)])

    def _connection(self, *, ask: bool) -> str:
        """Follow the host until the connection ends; return why it did."""
        with tempfile.TemporaryFile() as errors:
            command = self.address.command(self._ssh, ask=ask)
            with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as process:
                self._process = process
                if process.stdout is not None and not self._stop.is_set():
                    self._read(process.stdout)
                process.terminate()
                code = process.wait()
            errors.seek(0)
            complaints = errors.read(_CHUNK).decode("utf-8", "replace").strip().splitlines()
        if code == _NOT_FOUND:
            return f"{self.address.program} is not installed there, or is not in the PATH of its ssh logins"
        return plain(complaints[-1], 200) if complaints else f"the connection ended (ssh exited with {code})"

    def _read(self, stream: IO[bytes]) -> None:
        rest = b""
        while chunk := os.read(stream.fileno(), _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            self._step(lines)
            if len(rest) > _LONGEST:
                raise ValueError("a line from it is too long")

    def _step(self, lines: Sequence[bytes]) -> None:
        """Take in some lines; what a shell prints before the greeting is skipped."""
        items: list[StreamItem] = []
        caught_up = False
        for raw in lines:
            try:
                line = _DECODER.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if line.nooscope:
                if line.nooscope != _VERSION:
                    raise ValueError("it runs another version of nooscope; install the same version on both machines")
                self._greeted, self.away = True, ""
            elif self._greeted and line.subject:
                items += self._item(line)
            caught_up = caught_up or (self._greeted and line.sign == "caught up")
        self.heard = time.monotonic()
        self._receive(items)
        if caught_up:
            self.settled.set()

    def _item(self, line: PipeLine) -> list[StreamItem]:
        """The event of a line under the name this host has here; nothing if it came before."""
        tokens = parts(line.subject)
        if tokens is None or line.id in self._ids:
            return []
        subject = ".".join((ROOT, token(self.address.host), *tokens[1:]))
        if subject not in self._sessions and len(self._sessions) >= _SESSIONS:
            return []
        self._sessions.add(subject)
        self._ids.add(line.id)
        return [StreamItem(0, subject, line.id, bytes(line.event), 0)]


_DECODER = msgspec.json.Decoder(PipeLine)


class SshHosts:
    """Several machines over ssh, mirrored into a folder that is deleted when this is stopped."""

    def __init__(self, addresses: Sequence[SshAddress], settings: Settings, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = tempfile.TemporaryDirectory(prefix="ssh-", dir=cache)
        self._ledger = Ledger(Path(self._folder.name))
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        ssh = settings.ingest.hosts.ssh
        self._hosts = {one.host: _Host(one, ssh, self._receive) for one in addresses}

    @property
    def names(self) -> tuple[str, ...]:
        """The machines by the names the person gave."""
        return tuple(self._hosts)

    @property
    def lost(self) -> str:
        """Which machines are away, and why."""
        return "; ".join(f"{name}: {host.away}" for name, host in self._hosts.items() if host.away)

    def start(self, patience: float = 60.0) -> Path:
        """Connect to all and wait until each has sent what was there or is away; return the mirror."""
        for host in self._hosts.values():
            host.start()
        end = time.monotonic() + patience
        for host in self._hosts.values():
            if not host.settled.wait(max(0.0, end - time.monotonic())):
                host.away = host.away or "it has not sent everything yet"
        return self._ledger.folder

    def stop(self) -> None:
        """Close all connections and delete the mirror."""
        for host in self._hosts.values():
            host.stop()
        self._folder.cleanup()

    def trouble(self, host: str, patience: float) -> str:
        """Return why nothing comes from a machine now; blank if it was heard of within its patience."""
        machine = self._hosts.get(host)
        if machine is None:
            return ""
        silent = time.monotonic() - machine.heard
        if machine.away:
            return f"{host} has been unreachable for {span(silent)}: {machine.away}; trying again"
        return f"no sign of life from {host} for {span(silent)}" if silent > patience else ""

    def _receive(self, items: list[StreamItem]) -> None:
        if items:
            with self._lock:
                self._ledger.add([one._replace(sequence=next(self._numbers)) for one in items])
