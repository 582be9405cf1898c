"""Events on their way over a real server: none lost, none twice, whatever is killed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from core.events import Event
from core.extras.hosts.mirror import Mirror
from core.extras.hosts.stream import Reading, StreamItem, connect_nats, server_of, token
from tests.core.extras.hosts.servers import NatsServer, begins, ended, lines, ship, use

SESSIONS = 20
FULL = settings.get_current_profile_name() == "full"
EACH = 5_000 if FULL else 120
ALL = SESSIONS * EACH


async def read_all(url: str) -> list[StreamItem]:
    link = await connect_nats(server_of(url, {}))
    reading = Reading(link)
    await reading.begin(1)
    found: list[StreamItem] = []
    while reading.left:
        found += await reading.take(5.0, asyncio.get_running_loop().time)
    await link.close()
    return found


def stored(url: str) -> int:
    async def ask() -> int:
        link = await connect_nats(server_of(url, {}))
        try:
            return int((await link.stream.stream_info("NOO")).state.messages)
        except Exception:  # noqa: BLE001 there is none yet
            return 0
        finally:
            await link.close()

    return asyncio.run(ask())


def wait_for(process: subprocess.Popen[bytes], url: str, least: int) -> None:
    """Until the stream holds so many."""
    for _ in range(5_400):
        if stored(url) >= least:
            return
        assert not ended(process, 0.05), "ship ended"
    raise AssertionError(f"only {stored(url)} of {least} came")


def calls(texts: list[bytes]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for text in texts:
        told = json.loads(text)
        if told["kind"] == "tool_use":
            found[told["session"], told["id"]] += 1
    return found


def mirrored(folder: Path) -> list[bytes]:
    return [line for path in sorted(folder.glob("*/*/*.jsonl")) for line in path.read_bytes().splitlines()]


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_over_kills_of_either_side(server: NatsServer, home: Path) -> None:
    """100,000 events in the full run, fewer in small batches otherwise; sender and server are killed with -9
    on the way, the reader is slow."""
    tree = home / "logs"
    tree.mkdir()
    words = [str(tree), "--host", "h.1", *([] if FULL else ["--set", "ingest.hosts.batch=20"])]
    half = EACH // 2
    for number in range(SESSIONS):
        events: list[Event] = [begins(f"s{number}"), *(use(each) for each in range(half))]
        (tree / f"s{number}.jsonl").write_bytes(lines(f"s{number}", events))
    sender = ship(server, *words)
    wait_for(sender, server.url, ALL * 8 // 100)
    sender.kill()
    sender.wait()
    sender = ship(server, *words)
    wait_for(sender, server.url, ALL * 20 // 100)
    server.kill()
    for number in range(SESSIONS):
        with (tree / f"s{number}.jsonl").open("ab") as file:
            file.write(lines(f"s{number}", [use(each) for each in range(half, EACH)]))
    assert not ended(sender, 0.5)
    server.start()
    wait_for(sender, server.url, ALL * 60 // 100)
    slow = Mirror(server_of(server.url, {}), home / "cache", pull=7)
    slow.start(0.5)
    server.kill()
    assert not ended(sender, 0.5)
    server.start()
    wait_for(sender, server.url, ALL * 80 // 100)
    slow.stop()
    sender.kill()
    sender.wait()
    last = ship(server, *words, "--once")
    assert last.wait(300) == 0
    expected = {(f"s{number}", f"call-{each}"): 1 for number in range(SESSIONS) for each in range(EACH)}
    items = asyncio.run(read_all(server.url))
    assert len({item.id for item in items}) == len(items)
    assert calls([item.data for item in items]) == expected
    mirror = Mirror(server_of(server.url, {}), home / "cache")
    folder = mirror.start(300.0)
    mirror.stop()
    assert mirror.lost == ""
    assert calls(mirrored(folder)) == expected
    assert {path.parent.parent.name for path in folder.glob("*/*/*.jsonl")} == {token("h.1")}
