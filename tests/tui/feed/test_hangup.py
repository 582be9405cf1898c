"""A program whose terminal is gone ends, though nobody sends it a hangup."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

from tests.terminals import ROOT

_PROGRAM = (
    "import signal, sys, threading; sys.path.insert(0, {root!r})\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from tui.feed.notices import end_with_terminal\n"
    "end_with_terminal(0, 0.02); print('there', flush=True); threading.Event().wait({patience})"
)


def _started(stdin: int, patience: float) -> subprocess.Popen[bytes]:
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(root=ROOT, patience=patience)], stdin=stdin, stdout=subprocess.PIPE
    )
    assert program.stdout is not None and program.stdout.readline() == b"there\n"
    return program


def test_it_ends_when_its_terminal_does() -> None:
    master, slave = pty.openpty()
    program = _started(slave, 60.0)
    os.close(slave)
    os.close(master)
    with program:
        assert program.wait(30.0) == -signal.SIGHUP


def test_without_a_terminal_it_goes_on() -> None:
    with _started(subprocess.DEVNULL, 0.2) as program:
        assert program.wait(30.0) == 0
