"""A small HTTP server on this machine, with limits on all input; it serves neither browsers' pages nor other users."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import threading
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from core.errors import Malformed, Refused

LOOPBACK = frozenset(("127.0.0.1", "::1", "localhost"))
_HEAD = 16_384
_BODY = 16 * 1024 * 1024
_IDLE = 60.0
_PARTING = 2.0
_CONNECTIONS = 64
JSON = "application/json"
PROTOBUF = "application/x-protobuf"
LINES = "application/x-ndjson"

Address = tuple[str, int]


class Request(NamedTuple):
    """A request."""

    method: str
    path: str
    kind: str  # Its media type.
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})  # By their names in small letters.
    is_gone: Callable[[], bool] = lambda: False  # Whether the sender hung up meanwhile.
    process: int = 0  # The sender's process, as the system says; 0 if it came by a port.
    from_here: bool = False  # It came by a port from this very machine.


class Answer(NamedTuple):
    """The answer to a request."""

    body: bytes = b"{}"
    kind: str = JSON
    status: int = 200
    headers: str = ""  # Further header lines.


Handler = Callable[[Request], Answer | Awaitable[Answer]]


class Receiver:
    """A server on one port or socket; refused and unreadable requests get one sentence."""

    def __init__(
        self,
        handle: Handler,
        host: str = "127.0.0.1",
        port: int = 4318,
        body: int = _BODY,
        *,
        place: Path | None = None,
        patience: float = _IDLE,
        connections: int = _CONNECTIONS,
        admit: Callable[[Mapping[str, str]], None] | None = None,
        origin: str = "",
        user_of: Callable[[Address, Address], int | None] | None = None,
    ) -> None:
        self._handle = handle
        self._host = host
        self._port = port
        self._body = body
        self._socket = place  # Listen at this place of the file system instead of a port.
        self._patience = patience  # Seconds a request may take to come in whole.
        self._connections = connections
        self._admit = admit  # Looks at the headers before any of the body is read; raises `Refused`.
        # Finds the user at the other end of a connection; others than the person's own are hung up on.
        self._user_of = user_of
        self._origin = origin  # Serve pages of this address, and no others; blank serves no page at all.
        self._open: set[asyncio.Task[None]] = set()
        self._silent: dict[asyncio.Task[None], None] = {}  # Those whose request is awaited, the longest first.
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        has_port = self._server is not None and self._socket is None
        return int(self._server.sockets[0].getsockname()[1]) if has_port and self._server else self._port

    async def start(self) -> None:
        """Listen; raises `OSError` where the place is taken."""
        if self._socket is not None:
            self._server = await asyncio.start_unix_server(self._meet, self._socket, limit=_HEAD)
            return
        self._server = await asyncio.start_server(self._meet, self._host, self._port, limit=_HEAD)

    async def close(self) -> None:
        """Stop listening and hang up."""
        if self._server is not None:
            self._server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            await self._server.wait_closed()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or not self._is_own_user(writer) or not self._make_room():
            writer.close()
            return
        self._open.add(task)
        try:
            keep = True
            while keep:
                self._silent[task] = None
                keep = await self._once(reader, writer, task)
        except (OSError, EOFError, TimeoutError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            self._silent.pop(task, None)
            writer.close()

    def _make_room(self) -> bool:
        """Whether there is a place for one more; the caller that was silent for longest loses its own."""
        if len(self._open) >= self._connections and self._silent:
            longest = next(iter(self._silent))
            del self._silent[longest]
            self._open.discard(longest)
            longest.cancel()
        return len(self._open) < self._connections

    def _is_own_user(self, writer: asyncio.StreamWriter) -> bool:
        """Whether the person who runs the server, or the system itself, is at the other end."""
        if self._user_of is None:
            return True
        peer, own = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
        return bool(peer and own) and self._user_of(peer[:2], own[:2]) in (os.getuid(), 0)

    async def _once(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: asyncio.Task[None]) -> bool:
        """One request and its answer; False where the connection ends with it."""
        try:
            async with asyncio.timeout(self._patience):
                request, keep = await self._request(reader, writer)
            self._silent.pop(task, None)
            if request is None:
                return False
            result = self._handle(request)
            answer = result if isinstance(result, Answer) else await result
        except Refused as refused:
            answer, keep = _error_answer(refused.status, str(refused)), False
        except Malformed as fault:
            answer, keep = _error_answer(400, f"cannot be read: {fault}"), True
        except TimeoutError:
            return False
        except OSError as fault:
            answer, keep = _error_answer(503, f"cannot be stored: {fault.strerror or fault}"), True
        head = (
            f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
            f"Content-Type: {answer.kind}\r\nContent-Length: {len(answer.body)}\r\n"
            f"X-Content-Type-Options: nosniff\r\n{answer.headers}"
            f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
        )
        writer.write(head.encode("ascii") + answer.body)
        await writer.drain()
        if answer.status == 413:
            await self._discard(reader, writer)
        return keep

    async def _discard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read on for a moment what was sent too much, so that the sender gets to see the answer."""
        writer.write_eof()
        left = 4 * self._body
        async with asyncio.timeout(_PARTING):
            while left > 0 and (data := await reader.read(65_536)):
                left -= len(data)

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[Request | None, bool]:
        try:
            raw = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None, False
        except asyncio.LimitOverrunError:
            raise Refused(413, "the request headers are too long") from None
        first, *lines = raw.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise Refused(400, "not an HTTP request")
        headers = _headers(lines)
        self._refuse_pages(headers)
        if self._admit is not None:
            self._admit(headers)
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await self._read_body(reader, headers)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        keep = words[2] == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        plain = _unpacked(body, headers, self._body)
        process = _process_of(writer) if self._socket is not None else 0
        path = words[1].partition("?")[0]
        here = self._socket is None and _from_here(writer)
        return Request(words[0], path, kind, plain, headers, reader.at_eof, process, here), keep

    def _refuse_pages(self, headers: Mapping[str, str]) -> None:
        """Refuse pages in a browser, which can reach loopback too."""
        if self._origin:
            host = self._origin.partition("://")[2]
            if headers.get("origin", self._origin) != self._origin or headers.get("host", "").lower() != host:
                raise Refused(403, "pages of other sites are refused")
            return
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            raise Refused(403, "pages in a browser are not served")
        if self._host in LOOPBACK:
            host = headers.get("host", "").lower()
            name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
            if name not in LOOPBACK:
                raise Refused(403, "wrong host")

    async def _read_body(self, reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await self._read_chunks(reader)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12:
            raise Refused(411, "the Content-Length is missing")
        if int(length) > self._body:
            raise Refused(413, f"more than {self._body:,} bytes")
        return await reader.readexactly(int(length))

    async def _read_chunks(self, reader: asyncio.StreamReader) -> bytes:
        pieces, size = [], 0
        while True:
            line = await reader.readuntil(b"\r\n")
            try:
                length = int(line.split(b";")[0], 16)
            except ValueError:
                raise Refused(400, "a chunk without a length") from None
            size += length
            if length < 0 or size > self._body:
                raise Refused(413, f"more than {self._body:,} bytes")
            pieces.append(await reader.readexactly(length))
            await reader.readexactly(2)
            if length == 0:
                return b"".join(pieces)


def _from_here(writer: asyncio.StreamWriter) -> bool:
    """Whether both ends of a connection have the same address."""
    peer, own = writer.get_extra_info("peername"), writer.get_extra_info("sockname")
    return bool(peer and own) and peer[0] == own[0]


def _process_of(writer: asyncio.StreamWriter) -> int:
    """The process at the other end of a socket of the file system; 0 if the system does not say."""
    line = writer.get_extra_info("socket")
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None or line is None:
        return 0
    return int(struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, option, 12))[0])


