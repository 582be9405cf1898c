"""What `ship` does over a real server when something is not as it was."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import LinkLost, UsageError
from core.extras.hosts.mirror import HostRoster, Ledger, Mirror
from core.extras.hosts.shipper import SenderFile, Shipper, Sources
from core.extras.hosts.stream import StreamItem, connect_nats, server_of
from core.live.fleet.roster import Roster, once
from core.live.fleet.row import FleetRow
from core.logs.finder import sessions
from core.settings import Settings
from core.settings.layers import with_value
from tests.core.extras.hosts.servers import NatsServer, begins, lines, use
from tests.core.extras.hosts.test_ship import read_all, wait_for
from tui.cli import main


class Host:
    """One host with logs of its own, and the sender in this process."""

    def __init__(self, home: Path, url: str, name: str = "h") -> None:
        self.tree = home / "logs"
        self.tree.mkdir(exist_ok=True)
        self.store = home / f"{name}.sqlite3"
        self._url = url
        self._name = name
        self.wall: Callable[[], float] = time.time

    def write(self, session: str, first: int, last: int) -> Path:
        path = self.tree / f"{session}.jsonl"
        new = [] if path.exists() else [begins(session)]
        with path.open("ab") as file:
            file.write(lines(session, [*new, *(use(number) for number in range(first, last))]))
        return path

    def send(self, environment: dict[str, str] | None = None) -> tuple[int, int]:
        """Send what there is: how much was handed over, and how much of it was new to the stream."""
        place = SenderFile(self.store)
        server = server_of(self._url, environment or {})
        settings = with_value(Settings(), "ingest.hosts.within", 8760.0)
        sources = Sources(settings, {}, Path("/nowhere"), self._name, place.sent, paths=[self.tree], wall=self.wall)
        handed = 0

        async def run() -> Shipper:
            nonlocal handed
            shipper = Shipper(server, sources, place, self._name, settings, print)
            send = shipper._send

            async def counted(link: object) -> None:
                nonlocal handed
                handed += len(shipper._outbox)
                await send(link)  # type: ignore[arg-type]

            shipper._send = counted  # type: ignore[method-assign]
            await shipper.run(once=True)
            return shipper

        shipper = asyncio.run(run())
        place.close()
        return handed, shipper.sent


@pytest.fixture
def host(home: Path, server: NatsServer) -> Host:
    return Host(home, server.url)


def test_what_was_sent_is_not_handed_over_again(host: Host) -> None:
    host.write("s", 0, 20)
    assert host.send() == (21, 21)
    assert host.send() == (0, 0)
    host.write("s", 20, 25)
    assert host.send() == (5, 5)


def test_a_lost_store_is_made_again_from_the_stream(host: Host, server: NatsServer) -> None:
    host.write("s", 0, 20)
    host.send()
    host.store.unlink()
    host.write("s", 20, 22)
    assert host.send() == (2, 2)
    assert len(asyncio.run(read_all(server.url))) == 23


def test_a_crash_before_the_note_hands_nothing_over_again(host: Host, server: NatsServer) -> None:
    """The stream is asked, so that it does not matter how long ago the crash was."""
    host.write("s", 0, 10)
    host.send()
    before = host.store.read_bytes()
    host.write("s", 10, 20)
    host.send()
    for beside in host.store.parent.glob("h.sqlite3-*"):
        beside.unlink()
    host.store.write_bytes(before)
    assert host.send() == (0, 0)


def test_a_stream_made_again_gets_everything(host: Host, server: NatsServer) -> None:
    host.write("s", 0, 10)
    host.send()

    async def remove() -> None:
        link = await connect_nats(server_of(server.url, {}))
        await link.stream.delete_stream("NOO")
        await link.close()

    asyncio.run(remove())
    assert host.send() == (11, 11)


def test_a_host_sees_only_what_is_its_own_in_the_stream(home: Path, server: NatsServer) -> None:
    one, other = Host(home, server.url, "one"), Host(home, server.url, "other")
    one.write("s", 0, 5)
    assert one.send() == (6, 6)
    assert other.send() == (6, 6)


def test_retention_follows_the_settings(host: Host, server: NatsServer) -> None:
    host.write("s", 0, 1)
    host.send()

    async def config() -> tuple[float, float, int]:
        link = await connect_nats(server_of(server.url, {}))
        told = (await link.stream.stream_info("NOO")).config
        await link.close()
        return told.max_age, told.duplicate_window, told.max_bytes

    assert asyncio.run(config()) == (30 * 86_400.0, 120.0, -1)


async def test_answers_are_waited_for_until_the_server_is_lost(server: NatsServer) -> None:
    link = await connect_nats(server_of(server.url, {}))
    never: asyncio.Future[list[object]] = asyncio.get_running_loop().create_future()
    with pytest.raises(LinkLost, match="did not answer"):
        await link.answered(never, 0.0)
    never = asyncio.get_running_loop().create_future()
    server.kill()
    async with asyncio.timeout(60):
        with pytest.raises(LinkLost, match="was lost"):
            await link.answered(never, 1000.0)
    await link.close()


@pytest.fixture
def mirror(home: Path, server: NatsServer) -> Iterator[Mirror]:
    one = Mirror(server_of(server.url, {}), home / "cache")
    yield one
    one.stop()


def compared(row: FleetRow) -> tuple[object, ...]:
    """All but the words of the last event, which never leave their host."""
    facts = row.facts
    return (
        row.session,
        row.agent,
        row.project,
        row.model,
        (row.state, row.pattern, row.frustration, row.flow, row.governor),
        (row.context_tokens, row.compactions, row.last_at),
        (facts.events, facts.open, facts.loop, facts.close, row.status.word),
    )


def test_the_fleet_shows_what_the_host_itself_would_show(host: Host, log: Path, mirror: Mirror, home: Path) -> None:
    """A Claude Code log with a call that waits for its result, at home and over the wire."""
    last = [line for line in log.read_bytes().splitlines(keepends=True) if b'"tool_use"' in line][-1]
    until = log.read_bytes().index(last) + len(last)
    path = host.tree / "claude.jsonl"
    path.write_bytes(log.read_bytes()[:until])
    written = 1_760_001_461.0
    os.utime(path, (written, written))
    now = written + 20.0
    host.wall = lambda: now
    host.send()
    folder = mirror.start()
    ((there,), _) = once(HostRoster(Settings(), mirror, folder, wall=lambda: now))
    ((here,), _) = once(Roster(Settings(), {}, home, paths=[host.tree], wall=lambda: now))
    assert there.facts.open
    assert compared(there) == compared(here)
    assert there.host == "h" and here.host == ""


def test_a_session_of_another_host_opens_like_any_log(host: Host, mirror: Mirror) -> None:
    from core.agents.registry import make_kit
    from core.timeline.opening import record

    path = host.write("s", 0, 40)
    host.send()
    folder = mirror.start()
    kit = make_kit()
    (own,) = sessions([path], kit)
    (far,) = sessions([folder], kit)
    assert (far.id, far.tool) == ("s", own.tool)
    mine, theirs = (record(one, Settings(), kit) for one in (own, far))
    assert mine is not None and theirs is not None
    assert len(mine) == len(theirs) == 41
    for place in (0, 17, 40):
        assert mine.at(place) == theirs.at(place)


def test_live_a_line_arrives_and_the_servers_loss_is_told(server: NatsServer, home: Path, mirror: Mirror) -> None:
    from tests.core.extras.hosts.servers import ship

    host = Host(home, server.url)
    host.write("s", 0, 3)
    sender = ship(server, str(host.tree), "--host", "h", "--set", "ingest.hosts.sign=0.5")
    try:
        wait_for(sender, server.url, 4)
        folder = mirror.start()
        host.write("s", 3, 5)
        assert seen(mirror, lambda: _count(folder) == 6)
        assert seen(mirror, lambda: "h" in mirror.heard)
        server.kill()
        assert seen(mirror, lambda: bool(mirror.lost))
        host.write("s", 5, 9)
        server.start()
        assert seen(mirror, lambda: _count(folder) == 10 and not mirror.lost)
    finally:
        sender.kill()
        sender.wait()


def _count(folder: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in folder.glob("*/*/*.jsonl"))


def seen(mirror: Mirror, fits: object) -> bool:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if fits():  # type: ignore[operator]
            return True
        mirror._stop.wait(0.05)
    return False


def test_a_password_is_asked_for_and_never_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    word = "open" + "sesame"
    server = NatsServer(home / "js", "--user", "ann", "--pass", word)
    server.start()
    try:
        host = Host(home, server.url)
        host.write("s", 0, 2)
        told = {"NATS_USER": "ann", "NATS_PASSWORD": word}
        assert host.send(told) == (3, 3)
        with pytest.raises(LinkLost, match="Authorization"):
            asyncio.run(connect_nats(server_of(server.url, {})))
        wrong = server.url.replace("//", f"//bob:{word}@")
        assert main(["fleet", "--once", "--from", wrong]) == 1
        said = capsys.readouterr().err
        assert "cannot reach nats://127.0.0.1" in said and word not in said and "bob" not in said
    finally:
        server.kill()


def test_tls_is_checked_against_the_authority_that_is_named(home: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine to make a certificate with")
    key, certificate = home / "key.pem", home / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    server = NatsServer(home / "js", "--tls", "--tlscert", str(certificate), "--tlskey", str(key))
    server.start()
    try:
        host = Host(home, server.url.replace("nats:", "tls:"))
        host.write("s", 0, 2)
        assert host.send({"NATS_CA": str(certificate)}) == (3, 3)
        with pytest.raises(LinkLost):
            asyncio.run(connect_nats(server_of(server.url.replace("nats:", "tls:"), {})))
    finally:
        server.kill()


@pytest.mark.parametrize(
    "url",
    ["http://a", "nats://", "127.0.0.1:4222", "file:///etc/passwd", "nats://a:99999", "nats://a:b", "nats://[::1"],
)
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="not an address"):
        server_of(url, {})


def test_a_certificate_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="NATS_CA"):
        server_of("tls://a:1", {"NATS_CA": "/nowhere/ca.pem"})


def test_a_server_that_is_not_there_is_said_in_a_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nats")
    assert main(["fleet", "--once", "--from", "nats://127.0.0.1:9"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_what_could_not_be_sent_once_is_said_and_counts_as_failure(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nats")
    monkeypatch.setattr("core.extras.hosts.shipper._BACKOFF", (0.0, 0.0))
    assert main(["ship", "--once", "--to", "nats://127.0.0.1:9"]) == 1
    told = capsys.readouterr().err
    assert "gave up after 3 tries" in told and "0 events sent" in told


def test_a_server_without_jetstream_is_told_how_to_get_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.extras.hosts.shipper._BACKOFF", ())
    bare = NatsServer(tmp_path / "store", jetstream=False)
    bare.start()
    try:
        assert main(["fleet", "--once", "--from", bare.url]) == 1
        assert main(["ship", "--once", "--to", bare.url]) == 1
    finally:
        bare.kill()
    assert capsys.readouterr().err.count("start it with `nats-server -js`") == 2


def test_no_room_for_the_mirror_is_no_all_clear(
    host: Host, server: NatsServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    host.write("s", 0, 3)
    host.send()

    def full(self: Ledger, found: list[StreamItem]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "x.jsonl")

    monkeypatch.setattr(Ledger, "add", full)
    capsys.readouterr()
    assert main(["fleet", "--once", "--from", server.url]) == 1
    told = capsys.readouterr()
    assert "x.jsonl: No space left on device" in told.err and "No session changed" not in told.out


def test_a_full_disk_is_said_and_waited_for(host: Host, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mirror has no room for a while; then all is there, once."""
    host.write("s", 0, 3)
    host.send()
    folder = mirror.start()
    assert seen(mirror, lambda: _count(folder) == 4)
    add, full = Ledger.add, True

    def tight(self: Ledger, found: list[StreamItem]) -> None:
        if full and found:
            raise OSError(errno.ENOSPC, "No space left on device", "x.jsonl")
        add(self, found)

    monkeypatch.setattr(Ledger, "add", tight)
    host.write("s", 3, 6)
    host.send()
    assert seen(mirror, lambda: "x.jsonl: No space left" in mirror.lost)
    full = False
    assert seen(mirror, lambda: _count(folder) == 7 and not mirror.lost)
