"""`nooscope serve`: the same observatory in a browser."""

from __future__ import annotations

import argparse
import asyncio
import errno
import os
import secrets
import shlex
import socket
import sys

from tui.cli import options, streams

_PORT = 8421
SHOWN = ("watch", "replay", "fleet", "demo")  # Commands with a screen.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = f"what to show, with its options: {', '.join(SHOWN)} (default: watch)"
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help=help_text)
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="default: this machine, for you alone; a token is required on any other address, "
        "or if the system does not report who connects",
    )
    help_text = f"default: {_PORT}; 0 picks a free one"
    parser.add_argument("--port", type=options.port_argument, default=_PORT, metavar="N", help=help_text)
    help_text = "maximum number of viewers (default: 8)"
    parser.add_argument("--viewers", type=options.positive_argument, default=8, metavar="N", help=help_text)


def run(args: argparse.Namespace) -> int:
    from core.errors import UsageError

    words = args.words or ["watch"]
    if words[0] not in SHOWN:
        raise UsageError(f"serve can show {', '.join(SHOWN)}; {words[0]!r} has no screen")
    if not args.host.strip():
        raise UsageError("--host is empty, which would mean every address of this machine; name one")
    return asyncio.run(_run_server(args, words))


def viewer_command(words: list[str]) -> list[str]:
    """Return the command for one viewer; it imports nothing from its working folder."""
    call = "import sys; from tui.cli import main; sys.exit(main())"
    return [sys.executable, "-P", "-c", call, *words]


def _address_fault(fault: OSError) -> str:
    """Return why the address cannot be used, and which option to change."""
    if isinstance(fault, socket.gaierror) or fault.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address; name one of its own with --host"
    sentence = os.strerror(fault.errno) if fault.errno else str(fault)
    return f"{sentence[:1].lower()}{sentence[1:]}; name another with --port"


async def _run_server(args: argparse.Namespace, words: list[str]) -> int:
    from core.errors import UsageError
    from core.hooks.receiver import tells_users
    from tui.web import WebServer, is_loopback

    near = is_loopback(args.host)
    host = f"[{args.host}]" if ":" in args.host else args.host
    token = "" if near and tells_users() else secrets.token_urlsafe(24)
    server = WebServer(
        f"exec {shlex.join(viewer_command(words))}", args.host, args.port, viewers=args.viewers, token=token
    )
    try:
        chosen = await server.start()
    except OSError as fault:
        raise UsageError(f"cannot listen on {host}:{args.port}: {_address_fault(fault)}") from None
    address = f"http://{host}:{chosen}/" + (f"?token={token}" if token else "")
    streams.say(f"open {address}; ctrl+c stops")
    if token and not near:
        streams.say(
            "anyone with this address can see everything and press every key; it is not encrypted, "
            "so use it in a network you trust or behind a proxy with TLS"
        )
    await streams.until_stopped()
    await server.close()
    return 0
