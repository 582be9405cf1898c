"""Sends a host's sessions to the stream, each event once, whatever is lost on the way."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import LinkLost, StoreError
from core.extras.hosts.link import NatsLink, Reading, Server, connect_nats
from core.extras.hosts.messages import ShippedEvent
from core.extras.hosts.place import SenderFile
from core.extras.hosts.sources import Sources
from core.extras.hosts.subjects import ROOT, token
from core.logs.file_events import file_changes
from core.settings import Settings

_ANSWER = 10.0
"""Seconds in which the server must have stored a batch."""
_BACKOFF = (0.2, 0.5, 1.0, 2.0, 5.0)
_LOOK = 30.0
_SOON = 0.25
"""Seconds between two looks at calls that may stay open."""


class Shipper:
    """Reads, sends, takes note; after every loss it asks the stream what that holds before it goes on."""

    def __init__(
        self,
        server: Server,
        sources: Sources,
        place: SenderFile,
        host: str,
        settings: Settings,
        say: Callable[[str], object],
    ) -> None:
        self._server = server
        self._sources = sources
        self._place = place
        self._host = token(host)
        self._settings = settings
        self._hosts = settings.ingest.hosts
        self._say = say
        self._outbox: list[ShippedEvent] = []
        self._stop = asyncio.Event()
        self._stirred = asyncio.Event()
        self._changed: set[Path] = set()
        self.sent = 0
        """Events of this run that the stream has stored."""
        self._noteless = False
        self._looked = self._signed = float("-inf")

    def stop(self) -> None:
        """End after the batch under way."""
        self._stop.set()
        self._stirred.set()

    async def run(self, *, once: bool = False) -> bool:
        """Send until stopped, or until all that is there was sent; False where the server never took it."""
        quiet = threading.Event()
        watcher = None
        if not once:
            watcher = threading.Thread(
                target=self._watch, args=(asyncio.get_running_loop(), quiet), daemon=True
            )
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
            link: NatsLink | None = None
            try:
                link = await connect_nats(self._server)
                await self._agree(link)
                if tries:
                    self._say(f"{self._server.name} is back")
                tries = 0
                await self._send_all(link, once)
                return True
            except (LinkLost, StoreError) as fault:
                if once and tries >= len(_BACKOFF):
                    self._say(f"{fault}; given up after {tries + 1} tries, the rest is sent next time")
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

    async def _agree(self, link: NatsLink) -> None:
        """Learn from the stream itself what it holds of this host beyond what was taken note of."""
        with _lost():
            state = await link.state(self._hosts)
        start, other = self._place.stream(state.created, state.last)
        if other:
            self._sources.forget()
            self._outbox.clear()
        if start > state.last:
            return
        reading = Reading(link, f"{ROOT}.{self._host}.*.*", words=False)
        with _lost():
            await reading.begin(start)
        while reading.left:
            items = await reading.take(5.0, time.monotonic)
            rows = [(item.subject, bytes.fromhex(item.id), item.sequence) for item in items if _ours(item.id)]
            self._note(rows)
        await reading.end()
        self._outbox = [one for one in self._outbox if not self._place.has(one.subject, one.id)]

    async def _send_all(self, link: NatsLink, once: bool) -> None:
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

    async def _read(self, link: NatsLink, once: bool) -> bool:
        """One turn through all sessions that may have something; whether anything was sent."""
        more = False
        for source in self._sources.open():
            if self._stop.is_set():
                return False
            if source.due:
                self._outbox += source.take(self._hosts.batch)
            held = source.held(time.monotonic(), at_once=once)
            self._outbox += [held] if held is not None else []
            if len(self._outbox) >= self._hosts.batch:
                more = True
                await self._send(link)
            more = more or source.due
        more = more or bool(self._outbox)
        if self._outbox:
            await self._send(link)
        return more

    async def _send(self, link: NatsLink) -> None:
        """Hand a batch over and wait until all of it is stored; only then it is taken note of."""
        batch = self._outbox
        with _lost():
            answers = [
                await link.stream.publish_async(
                    one.subject, one.payload, headers={"Nats-Msg-Id": one.id.hex()}
                )
                for one in batch
            ]
            stored = await link.answered(asyncio.gather(*answers), _ANSWER)
        rows = [(one.subject, one.id, answer.seq) for one, answer in zip(batch, stored, strict=True)]
        self._note(rows)
        self.sent += sum(not answer.duplicate for answer in stored)
        self._outbox = []

    def _note(self, rows: list[tuple[str, bytes, int]]) -> None:
        """Take note of what is stored; where that cannot be written, it is said once and sending goes on."""
        fault = self._place.add(rows)
        if fault and not self._noteless:
            self._say(f"{fault}; sending goes on, and what was sent is noted when it can be")
        self._noteless = bool(fault)

    def _look(self) -> None:
        now = time.monotonic()
        if self._changed:
            self._sources.notice(self._take_changed())
        if now - self._looked >= (1.0 if self._sources.lacking else _LOOK):
            self._sources.look()
            self._sources.settle()
            self._looked = now

    async def _sign(self, link: NatsLink) -> None:
        now = time.monotonic()
        if now - self._signed >= self._hosts.sign:
            with _lost():
                await link.connection.publish(f"{ROOT}.{self._host}", b"")
                await link.connection.flush(5)
            self._signed = now

    async def _rest(self, link: NatsLink) -> None:
        """Wait for a file to change."""
        waiting = any(source.watching_open for source in self._sources.open())
        patience = _SOON if waiting else min(1.0, self._hosts.sign)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._stirred.wait(), patience)
        self._stirred.clear()
        if not link.up:
            raise LinkLost("the connection was lost")

    def _take_changed(self) -> set[Path]:
        changed, self._changed = self._changed, set()
        return changed

    def _watch(self, loop: asyncio.AbstractEventLoop, quiet: threading.Event) -> None:
        """In a thread: tell the loop which files changed."""

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


@contextlib.contextmanager
def _lost() -> Iterator[None]:
    """Whatever the library raises means that the connection cannot be relied on."""
    try:
        yield
    except LinkLost:
        raise
    except Exception as fault:  # noqa: BLE001 the library raises many kinds
        said = str(fault).partition("\n")[0]
        raise LinkLost(f"the server did not answer ({said or type(fault).__name__})") from None


def _ours(id_: str) -> bool:
    return len(id_) == 32 and all(letter in "0123456789abcdef" for letter in id_)
