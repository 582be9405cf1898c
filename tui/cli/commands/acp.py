"""`nooscope fleet acp -- AGENT ARGS...`: runs an ACP agent for an editor and watches what passes between them."""

from __future__ import annotations

import argparse

from core.errors import UsageError
from tui.cli.streams import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = f"{parser.prog} -- AGENT [ARGS ...]"
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="AGENT", help="the agent's own command")
    parser.epilog = (
        "Put it before the agent's command in the editor's settings. Messages pass through unchanged; the "
        "session appears in `nooscope fleet` and `nooscope watch` while it runs."
    )


def run(args: argparse.Namespace) -> int:
    from core.extras.acp_proxy import run_proxy
    from core.folders import own_folder

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UsageError("name the agent's command: nooscope fleet acp -- AGENT ARGS ...")
    code, fault = run_proxy(command, own_folder("data") / "acp")
    if fault:
        say(f"the end of the session was not logged: {fault}")
    return code
