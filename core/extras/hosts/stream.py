"""The messages of hosts: events under an id that is equal everywhere, and the stream of a NATS server."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import msgspec
from blake3 import blake3
from msgspec.structs import asdict, replace

from core.agents.open_events import write
from core.agents.words import Words
from core.errors import LinkLost, UsageError
from core.events import MAIN, AgentEnd, AgentStart, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.extras import needed
from core.logs.redact.values import redact_name
from core.logs.session import identity
from core.safe_text import whole
from core.settings.program import HostsSettings

_WORDS = 4_000  # Characters of a prompt, an answer or a command that are sent at most.
_PRINTS = ("call", "shape", "result", "before", "after")


class ShippedEvent(NamedTuple):
    """One event on its way."""

    id: bytes
    subject: str
    payload: bytes


class Names:
    """Numbers made with a key of the host in place of names, equal for equal names."""

    def __init__(self, key: bytes) -> None:
        self._key = blake3(key).digest()

    def word(self, name: str) -> str:
        """A word that only shows whether two names are equal."""
        return name and blake3(name.encode("utf-8", "surrogatepass"), key=self._key).hexdigest(length=4)

    def path(self, path: str) -> str:
        """A path whose folders stay folders."""
        return "/".join(map(self.word, path.split("/")))

    def number(self, print_: int) -> int:
        """A keyed fingerprint, which cannot be compared with that of a guessed text."""
        if not print_:
            return 0
        digest = blake3(print_.to_bytes(8, "big"), key=self._key).digest(length=8)
        return int.from_bytes(digest, "big") or 1

    def without_words(self, event: Event) -> Event:
        """Return the event in figures: kinds, times, sizes, outcomes, models and tools; no names."""
        changed: dict[str, Any] = {}
        if event.agent != MAIN:
            changed["agent"] = self.word(event.agent)
        match event:
            case SessionStart():
                changed |= {"project": self.path(event.project), "branch": self.word(event.branch)}
            case ToolUse():
                changed |= {"targets": tuple(map(self.path, event.targets)), "program": self.word(event.program)}
                changed |= {name: self.number(getattr(event, name)) for name in _PRINTS}
                changed["tool"] = event.tool if "__" not in event.tool else f"mcp__{self.word(event.tool)}"
            case AgentStart():
                changed |= {"child": self.word(event.child), "role": ""}
            case AgentEnd():
                changed["child"] = self.word(event.child)
            case SessionEnd():
                changed["reason"] = ""
            case Turn():
                pass
            case _ if fingerprint := getattr(event, "call", 0):
                changed["call"] = self.number(fingerprint)
        return replace(event, **changed) if changed else event


class Sender:
    """Builds the messages of one session; reading its logs again gives equal ids."""

    def __init__(
        self,
        host: str,
        agent: str,
        session: str,
        names: Names | None = None,
        read: Callable[[Event], Words] | None = None,
    ) -> None:
        self.session = redact_name(session)
        self.subject = session_subject(host, agent, self.session)
        self._names = names
        self._read = read  # Reads the words of events that are sent with them; None sends no words.
        self._seen: set[bytes] = set()
        self._start = self.subject.encode() + b"\0"
        self.last = 0.0

    def message(self, event: Event) -> ShippedEvent:
        """The message of the next event."""
        own = self._start + repr(identity(event)).encode("utf-8", "surrogatepass")
        id_ = blake3(own).digest(length=16)
        times = 1
        while id_ in self._seen:
            id_ = blake3(own + b"\0%d" % times).digest(length=16)
            times += 1
        self._seen.add(id_)
        self.last = event.at
        return ShippedEvent(id_, self.subject, self._line(event))

    def pending_message(self, events: list[Event]) -> ShippedEvent:
        """Describe the calls and turns the logs have begun and not ended, such as calls waiting for a permission."""
        lines = [msgspec.Raw(self._line(event)) for event in events]
        session, after = whole(self.session), len(self._seen)
        record = {"kind": "held", "at": self.last, "session": session, "after": after, "events": lines}
        payload = msgspec.json.encode(record)
        return ShippedEvent(blake3(self._start + payload).digest(length=16), self.subject, payload)

    def _line(self, event: Event) -> bytes:
        """An event as a line, without its place in a file of this host."""
        words = {} if self._read is None else _sent_words(event, self._read)
        sent = replace(event, where=None)
        if isinstance(sent, Turn):
            sent = replace(sent, said=None)
        if isinstance(sent, ToolUse):
            sent = replace(sent, called=None)
        if self._names is not None:
            sent = self._names.without_words(sent)
        try:
            return write(sent, self.session, words)
        except UnicodeEncodeError:
            texts = {key: whole(value) for key, value in asdict(sent).items() if isinstance(value, str)}
            if isinstance(sent, ToolUse):
                texts["targets"] = tuple(map(whole, sent.targets))  # type: ignore[assignment]
            return write(replace(sent, **texts), whole(self.session))


def _sent_words(event: Event, read: Callable[[Event], Words]) -> dict[str, Any]:
    """The redacted words of a prompt, the end of an answer, or a call's command."""
    match event:
        case Prompt() | Turn():
            text = read(event).said
            return {"text": text[-_WORDS:] if isinstance(event, Turn) else text[:_WORDS]} if text else {}
        case ToolUse():
            command = read(event).command
            return {"input": {"command": command[:_WORDS]}} if command else {}
        case _:
            return {}


