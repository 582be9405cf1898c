"""`nooscope statusline`: one line on the session whose status an agent hands in."""

from __future__ import annotations

import argparse
import sys

_PATIENCE = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "An agent hands its status in as JSON. `nooscope hooks install claude --statusline` puts a shell "
        "program there that does the same without starting this one."
    )


def run(_: argparse.Namespace) -> int:
    from core.intake.caller import call
    from core.intake.place import default_place

    said = call(default_place(), "statusline", sys.stdin.buffer.read(1_000_000), _PATIENCE)
    if isinstance(said, str) and said:
        print(said)
    return 0
