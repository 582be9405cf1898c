"""Two ways to ask a model over http: OpenAI-compatible servers and Anthropic; the answer is a stream."""

from __future__ import annotations

import http.client
import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from core.agents.values import items, table, text
from core.errors import SettingsError

_HOSTED = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com/v1"}
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_LONGEST = 2_000_000  # Bytes of an answer at most.
_SERVICE = "nooscope"


class Provider(NamedTuple):
    """One model and its address."""

    kind: str
    model: str
    address: str
    variable: str  # Name of the variable or keyring entry with the key.

    @property
    def name(self) -> str:
        """The model and the host it runs on."""
        return f"{self.model} on {urlsplit(self.address).hostname}"

    @property
    def local(self) -> bool:
        """It is asked on this machine, and costs nothing."""
        host = urlsplit(self.address).hostname or ""
        try:
            return host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def provider_of(words: str) -> Provider:
    """`KIND MODEL [ADDRESS] [VARIABLE]` of a setting; plain http only to this machine."""
    kind, model, *rest = words.split()
    addresses = [word for word in rest if "://" in word]
    variables = [word for word in rest if "://" not in word]
    provider = Provider(kind, model, (addresses or [_HOSTED[kind]])[0].rstrip("/"), (variables or [_KEYS[kind]])[0])
    if not provider.address.startswith("https://") and not provider.local:
        raise SettingsError(f"{provider.address} would send facts and keys unencrypted; use https")
    return provider


class ModelReply(NamedTuple):
    """A model's answer, with its tokens."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class ModelFailed(Exception):
    """A request to a model that failed."""

    again = True  # A second request to the model may succeed.

    def __init__(self, words: str, wait: float = 0.0) -> None:
        super().__init__(words)
        self.wait = wait  # Seconds the provider asks to be left alone.


class ModelDeclined(ModelFailed):
    """The provider does not want this request, now or later."""

    again = False


def api_key(provider: Provider, environment: Mapping[str, str] = os.environ) -> str:
    """The key from the environment or an installed keyring; blank if there is none."""
    key = environment.get(provider.variable, "").strip()
    if key or provider.local:
        return key
    try:
        import keyring  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return ""
    try:
        return str(keyring.get_password(_SERVICE, provider.variable) or "")
    except Exception:  # noqa: BLE001 a keyring may fail in any way, and then there is no key
        return ""


def ask_model(
    provider: Provider,
    key: str,
    system: str,
    prompt: str,
    most: int,
    timeout: float,
    clock: Callable[[], float] = time.monotonic,
) -> ModelReply:
    """Ask once and read the whole answer within a time; raises `ModelFailed`."""
    until = clock() + timeout
    body, headers, path = _request(provider, key, system, prompt, most)
    address = urlsplit(provider.address)
    host, port = address.hostname or "", address.port
    connection: http.client.HTTPConnection
    if address.scheme == "https":
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        with closing(connection):
            connection.connect()
            wire = connection.sock
            connection.request("POST", f"{address.path}{path}", msgspec.json.encode(body), headers)
            with closing(connection.getresponse()) as answer:
                if answer.status != 200:
                    raise _refusal(answer)
                return _read(provider.kind, _events(_lines(wire, answer, until, clock)))
    except (OSError, http.client.HTTPException) as error:
        reason = "took too long" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        raise ModelFailed(reason) from None


def _request(
    provider: Provider, key: str, system: str, prompt: str, most: int
) -> tuple[dict[str, Any], dict[str, str], str]:
    headers = {"Content-Type": "application/json", "User-Agent": "nooscope", "Accept": "text/event-stream"}
    if provider.kind == "anthropic":
        headers |= {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
        body: dict[str, Any] = {"model": provider.model, "max_tokens": most, "stream": True, "system": system}
        return {**body, "messages": [{"role": "user", "content": prompt}]}, headers, "/messages"
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
    body = {"model": provider.model, "max_tokens": most, "stream": True, "messages": messages}
    return {**body, "stream_options": {"include_usage": True}}, headers, "/chat/completions"


def _refusal(answer: http.client.HTTPResponse) -> ModelFailed:
    answer.read(4096)
    if answer.status == 429 or answer.status >= 500:
        retry_after = answer.headers.get("Retry-After", "")
        wait = float(retry_after) if retry_after.replace(".", "", 1).isdecimal() else 0.0
        words = "limits the rate of requests" if answer.status == 429 else f"returned HTTP {answer.status}"
        return ModelFailed(words, min(wait, 3600.0))
    return ModelDeclined(f"refused the request with HTTP {answer.status}")


def _lines(
    wire: socket.socket, answer: http.client.HTTPResponse, until: float, clock: Callable[[], float]
) -> Iterator[bytes]:
    """The lines of an answer, however slowly they come, until the time is over."""
    rest, size = b"", 0
    while True:
        left = until - clock()
        if left <= 0:
            raise ModelFailed("took too long")
        wire.settimeout(left)
        piece = answer.read1(65_536)
        if not piece:
            if rest:
                yield rest
            return
        size += len(piece)
        if size > _LONGEST:
            raise ModelDeclined("sent an answer that is too long")
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole


def _events(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream of server-sent events."""
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        payload = line[5:].strip()
        if payload == b"[DONE]":
            yield {"type": "done"}
            return
        try:
            value = msgspec.json.decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ModelFailed("sent an answer that is not JSON") from None
        if isinstance(value, dict):
            yield value


def _read(kind: str, events: Iterator[dict[str, Any]]) -> ModelReply:
    parts: list[str] = []
    used: list[int | None] = [None, None]
    finished = False
    for event in events:
        if event.get("error") or event.get("type") == "error":
            raise ModelFailed("stopped with an error")
        part, ended = _anthropic(event, used) if kind == "anthropic" else _openai(event, used)
        parts.append(part)
        finished = finished or ended
    if not finished:
        raise ModelFailed("the answer was cut off")
    return ModelReply("".join(parts), *used)


def _openai(event: dict[str, Any], used: list[int | None]) -> tuple[str, bool]:
    if usage := table(event.get("usage")):
        used[:] = [_number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))]
    first = table(next(iter(items(event.get("choices"))), None))
    if first.get("finish_reason") == "content_filter":
        raise ModelDeclined("refused to answer")
    ended = event.get("type") == "done" or first.get("finish_reason") is not None
    return text(table(first.get("delta")).get("content")), ended


def _anthropic(event: dict[str, Any], used: list[int | None]) -> tuple[str, bool]:
    delta, usage = table(event.get("delta")), table(event.get("usage"))
    if begun := table(table(event.get("message")).get("usage")):
        used[0] = _number(begun.get("input_tokens"))
    if "output_tokens" in usage:
        used[1] = _number(usage["output_tokens"])
    if delta.get("stop_reason") == "refusal":
        raise ModelDeclined("refused to answer")
    return text(delta.get("text")), event.get("type") == "message_stop"


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
