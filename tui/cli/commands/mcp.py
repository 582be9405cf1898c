"""`nooscope mcp`: lets an agent ask how it stands, over its protocol for tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tui.cli.options import CliCommand


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session", default="", metavar="ID", help="the session that asks (default: by folder)"
    )


def _run(args: argparse.Namespace) -> int:
    from core.hooks.connection import call, default_place
    from core.hooks.mcp import serve

    place = default_place()
    answers = serve(
        sys.stdin, lambda what, body: call(place, f"ask/{what}", body), str(Path.cwd()), args.session
    )
    for answer in answers:
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    return 0


COMMAND = CliCommand(_add_arguments, _run)
