"""`nooscope fleet ship`: send this host's sessions to a NATS server or to standard output, for `fleet --from`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.options import add_settings_options, path_argument, settings_from
from tui.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.extras.hosts.shipper import Sources
    from core.extras.hosts.stream import Names
    from core.settings import Settings

_VARIABLES = (
    "user, token, credentials and TLS come from the URL and from NATS_USER, NATS_PASSWORD, NATS_TOKEN, "
    "NATS_CREDS, NATS_NKEY, NATS_CA, NATS_CERT and NATS_KEY"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", type=path_argument, metavar="PATH", help="send these files and folders instead"
    )
    parser.add_argument(
        "--to",
        dest="server",
        metavar="URL",
        required=True,
        help=f"such as nats://host:4222, or - for standard output; {_VARIABLES}",
    )
    parser.add_argument("--host", metavar="NAME", help="name of this host (default: its own name)")
    parser.add_argument(
        "--without-words",
        "--figures",
        action="store_true",
        help="replace the names of paths, projects, branches and agents by numbers",
    )
    parser.add_argument("--once", action="store_true", help="send what there is, then exit")
    add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    import os

    from core.errors import UnreadableLog
    from core.extras import needed
    from core.extras.hosts.stream import server_of
    from core.logs.log_files import is_there

    settings = settings_from(args).settings
    for path in args.paths:
        if not is_there(path.expanduser()):
            raise UnreadableLog(f"{path}: no such file or folder")
    if args.server == "-":
        return _to_standard_output(args, settings)
    needed("nats", "nats")
    server_of(args.server, os.environ)
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(_ship(args, settings))
    return 0


def _to_standard_output(args: argparse.Namespace, settings: Settings) -> int:
    """Write all events as lines; with their words, unless these are to stay here."""
    import secrets

    from core.extras.hosts.ssh import PipeShipper
    from core.extras.hosts.stream import Names

    names = Names(secrets.token_bytes(32)) if args.without_words else None
    sources = _sources(args, settings, lambda _: set(), names, words=names is None)
    shipper = PipeShipper(sources, sys.stdout.buffer, settings)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: shipper.stop.set())
    shipper.run(once=args.once)
    return 0


def _sources(
    args: argparse.Namespace,
    settings: Settings,
    sent: Callable[[str], set[bytes]],
    names: Names | None,
    *,
    words: bool = False,
) -> Sources:
    import os

    from core.extras.hosts.shipper import Sources

    paths = [path.expanduser().absolute() for path in args.paths]
    return Sources(settings, os.environ, Path.home(), _host(args), sent, paths=paths, names=names, words=words)


def _host(args: argparse.Namespace) -> str:
    import platform

    return args.host or platform.node() or "host"


async def _ship(args: argparse.Namespace, settings: Settings) -> int:
    import os

    from blake3 import blake3
    from platformdirs import user_data_path

    from core.extras.hosts.shipper import SenderFile, Shipper
    from core.extras.hosts.stream import Names, server_of

    server = server_of(args.server, os.environ)
    host = _host(args)
    name = blake3(f"{server.name}\0{host}".encode("utf-8", "replace")).hexdigest(length=8)
    place = SenderFile(user_data_path("nooscope", appauthor=False) / "ship" / f"{name}.sqlite3")
    names = Names(place.key()) if args.without_words else None
    sources = _sources(args, settings, place.sent, names)
    shipper = Shipper(server, sources, place, host, settings, say)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, shipper.stop)
    if not args.once:
        say(f"sending the sessions of {host} to {server.name}; ctrl+c stops")
    try:
        done = await shipper.run(once=args.once)
    finally:
        place.close()
        say(f"{shipper.sent:,} events sent" + _passed_over(sources))
    return 0 if done else 1


def _passed_over(sources: Sources) -> str:
    total = sources.faults.total
    return f"; {total:,} lines could not be read" if total else ""
