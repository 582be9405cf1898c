"""Events as messages: what is sent of each, and the id by which it is known everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from blake3 import blake3
from msgspec.structs import asdict, replace

from core.agents.open_events import write
from core.agents.words import Words
from core.events import MAIN, AgentEnd, AgentStart, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.logs.redact.values import redact_name
from core.logs.session import identity
from core.safe_text import whole

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
        record = {
            "kind": "held",
            "at": self.last,
            "session": whole(self.session),
            "after": len(self._seen),
            "events": [msgspec.Raw(self._line(event)) for event in events],
        }
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
