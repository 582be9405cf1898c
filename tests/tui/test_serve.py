"""`nooscope serve`: who may look, what a browser may send, and the app in a real one."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.hooks.receiver import PeerUsers, peer_user, tells_users
from tui.cli import main
from tui.cli.commands.serve import viewer_command
from tui.cli.launch import has_screen
from tui.web import COOKIE, WebServer, is_loopback

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install 'nooscope[web]'")
pytest.importorskip("textual_serve", reason="textual-serve is not installed: pip install 'nooscope[web]'")

BEGINS = "import sys, time; sys.stdout.buffer.write(b'__GANGLION__\\n'); sys.stdout.flush(); "
COMMAND, DEAF = (
    "exec " + shlex.join([sys.executable, "-S", "-c", BEGINS + rest])
    for rest in ("sys.stdin.buffer.read(1)", "time.sleep(60)")
)
"""Viewers: one ends with the first thing it is told, which is to quit, the other hears nothing."""
TOKEN = "a" * 32


class Site:
    """A server and a browser's side of it."""

    def __init__(self, token: str, viewers: int = 2, command: str = COMMAND, **more: Any) -> None:
        self.server = WebServer(command, "127.0.0.1", 0, viewers=viewers, token=token, **more)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def get(self, path: str, **headers: str) -> tuple[int, Any, str]:
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
            client.get(self.url + path, headers=headers, allow_redirects=False) as answer,
        ):
            return answer.status, answer.headers, await answer.text()


@pytest.fixture
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    one = Site(getattr(request, "param", ""))
    one.port = await one.server.start()
    yield one
    await one.server.close()


async def test_the_page_asks_nobody_else(site: Site) -> None:
    status, headers, page = await site.get("/")
    assert status == 200 and "https:" not in page and "<script>" not in page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy
    assert (await site.get("/static/js/textual.js"))[0] == 200


@pytest.mark.parametrize("path", ["/download/1", "/static/", "/static/../app_service.py", "/upload"])
async def test_nothing_can_be_fetched_but_the_page(site: Site, path: str) -> None:
    assert (await site.get(path))[0] in (403, 404)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
async def test_other_sites_are_refused(site: Site, headers: dict[str, str], status: int) -> None:
    assert (await site.get("/", **headers))[0] == status


@pytest.mark.parametrize(("user", "status"), [(os.getuid(), 200), (0, 200), (4242, 403), (None, 403)])
async def test_without_a_token_other_users_of_the_machine_are_refused(user: int | None, status: int) -> None:
    one = Site("", user_of=lambda *_: user)
    one.port = await one.server.start()
    try:
        assert (await one.get("/"))[0] == status
        assert (await one.get("/ws", Origin=one.url))[0] in ((400, 426) if status == 200 else (403,))
    finally:
        await one.server.close()


@pytest.mark.skipif(not tells_users(), reason="this system does not tell who is at the other end")
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_the_kernel_tells_who_asks(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"{host} cannot be listened on")
    with server, socket.create_connection(server.getsockname()[:2]) as client:
        peer, here = client.getsockname()[:2], server.getsockname()[:2]
        assert peer_user(peer, here) == os.getuid()
        assert peer_user((peer[0], peer[1] ^ 1), here) is None


def test_another_users_row_is_read_from_the_table(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    table.write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        "   0: 0100007F:20E5 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 1\n"
        "   1: 0200007F:9C40 0100007F:20E5 01 00000000:00000000 00:00000000 00000000  1001        0 2\n"
        "   2: 0100007F:9C40 0100007F:20E5 01 00000000:00000000 00:00000000 00000000  1002        0 3\n"
    )
    here = ("127.0.0.1", 8421)
    assert peer_user(("127.0.0.1", 40000), here, (table,)) == 1002
    assert peer_user(("127.0.0.2", 40000), here, (table,)) == 1001
    assert peer_user(("127.0.0.3", 40000), here, (table,)) is None
    assert peer_user(("127.0.0.1", 40000), here, (tmp_path / "nowhere",)) is None


