"""The receiver on loopback: what it takes, what it refuses, and what is left on disk."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bench.workload import session
from core.agents.open_events import write
from core.agents.registry import make_kit
from core.events import Event, Prompt
from core.extras.telemetry.intake import Inbox, TelemetryEvent
from core.extras.telemetry.station import Station, open_events
from core.hooks.receiver import Receiver
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from tests.core.extras.telemetry import packing

KIT = make_kit()
AT = 1_760_000_000.0
Answer = tuple[int, bytes]
Ask = Callable[..., Awaitable[Answer]]


class Bench:
    """A receiver at work, and its folder."""

    def __init__(self, folder: Path) -> None:
        self.inbox = Inbox(folder)
        station = Station(KIT, Settings(), self.inbox, lambda: AT + 100)
        self.receiver = Receiver(station.handle, port=0, body=200_000)

    async def raw(self, data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.receiver.port)
        writer.write(data)
        await writer.drain()
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    async def ask(self, path: str, body: bytes = b"", method: str = "POST", **headers: str) -> Answer:
        told = {"Host": "127.0.0.1", "Content-Type": "application/json", "Content-Length": str(len(body))}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items() if value)
        answer = await self.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        first, _, rest = answer.partition(b"\r\n\r\n")
        return int(first.split(b" ")[1]), rest


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path / "received")
    await made.receiver.start()
    yield made
    await made.receiver.close()


def prompt(name: str, binary: bool = False) -> bytes:
    told = {"session.id": name, "event.name": "claude_code.user_prompt", "prompt_length": 3}
    return packing.logs([(AT + len(name) + ord(name[:1] or "a"), "", told)], binary)


def kept(bench: Bench) -> list[list[Event]]:
    if not bench.inbox.folder.exists():
        return []
    return [list(read_session(one, KIT)) for one in sessions([bench.inbox.folder], KIT)]


async def test_json_protobuf_gzip_and_pieces_all_come_to_logs(bench: Bench) -> None:
    assert await bench.ask("/v1/logs", prompt("a")) == (200, b"{}")
    assert await bench.ask("/v1/logs", prompt("b", True), Content_Type="application/x-protobuf") == (200, b"")
    assert (await bench.ask("/v1/logs", gzip.compress(prompt("c")), Content_Encoding="gzip"))[0] == 200
    body = prompt("d")
    pieces = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (10, body[:10], len(body) - 10, body[10:])
    status, _ = await bench.ask("/v1/logs", pieces, Transfer_Encoding="chunked", Content_Length="")
    assert status == 200
    assert sorted(path.name for path in bench.inbox.folder.iterdir()) == [f"{name}.jsonl" for name in "abcd"]
    assert [len(events) for events in kept(bench)] == [2, 2, 2, 2]
    assert (await bench.ask("/v1/metrics", b"{}"))[0] == 200


async def test_open_events_come_back_as_they_were_sent_but_for_their_place(bench: Bench) -> None:
    events = session(80, agents=2)
    body = b"".join(write(event, "bench-1") + b"\n" for event in events)
    status, answer = await bench.ask("/events", body, Content_Type="application/x-ndjson")
    assert (status, json.loads(answer)) == (200, {"taken": len(events), "passed_over": 0})
    assert kept(bench) == [events]


async def test_figures_are_given(bench: Bench) -> None:
    body = b"".join(write(event, "bench-1") + b"\n" for event in session(80))
    await bench.ask("/events", body)
    status, text = await bench.ask("/metrics", method="GET", Content_Type="", Content_Length="")
    assert status == 200 and b"nooscope_tool_uses_total{" in text and b"nooscope_sessions{" in text


async def test_a_place_in_a_received_event_is_not_believed() -> None:
    line = b'{"kind":"prompt","at":1,"session":"s","characters":1,"where":{"file":"/etc/passwd","length":99}}'
    told, faults = open_events(line, KIT)
    assert [each.event.where for each in told] == [None] and faults.total == 0


async def test_bad_lines_are_counted_and_the_rest_is_taken(bench: Bench) -> None:
    body = b'nonsense\n{"at": 5, "session": "s", "tool": "Bash"}\n{"kind": "what", "at": 1}\n'
    status, answer = await bench.ask("/events", body)
    told = json.loads(answer)
    assert status == 200 and told["passed_over"] == 2 and told["taken"] == 2
    assert told["faults"][0] == "line 1: not JSON"
    assert (await bench.ask("/events", b"nonsense\n"))[0] == 400


@pytest.mark.parametrize("name", ["../../escape", "/etc/x", "a/b", "..", "", "x" * 300, "é", "a\x00b", "-x", ".x"])
async def test_a_session_never_names_a_file_elsewhere(bench: Bench, name: str) -> None:
    await bench.ask("/v1/logs", prompt(name))
    folder = bench.inbox.folder
    found = list(folder.iterdir()) if folder.exists() else []
    assert len(found) == (1 if name else 0)
    assert all(path.parent == folder and path.stat().st_mode & 0o777 == 0o600 for path in found)
    assert [path for path in folder.parent.iterdir() if path != folder] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Encoding": "br"}, 415),
        ({"Content_Length": "999999999"}, 413),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Encoding": "gzip"}, 400),
        ({"Host": "localhost:4318"}, 200),
        ({"Host": "[::1]:4318"}, 200),
    ],
)
async def test_who_and_what_is_refused(bench: Bench, headers: dict[str, str], status: int) -> None:
    assert (await bench.ask("/v1/logs", prompt("s"), **headers))[0] == status
    assert bool(kept(bench)) == (status == 200)


async def test_paths_and_methods_that_are_not_there(bench: Bench) -> None:
    assert (await bench.ask("/", b""))[0] == 404
    assert (await bench.ask("/v1/logs", method="GET"))[0] == 405
    assert (await bench.ask("/metrics", b""))[0] == 405
    assert (await bench.ask("/v1/logs", b"[1]"))[0] == 400
    assert (await bench.ask("/v1/traces", b"\xff\xff", Content_Type="application/x-protobuf"))[0] == 400


async def test_bodies_are_bounded_also_unpacked(bench: Bench) -> None:
    assert (await bench.ask("/v1/logs", b" " * 200_001))[0] == 413
    assert (await bench.ask("/v1/logs", b'"' + b" " * 199_998 + b'"'))[0] == 400
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 200_000
    assert (await bench.ask("/v1/logs", bomb, Content_Encoding="gzip"))[0] == 413


async def test_what_is_no_http_is_answered_and_the_receiver_goes_on(bench: Bench) -> None:
    assert b" 400 " in await bench.raw(b"nonsense\r\n\r\n")
    assert b" 413 " in await bench.raw(b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 5000 + b"\r\n")
    assert await bench.raw(b"POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc") == b""
    assert (await bench.ask("/v1/logs", prompt("s")))[0] == 200


async def test_one_connection_takes_many_requests(bench: Bench) -> None:
    body = prompt("s")
    head = b"POST /v1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    one = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    answer = await bench.raw(one * 3)
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert len(kept(bench)[0]) == 4


async def test_a_full_disk_is_said_and_nothing_breaks(bench: Bench) -> None:
    bench.inbox.folder.write_bytes(b"a file where a folder should be")
    status, answer = await bench.ask("/v1/logs", prompt("s"))
    assert status == 503 and b"cannot be stored" in answer


async def test_a_caller_that_sends_too_slowly_is_hung_up_on() -> None:
    """Nothing is answered, and its place is free again."""
    receiver = Receiver(lambda _: pytest.fail("no request came in whole"), port=0, patience=0.05)
    await receiver.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
    writer.write(b"POST /events HTTP/1.1\r\nHost: localhost\r\n")
    assert await asyncio.wait_for(reader.read(), 30) == b""
    writer.close()
    await receiver.close()


async def test_slow_callers_make_room_for_one_who_sends(bench: Bench) -> None:
    """Of more connections than there are places, the one that was silent for longest is hung up on."""
    slow = [await asyncio.open_connection("127.0.0.1", bench.receiver.port) for _ in range(100)]
    for _, writer in slow:
        writer.write(b"POST /events HTTP/1.1\r\nContent-Le")
    assert (await bench.ask("/v1/logs", prompt("s")))[0] == 200
    assert await asyncio.wait_for(slow[0][0].read(), 30) == b""
    for _, writer in slow:
        writer.close()


@pytest.mark.parametrize(("sessions", "kept"), [(100, True), (101, False)])
def test_one_request_begins_a_bounded_number_of_sessions(sessions: int, kept: bool, tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "received")
    events = [TelemetryEvent(f"s{number}", "", Prompt(at=1.0, characters=2)) for number in range(sessions)]
    with contextlib.nullcontext() if kept else pytest.raises(OSError, match="new sessions in one request"):
        inbox.add(events)
    assert len(list(tmp_path.rglob("*.jsonl"))) == (sessions if kept else 0)
