"""`nooscope listen`: take telemetry and open events on this machine, and keep them as logs."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from typing import TYPE_CHECKING

from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, port_argument, settings_from

if TYPE_CHECKING:
    from core.settings import Settings

_PORT = 4318


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--otlp",
        action="store_true",
        required=True,
        help="take OTLP over HTTP (/v1/logs, /v1/traces) and open events (/events), give /metrics",
    )
    parser.add_argument(
        "--port", type=port_argument, default=_PORT, metavar="N", help=f"default: {_PORT}; 0 takes a free one"
    )
    parser.add_argument(
        "--by-session", action="store_true", help="figures with a label for each session (200 at most)"
    )
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    settings = settings_from(args).settings
    with contextlib.suppress(KeyboardInterrupt):
        return asyncio.run(_listen(args, settings))
    return 0


async def _listen(args: argparse.Namespace, settings: Settings) -> int:
    import time

    from platformdirs import user_data_path

    from core.agents.registry import make_kit
    from core.errors import UsageError
    from core.telemetry.inbox import Inbox
    from core.telemetry.receiver import Receiver
    from core.telemetry.station import Station

    folder = user_data_path("nooscope", appauthor=False) / "received"
    inbox = Inbox(folder)
    station = Station(make_kit(settings.ingest), settings, inbox, time.time, by_session=args.by_session)
    receiver = Receiver(station.handle, port=args.port)
    try:
        await receiver.start()
    except OSError as fault:
        raise UsageError(
            f"cannot listen on 127.0.0.1:{args.port}: {fault.strerror or fault}; name another with --port"
        ) from None
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    print(
        f"nooscope: listening on http://127.0.0.1:{receiver.port}, keeping sessions in {folder}; ctrl+c ends",
        file=sys.stderr,
        flush=True,
    )
    await stopped.wait()
    await receiver.close()
    from core.report.formatting import count

    print(f"nooscope: {count(inbox.written, 'event')} received", file=sys.stderr)
    return 0


COMMAND = CliCommand(_add_arguments, _run)
