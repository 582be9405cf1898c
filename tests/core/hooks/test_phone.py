"""Links for a phone: shown before they act, used once, bound to one question, and mute about words."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.hooks import server as module
from core.hooks.phone import PhoneLinks
from core.hooks.server import IntakeServer
from core.live.hook_signs import PermitQuestion
from core.settings import Settings
from core.settings.layers import with_value
from core.store.journals import PermitJournal
from tests.core.hooks.calls import hook
from tests.core.hooks.test_prompts import ALLOW, decide, prompt, put
from tests.core.hooks.test_server import make

SECRET = "touch /private/plans"


class Phone:
    """A server with one question, a stand-in for ntfy, and a plain client."""

    def __init__(self, server: IntakeServer, port: int, notices: list[dict[str, Any]]) -> None:
        self.server, self.port, self.notices = server, port, notices

    async def send(self, method: str, url: str, body: str = "", **headers: str) -> tuple[int, str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        path = url.partition(f":{self.port}")[2] or url
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        answer = (await reader.read()).decode()
        writer.close()
        return int(answer.split()[1]), answer.partition("\r\n\r\n")[2]

    async def links(self, count: int = 1) -> tuple[str, str]:
        async with asyncio.timeout(5):
            while len(self.notices) < count:
                await asyncio.sleep(0.02)
        return tuple(action["url"] for action in self.notices[-1]["actions"])


@pytest.fixture(params=[False, True], ids=["no words", "words"])
async def phone(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> AsyncIterator[Phone]:
    notices: list[dict[str, Any]] = []
    heard: list[bytes] = []

    async def ntfy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heard.append(head)
        match = re.search(rb"(?i)content-length: (\d+)", head)
        notices.append(json.loads(await reader.readexactly(int(match[1]) if match else 0)))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    stand_in = await asyncio.start_server(ntfy, "127.0.0.1", 0)
    monkeypatch.setattr(module, "_WATCH", 0.02)
    settings = with_value(Settings(), "response.phone.address", f"http://127.0.0.1:{unused_tcp_port}")
    address = f"http://127.0.0.1:{stand_in.sockets[0].getsockname()[1]}/secret-topic"
    settings = with_value(settings, "response.phone.ntfy", address)
    settings = with_value(settings, "response.phone.words", request.param)
    server = make(tmp_path, settings=settings)
    await server.start()
    yield Phone(server, unused_tcp_port, notices)
    await server.close()
    stand_in.close()


@pytest.mark.parametrize("verdict", ["allow", "deny"])
async def test_a_link_shows_what_it_does_and_works_once(phone: Phone, verdict: str, tmp_path: Path) -> None:
    _, waiting = await put(phone.server, prompt(SECRET))
    allow, deny = await phone.links()
    url = allow if verdict == "allow" else deny
    words = phone.server._settings.response.phone.words
    assert phone.notices[0]["topic"] == "secret-topic" and (SECRET in str(phone.notices)) is words
    for method in ("GET", "HEAD", "GET"):
        status, page = await phone.send(method, url)
        assert status == 200 and (SECRET in page) is words
    assert len(phone.server.handler.questions) == 1, "a GET changes nothing"
    assert (await phone.send("POST", url))[0] == 200
    answer = await waiting
    assert (answer == ALLOW) is (verdict == "allow") and answer
    for replay in (allow, deny):
        assert (await phone.send("POST", replay))[0] == 410
    entries = [(one.what, one.by) for one in PermitJournal(tmp_path / "permits.jsonl").read()]
    assert entries[-1] == ("approved" if verdict == "allow" else "denied", "phone")


async def test_a_link_ends_with_its_question_and_expires(phone: Phone) -> None:
    number, waiting = await put(phone.server, prompt())
    allow, _ = await phone.links()
    await decide(phone.server, number, "deny")
    await waiting
    assert (await phone.send("POST", allow))[0] in (409, 410)
    _, waiting = await put(phone.server, prompt())
    allow, _ = await phone.links(2)
    phone.server._phone._clock = lambda: 1e12
    assert (await phone.send("POST", allow))[0] == 410 and not waiting.done()
    waiting.cancel()


async def test_who_is_refused(phone: Phone) -> None:
    _, waiting = await put(phone.server, prompt())
    allow, _ = await phone.links()
    assert (await phone.send("POST", allow, Origin="http://elsewhere"))[0] == 403
    assert (await phone.send("POST", allow, Host="rebound.example"))[0] == 403
    assert (await phone.send("POST", "/p/guessed"))[0] == 410
    assert (await phone.send("DELETE", allow))[0] == 405
    assert (await phone.send("POST", "/decide", "{}"))[0] == 404
    assert (await phone.send("GET", "/list/guessed"))[0] == 404
    assert not waiting.done()
    page = (await phone.send("GET", f"/list/{phone.server._phone.token}"))[1]
    assert allow.partition("/p/")[2] in page
    phone.server._phone._near = False
    assert (await phone.send("POST", allow))[0] == 403, "an agent on this machine cannot answer itself"
    phone.server._phone._near = True
    origin = f"http://127.0.0.1:{phone.port}"
    assert (await phone.send("POST", allow, Origin=origin))[0] == 200 and await waiting == ALLOW


async def test_a_question_is_answered_on_its_page(phone: Phone) -> None:
    questions = [{"question": "Which <b>?", "options": [{"label": "Red"}, {"label": "Blue"}]}]
    value = hook("PermissionRequest", tool_name="AskUserQuestion", tool_input={"questions": questions})
    _, waiting = await put(phone.server, value)
    allow, _ = await phone.links()
    assert phone.notices[0]["actions"][0]["action"] == "view", "a question needs its page"
    status, page = await phone.send("POST", allow)
    if not phone.server._settings.response.phone.words:
        assert status == 403 and "Blue" not in page + (await phone.send("GET", allow))[1]
        waiting.cancel()
        return
    assert "<option>Blue</option>" in page and "<b>" not in page and not waiting.done()
    assert (await phone.send("POST", allow, "a0=Blue"))[0] == 200
    decision = (await waiting)["hookSpecificOutput"]["decision"]
    assert decision["updatedInput"]["answers"] == {"Which <b>?": "Blue"}


async def test_the_page_in_a_browser(phone: Phone) -> None:
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = await browser.new_page()
        _, waiting = await put(phone.server, prompt())
        allow, _ = await phone.links()
        await page.goto(allow)
        assert not waiting.done()
        await page.click("button")
        assert await waiting == ALLOW and "Allowed, once." in await page.content()
        await browser.close()


def test_a_question_that_is_late_has_no_link() -> None:
    links = PhoneLinks(Settings().response.phone, lambda *_: "", lambda: 0.0, lambda *_: None)
    links.update([PermitQuestion(1, 0.0, "s", "Bash", "x", "y", late=True)])
    assert not links._links
