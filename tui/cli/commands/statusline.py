"""`nooscope hooks statusline`: one line on the session whose status an agent hands in."""

from __future__ import annotations

import argparse
import sys

from tui.cli.options import CliCommand

_PATIENCE = 1.0


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "The agent passes its status as JSON on standard input. "
        "`nooscope hooks install claude --statusline` installs a shell program that does the same faster."
    )


def _run(_: argparse.Namespace) -> int:
    from core.hooks.connection import call, default_place

    line = call(default_place(), "statusline", sys.stdin.buffer.read(1_000_000), _PATIENCE)
    if isinstance(line, str) and line:
        print(line)
    return 0


COMMAND = CliCommand(_add_arguments, _run)
