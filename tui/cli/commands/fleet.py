"""`nooscope fleet`: every session of this machine, who needs a person first."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UnreadableLog
from core.logs.log_files import expand_home, is_there
from tui.cli import launch
from tui.cli.options import hours_argument, path_argument
from tui.cli.recordings import add_plain_option, initial_states_of
from tui.cli.streams import print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.live.fleet.roster import Roster
    from core.live.fleet.row import FleetRow
    from core.settings import Settings

_HOST = 3  # The column of hosts, left out where all are this one.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", type=path_argument, metavar="PATH", help="look in these files and folders instead"
    )
    parser.add_argument(
        "--from",
        dest="servers",
        metavar="URL",
        action="append",
        default=[],
        help="also the sessions of another machine over ssh (ssh://[user@]host[:port]; may be given again), "
        "or those of all hosts that send theirs to a NATS server (nats://host:4222); see `nooscope fleet ship`",
    )
    parser.add_argument("--json", action="store_true", help="print JSON once, then exit")
    parser.add_argument("--once", action="store_true", help="print a table once, then exit")
    parser.add_argument(
        "--within",
        type=hours_argument,
        metavar="HOURS",
        help="only sessions that changed within this time (default: 24)",
    )
    launch.add_hooks_option(parser)
    add_plain_option(parser)
    launch.add_screen_options(parser)


def run(args: argparse.Namespace) -> int:
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

    roster.initial_states = initial_states_of(args, settings)
    rows, now = once(roster)
    signs, limits = look(default_place()), Limits.of(settings)
    rows = tuple(row.hooked(signs.of(row.session), now, limits) for row in rows)
    say(*dict.fromkeys(roster.initial_states.notices))
    say(*roster.unread)
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
        say(f"{lost}; some of what the hosts sent is missing")
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
        print_table(table, right=(2, 7, 8, 9))
    else:
        print_table([(*row[:_HOST], *row[_HOST + 1 :]) for row in table], right=(2, 6, 7, 8))
    need, look, work, rest, new = census(rows)
    empty = f", {new} without events" if new else ""
    print(f"\n{need} need you, {look} to look at, {work} working, {rest} at rest{empty}")
