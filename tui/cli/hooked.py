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
    from core.hooks.install import Installer
    from core.report.checkup import Section
    from core.settings import Settings


def add_hooks_option(parser: argparse.ArgumentParser) -> None:
    """`--hooks` and `--no-hooks`."""
    parser.add_argument(
        "--hooks",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="serve agents' hooks from here, taking over from whoever does; without it they are served where "
        "hooks are installed and nobody else serves them",
    )


@contextmanager
def serving_hooks(settings: Settings, wanted: bool | None, project: Path | None = None) -> Iterator[None]:
    """Serve hooks until the block ends, where that is wanted; unasked, where some are installed."""
    if wanted is False or (wanted is None and not own_installer().any()):
        yield
        return
    import time

    from core.errors import NooscopeError
    from core.hooks.connection import default_place
    from core.hooks.server import IntakeServer, IntakeThread
    from core.timeline.initial_state import configured_start

    try:
        begun = configured_start(project).initial  # what is wrong with its files is told by what runs beside
        server = IntakeServer(settings, default_place(), time.time, os.environ, Path.home(), initial=begun)
        thread = IntakeThread(server, take_over=wanted is True)
    except NooscopeError as fault:
        print(f"nooscope: hooks are not served: {fault}", file=sys.stderr)
        yield
        return
    try:
        yield
    finally:
        thread.close()


def own_installer() -> Installer:
    """Puts hooks in and takes them out for the person who runs this."""
    from platformdirs import user_data_path

    from core.hooks.install import Installer

    data = user_data_path("nooscope", appauthor=False)
    return Installer(data / "hooks", data / "intake", os.environ, Path.home())


def hooks_section() -> Section:
    """For the doctor: each agent's hooks; those that nobody serves do nothing."""
    from core.hooks.agents import HOOKS
    from core.hooks.connection import call, default_place
    from core.report.checkup import Finding, Section

    installer = own_installer()
    stuck = installer.undo()
    found = {name: installer.status(agent) for name, agent in HOOKS.items()}
    there = {name: one for name, one in found.items() if one.state == "installed"}
    findings = [Finding(name, f"{one.mode or 'installed'}, in {one.path}") for name, one in there.items()]
    if not there:
        findings.append(Finding("none", "no agent has hooks of ours; `nooscope hooks install` puts them in"))
    elif call(default_place(), "sessions", {}, 0.5) is None:
        findings.append(Finding("nobody", "serves them now; `nooscope listen` does", "note"))
    findings += [Finding("half done", problem, "problem") for problem in stuck]
    facts = [{"agent": name, "state": one.state, "mode": one.mode} for name, one in found.items()]
    return Section("hooks", tuple(findings), facts)
