"""`nooscope hooks mcp`: lets an agent ask about its own session and, if allowed, about earlier ones."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tui.cli.options import add_settings_options, settings_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", default="", metavar="ID", help="the session that asks (default: by folder)")
    parser.add_argument(
        "--history",
        choices=("off", "project", "all"),
        default="off",
        help="let it read earlier sessions: of this folder's project, or all (default: off)",
    )
    add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.hooks.connection import call, default_place
    from core.hooks.link import serve
    from core.report.history import user_history

    place, folder = default_place(), Path.cwd()
    history = None
    if args.history != "off":
        history = user_history(settings_from(args).settings, None if args.history == "all" else folder)

    def ask(question: str, body: dict[str, Any]) -> Any:
        return call(place, f"ask/{question}", body)

    answers = serve(sys.stdin, ask, str(folder), args.session, history)
    for answer in answers:
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    return 0
