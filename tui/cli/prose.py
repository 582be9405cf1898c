"""Prose on the command line: who told it, and the events each sentence rests on."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.extras.narrator.router import Told
    from core.settings import Settings


def add_tier_option(parser: argparse.ArgumentParser) -> None:
    """`--tier`."""
    parser.add_argument(
        "--tier",
        choices=("T0", "T1", "T2"),
        default="T2",
        help="the most that may be used: T0 templates, T1 a small model, T2 a large one (default: T2)",
    )


def prose_lines(told: Told) -> list[str]:
    """A line for each claim, and one on who told it."""
    from core.extras.narrator.templates import lines_of
    from core.report.formatting import plain

    kept = ", kept from before" if told.kept else ""
    return [
        *map(plain, lines_of(told.claims)),
        *(plain(f"not taken over, too little in the facts: {line}") for line in lines_of(told.left)),
        "",
        plain(f"told by {told.who} ({told.tier}{kept}); {told.reason}"),
    ]


def prose_json(told: Told) -> dict[str, object]:
    """The same for a program."""
    claims = [{"text": one.words, "events": list(one.events)} for one in told.claims]
    left = [{"text": one.words, "events": list(one.events)} for one in told.left]
    return {
        "claims": claims,
        "not_taken_over": left,
        "tier": told.tier,
        "who": told.who,
        "reason": told.reason,
        "kept": told.kept,
    }


def say_where_it_goes(settings: Settings) -> None:
    """Say on standard error that a model is on, before anything is sent."""
    import sys

    from core.extras.narrator.router import status_lines
    from core.store.model_spend import SpendStore

    if settings.narrator.on:
        for line in status_lines(settings, SpendStore(), time.time()):
            print(f"nooscope: narrator on: {line}", file=sys.stderr)