async def test_connections_that_come_at_once_read_the_table_once(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    head, row = "header\n", "   1: 0100007F:9C40 0100007F:20E5 01 0:0 0:0 0 {}        0 2\n"
    table.write_text(head + row.format(1001))
    users, here, peer = PeerUsers((table,)), ("127.0.0.1", 8421), ("127.0.0.1", 40000)
    assert users.user_of(peer, here) == 1001
    table.write_text(head + row.format(1002))
    assert users.user_of(peer, here) == 1001
    await asyncio.sleep(0)
    assert users.user_of(peer, here) == 1002


@pytest.mark.parametrize("site", [TOKEN], indirect=True)
async def test_elsewhere_a_token_is_asked_for(site: Site) -> None:
    for path in ("/", "/ws", "/static/js/textual.js", "/?token=wrong", "/?token="):
        assert (await site.get(path))[0] == 403
    status, headers, _ = await site.get(f"/?token={TOKEN}")
    assert (status, headers["Location"]) == (302, "/")
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert (await site.get("/", Cookie=f"{COOKIE}={TOKEN}"))[0] == 200
    assert (await site.get("/", Cookie=f"{COOKIE}={TOKEN[:-1]}"))[0] == 403


async def test_only_so_many_look_at_once_and_each_has_a_process(site: Site) -> None:
    headers = {"Origin": site.url}
    async with aiohttp.ClientSession() as client:
        first = await client.ws_connect(f"{site.url}/ws?width=80&height=24", headers=headers)
        second = await client.ws_connect(f"{site.url}/ws", headers=headers)
        assert site.server.viewers == 2
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(f"{site.url}/ws", headers=headers)
        assert refused.value.status == 503
        await first.close()
        await second.close()
        async with asyncio.timeout(20):
            while site.server.viewers:
                await asyncio.sleep(0)


async def test_a_socket_without_an_origin_is_refused(site: Site) -> None:
    async with aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await client.ws_connect(f"{site.url}/ws")
    assert refused.value.status == 403


@pytest.mark.parametrize(
    "sent", ["no json", "[]", '["deliver", 1]', '["stdin", 5]', '["resize", {"width": -1, "height": 2}]', "{}"]
)
async def test_anything_but_keys_ends_the_viewer(site: Site, sent: str) -> None:
    async with aiohttp.ClientSession() as client:
        socket = await client.ws_connect(f"{site.url}/ws", headers={"Origin": site.url})
        await socket.send_str('["ping", "x"]')
        assert await socket.receive_json() == ["pong", "x"]
        await socket.send_str(sent)
        async with asyncio.timeout(20):
            while not (await socket.receive()).type.name.startswith("CLOS"):
                pass


@pytest.mark.parametrize("leaves", ["the page", "the server"])
async def test_a_viewer_that_does_not_end_by_itself_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaves: str
) -> None:
    monkeypatch.setattr("tui.web._PATIENCE", 0.1)
    monkeypatch.setattr("tui.web._GOODBYE", 0.05)
    told = tmp_path / "process"
    one = Site("", command=f"echo $$ > {shlex.quote(str(told))}; {DEAF}")
    one.port = await one.server.start()
    async with aiohttp.ClientSession() as client:
        socket = await client.ws_connect(f"{one.url}/ws", headers={"Origin": one.url})
        async with asyncio.timeout(20):
            while not (told.exists() and told.read_text()):
                await asyncio.sleep(0)
        if leaves == "the page":
            await socket.close()
        await one.server.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("127.9.9.9", True),
        ("0.0.0.0", False),  # noqa: S104
        ("192.168.1.4", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_loopback_is_this_machine_alone(host: str, own: bool) -> None:
    assert is_loopback(host) == own


def test_a_browser_counts_as_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_screen()
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    assert has_screen()


def test_a_command_without_a_screen_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "analyze", "x"]) == 2
    assert "has no screen" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("", "--host is empty"),
        ("203.0.113.7", "203.0.113.7:0: this machine has no such address; name one of its own with --host"),
        ("nowhere.invalid", "this machine has no such address; name one of its own with --host"),
    ],
)
def test_an_address_of_another_machine_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], host: str, said: str
) -> None:
    assert main(["serve", "--host", host, "--port", "0", "demo"]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "demo"]) == 2
    assert f":{port}: address already in use; name another with --port" in capsys.readouterr().err


async def test_the_observatory_in_a_browser(home: Path) -> None:
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    command = "exec " + shlex.join(viewer_command(["demo", "--no-motion"]))
    server = WebServer(command, "127.0.0.1", 0, viewers=2)
    port = await server.start()
    complaints: list[str] = []
    try:
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = await browser.new_page(viewport={"width": 1200, "height": 800})
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.goto(f"http://127.0.0.1:{port}/")
            await page.wait_for_selector("body.-first-byte", timeout=60_000)
            assert server.viewers == 1
            await page.wait_for_function("document.activeElement.tagName == 'TEXTAREA'", timeout=60_000)
            await page.keyboard.press("q")
            await page.wait_for_selector("body.-closed", timeout=60_000)
            await browser.close()
    finally:
        await server.close()
    assert complaints == []
