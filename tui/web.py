"""The observatory in a browser: one process a viewer, keys in, a picture out, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import secrets
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from core.extras import needed
from core.hooks.receiver import Address, peer_user

COOKIE = "nooscope_token"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self' {socket}; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_PAGE = Path(__file__).with_name("web.html")
_FOCUS = Path(__file__).with_name("web.js")  # Keys go to the terminal at once, without a click.
_LARGEST = 65_536  # Bytes of one message from a browser.
_SIZES = range(8, 33)
_PATIENCE = 3.0  # Seconds a viewer's process has to end by itself.
_GOODBYE = 2.0  # Seconds for which pages that are open are waited for at the end.
_WIDEST, _HIGHEST = 1000, 500

Handler = Callable[[Any], Awaitable[Any]]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


class WebServer:
    """Serves a command that shows a Textual app."""

    def __init__(
        self,
        command: str,
        host: str,
        port: int,
        *,
        viewers: int,
        token: str = "",
        user_of: Callable[[Address, Address], int | None] = peer_user,
    ) -> None:
        self._web = needed("aiohttp.web", "web")
        self._services = needed("textual_serve.app_service", "web")
        self._downloads = needed("textual_serve.download_manager", "web").DownloadManager()
        self._statics = Path(self._services.__file__).parent / "static"
        self._command = command
        self._host = host
        self._port = port
        self._most = viewers
        self._token = token
        self._user_of = user_of
        self.viewers = 0
        self._ending: set[asyncio.Future[None]] = set()

    async def start(self) -> int:
        """Listen; the port. Raises only `OSError`."""

        async def guard(request: Any, handler: Handler) -> Any:
            return await self._guard(request, handler)

        app = self._web.Application(middlewares=[self._web.middleware(guard)])
        get, static = self._web.get, self._web.static("/static", self._statics)
        pages = (get("/", self._index), get("/focus.js", self._focus), get("/ws", self._socket))
        app.add_routes([*pages, static])
        self._runner = self._web.AppRunner(app, access_log=None, shutdown_timeout=_GOODBYE)
        await self._runner.setup()
        await self._web.TCPSite(self._runner, self._host, self._port).start()
        return int(self._runner.addresses[0][1])

    async def close(self) -> None:
        """Listen no more; every viewer's process ends."""
        await self._runner.cleanup()
        if self._ending:
            await asyncio.wait(self._ending)

    async def _guard(self, request: Any, handler: Handler) -> Any:
        """Refuse requests without the token, and pages of other sites."""
        if request.method not in ("GET", "HEAD"):
            raise self._web.HTTPMethodNotAllowed(request.method, ["GET"])
        if self._token:
            token = request.query.get("token")
            if token is not None and self._fits(token):
                answer = self._web.HTTPFound("/")
                answer.set_cookie(COOKIE, self._token, httponly=True, samesite="Strict", path="/")
                raise answer
            if not self._fits(request.cookies.get(COOKIE, "")):
                raise self._web.HTTPForbidden(text="Open the address with the token that nooscope printed.\n")
        elif not is_loopback(urlsplit(f"//{request.host}").hostname or ""):
            raise self._web.HTTPForbidden(text="This server only accepts connections from this machine.\n")
        elif not self._own_user(request):
            raise self._web.HTTPForbidden(text="Only the person who started this server may use it.\n")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise self._web.HTTPForbidden(text="Pages of other sites are refused.\n")
        answer = await handler(request)
        if not answer.prepared:
            answer.headers["Content-Security-Policy"] = _POLICY.format(socket=_socket_of(request, ""))
            answer.headers["X-Content-Type-Options"] = "nosniff"
            answer.headers["Referrer-Policy"] = "no-referrer"
            answer.headers["Cache-Control"] = "no-store"
        return answer

    def _own_user(self, request: Any) -> bool:
        """Whether whoever asks is the person who started it, or the system itself."""
        info = request.transport.get_extra_info
        user = self._user_of(info("peername")[:2], info("sockname")[:2])
        return user in (os.getuid(), 0)

    def _fits(self, token: str) -> bool:
        return secrets.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    async def _index(self, request: Any) -> Any:
        size = _number(request.query.get("fontsize"), 16)
        page = _PAGE.read_text("utf-8").replace("@SIZE@", str(size if size in _SIZES else 16))
        page = page.replace("@SOCKET@", escape(_socket_of(request, "/ws")))
        return self._web.Response(text=page, content_type="text/html")

    async def _focus(self, _: Any) -> Any:
        return self._web.Response(text=_FOCUS.read_text("utf-8"), content_type="text/javascript")

    async def _socket(self, request: Any) -> Any:
        """A viewer: a process of its own that lives as long as the page is open."""
        if request.headers.get("Origin") is None:
            raise self._web.HTTPForbidden(text="Only a page of this server may ask.\n")
        if self.viewers >= self._most:
            raise self._web.HTTPServiceUnavailable(text=f"{self._most} viewers at most; close one.\n")
        self.viewers += 1
        socket = self._web.WebSocketResponse(heartbeat=15, max_msg_size=_LARGEST)
        ways = {"write_bytes": socket.send_bytes, "write_str": socket.send_str, "close": socket.close}
        service = self._services.AppService(self._command, **ways, download_manager=self._downloads, debug=False)
        try:
            await socket.prepare(request)
            width = _number(request.query.get("width"), 80)
            height = _number(request.query.get("height"), 24)
            await service.start(min(width, _WIDEST), min(height, _HIGHEST))
            async for message in socket:
                if not await self._obey(service, socket, message):
                    break
        finally:
            self.viewers -= 1
            ending = asyncio.ensure_future(_ended(service, socket))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            await asyncio.shield(ending)
        return socket

    async def _obey(self, service: Any, socket: Any, message: Any) -> bool:
        """Keys, the size and the focus of the terminal; anything else ends the viewer."""
        try:
            match message.json():
                case ["stdin", str(keys)]:
                    await service.send_bytes(keys.encode("utf-8", "replace"))
                case ["resize", {"width": int(width), "height": int(height)}] if width > 0 and height > 0:
                    await service.set_terminal_size(min(width, _WIDEST), min(height, _HIGHEST))
                case ["ping", data]:
                    await socket.send_json(["pong", data])
                case ["blur", *_]:
                    await service.blur()
                case ["focus", *_]:
                    await service.focus()
                case _:
                    return False
        except (ValueError, TypeError, ConnectionError):
            return False
        return True


async def _ended(service: Any, socket: Any) -> None:
    """Wait for a viewer's process to end by itself, otherwise end it."""
    with contextlib.suppress(Exception):
        await socket.close()
    process = getattr(service, "_process", None)
    stopping = asyncio.ensure_future(_stopped(service, process))
    await asyncio.wait({stopping}, timeout=_PATIENCE)
    if process is not None and process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    await stopping


async def _stopped(service: Any, process: Any) -> None:
    with contextlib.suppress(Exception):  # however it fails, the process is waited for
        await service.stop()
    if process is not None:
        await process.wait()


def _socket_of(request: Any, path: str) -> str:
    return f"{'wss' if request.secure else 'ws'}://{request.host}{path}"


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() and 0 < len(text) < 5 else otherwise
