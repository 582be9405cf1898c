"""A collector on loopback that keeps what it is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Kept:
    """What came, and what is answered."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        """Answers to give first; then 200."""
        self.url = ""

    @property
    def spans(self) -> list[dict[str, Any]]:
        return [span for _, _, body in self.requests for span in spans_of(body)]


def spans_of(body: bytes) -> list[dict[str, Any]]:
    return [
        span for group in json.loads(body)["resourceSpans"] for scope in group["scopeSpans"] for span in scope["spans"]
    ]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: next(iter(pair["value"].values())) for pair in span["attributes"]}


@contextmanager
def collector() -> Iterator[Kept]:
    kept = Kept()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = kept.statuses.pop(0) if kept.statuses else 200
            if status == 200:
                kept.requests.append((self.path, dict(self.headers), body))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
