"""`nooscope hooks statusline`: one line on the session whose status an agent hands in."""

from __future__ import annotations

import argparse
import sys

_PATIENCE = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "The agent passes its status as JSON on standard input. "
        "`nooscope hooks install claude --statusline` installs a shell program that does the same faster."
    )


def run(_: argparse.Namespace) -> int:
    from core.hooks.connection import call, default_place

    line = call(default_place(), "statusline", sys.stdin.buffer.read(1_000_000), _PATIENCE)
    if isinstance(line, str) and line:
        print(line)
    return 0
