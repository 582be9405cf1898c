"""`nooscope hooks listen`: serve agents' hooks, and take telemetry and open events, on this machine."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.options import add_settings_options, port_argument, settings_from
from tui.cli.streams import say, until_stopped

if TYPE_CHECKING:
    from core.extras.telemetry.intake import Inbox
    from core.hooks.receiver import Receiver
    from core.hooks.server import IntakeServer, IntakeThread
    from core.settings import Settings

_PORT = 4318


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--otlp",
        action="store_true",
        help="also accept OTLP over HTTP (/v1/logs, /v1/traces) and open events (/events), and serve /metrics",
    )
    parser.add_argument(
        "--port",
        type=port_argument,
        default=_PORT,
        metavar="N",
        help=f"port of --otlp (default: {_PORT}; 0 picks a free one)",
    )
    parser.add_argument("--by-session", action="store_true", help="label metrics by session (at most 200)")
    parser.add_argument("--no-hooks", action="store_true", help="do not serve agents' hooks")
    add_settings_options(parser)


def run(args: argparse.Namespace) -> int:
    from core.errors import UsageError

    if args.no_hooks and not args.otlp:
        raise UsageError("--no-hooks leaves nothing to listen for; add --otlp")
    settings = settings_from(args).settings
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(_run_station(args, settings))
    return 0


async def _run_station(args: argparse.Namespace, settings: Settings) -> int:
    telemetry = await _open_telemetry(args, settings) if args.otlp else None
    served = None if args.no_hooks else await _intake(args, settings, needed=not args.otlp)
    await until_stopped()
    if served is not None:
        intake, thread = served
        await asyncio.to_thread(thread.close)
        say(f"{intake.handler.calls:,} hook calls answered")
    if telemetry is not None:
        receiver, inbox = telemetry
        await receiver.close()
        say(f"{inbox.written:,} events received")
    return 0


async def _open_telemetry(args: argparse.Namespace, settings: Settings) -> tuple[Receiver, Inbox]:
    import time

    from platformdirs import user_data_path

    from core.agents.registry import make_kit
    from core.errors import UsageError
    from core.extras.telemetry.intake import Inbox
    from core.extras.telemetry.station import Station
    from core.hooks.receiver import PeerUsers, Receiver, tells_users

    folder = user_data_path("nooscope", appauthor=False) / "received"
    inbox = Inbox(folder)
    station = Station(make_kit(settings.ingest), settings, inbox, time.time, by_session=args.by_session)
    receiver = Receiver(station.handle, port=args.port, user_of=PeerUsers().user_of if tells_users() else None)
    try:
        await receiver.start()
    except OSError as fault:
        raise UsageError(
            f"cannot listen on 127.0.0.1:{args.port}: {fault.strerror or fault}; name another with --port"
        ) from None
    say(f"listening on http://127.0.0.1:{receiver.port}, keeping sessions in {folder}; ctrl+c stops")
    return receiver, inbox


async def _intake(
    args: argparse.Namespace, settings: Settings, *, needed: bool
) -> tuple[IntakeServer, IntakeThread] | None:
    """Serve hooks from a thread of their own, so that telemetry never keeps a call waiting."""
    import time

    from core.errors import NooscopeError
    from core.hooks.connection import default_place
    from core.hooks.server import IntakeServer, IntakeThread
    from core.store.carry_over import CarryOverStore
    from tui.cli.options import configured_initial

    try:
        intake = IntakeServer(
            settings,
            default_place(),
            time.time,
            os.environ,
            Path.home(),
            initial=configured_initial(args.project),
            starts=CarryOverStore(),
            say=say,
        )
        thread = await asyncio.to_thread(IntakeThread, intake)
    except NooscopeError as fault:
        if needed:
            raise
        say(f"hooks are not served: {fault}")
        return None
    say(f"serving hooks at {default_place().socket}; ctrl+c stops")
    return intake, thread
