"""`nooscope labels`: the labels people gave to firings, as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tui.cli.command import CliCommand


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="FILE", type=Path, help="write there instead of standard output")


def _run(args: argparse.Namespace) -> int:
    from core.errors import NooscopeError
    from core.safe_text import safe_json, safe_json_bytes
    from core.store import atomic
    from core.store.labels import export_labels

    data, notices = export_labels()
    for notice in notices:
        print(f"nooscope: {notice}", file=sys.stderr)
    if args.out is None:
        sys.stdout.write(safe_json(data.decode()))
        return 0
    try:
        atomic.replace(args.out, safe_json_bytes(data), atomic.AS_USUAL)
    except OSError as error:
        raise NooscopeError(f"{args.out}: cannot be written ({error.strerror})") from error
    return 0


COMMAND = CliCommand(_add_arguments, _run)
