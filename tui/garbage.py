"""When Python looks for garbage: hardly before the first picture, then now and then."""

from __future__ import annotations

import gc
import sys

USUAL = (50_000, 20, 50)  # Python's own 700 young objects between two collections cost an eighth of reading a log.
# Modules, classes and widgets, all of which stay: walking them costs a twentieth of the start.
AT_START = (500_000, 20, 50)


def collect_late() -> None:
    """Let what a start makes be made without walking it."""
    gc.set_threshold(*AT_START)


def leave() -> None:
    """The process ends: what it made goes with it, so nobody has to look which of it is still used.

    DuckDB would complain about each of its objects that is left.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


def collect_as_usual() -> None:
    """The start is over: leave what it made alone, and collect in small portions that nobody notices."""
    if gc.get_threshold() == AT_START:
        gc.freeze()
        gc.set_threshold(*USUAL)