_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _USER = 1, 2, 7  # Columns of the kernel's tables of connections.


def peer_user(peer: Address, here: Address, tables: tuple[Path, ...] = _TABLES) -> int | None:
    """Return the user id behind `peer` of a connection to `here`, or None if the system does not say."""
    return _user(peer, here, _read_users(tables))


class PeerUsers:
    """The users behind connections that came at once: the tables, slow to read, are read once for all of them."""

    def __init__(self, tables: tuple[Path, ...] = _TABLES) -> None:
        self._tables = tables
        self._users: dict[tuple[str, str], int] = {}

    def user_of(self, peer: Address, here: Address) -> int | None:
        """As `peer_user`; what was read is forgotten before the loop can accept another connection."""
        if not self._users:
            self._users = _read_users(self._tables)
            asyncio.get_running_loop().call_soon(self._users.clear)
        return _user(peer, here, self._users)


def _read_users(tables: tuple[Path, ...]) -> dict[tuple[str, str], int]:
    """Users by the two ends of their connections, as the tables write them: ours, then theirs."""
    users: dict[tuple[str, str], int] = {}
    for table in tables:
        with contextlib.suppress(OSError, ValueError):
            for line in table.read_text("ascii").splitlines()[1:]:
                row = line.split()
                if len(row) > _USER:
                    users.setdefault((row[_REMOTE], row[_LOCAL]), int(row[_USER]))
    return users


