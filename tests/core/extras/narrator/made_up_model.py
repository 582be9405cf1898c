"""A made-up provider on loopback that answers, stalls, fails, refuses and breaks off as a test wants it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def claims(*rows: tuple[str, list[int]]) -> str:
    """An answer of the right shape."""
    return json.dumps({"claims": [{"text": text, "events": events} for text, events in rows]})


def _stream(handler: BaseHTTPRequestHandler, events: list[Any], cut: bool = False) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    for event in events[: len(events) // 2] if cut else events:
        told = event if isinstance(event, str) else json.dumps(event)
        handler.wfile.write(f"data: {told}\n\n".encode())
        handler.wfile.flush()


def answer(text: str, *, cut: bool = False, used: tuple[int, int] = (100, 20)) -> Say:
    """Stream a text, the way the path's API does."""

    def say(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
        if handler.path.endswith("/messages"):
            events: list[Any] = [{"type": "message_start", "message": {"usage": {"input_tokens": used[0]}}}]
            events += [{"type": "content_block_delta", "delta": {"text": piece}} for piece in pieces]
            events += [{"type": "message_delta", "delta": {}, "usage": {"output_tokens": used[1]}}]
            events += [{"type": "message_stop"}]
        else:
            events = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
            events += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
            usage = {"prompt_tokens": used[0], "completion_tokens": used[1]}
            events += [{"choices": [], "usage": usage}, "[DONE]"]
        _stream(handler, events, cut)

    return say


def status(code: int, **headers: str) -> Say:
    """Refuse with a status."""

    def say(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(b'{"error": {"message": "\x1b[31mno"}}')

    return say


def slow(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Send a byte now and then, and never a line."""
    handler.send_response(200)
    handler.end_headers()
    released: threading.Event = handler.server.released  # type: ignore[attr-defined]
    while not released.wait(0.05):
        try:
            handler.wfile.write(b"d")
            handler.wfile.flush()
        except OSError:
            return


def refusal(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Decline to answer, as a hosted model may."""
    if handler.path.endswith("/messages"):
        _stream(handler, [{"type": "message_delta", "delta": {"stop_reason": "refusal"}}, {"type": "message_stop"}])
    else:
        _stream(handler, [{"choices": [{"delta": {}, "finish_reason": "content_filter"}]}, "[DONE]"])


class MadeUpModel:
    """What it was asked, and what it says next; the last thing is said again and again."""

    def __init__(self, *says: Say) -> None:
        self.says = list(says)
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.port = 0

    def spoken(self) -> str:
        """All that was ever sent to it."""
        return json.dumps([body for _, body, _ in self.asked], ensure_ascii=False)


@contextmanager
def serving(*says: Say) -> Iterator[MadeUpModel]:
    """Serve on a free port of loopback."""
    model = MadeUpModel(*says)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append((self.path, body, {key.lower(): value for key, value in self.headers.items()}))
            say = model.says.pop(0) if len(model.says) > 1 else model.says[0]
            say(self, body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.released = threading.Event()  # type: ignore[attr-defined]
    server.daemon_threads = True
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.released.set()  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()
        thread.join()
