"""A screen ends in time when its terminal is gone or does not read, though nobody sends it a hangup."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.terminals import ROOT

_START = "import signal, sys, threading, time; sys.path.insert(0, {root!r})\n{before}\n"
_GUARD = "from tui.feed.notices import end_with_terminal; end_with_terminal(0, 0.02, 0.2)\nprint('there', flush=True)\n"
_DEAF = "signal.signal(signal.SIGTERM, lambda *_: None)"  # A screen that waits for its terminal hears nothing.
_NOHUP = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
_WAIT = "end = time.monotonic() + {patience}\nwhile time.monotonic() < end: threading.Event().wait(0.05)\n"


def _started(stdin: int, patience: float = 60.0, *before: str) -> subprocess.Popen[bytes]:
    program = (_START + _GUARD + _WAIT).format(root=ROOT, patience=patience, before="\n".join(before))
    started = subprocess.Popen([sys.executable, "-c", program], stdin=stdin, stdout=subprocess.PIPE)
    assert started.stdout is not None and started.stdout.readline() == b"there\n"
    return started


@pytest.mark.parametrize("before", [(), (_NOHUP,), (_DEAF,), (_DEAF, _NOHUP)])
def test_it_ends_when_its_terminal_does(before: tuple[str, ...]) -> None:
    master, slave = pty.openpty()
    program = _started(slave, 60.0, *before)
    os.close(slave)
    os.close(master)
    with program:
        assert program.wait(30.0) in (-signal.SIGTERM, 128 + signal.SIGHUP)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_asked_although_it_is_stuck(number: int) -> None:
    master, slave = pty.openpty()
    program = _started(slave, 60.0, _DEAF, _NOHUP)
    program.send_signal(number)
    with program:
        assert program.wait(30.0) == 128 + number
    os.close(slave)
    assert b"\x1b[?1049l" in os.read(master, 1000), "the terminal is given back"
    os.close(master)


def test_it_ends_when_another_thread_gets_the_signal() -> None:
    """The main thread, which alone can act on it, waits for a terminal that does not read."""
    master, slave = pty.openpty()
    os.set_blocking(slave, False)
    while select.select((), (slave,), (), 0.2)[1]:
        with suppress(BlockingIOError):
            os.write(slave, b"x" * 1024)
    ours = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])"
    wait = f"{ours}\nlock = threading.Lock(); lock.acquire(); print('waits', flush=True); lock.acquire()\n"
    program = (_START + _GUARD).format(root=ROOT, before=_DEAF) + wait
    with subprocess.Popen([sys.executable, "-c", program], stdin=slave, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None and started.stdout.readline() + started.stdout.readline() == b"there\nwaits\n"
        started.send_signal(signal.SIGTERM)
        try:
            assert started.wait(10.0) == 128 + signal.SIGTERM
        finally:
            started.kill()
    os.close(slave)
    os.close(master)


def test_without_a_terminal_it_goes_on() -> None:
    with _started(subprocess.DEVNULL, 0.2) as program:
        assert program.wait(30.0) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_screen_ends_although_its_terminal_stopped_reading(tmp_path: Path, number: int) -> None:
    """The screen hangs in a write, where it cannot be asked to leave."""
    master, slave = pty.openpty()
    folders = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("DATA", "CACHE", "CONFIG", "STATE")}
    environment = {**os.environ, **folders, "HOME": str(tmp_path), "TERM": "xterm-256color", "COLUMNS": "200"}
    words = [sys.executable, "-m", "tui.cli", "demo", "--speed", "64"]
    program = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=slave, stdout=slave, stderr=slave)
    drawn = b""
    while len(drawn) < 20_000:
        drawn += os.read(master, 65_536)
    with program:
        while select.select((), (slave,), (), 0.0)[1]:
            select.select((), (), (), 0.02)
        program.send_signal(number)
        began = time.monotonic()
        assert program.wait(30.0) in (128 + number, 128 + signal.SIGTERM)
        assert time.monotonic() - began < 10.0, "within two seconds on a machine that has nothing else to do"
    os.close(slave)
    os.close(master)
