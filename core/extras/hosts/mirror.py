"""The stream as logs of open events in a folder of our own, which the usual readers follow."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec
from blake3 import blake3
from msgspec.structs import replace

from core.agents.registry import agent_named, known_agents
from core.errors import LinkLost, UsageError
from core.extras.hosts import stream
from core.live.fleet.roster import Roster
from core.live.fleet.row import FleetRow
from core.live.status import Limits, StatusFacts, status_of
from core.logs.format import Location
from core.report.formatting import span
from core.settings import Settings
from core.store import atomic

_PLACE = "place.json"
_LONGEST = 1_000_000  # Bytes of a message that are taken at most.
_TAIL = 1_100_000
_SYNCED = 60.0  # Seconds between two times at which all is had on the disk.
_SAVED = 1.0  # Seconds between two notes of how far the stream was read.
_BACKOFF = (0.2, 0.5, 1.0, 2.0, 5.0)
_TORN = b'"seq":'
_PLACES = (b"where", b"called", b"said")  # Fields that name a place in a file of another host.
_REFUSED = (None, b"", 0.0)


class _Note(msgspec.Struct):
    """How far the stream was read."""

    seq: int
    synced: int
    boot: str  # Which start of the machine it was written under.


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


class Ledger:
    """The logs of one stream: every message once, in the order of the stream, also after a crash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written = self.refused = 0
        self._last: dict[Path, int] = {}
        self._boot = _boot()
        self.place = self._synced = self._read_place()
        self._synced_at = time.monotonic()

    def add(self, items: list[stream.StreamItem]) -> None:
        """Write new messages; raises only `OSError`, after which they may be added again."""
        lines: dict[Path, list[bytes]] = {}
        times: dict[Path, float] = {}
        lasts: dict[Path, int] = {}
        for item in items:
            path, line, at = self._line(item)
            if path is None:
                self.refused += 1
                continue
            if path not in self._last:
                self._last[path] = _cut_half_line(path)
            if item.sequence > lasts.get(path, self._last[path]):
                lines.setdefault(path, []).append(line)
                times[path] = max(at, times.get(path, 0.0))
                lasts[path] = item.sequence
        for path, new_lines in lines.items():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                atomic.append(path, b"".join(new_lines))
            except OSError:
                if not path.stat().st_size:
                    path.unlink()
                raise
            self._last[path] = lasts[path]
            if 0.0 < times[path] < time.time():
                os.utime(path, (times[path], times[path]))
            self.written += len(new_lines)
        self.place = max(self.place, *(item.sequence for item in items), 0)

    def save(self) -> None:
        """Note the place, and now and then the one up to which all is on the disk.

        What a process wrote survives its crash; only after the machine's the place on the disk counts.
        """
        if time.monotonic() - self._synced_at >= _SYNCED:
            self.sync()
        self._note()

    def sync(self) -> None:
        """Have all on the disk, and note it."""
        os.sync()
        self._synced, self._synced_at = self.place, time.monotonic()
        self._note()

    def _note(self) -> None:
        note = _Note(self.place, self._synced, self._boot)
        atomic.replace(self.folder / _PLACE, msgspec.json.encode(note))

    def tidy(self, first: int) -> None:
        """Delete logs whose last message is before the first message of the stream."""
        for path in self.folder.glob("*/*/*.jsonl"):
            with contextlib.suppress(OSError):
                if _cut_half_line(path) < first:
                    path.unlink()
                    self._last.pop(path, None)

    def _line(self, item: stream.StreamItem) -> tuple[Path | None, bytes, float]:
        """The file of a message, its line and its time; a place in another host's file is left out."""
        tokens, data = stream.parts(item.subject), item.data
        if tokens is None or len(data) > _LONGEST:
            return _REFUSED
        try:
            record = msgspec.json.decode(data, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _REFUSED
        if not record:
            return _REFUSED
        if b"\n" in data or _TORN in data or any(b'"%b"' % name in data for name in _PLACES):
            data = msgspec.json.encode(_placeless(record))
        host, agent, session = tokens
        line = data.strip()[:-1] + b',"seq":%d}\n' % item.sequence
        at = record.get("at")
        when = float(at) if isinstance(at, int | float) else 0.0
        return self.folder / host / agent / f"{session}.jsonl", line, when

    def _read_place(self) -> int:
        try:
            note = msgspec.json.decode((self.folder / _PLACE).read_bytes(), type=_Note)
        except (OSError, msgspec.DecodeError):
            return 0
        return max(0, note.seq if note.boot and note.boot == self._boot else note.synced)


def _placeless(record: dict[str, Any]) -> dict[str, Any]:
    fields = {key: value for key, value in record.items() if key.encode() not in (*_PLACES, b"seq")}
    if isinstance(events := fields.get("events"), list):
        fields["events"] = [_placeless(each) for each in events if isinstance(each, dict)]
    return fields


def _fault_text(fault: LinkLost | OSError) -> str:
    if isinstance(fault, LinkLost) or fault.strerror is None:
        return str(fault)
    return f"{fault.filename}: {fault.strerror}" if fault.filename else fault.strerror


def _cut_half_line(path: Path) -> int:
    """Cut a half-written line off a log, and return the number of its last message."""
    try:
        size = path.stat().st_size
    except OSError:
        return 0
    with path.open("r+b") as file:
        start = max(0, size - _TAIL)
        file.seek(start)
        tail = file.read()
        whole = tail.rfind(b"\n") + 1
        if whole < len(tail):
            file.truncate(start + whole)
        number = tail[:whole].rpartition(_TORN)[2].partition(b"}")[0]
    return int(number) if number.isdigit() else 0


class SignsOfLife:
    """When each host of a NATS server was last heard of."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.lost = ""  # Why nothing comes from the server now.
        self.heard: dict[str, float] = {}  # When each host last gave a sign of life, by the token of its name.
        self.since = clock()

    def trouble(self, host: str, patience: float) -> str:
        """Return why nothing may be known of a host now; blank if it was heard of within its patience."""
        if self.lost:
            return f"no data from the NATS server: {self.lost}"
        silent = self._clock() - self.heard.get(stream.token(host), self.since)
        if silent <= patience:
            return ""
        return f"no sign of life from {host} for {span(silent)}; is `nooscope fleet ship` running there?"


class Mirror(SignsOfLife):
    """Keeps the logs up to date from a thread; if another process does so already, it only follows."""

    def __init__(self, server: stream.Server, cache: Path, *, pull: int = 512) -> None:
        super().__init__()
        self._server = server
        self._cache = cache
        self._pull = pull
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock: IO[bytes] | None = None
        self._failed: Exception | None = None
        self.ledger: Ledger | None = None

    def start(self, patience: float = 60.0) -> Path:
        """Read to the stream's present end, then continue in a thread; return the folder of the logs."""
        self._thread = threading.Thread(target=self._run, name="nooscope-mirror", daemon=True)
        self._thread.start()
        if not self._ready.wait(patience):
            self.lost = self.lost or "the stream is still being read"
        if self._failed is not None:
            raise self._failed
        if self.ledger is None:
            raise LinkLost(f"{self._server.name} does not answer")
        return self.ledger.folder

    def stop(self) -> None:
        """End the thread and note the place."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5.0)

    def _run(self) -> None:
        try:
            asyncio.run(self._persist_mirror())
        except Exception as fault:  # noqa: BLE001 it must be told to whoever waits, in another thread
            self._failed = fault
            self.lost = str(fault) or type(fault).__name__
        finally:
            self._ready.set()
            if self._lock is not None:
                self._lock.close()

    async def _persist_mirror(self) -> None:
        tries = 0
        while not self._stop.is_set():
            link: stream.NatsLink | None = None
            try:
                link = await stream.connect_nats(self._server)
                await self._follow(link)
            except (LinkLost, OSError) as fault:
                if self.ledger is None:
                    raise
                self.lost = _fault_text(fault)
                if isinstance(fault, OSError):
                    self._ready.set()
                await asyncio.sleep(_BACKOFF[min(tries, len(_BACKOFF) - 1)])
                tries += 1
            else:
                tries = 0
            finally:
                if link is not None:
                    await link.close()

    async def _follow(self, link: stream.NatsLink) -> None:
        with stream.library_faults():
            state = await link.state()
        ledger = self._open(state.created)
        alive = await link.connection.subscribe(stream.ALIVE)
        if self._lock is None:
            await self._look_on(link, alive)
            return
        ledger.tidy(state.first)
        reading = stream.Reading(link, pull=self._pull)
        with stream.library_faults():
            await reading.begin(ledger.place + 1)
        await self._take(link, reading, ledger, alive)

    async def _take(self, link: stream.NatsLink, reading: stream.Reading, ledger: Ledger, alive: Any) -> None:
        saved = time.monotonic()
        try:
            while not self._stop.is_set():
                items = await reading.take(0.25, time.monotonic)
                ledger.add(items)
                self.lost = ""
                await self._listen(alive)
                if time.monotonic() - saved >= _SAVED and items:
                    ledger.save()
                    saved = time.monotonic()
                if not reading.left:
                    self._ready.set()
                if not link.up:
                    raise LinkLost("the connection was lost")
        finally:
            ledger.save()
            if self._stop.is_set():
                ledger.sync()

    async def _look_on(self, link: stream.NatsLink, alive: Any) -> None:
        self._ready.set()
        while not self._stop.is_set():
            await asyncio.sleep(0.25)
            await self._listen(alive)
            self.lost = ""
            if not link.up:
                raise LinkLost("the connection was lost")

    async def _listen(self, alive: Any) -> None:
        while alive.pending_msgs:
            message = await alive.next_msg(timeout=0.1)
            host = message.subject.partition(".")[2]
            if len(self.heard) < 100_000 or host in self.heard:
                self.heard[host] = time.monotonic()

    def _open(self, created: str) -> Ledger:
        """Open the logs of this very stream; a stream that was made again has others."""
        name = blake3(f"{self._server.name}\0{created}".encode()).hexdigest(length=8)
        folder = self._cache / "hosts" / name
        if self.ledger is not None and self.ledger.folder == folder:
            return self.ledger
        if self.ledger is not None:
            raise UsageError("the stream was deleted and created again; restart nooscope to see it")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = atomic.lock_alone(folder / "lock")
        self.ledger = Ledger(folder)
        return self.ledger


def host_of(path: Path, folder: Path) -> str:
    """The host whose session a mirrored log is."""
    try:
        return stream.name_of(path.relative_to(folder).parts[0])
    except (ValueError, IndexError):
        return ""


_OVER = ("ended", "gave up")  # Statuses that stay true however long nothing is heard.


class Hosts(Protocol):
    """Knows which hosts can be heard."""

    def trouble(self, host: str, patience: float) -> str:
        """Return why nothing may be known of a host now; blank if all is well."""


class HostRoster(Roster):
    """The sessions in a mirror; one whose host is away says so, because it may need a person unseen."""

    def __init__(
        self,
        settings: Settings,
        hosts: Hosts,
        folder: Path,
        *,
        expected: tuple[str, ...] = (),
        local: bool = False,
        wall: Callable[[], float] = time.time,
    ) -> None:
        usual = agent_named("nooscope").location or Location(lambda _, __: [])
        location = usual._replace(roots=lambda _, __: [folder], patterns=("*/*/*.jsonl",))
        mirrored = agent_named("nooscope")._replace(location=location)
        agents = (*known_agents(), mirrored) if local else (mirrored,)
        super().__init__(settings, os.environ, Path.home(), agents=agents, wall=wall)
        self._hosts = hosts
        self._folder = folder
        self._expected = expected  # Hosts that have a row of their own while they are away and have no session.
        self._patience = settings.ingest.hosts.sign * settings.ingest.hosts.missed
        self._limits = Limits.of(settings)

    def rows(self, now: float) -> tuple[FleetRow, ...]:
        """All sessions with their hosts, and hosts that are away."""
        rows = tuple(self._with_host(row, now) for row in super().rows(now))
        hosts = {row.host for row in rows}
        absent = [self._absent(host, now) for host in self._expected if host not in hosts]
        return (*rows, *(row for row in absent if row is not None))

    def _with_host(self, row: FleetRow, now: float) -> FleetRow:
        host = host_of(row.path, self._folder)
        if not host:
            return row
        row = replace(row, host=host)
        why = self._hosts.trouble(host, self._patience) if row.status.level or host in self._expected else ""
        if not why or row.status.word in _OVER:
            return row
        return replace(row, facts=replace(row.facts, lost=why)).at(now, self._limits)

    def _absent(self, host: str, now: float) -> FleetRow | None:
        why = self._hosts.trouble(host, self._patience)
        if not why:
            return None
        facts = StatusFacts(heard=now, lost=why)
        status = status_of(facts, now, self._limits)
        return FleetRow(f"host\n{host}", self._folder / host, "", "", host, facts, status, host=host)