def _user(peer: Address, here: Address, users: Mapping[tuple[str, str], int]) -> int | None:
    pairs = ((ours, theirs) for ours in _written(here) for theirs in _written(peer))
    return next((users[pair] for pair in pairs if pair in users), None)


def tells_users() -> bool:
    """Whether the system reports the user at the other end, tried with a connection of our own."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            here = server.getsockname()
            with socket.create_connection(here) as client:
                return peer_user(client.getsockname(), here) == os.getuid()
    except (OSError, AttributeError):
        return False


def _written(address: Address) -> list[str]:
    """Return an address in the table's notation; an IPv4 address may also be listed as IPv6."""
    host, port = address[0].partition("%")[0], address[1]
    if ":" in host:
        bits = socket.inet_pton(socket.AF_INET6, host)
    else:
        short = socket.inet_pton(socket.AF_INET, host)
        mapped = b"\0" * 10 + b"\xff\xff" + short
        return [f"{_turned(each)}:{port:04X}" for each in (short, mapped)]
    return [f"{_turned(bits)}:{port:04X}"]


def _turned(bits: bytes) -> str:
    """Each four bytes in the order of this machine."""
    words = [bits[place : place + 4] for place in range(0, len(bits), 4)]
    return "".join(f"{int.from_bytes(word, 'little'):08X}" for word in words)


def _headers(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _unpacked(body: bytes, headers: Mapping[str, str], longest: int) -> bytes:
    packing = headers.get("content-encoding", "identity").lower()
    if packing == "identity":
        return body
    if packing not in ("gzip", "deflate"):
        raise Refused(415, f"compressed with {packing[:20]}; send it plain or with gzip")
    unpacker = zlib.decompressobj(wbits=47)
    try:
        plain = unpacker.decompress(body, longest)
    except zlib.error:
        raise Malformed("not gzip") from None
    if unpacker.unconsumed_tail:
        raise Refused(413, f"more than {longest:,} bytes")
    return plain


def _error_answer(status: int, sentence: str) -> Answer:
    text = sentence.encode("ascii", "replace").replace(b"\\", b"/").replace(b'"', b"'")
    return Answer(b'{"message":"%b"}' % text, JSON, status)


_THREAD_PATIENCE = 10.0


class LoopThread:
    """A thread that runs a loop until it is stopped."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[None, None, None]) -> None:
        """Do something on the loop, and wait for its end."""
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_THREAD_PATIENCE)

    def stop(self) -> None:
        """End the loop and the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_THREAD_PATIENCE)
        self._loop.close()
