"""Sends a host's sessions to the stream, each event once, whatever is lost on the way."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from core.agents.registry import known_agents, make_kit
from core.agents.words import WordReader, word_logs
from core.errors import LinkLost, StoreError, UnreadableLog
from core.extras.hosts import stream
from core.live.source import state_on_disk
from core.logs.discovery import Found, describe_sessions, find
from core.logs.finder import Finder
from core.logs.follow import Follower, file_changes
from core.logs.format import Diagnostics, roots
from core.logs.log_files import is_folder
from core.logs.session import identity
from core.settings import Settings
from core.store import atomic

_ANSWER = 10.0  # Seconds in which the server must have stored a batch.
_BACKOFF = (0.2, 0.5, 1.0, 2.0, 5.0)
_LOOK = 30.0
_SOON = 0.25  # Seconds between two looks at calls that may stay open.


class Shipper:
    """Reads and sends events and stores their ids; after a loss it asks the stream what arrived."""

    def __init__(
        self,
        server: stream.Server,
        sources: Sources,
        place: SenderFile,
        host: str,
        settings: Settings,
        say: Callable[[str], object],
    ) -> None:
        self._server = server
        self._sources = sources
        self._place = place
        self._host = stream.token(host)
        self._settings = settings
        self._hosts = settings.ingest.hosts
        self._say = say
        self._outbox: list[stream.ShippedEvent] = []
        self._stop = asyncio.Event()
        self._stirred = asyncio.Event()
        self._changed: set[Path] = set()
        self.sent = 0  # Events of this run that the stream has stored.
        self._noteless = False
        self._looked = self._signed = float("-inf")

    def stop(self) -> None:
        """End after the batch under way."""
        self._stop.set()
        self._stirred.set()

    async def run(self, *, once: bool = False) -> bool:
        """Send until stopped, or with `once` until all is sent; False if the server never took it."""
        quiet = threading.Event()
        watcher = None
        if not once:
            watcher = threading.Thread(target=self._pass_changes, args=(asyncio.get_running_loop(), quiet), daemon=True)
            watcher.start()
        try:
            return await self._persist(once)
        finally:
            quiet.set()
            if watcher is not None:
                await asyncio.to_thread(watcher.join, 2.0)

    async def _persist(self, once: bool) -> bool:
        tries = 0
        while not self._stop.is_set():
            link: stream.NatsLink | None = None
            try:
                link = await stream.connect_nats(self._server)
                await self._agree(link)
                if tries:
                    self._say(f"{self._server.name} is back")
                tries = 0
                await self._send_all(link, once)
                return True
            except (LinkLost, StoreError) as fault:
                if once and tries >= len(_BACKOFF):
                    self._say(f"{fault}; gave up after {tries + 1} tries, the rest is sent next time")
                    return False
                if not tries:
                    self._say(f"{fault}; trying again, nothing is lost")
                pause = _BACKOFF[min(tries, len(_BACKOFF) - 1)]
                tries += 1
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), pause)
            finally:
                if link is not None:
                    await link.close()
        return True

    async def _agree(self, link: stream.NatsLink) -> None:
        """Read from the stream which events of this host arrived that are not stored as sent."""
        with stream.library_faults():
            state = await link.state(self._hosts)
        start, other = self._place.stream(state.created, state.last)
        if other:
            self._sources.forget()
            self._outbox.clear()
        if start > state.last:
            return
        reading = stream.Reading(link, f"{stream.ROOT}.{self._host}.*.*", words=False)
        with stream.library_faults():
            await reading.begin(start)
        while reading.left:
            items = await reading.take(5.0, time.monotonic)
            rows = [(item.subject, bytes.fromhex(item.id), item.sequence) for item in items if _ours(item.id)]
            self._note(rows)
        await reading.end()
        self._outbox = [one for one in self._outbox if not self._place.has(one.subject, one.id)]

    async def _send_all(self, link: stream.NatsLink, once: bool) -> None:
        while not self._stop.is_set():
            await self._sign(link)
            if self._outbox:
                await self._send(link)
                continue
            self._look()
            more = await self._read(link, once)
            if not more:
                if once:
                    return
                await self._rest(link)

    async def _read(self, link: stream.NatsLink, once: bool) -> bool:
        """One turn through all sessions that may have something; whether anything was sent."""
        more = False
        for source in self._sources.open():
            if self._stop.is_set():
                return False
            if source.due:
                self._outbox += source.take(self._hosts.batch)
            pending = source.pending_message(time.monotonic(), at_once=once)
            self._outbox += [pending] if pending is not None else []
            if len(self._outbox) >= self._hosts.batch:
                more = True
                await self._send(link)
            more = more or source.due
        more = more or bool(self._outbox)
        if self._outbox:
            await self._send(link)
        return more

    async def _send(self, link: stream.NatsLink) -> None:
        """Hand a batch over and wait until all of it is stored; only then it is taken note of."""
        batch = self._outbox
        with stream.library_faults():
            answers = [
                await link.stream.publish_async(one.subject, one.payload, headers={"Nats-Msg-Id": one.id.hex()})
                for one in batch
            ]
            stored = await link.answered(asyncio.gather(*answers), _ANSWER)
        rows = [(one.subject, one.id, answer.seq) for one, answer in zip(batch, stored, strict=True)]
        self._note(rows)
        self.sent += sum(not answer.duplicate for answer in stored)
        self._outbox = []

    def _note(self, rows: list[tuple[str, bytes, int]]) -> None:
        """Store which events arrived; if that fails, report it once and continue."""
        fault = self._place.add(rows)
        if fault and not self._noteless:
            self._say(f"{fault}; sending continues, and progress is saved as soon as possible")
        self._noteless = bool(fault)

    def _look(self) -> None:
        now = time.monotonic()
        if self._changed:
            changed, self._changed = self._changed, set()
            self._sources.notice(changed)
        if now - self._looked >= (1.0 if self._sources.lacking else _LOOK):
            self._sources.look()
            self._sources.settle()
            self._looked = now

    async def _sign(self, link: stream.NatsLink) -> None:
        now = time.monotonic()
        if now - self._signed >= self._hosts.sign:
            with stream.library_faults():
                await link.connection.publish(f"{stream.ROOT}.{self._host}", b"")
                await link.connection.flush(5)
            self._signed = now

    async def _rest(self, link: stream.NatsLink) -> None:
        """Wait for a file to change."""
        waiting = any(source.watching_open for source in self._sources.open())
        patience = _SOON if waiting else min(1.0, self._hosts.sign)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), patience)
        self._stirred.clear()
        if not link.up:
            raise LinkLost("the connection was lost")

    def _pass_changes(self, loop: asyncio.AbstractEventLoop, quiet: threading.Event) -> None:
        """Pass changed files to the event loop; runs in a thread."""

        def tell(paths: set[Path]) -> None:
            self._changed |= paths
            self._stirred.set()

        while not quiet.is_set():
            folders = self._sources.folders
            for paths in file_changes(folders, quiet, self._settings.ingest.follow, recursive=True):
                if quiet.is_set():
                    return
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(tell, paths)
                if self._sources.folders != folders:
                    break


def _ours(id_: str) -> bool:
    return len(id_) == 32 and all(letter in "0123456789abcdef" for letter in id_)


_SETTLED = 1.0  # Seconds a call must be open before it is sent.
_MOST_PENDING = 100  # Open calls and turns that one message contains at most.


class ShippedSession:
    """One session that is read and sent."""

    def __init__(self, follower: Follower, sender: stream.Sender, sent: set[bytes]) -> None:
        self.follower = follower
        self.sender = sender
        self._sent = sent
        self._told: tuple[object, ...] = ()
        self._open: tuple[tuple[object, ...], float] = ((), 0.0)
        self.due = True
        self.watching_open = True  # It is not known yet whether calls stay open.

    def take(self, most: int) -> list[stream.ShippedEvent]:
        """The next events that were not sent yet."""
        messages: list[stream.ShippedEvent] = []
        while not messages:
            events = self.follower.poll(most)
            built = map(self.sender.message, events)
            messages = [message for message in built if message.id not in self._sent]
            self.watching_open = self.watching_open or bool(events)
            if not self.follower.behind:
                self.due = False
                break
        return messages

    def pending_message(self, now: float, *, at_once: bool = False) -> stream.ShippedEvent | None:
        """The message of calls that stay open for a second, once."""
        if self.due or not self.watching_open:
            return None
        events = self.follower.pending_events()
        key = tuple(identity(event) for event in events)
        if key != self._open[0]:
            self._open = (key, now)
        if key and not at_once and now - self._open[1] < _SETTLED:
            return None
        self.watching_open = False
        if key == self._told:
            return None
        self._told = key
        message = self.sender.pending_message(events[:_MOST_PENDING])
        return None if message.id in self._sent else message


class Sources:
    """All sessions of this host, or of some paths, that changed lately."""

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        home: Path,
        host: str,
        sent: Callable[[str], set[bytes]],
        *,
        paths: Sequence[Path] = (),
        names: stream.Names | None = None,
        words: bool = False,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._home = home
        self._host = host
        self._sent = sent  # Returns the ids of a session's events that were sent before.
        self._paths = list(paths)
        self._names = names
        self._words = words
        self._wall = wall
        self._kit = make_kit(settings.ingest)
        self._finder = Finder(self._kit.counting(Diagnostics()), settings.ingest.lines)
        self._open: dict[str, ShippedSession] = {}
        self._done: dict[str, float] = {}  # When a session that rests had last changed.
        self.faults = self._kit.diagnostics
        self.lacking = True

    @property
    def folders(self) -> list[Path]:
        """Where sessions may appear."""
        if self._paths:
            return [path if is_folder(path) else path.parent for path in self._paths]
        return list(dict.fromkeys(root for _, root in roots(known_agents(), self._environment, self._home)))

    def look(self) -> None:
        """Search the disk, and open new and changed sessions."""
        now = self._wall()
        within = self._settings.ingest.hosts.within * 3600.0
        for listing in self._find(now):
            key = f"{listing.path}\n{listing.session}"
            if now - listing.modified > within or self._done.get(key) == listing.modified:
                continue
            if key not in self._open:
                source = self._source(listing)
                if source is not None:
                    self._open[key] = source
        self.lacking = False

    def notice(self, changed: Collection[Path]) -> None:
        """Files changed; without any named, everybody is looked at."""
        owners: dict[Path, list[ShippedSession]] = {}
        for source in self._open.values():
            if not changed:
                source.due = True
            for path in source.follower.files():
                owners.setdefault(path, []).append(source)
        for path in changed:
            plain = path.with_name(path.name.removesuffix("-wal"))
            touched = owners.get(plain) or owners.get(path.parent)
            for source in touched or ():
                source.due = True
            self.lacking = self.lacking or touched is None

    def open(self) -> list[ShippedSession]:
        """Return the sessions that are followed."""
        return list(self._open.values())

    def settle(self) -> None:
        """Let those go that have not changed for long; all they had was sent."""
        now = self._wall()
        active = self._settings.ingest.follow.active_within
        for key, source in list(self._open.items()):
            changed, _ = state_on_disk(source.follower.files())
            if not (source.due or source.watching_open) and now - changed > active:
                del self._open[key]
                self._done[key] = changed

    def forget(self) -> None:
        """Start again from the logs, because the stream lacks what was sent."""
        self._open.clear()
        self._done.clear()
        self.lacking = True

    def _find(self, now: float) -> list[Found]:
        active = self._settings.ingest.follow.active_within
        if not self._paths:
            return find(known_agents(), self._environment, self._home, now=now, active_within=active)
        try:
            return describe_sessions(known_agents(), self._finder.sessions(self._paths), now, active)
        except UnreadableLog:
            return []

    def _source(self, listing: Found) -> ShippedSession | None:
        try:
            here = self._finder.sessions([listing.path])
        except UnreadableLog:
            return None
        session = ([one for one in here if one.id == listing.session] or here)[0]
        read = WordReader(word_logs(session)).words if self._words else None
        sender = stream.Sender(self._host, session.tool, session.id, self._names, read)
        follower = Follower(session, self._kit, self._settings.ingest)
        return ShippedSession(follower, sender, self._sent(sender.subject))


_TABLES = """
CREATE TABLE IF NOT EXISTS sent (session TEXT, id BLOB, seq INTEGER, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sent_seq ON sent (seq);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB);
"""
_INSERT = "INSERT OR REPLACE INTO sent VALUES (?, ?, ?)"


class SenderFile:
    """One file for one host on one server; only one sender may have it open."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = path
        self._unnoted: list[tuple[str, bytes, int]] = []  # Ids that arrived and could not be stored yet.
        self._lock = _lock_alone(path.with_suffix(".lock"))
        try:
            self._base = sqlite3.connect(path, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_TABLES)
        except sqlite3.Error as fault:
            self._lock.close()
            if isinstance(fault, sqlite3.OperationalError):
                raise self._fault(fault) from None
            raise StoreError(f"{path} cannot be used ({fault}); remove it to read it again from the stream") from None

    def close(self) -> None:
        """Let another sender have it."""
        self._base.close()
        self._lock.close()

    def key(self) -> bytes:
        """Return the key this host hides names with."""
        return self._fact("key", lambda: secrets.token_bytes(32))

    def stream(self, created: str, last: int) -> tuple[int, bool]:
        """Note the stream's state: the first sequence to ask it about, and whether messages are missing.

        Another stream contains nothing of ours; a stream that lost its end lacks those messages.
        """
        with self._whole():
            lost = len(self._unnoted)
            other = self._fact("stream", created.encode) != created.encode()
            if other:
                self._base.execute("DELETE FROM sent")
                self._base.execute("UPDATE facts SET value = ? WHERE name = 'stream'", (created.encode(),))
                self._unnoted = []
            self._unnoted = [row for row in self._unnoted if row[2] <= last]
            lost -= len(self._unnoted)
            self._base.executemany(_INSERT, self._unnoted)
            lost += self._base.execute("DELETE FROM sent WHERE seq > ?", (last,)).rowcount
        self._unnoted = []
        highest = self._base.execute("SELECT max(seq) FROM sent").fetchone()[0]
        return int(highest or 0) + 1, other or lost > 0

    def add(self, rows: Iterable[tuple[str, bytes, int]]) -> str:
        """The stream holds these: subject, id and sequence of each.

        Why they could not be written down, blank where they were; then they are with the next ones, for a
        later one alone would say that all before it is there.
        """
        self._unnoted += rows
        try:
            with self._whole():
                self._base.executemany(_INSERT, self._unnoted)
        except StoreError as fault:
            return str(fault)
        self._unnoted = []
        return ""

    def sent(self, session: str) -> set[bytes]:
        """The ids of one session that arrived."""
        rows = self._base.execute("SELECT id FROM sent WHERE session = ?", (session,))
        return {bytes(row[0]) for row in rows} | {row[1] for row in self._unnoted if row[0] == session}

    def has(self, session: str, id_: bytes) -> bool:
        """Whether an event arrived."""
        if any(row[:2] == (session, id_) for row in self._unnoted):
            return True
        rows = self._base.execute("SELECT 1 FROM sent WHERE session = ? AND id = ?", (session, id_))
        return rows.fetchone() is not None

    def _fact(self, name: str, make: Callable[[], bytes]) -> bytes:
        row = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return bytes(row[0])
        value = make()
        try:
            self._base.execute("INSERT INTO facts VALUES (?, ?)", (name, value))
        except sqlite3.Error as fault:
            raise self._fault(fault) from None
        return value

    def _fault(self, fault: sqlite3.Error) -> StoreError:
        return StoreError(f"{self._path} cannot be written ({fault})")

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            self._base.execute("BEGIN IMMEDIATE")
            yield
            self._base.execute("COMMIT")
        except sqlite3.Error as fault:
            raise self._fault(fault) from None
        finally:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")


def _lock_alone(path: Path) -> IO[bytes]:
    """Return the open lock; an error if another process has it."""
    if (lock := atomic.lock_alone(path)) is None:
        raise StoreError("another `nooscope fleet ship` is already sending this host's sessions there")
    return lock
