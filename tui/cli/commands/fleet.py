"""`nooscope fleet`, `ship` and `acp`: every session of this machine and others, who needs a person first."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UnreadableLog, UsageError
from core.logs.log_files import expand_home, is_there
from tui.cli import launch, options, recordings, streams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.extras.hosts.shipper import Sources
    from core.extras.hosts.stream import Names
    from core.live.fleet.roster import Roster
    from core.live.fleet.row import FleetRow
    from core.settings import Settings


_HOST = 3  # The column of hosts, left out where all are this one.


def add_fleet_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "look in these files and folders instead"
    parser.add_argument("paths", nargs="*", type=options.path_argument, metavar="PATH", help=help_text)
    over_ssh = "also the sessions of another machine over ssh (ssh://[user@]host[:port]; repeatable)"
    by_nats = "those of all hosts that send theirs to a NATS server (nats://host:4222); see `nooscope fleet ship`"
    help_text = f"{over_ssh}, or {by_nats}"
    parser.add_argument("--from", dest="servers", metavar="URL", action="append", default=[], help=help_text)
    parser.add_argument("--json", action="store_true", help="print JSON once, then exit")
    parser.add_argument("--once", action="store_true", help="print a table once, then exit")
    help_text = "only sessions that changed within this time (default: 24)"
    parser.add_argument("--within", type=options.hours_argument, metavar="HOURS", help=help_text)
    launch.add_hooks_option(parser)
    recordings.add_plain_option(parser)
    launch.add_screen_options(parser)


def run_fleet(args: argparse.Namespace) -> int:
    settings = launch.screen_settings(args)
    if args.within is not None:
        from core.settings.layers import with_value

        settings = with_value(settings, "screen.fleet.within", args.within)
    if args.servers:
        return _of_hosts(settings, args)
    paths = [expand_home(path) for path in args.paths]
    for path in paths:
        if not is_there(path):
            raise UnreadableLog(f"{path}: no such file or folder")
    from core.live.fleet.roster import Roster

    return _show(settings, Roster(settings, os.environ, Path.home(), paths=paths), args)


def _show(settings: Settings, roster: Roster, args: argparse.Namespace, lost: str = "") -> int:
    """`lost` says why not all sessions may be known."""
    if args.json or args.once or not launch.has_screen():
        return _once(settings, roster, args, lost)
    with launch.serving_hooks(settings, args.hooks, args.project):
        return launch.run_app(None, settings, args, fleet=roster)


def _of_hosts(settings: Settings, args: argparse.Namespace) -> int:
    """Show the sessions of other hosts, mirrored as long as this runs."""
    from platformdirs import user_cache_path

    from core.errors import UsageError
    from core.extras.hosts.mirror import HostRoster, Mirror
    from core.extras.hosts.ssh import SshHosts, ssh_address
    from core.extras.hosts.stream import server_of

    if args.paths:
        raise UsageError("--from shows what hosts send; leave out the paths")
    cache = user_cache_path("nooscope", appauthor=False)
    over_ssh = [url for url in args.servers if url.startswith("ssh:")]
    if not over_ssh:
        if len(args.servers) > 1:
            raise UsageError("give one NATS server; separate several addresses of it with commas")
        mirror = Mirror(server_of(args.servers[0], os.environ), cache)
        try:
            folder = mirror.start()
            return _show(settings, HostRoster(settings, mirror, folder), args, mirror.lost)
        finally:
            mirror.stop()
    if len(over_ssh) < len(args.servers):
        raise UsageError("--from takes machines over ssh or a NATS server, not both at once")
    hosts = SshHosts([ssh_address(url) for url in over_ssh], settings, cache / "hosts")
    try:
        folder = hosts.start()
        roster = HostRoster(settings, hosts, folder, expected=hosts.names, local=True)
        return _show(settings, roster, args, hosts.lost)
    finally:
        hosts.stop()


def _once(settings: Settings, roster: Roster, args: argparse.Namespace, lost: str) -> int:
    from core.hooks.connection import default_place
    from core.hooks.link import look
    from core.live.fleet.roster import once
    from core.live.fleet.row import FleetRow, Order, listed
    from core.live.status import Limits

    roster.initial_states = recordings.initial_states_of(args, settings)
    rows, now = once(roster)
    signs, limits = look(default_place()), Limits.of(settings)
    rows = tuple(row.with_hooks(signs, now, limits) for row in rows)
    streams.say(*dict.fromkeys(roster.initial_states.notices))
    streams.say(*roster.unread)
    ordered = [item for item in listed(rows, Order(folded=False)) if isinstance(item, FleetRow)]
    if args.json:
        _print_json(ordered, now)
    elif ordered:
        _print_table(ordered, now)
    elif not (lost or roster.unread):
        from core.logs.discovery import NO_SESSIONS

        older = args.paths or args.servers or launch.sessions_here(settings)
        within = f"No session changed within the last {settings.screen.fleet.within:g} hours"
        print(f"{within}; --within HOURS shows older ones." if older else NO_SESSIONS)
    if lost:
        streams.say(f"{lost}; some of what the hosts sent is missing")
    return 1 if lost or (roster.unread and not rows) else 0


def _print_json(rows: Sequence[FleetRow], now: float) -> None:
    from core.live.fleet.row import census, row_json
    from core.report.formatting import readable_json

    counted = census(rows)._asdict()
    print(readable_json({"at": now, "counts": counted, "sessions": [row_json(row, now) for row in rows]}))


def _print_table(rows: Sequence[FleetRow], now: float) -> None:
    from core.live.fleet.row import census
    from core.report.formatting import age, plain

    heads = ("", "status", "for", "host", "project", "agent", "title", "ctx", "$", "failed", "why, or what it does")
    table = [heads] + [
        (
            row.status.glyph,
            row.status.word,
            "" if row.status.since is None else age(now - row.status.since),
            plain(row.host, 20),
            plain(row.name, 28),
            plain(row.agent, 16),
            plain(row.title, 40),
            f"{100 * row.facts.context:.0f}%" if row.context_tokens else "-",
            row.cost or "-",
            f"{row.failures}/{row.calls}" if row.calls else "-",
            row.why if row.status.level >= 2 else row.last,
        )
        for row in rows
    ]
    if any(row.host for row in rows):
        streams.print_table(table, right=(2, 7, 8, 9))
    else:
        streams.print_table([(*row[:_HOST], *row[_HOST + 1 :]) for row in table], right=(2, 6, 7, 8))
    need, look, work, rest, new = census(rows)
    empty = f", {new} without events" if new else ""
    print(f"\n{need} need you, {look} to look at, {work} working, {rest} at rest{empty}")


_VARIABLES = (
    "user, token, credentials and TLS come from the URL and from NATS_USER, NATS_PASSWORD, NATS_TOKEN, "
    "NATS_CREDS, NATS_NKEY, NATS_CA, NATS_CERT and NATS_KEY"
)


def add_ship_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "send these files and folders instead"
    parser.add_argument("paths", nargs="*", type=options.path_argument, metavar="PATH", help=help_text)
    help_text = f"such as nats://host:4222, or - for standard output; {_VARIABLES}"
    parser.add_argument("--to", dest="server", metavar="URL", required=True, help=help_text)
    parser.add_argument("--host", metavar="NAME", help="name of this host (default: its own name)")
    help_text = "replace the names of paths, projects, branches and agents by numbers"
    parser.add_argument("--without-words", "--figures", action="store_true", help=help_text)
    parser.add_argument("--once", action="store_true", help="send what there is, then exit")
    options.add_settings_options(parser)


def run_ship(args: argparse.Namespace) -> int:
    import asyncio

    from core.extras import needed
    from core.extras.hosts.stream import server_of

    settings = options.settings_from(args).settings
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
    from core.extras.hosts.shipper import Sources

    paths = [path.expanduser().absolute() for path in args.paths]
    return Sources(settings, os.environ, Path.home(), _host(args), sent, paths=paths, names=names, words=words)


def _host(args: argparse.Namespace) -> str:
    import platform

    return args.host or platform.node() or "host"


async def _ship(args: argparse.Namespace, settings: Settings) -> int:
    import asyncio

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
    shipper = Shipper(server, sources, place, host, settings, streams.say)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, shipper.stop)
    if not args.once:
        streams.say(f"sending the sessions of {host} to {server.name}; ctrl+c stops")
    try:
        done = await shipper.run(once=args.once)
    finally:
        place.close()
        streams.say(f"{shipper.sent:,} events sent" + _passed_over(sources))
    return 0 if done else 1


def _passed_over(sources: Sources) -> str:
    total = sources.faults.total
    return f"; {total:,} lines could not be read" if total else ""


def add_acp_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = f"{parser.prog} -- AGENT [ARGS ...]"
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="AGENT", help="the agent's own command")
    parser.epilog = (
        "Put it before the agent's command in the editor's settings. Messages pass through unchanged; the "
        "session appears in `nooscope fleet` and `nooscope watch` while it runs."
    )


def run_acp(args: argparse.Namespace) -> int:
    from core.extras.acp_proxy import run_proxy
    from core.folders import own_folder

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UsageError("name the agent's command: nooscope fleet acp -- AGENT ARGS ...")
    code, fault = run_proxy(command, own_folder("data") / "acp")
    if fault:
        streams.say(f"the end of the session was not logged: {fault}")
    return code
