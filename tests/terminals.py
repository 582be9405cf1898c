"""nooscope in processes and terminals of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = str(Path(__file__).resolve().parents[1])
NOOSCOPE = (
    sys.executable,
    "-c",
    f"import sys; sys.path.insert(0, {ROOT!r}); from tui.cli import main; sys.exit(main())",
)
ALTERNATE = b"\x1b[?1049h"
BACK = b"\x1b[?1049l"


class Left(NamedTuple):
    """How a program left its terminal."""

    code: int
    output: bytes
    restored: bool
    """Whether the terminal has its own modes again."""


def on_screen(
    words: list[str],
    act: Callable[[subprocess.Popen[bytes], int], None],
    *,
    columns: int = 80,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
    patience: float = 30.0,
) -> Left:
    """Run on a terminal of its own; `act` once it shows something."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    modes = termios.tcgetattr(slave)
    program = subprocess.Popen(
        [*NOOSCOPE, *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
        start_new_session=True,
    )
    output, acted = b"", False
    give_up = time.monotonic() + patience
    try:
        while program.poll() is None and time.monotonic() < give_up:
            if select.select([master], [], [], 0.05)[0]:
                output += os.read(master, 65536)
            if not acted and ALTERNATE in output and len(output) > 1500:
                acted = True
                act(program, master)
        while select.select([master], [], [], 0.05)[0]:
            output += os.read(master, 65536)
        restored = termios.tcgetattr(slave) == modes
    finally:
        if program.poll() is None:
            program.kill()
        code = program.wait()
        os.close(master)
        os.close(slave)
    return Left(code, output, restored)
