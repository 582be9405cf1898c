"""What every command of the command line is."""

from __future__ import annotations

import argparse
from collections.abc import Callable


class CliCommand:
    """The arguments a command takes, and what it does with them."""

    __slots__ = ("add_arguments", "run")

    def __init__(
        self,
        add_arguments: Callable[[argparse.ArgumentParser], None],
        run: Callable[[argparse.Namespace], int],
    ) -> None:
        self.add_arguments = add_arguments
        self.run = run
        """Gives back the exit code."""