ROOT = "noo"
STREAM = "NOO"
STORED = f"{ROOT}.*.*.*"  # Host, agent and session of every event.
ALIVE = f"{ROOT}.*"  # A sign of life from a host; never stored.

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_TOKEN = re.compile(r"[A-Za-z0-9_=~-]{1,120}")
_LONGEST = 100
_KEPT = 60


def token(name: str) -> str:
    """A name as one part of a subject; other letters as =XX, a long name by its beginning and its hash."""
    raw = name.encode("utf-8", "surrogatepass")
    spelled = "".join(chr(byte) if byte in _PLAIN else f"={byte:02X}" for byte in raw) or "="
    if len(spelled) <= _LONGEST:
        return spelled
    return f"{spelled[:_KEPT].rpartition('=')[0] or spelled[:_KEPT]}~{blake3(raw).hexdigest(length=12)}"


def name_of(part: str) -> str:
    """The name behind a part of a subject, as far as it was kept."""
    raw = re.sub(rb"=([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), part.encode())
    return raw.decode("utf-8", "replace") if part != "=" else ""


def session_subject(host: str, agent: str, session: str) -> str:
    """Where the events of one session go."""
    return ".".join((ROOT, token(host), token(agent), token(session)))


def parts(subject: str) -> tuple[str, str, str] | None:
    """The tokens of host, agent and session in a subject of ours; None of any other."""
    words = subject.split(".")
    if len(words) != 4 or words[0] != ROOT or not all(map(_TOKEN.fullmatch, words)):
        return None
    return words[1], words[2], words[3]


_BYTES = 1_000_000
_DAY = 86_400.0
_EXPIRES = 5.0
_PULL = 512  # Messages asked for at once.
_IDLE = 60.0
_CONNECT = 15.0
_AGAIN = 0.1  # Seconds until the one other try the library makes of a server that did not answer.


class Server(NamedTuple):
    """A server, and what it wants to know of us."""

    url: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """The address without the secrets in it."""
        return ",".join(map(_without_user, self.url.split(",")))


class StreamState(NamedTuple):
    """The extent of the stream."""

    created: str
    first: int  # The oldest message it still contains.
    last: int


def server_of(url: str, environment: Mapping[str, str]) -> Server:
    """The server behind an address; user, token, credentials and TLS by NATS's own variables."""
    for each in url.split(","):
        if not _is_address(each):
            raise UsageError(f"{_without_user(each)!r} is not an address of a NATS server; write nats://host:4222")
    variables = {"user": "USER", "token": "TOKEN", "user_credentials": "CREDS", "nkeys_seed": "NKEY"}
    values = {name: environment.get(f"NATS_{variable}") for name, variable in variables.items()}
    options: dict[str, Any] = {name: value for name, value in values.items() if value}
    if "user" in options:
        options["password"] = environment.get("NATS_PASSWORD", "")
    authority, certificate, key = (environment.get(f"NATS_{name}", "") for name in ("CA", "CERT", "KEY"))
    if authority or certificate or url.startswith(("tls:", "wss:")):
        try:
            context = ssl.create_default_context(cafile=authority or None)
            if certificate:
                context.load_cert_chain(certificate, key or None)
        except (OSError, ssl.SSLError) as fault:
            raise UsageError(f"NATS_CA, NATS_CERT or NATS_KEY cannot be used: {fault}") from None
        options["tls"] = context
    return Server(url, options)


def _is_address(url: str) -> bool:
    try:
        cut = urlsplit(url)
        return cut.scheme in ("nats", "tls", "ws", "wss") and bool(cut.hostname) and cut.port != 0
    except ValueError:
        return False


def _without_user(url: str) -> str:
    try:
        cut = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit(cut._replace(netloc=cut.netloc.rpartition("@")[2]))


class NatsLink:
    """One connection, without reconnecting; its user opens another and asks for the stream's extent."""

    def __init__(self, connection: Any, lost: asyncio.Event) -> None:
        self.connection = connection
        self._lost = lost
        self.stream = connection.jetstream(publish_async_max_pending=20_000)

    @property
    def up(self) -> bool:
        return bool(self.connection.is_connected)

    async def close(self) -> None:
        """End it; what was under way is forgotten."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.connection.close(), 2.0)

    async def answered(self, answers: asyncio.Future[list[Any]], patience: float) -> list[Any]:
        """Wait for an answer for up to `patience` seconds; raise `LinkLost` as soon as none can arrive."""
        lost = asyncio.ensure_future(self._lost.wait())
        either: set[asyncio.Future[Any]] = {answers, lost}
        await asyncio.wait(either, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        lost.cancel()
        if answers.done():
            return answers.result()
        answers.cancel()
        raise LinkLost("the connection was lost" if self._lost.is_set() else "the server did not answer")

    async def state(self, make: HostsSettings | None = None) -> StreamState:
        """Return the extent of the stream; `make` creates a missing one."""
        errors = needed("nats.js.errors", "nats")
        try:
            info = await self.stream.stream_info(STREAM)
        except errors.NotFoundError:
            if make is None:
                raise LinkLost(f"there is no stream {STREAM} yet; no host has sent anything") from None
            info = await self.stream.add_stream(_config(make))
        except errors.ServiceUnavailableError:
            raise LinkLost("the server runs without JetStream; start it with `nats-server -js`") from None
        created = getattr(info, "created", None)
        return StreamState(str(created), int(info.state.first_seq), int(info.state.last_seq))


@contextlib.contextmanager
def library_faults() -> Iterator[None]:
    """Whatever the library raises means that the connection cannot be relied on."""
    try:
        yield
    except LinkLost:
        raise
    except Exception as fault:  # noqa: BLE001 the library raises many kinds
        reason = str(fault).partition("\n")[0]
        raise LinkLost(f"the server did not answer ({reason or type(fault).__name__})") from None


async def connect_nats(server: Server) -> NatsLink:
    """A connection; raises `LinkLost` with the reason."""
    connection = needed("nats", "nats").NATS()
    lost = asyncio.Event()

    async def note_loss() -> None:
        lost.set()

    async def ignore(_: Exception) -> None:
        """Ignore the fault; the next use of the connection raises it."""

    try:
        async with asyncio.timeout(_CONNECT):
            await connection.connect(
                server.url.split(","),
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=_AGAIN,
                connect_timeout=5,
                error_cb=ignore,
                disconnected_cb=note_loss,
                closed_cb=note_loss,
                name="nooscope",
                pending_size=64 * 1024 * 1024,
                **server.options,
            )
    except Exception as fault:  # noqa: BLE001 the library raises many kinds
        reason = str(fault).partition("\n")[0] or type(fault).__name__
        with contextlib.suppress(Exception):
            await asyncio.wait_for(connection.close(), 2.0)
        raise LinkLost(f"cannot reach {server.name} ({reason})") from None
    return NatsLink(connection, lost)


def _config(settings: HostsSettings) -> Any:
    api = needed("nats.js.api", "nats")
    return api.StreamConfig(
        name=STREAM,
        subjects=[STORED],
        retention=api.RetentionPolicy.LIMITS,
        storage=api.StorageType.FILE,
        max_age=settings.keep * _DAY,
        max_bytes=int(settings.most * _BYTES) or -1,
        num_replicas=settings.replicas,
        duplicate_window=min(settings.window, settings.keep * _DAY),
        compression=api.StoreCompression.S2,
    )


class StreamItem(NamedTuple):
    """One message of the stream."""

    sequence: int
    subject: str
    id: str
    data: bytes
    left: int  # Messages that follow it.


class Reading:
    """The stream from a place on, in order and without gaps; asked for in portions, so that a slow reader
    only takes longer."""

    def __init__(self, link: NatsLink, subject: str = STORED, *, words: bool = True, pull: int = _PULL) -> None:
        self._link = link
        self._subject = subject
        self._words = words
        self._pull = pull
        self._wanted = 0
        self._asked = 0.0
        self._next = 1
        self._waiting: Any = None
        self._ask = ""

    async def begin(self, sequence: int) -> None:
        """Start at a place of the stream."""
        api = needed("nats.js.api", "nats")
        config = api.ConsumerConfig(
            filter_subject=self._subject,
            deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=max(1, sequence),
            ack_policy=api.AckPolicy.NONE,
            inactive_threshold=_IDLE,
            mem_storage=True,
            headers_only=not self._words,
        )
        info = await self._link.stream.add_consumer(STREAM, config)
        self._ask = f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{info.name}"
        inbox = self._link.connection.new_inbox()
        self._waiting = await self._link.connection.subscribe(inbox, pending_msgs_limit=-1)
        self._inbox = inbox
        self.left = int(info.num_pending or 0)

    async def end(self) -> None:
        """Ask for nothing more."""
        with contextlib.suppress(Exception):
            await self._waiting.unsubscribe()

    async def take(self, patience: float, clock: Callable[[], float]) -> list[StreamItem]:
        """Return the messages that came within `patience` seconds; raises `LinkLost` if some are missing."""
        if self._wanted <= 0 or clock() - self._asked > _EXPIRES:
            request = {"batch": self._pull, "expires": int((_EXPIRES - 0.5) * 1e9)}
            await self._link.connection.publish(self._ask, msgspec.json.encode(request), self._inbox)
            self._wanted, self._asked = self._pull, clock()
        batch: list[StreamItem] = []
        try:
            message = await self._waiting.next_msg(timeout=patience)
            while True:
                self._sort_message(message, batch)
                if not self._waiting.pending_msgs:
                    return batch
                message = await self._waiting.next_msg(timeout=0.1)
        except TimeoutError:
            if not self._link.up:
                raise LinkLost("the connection was lost") from None
        except LinkLost:
            raise
        except Exception as fault:  # noqa: BLE001 the library raises many kinds
            raise LinkLost(str(fault) or type(fault).__name__) from None
        return batch

    def _sort_message(self, message: Any, batch: list[StreamItem]) -> None:
        headers = message.headers or {}
        status = headers.get("Status")
        if status is not None and not message.reply:
            if status not in ("404", "408", "100", "409"):
                raise LinkLost(f"the server closed the stream ({status})")
            if status == "409" and "Deleted" in headers.get("Description", ""):
                raise LinkLost("the server closed the stream")
            self._wanted = 0
            return
        # $JS.ACK.[domain.hash.]stream.consumer.delivered.stream_seq.consumer_seq.time.pending[.token]
        words = message.reply.split(".")
        place = 5 if len(words) == 9 else 7
        sequence, order, left = int(words[place]), int(words[place + 1]), int(words[place + 3])
        if order != self._next:
            raise LinkLost("messages were lost on the way")
        self._next += 1
        self._wanted -= 1
        self.left = left
        batch.append(StreamItem(sequence, message.subject, headers.get("Nats-Msg-Id", ""), bytes(message.data), left))
