"""Only regular files are opened, nothing is waited for, and what stays closed is counted."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from core.agents.registry import AGENTS, make_kit
from core.errors import UnreadableLog
from core.logs import log_files
from core.logs.discovery import find
from core.logs.finder import sessions
from core.logs.follow import Follower
from core.logs.log_files import HeldLog, open_log, read_log
from tests.core.logs import log_lines as logs
from tui.cli import main

ROOT = Path(__file__).resolve().parents[3]


def irregular(folder: Path) -> list[Path]:
    """A pipe, a socket, a device under another name and a folder, all named like logs."""
    pipe, plug, device, inner = (folder / f"{name}.jsonl" for name in ("pipe", "plug", "device", "inner"))
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(plug))
    device.symlink_to("/dev/zero")
    inner.mkdir()
    return [pipe, plug, device, inner]


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    for path in irregular(tmp_path):
        for way in (open_log, read_log, HeldLog):
            with pytest.raises(OSError, match="not a regular file"):
                way(path)


def test_a_name_that_becomes_a_pipe_between_look_and_opening_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, plain = tmp_path / "pipe", tmp_path / "plain"
    os.mkfifo(pipe)
    plain.write_bytes(b"{}")
    status = plain.stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: status)
    with pytest.raises(OSError, match="not a regular file"):
        open_log(pipe)


def test_a_folder_with_pipes_gives_its_logs_and_counts_the_rest(tmp_path: Path) -> None:
    irregular(tmp_path)
    (tmp_path / "s-1.jsonl").write_bytes(logs.session(2))
    kit = make_kit()
    assert [session.id for session in sessions([tmp_path], kit)] == ["s-1"]
    assert kit.diagnostics.counts == {"not a regular file": 3}
    with pytest.raises(UnreadableLog, match="not a regular file"):
        sessions([tmp_path / "pipe.jsonl"], make_kit())


def test_pipes_among_the_agents_logs_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    irregular(folder)
    os.mkfifo(folder / "agent-1.jsonl")
    (folder / "s-1.jsonl").write_bytes(logs.session(2))
    inner = folder / "s-1" / "subagents"
    inner.mkdir(parents=True)
    os.mkfifo(inner / "agent-2.jsonl")
    kept = tmp_path / ".local" / "share" / "opencode" / "storage" / "session" / "x"
    kept.mkdir(parents=True)
    os.mkfifo(kept / "ses_1.json")
    assert [one.session for one in find(AGENTS, {}, tmp_path) if one.path.is_file()] == ["s-1"]
    follower = Follower(folder / "s-1.jsonl", make_kit())
    assert len(follower.poll()) > 2


@pytest.mark.parametrize("command", [["sessions"], ["doctor"], ["fleet", "--once"], ["watch", "latest"]])
def test_no_command_waits_for_a_pipe(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(home))
    folder = home / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.jsonl")
    assert main(command) in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_only_so_many_logs_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldLog, "_spare", threading.BoundedSemaphore(2))
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    held = [HeldLog(path) for _ in range(3)]
    assert [one.keep() for one in held] == [True, True, False]
    assert [one.keep() for one in held] == [True, True, False]
    del held[0]
    assert held[1].keep()
    assert held[1].read(1, 9) == b"bc"
    assert held[1].read(3, 9) == b""
    assert held[1].read(0, 0) == b""


def test_the_door_opens_for_reading_only() -> None:
    assert log_files._FLAGS & os.O_ACCMODE == os.O_RDONLY
    assert log_files._FLAGS & os.O_NONBLOCK


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_closed_files_and_folders_are_said_to_an_ordinary_user() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        _check_as_ordinary_user(Path(folder))


def _check_as_ordinary_user(tmp_path: Path) -> None:
    (tmp_path / "s-1.jsonl").write_bytes(logs.session(2))
    (tmp_path / "shut.jsonl").write_bytes(logs.session(2))
    (tmp_path / "shut.jsonl").chmod(0)
    (tmp_path / "cellar").mkdir()
    (tmp_path / "cellar" / "s-2.jsonl").write_bytes(logs.session(1))
    (tmp_path / "cellar").chmod(0)
    script = """
import os, sys
from pathlib import Path
import core.agents.opencode
from core.errors import UnreadableLog
from core.logs.discovery import find
from core.logs.follow import Follower
from core.agents.registry import make_kit
from core.agents.registry import AGENTS
from core.logs.finder import sessions
kit = make_kit()
assert all(agent.formats for agent in AGENTS)
os.setgid(65534); os.setuid(65534)
top = Path(sys.argv[1])
print([one.id for one in sessions([top], kit)], kit.diagnostics.counts)
for name in ("shut.jsonl", "cellar", "cellar/s-2.jsonl"):
    try:
        sessions([top / name], make_kit())
    except UnreadableLog as error:
        print(str(error).rpartition(": ")[2])
    print(Follower(top / name, make_kit()).poll())
print(find(AGENTS, {}, top / "cellar"))
from core.logs.log_files import closed_at
for name in ("s-1.jsonl", "nowhere/x", "shut.jsonl", "cellar", "cellar/s-2.jsonl"):
    closed = closed_at(top / name)
    print(closed and closed.name)
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout.splitlines() == [
        "['s-1'] {'no permission': 2}",
        *["no permission", "[]"] * 3,
        "[]",
        *["None", "None", "shut.jsonl", "cellar", "cellar"],
    ], run.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_watch_says_that_it_may_not_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "cellar").mkdir(0)
        script = """
import os, sys
import logging, asyncio, mmap, watchfiles
import core.agents.opencode, core.live.carry_over, core.live.driver, core.live.notices
import tui.cli.commands.watch
from core.agents.registry import AGENTS
from tui.cli.commands.watch import Watch
Watch._follow = lambda self: 0
from tui.cli import main
os.setgid(65534); os.setuid(65534)
sys.exit(main(["watch", "--headless", "--no-hooks", "--no-prior", sys.argv[1] + "/cellar/log.jsonl"]))
"""
        run = subprocess.run(
            [sys.executable, "-c", script, folder],
            env={"PYTHONPATH": str(ROOT), "HOME": folder},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert f"you have no permission to read {folder}/cellar" in run.stderr, run.stderr
    assert "Traceback" not in run.stderr, run.stderr
