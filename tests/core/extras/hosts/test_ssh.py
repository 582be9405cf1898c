"""Machines over ssh: addresses, the pipe, the same fleet, a host that goes away and comes back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.errors import UsageError
from core.extras.hosts import ssh as over_ssh
from core.extras.hosts.mirror import HostRoster
from core.extras.hosts.ssh import SshAddress, SshHosts, ssh_address
from core.live.fleet.roster import once
from core.live.fleet.row import FleetRow
from core.settings import Settings
from core.settings.layers import with_value
from tests.tui import fleet_sessions as fleets
from tests.tui.fleet_sessions import Log
from tui.cli import main

_STAND_IN = """
import os, shlex, sys
words = sys.argv[sys.argv.index("--") + 1:]
host, ship = words[0], shlex.split(words[1])
home = os.path.join({homes!r}, host)
if not os.path.isdir(home):
    sys.exit("ssh: connect to host " + host + " port 22: No route to host")
open(os.path.join(home, "pid"), "w").write(str(os.getpid()))
os.environ.update(HOME=home, XDG_DATA_HOME=home + "/data", XDG_CACHE_HOME=home + "/cache")
print("Welcome to " + host, flush=True)
sys.argv = ship
from tui.cli import main
sys.exit(main(ship[1:]))
"""
_PATIENCE = 60.0


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("ssh://build7", SshAddress("build7")),
        ("ssh://me@build7:2222", SshAddress("build7", "me", 2222)),
        ("ssh://build7/opt/bin/nooscope", SshAddress("build7", program="/opt/bin/nooscope")),
        *((bad, None) for bad in ("ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://h:99999", "nats://h")),
        *((bad, None) for bad in ("ssh://u:secret@h", "ssh://-l@h", "ssh://h?x", "ssh://h#x")),
    ],
)
def test_an_address_names_a_host_and_nothing_else(url: str, address: SshAddress | None) -> None:
    if address is None:
        with pytest.raises(UsageError, match="is not an address for ssh"):
            ssh_address(url)
    else:
        assert ssh_address(url) == address


def test_the_command_is_quoted_and_asks_only_at_first() -> None:
    command = SshAddress("h", "me", 22, "/my tools/nooscope").command(["ssh"], ask=False)
    assert command[-3:] == ["--", "h", "'/my tools/nooscope' ship --to - --host h"]
    assert "BatchMode=yes" in command
    assert "BatchMode=yes" not in SshAddress("h").command(["ssh"], ask=True)


@pytest.fixture
def homes(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fleets, "NOW", time.time())
    folder = home / "machines"
    folder.mkdir()
    return folder


@pytest.fixture
def ssh(homes: Path) -> list[str]:
    """A command that runs on this machine what ssh would run on another."""
    script = homes / "ssh.py"
    script.write_text(_STAND_IN.format(homes=str(homes)))
    return [sys.executable, str(script)]


def asking(home: Path, number: int) -> Log:
    log = fleets.begin(home, f"p{number}", number, 20, count=3)
    log.say_text("Which table should I drop?")
    return log.write()


@contextlib.contextmanager
def connected(ssh: list[str], home: Path, *names: str) -> Iterator[HostRoster]:
    settings = with_value(Settings(), "ingest.hosts.ssh", tuple(ssh))
    hosts = SshHosts([SshAddress(name) for name in names], settings, home / "cache")
    try:
        folder = hosts.start(_PATIENCE)
        yield HostRoster(settings, hosts, folder, expected=hosts.names, local=True)
    finally:
        hosts.stop()
    assert not folder.exists()


def wait_for(roster: HostRoster, fits: Callable[[tuple[FleetRow, ...]], bool]) -> tuple[FleetRow, ...]:
    pause, end = threading.Event(), time.monotonic() + _PATIENCE
    while not fits(rows := once(roster)[0]):
        assert time.monotonic() < end, [(row.host, row.status.reason) for row in rows]
        pause.wait(0.05)
    return rows


def test_a_host_streams_into_the_fleet_goes_away_and_comes_back(
    home: Path, homes: Path, ssh: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(over_ssh, "_PAUSES", (0.05,))
    far, near = asking(homes / "far", 1), asking(home, 2)
    monkeypatch.setenv("HOME", str(home))
    with connected(ssh, home, "far", "gone") as roster:
        rows = {row.host: row for row in once(roster)[0]}
        assert set(rows) == {"", "far", "gone"}
        assert rows["far"].status.reason == rows[""].status.reason == "asks: “Which table should I drop?”"
        assert rows["far"].status.word == rows[""].status.word == "needs you"
        assert rows["gone"].status.word == "unreadable"
        assert "No route to host" in rows["gone"].status.why
        far.prompt()
        far.call("Bash", command="make far")
        far.write()
        wait_for(roster, lambda rows: any(row.host == "far" and row.facts.open for row in rows))
        os.kill(int((homes / "far" / "pid").read_text()), signal.SIGKILL)
        shutil.move(homes / "far", homes / "unplugged")
        away = wait_for(roster, lambda rows: any(row.host == "far" and row.facts.lost for row in rows))
        assert "far has been unreachable" in next(row.status.why for row in away if row.host == "far")
        assert next(row for row in away if not row.host).status.word == "needs you"
        shutil.move(homes / "unplugged", homes / "far")
        back = wait_for(roster, lambda rows: any(row.host == "far" and not row.facts.lost for row in rows))
        [session] = [row for row in back if row.host == "far"]
        assert session.calls == 4
    assert near.path.exists()


def test_the_command_shows_hosts_and_says_who_is_away(
    home: Path, homes: Path, ssh: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asking(homes / "far", 1)
    monkeypatch.setenv("HOME", str(home))
    command = ["fleet", "--json", "--set", f"ingest.hosts.ssh={json.dumps(ssh)}"]
    assert main([*command, "--from", "ssh://far", "--from", "ssh://gone"]) == 1
    shown = capsys.readouterr()
    rows = {row["host"]: row for row in json.loads(shown.out)["sessions"]}
    assert rows["far"]["status"] == "needs you"
    assert rows["gone"]["status"] == "unreadable"
    assert "gone: ssh: connect to host gone" in shown.err
    assert main([*command, "--from", "ssh://far", "--from", "nats://h"]) == 2
    assert main([*command, "--from", "nats://h", "--from", "nats://i"]) == 2


def test_without_words_none_are_sent(
    home: Path, homes: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    asking(home, 1)
    monkeypatch.setenv("HOME", str(home))
    assert main(["ship", "--to", "-", "--once"]) == 0
    assert b"Which table" in capfdbinary.readouterr().out
    assert main(["ship", "--to", "-", "--once", "--without-words"]) == 0
    lines = capfdbinary.readouterr().out
    assert b"Which table" not in lines and b"m0.py" not in lines
    assert json.loads(lines.splitlines()[0]) == {"nooscope": 1}
    assert json.loads(lines.splitlines()[-1]) == {"sign": "caught up"}


class _Sshd:
    """The real server on loopback, with keys of its own; skips the test if it cannot run here."""

    def __init__(self, folder: Path) -> None:
        self.key, host_key = folder / "key", folder / "host_key"
        for path in (self.key, host_key):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [
            *(str(shutil.which("sshd", path="/usr/sbin:/usr/bin")), "-D", "-e", "-f", "/dev/null"),
            *("-p", str(self.port), "-h", str(host_key), "-o", "ListenAddress=127.0.0.1", "-o", "UsePAM=no"),
            *("-o", f"AuthorizedKeysFile={self.key}.pub", "-o", "StrictModes=no", "-o", "PidFile=none"),
        ]
        test = subprocess.run([*self._command, "-t"], capture_output=True, text=True)
        if test.returncode:
            pytest.skip(f"sshd cannot run here: {test.stderr.strip()}")
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)

    def stop(self) -> None:
        """End the server; a connection that is open stays."""
        self._process.terminate()
        self._process.wait()


@pytest.mark.skipif(shutil.which("sshd", path="/usr/sbin:/usr/bin") is None, reason="there is no sshd here")
def test_a_real_sshd_on_loopback(home: Path, homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person's own ssh streams sessions, says when the host is away, and reconnects."""
    far = asking(homes / "far", 1)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(over_ssh, "_PAUSES", (0.2,))
    program = homes / "nooscope"
    program.write_text(
        f"#!/bin/sh\nexport HOME={homes / 'far'} PYTHONPATH={Path.cwd()}\necho $$ >{homes / 'pid'}\n"
        f"exec {sys.executable} -c 'import sys; from tui.cli import main; sys.exit(main())' \"$@\"\n"
    )
    program.chmod(0o700)
    server = _Sshd(homes)
    options = ["-i", str(server.key), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
    settings = with_value(Settings(), "ingest.hosts.ssh", ("ssh", "-F", "/dev/null", *options))
    hosts = SshHosts([SshAddress("127.0.0.1", port=server.port, program=str(program))], settings, home / "cache")
    try:
        roster = HostRoster(settings, hosts, hosts.start(_PATIENCE), expected=hosts.names)
        rows = wait_for(roster, lambda rows: any(row.session for row in rows))
        assert [row.status.reason for row in rows] == ["asks: “Which table should I drop?”"]
        far.prompt()
        far.call("Bash", command="make far")
        far.write()
        wait_for(roster, lambda rows: any(row.facts.open for row in rows))
        server.stop()
        os.kill(int((homes / "pid").read_text()), signal.SIGKILL)
        [row] = wait_for(roster, lambda rows: any(row.facts.lost for row in rows))
        assert "127.0.0.1 has been unreachable" in row.status.why
        asking(homes / "far", 2)
        server.start()
        rows = wait_for(roster, lambda rows: len(rows) == 2 and not any(row.facts.lost for row in rows))
        assert sum(row.status.reason == "asks: “Which table should I drop?”" for row in rows) == 1
    finally:
        hosts.stop()
        server.stop()
