"""What every command of the command line is."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple


class CliCommand(NamedTuple):
    """The arguments a command takes, and what it does with them."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    """Gives back the exit code."""
