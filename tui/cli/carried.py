"""What sessions named on the command line start from, and the option to leave it out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from core.logs.session import LogSession
    from core.settings import Settings
    from core.timeline.run_inputs import InitialStates, RunInputs


def add_plain_option(parser: argparse.ArgumentParser) -> None:
    """`--plain`."""
    parser.add_argument(
        "--plain",
        action="store_true",
        help="run with today's settings alone, without what it took from earlier sessions while watched",
    )


def edits_of(settings: Settings, assignments: list[str]) -> Mapping[str, Any]:
    """What `--set` asks for, by name."""
    from core.settings.layers import read_assignments, tunables, value_of
    from core.store.profile_files import PROFILE, figure_names

    layer, _ = read_assignments(assignments)
    names = [one.name for one in layer.values if one.name in tunables()]
    if PROFILE in names:
        names += figure_names()
    return {name: value_of(settings, name) for name in names}


def initial_states_of(args: argparse.Namespace, settings: Settings) -> InitialStates:
    """Where the sessions of a command without a screen start; faults of rules and policies are said."""
    from core.store.carry_over import CarryOverStore
    from core.timeline.initial_state import configured_start
    from core.timeline.run_inputs import InitialStates

    configured = configured_start(args.project)
    states = InitialStates(
        settings,
        configured.initial,
        edits=edits_of(settings, getattr(args, "assignments", [])),
        store=None if args.plain else CarryOverStore(),
    )
    states.notices += configured.faults
    return states


def spoken_start(initial_states: InitialStates, session: str) -> RunInputs:
    """Where one session starts; what there is to say of it goes to standard error."""
    start = initial_states.of(session)
    initial_states.spoke = initial_states.spoke or bool(initial_states.notices)
    for notice in dict.fromkeys(initial_states.notices):
        print(f"nooscope: {notice}", file=sys.stderr)
    initial_states.notices.clear()
    return start


def family_of(begun: tuple[LogSession, RunInputs]) -> tuple[Path, int]:
    """Sessions that repeat each other's events belong together, the oldest first."""
    return begun[0].family
