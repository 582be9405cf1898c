"""Serves agents' hooks while something else runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.settings import Settings


def add_hooks_option(parser: argparse.ArgumentParser) -> None:
    """`--hooks`."""
    parser.add_argument("--hooks", action="store_true", help="serve agents' hooks from here, as listen does")


@contextmanager
def serving_hooks(settings: Settings, wanted: bool, project: Path | None = None) -> Iterator[None]:
    """Serve hooks until the block ends, where that is wanted."""
    if not wanted:
        yield
        return
    import time

    from core.errors import NooscopeError
    from core.intake.place import default_place
    from core.intake.server import IntakeServer
    from core.intake.thread import IntakeThread
    from tui.cli.initial import spoken_outset

    try:
        begun = spoken_outset(project)
        server = IntakeServer(settings, default_place(), time.time, os.environ, Path.home(), beginning=begun)
        thread = IntakeThread(server)
    except NooscopeError as fault:
        print(f"nooscope: hooks are not served: {fault}", file=sys.stderr)
        yield
        return
    try:
        yield
    finally:
        thread.close()
