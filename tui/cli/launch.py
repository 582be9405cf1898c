"""Opens the screen, or prints the text report if there is no terminal."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.options import add_settings_options, settings_from
from tui.cli.recordings import edits_of, initial_states_of, spoken_start
from tui.cli.streams import columns, say

if TYPE_CHECKING:
    from core.hooks.install import Installer
    from core.hooks.server import IntakeServer
    from core.live.fleet.roster import Roster
    from core.live.source import Target
    from core.logs.discovery import Found
    from core.report.checkup import Section
    from core.settings import Settings
    from core.timeline.initial_state import InitialState


SAMPLE_NOTE = "This is a sample: there are no sessions on this machine yet; f says more."


def add_screen_options(parser: argparse.ArgumentParser) -> None:
    """`--theme`, `--no-motion` and the settings options."""
    parser.add_argument("--theme", metavar="NAME", help="colours for this run")
    parser.add_argument("--no-motion", action="store_true", help="no animation")
    parser.set_defaults(plain=False)  # where there is no --plain
    add_settings_options(parser)


def screen_settings(args: argparse.Namespace, settings: Settings | None = None) -> Settings:
    """Return the settings with the screen's own options applied."""
    chosen = settings or settings_from(args).settings
    changed: dict[str, object] = {}
    if args.theme:
        changed["theme"] = args.theme
    if args.no_motion:
        changed["motion"] = False
    return chosen.replace(screen=chosen.screen.replace(**changed))


def sessions_here(settings: Settings) -> list[Found]:
    """Return the sessions on this machine, newest first."""
    from core.agents.registry import known_agents
    from core.logs.discovery import find

    within = settings.ingest.follow.active_within
    return find(known_agents(), os.environ, Path.home(), now=time.time(), active_within=within)


def has_screen() -> bool:
    """Whether there is a terminal that can be drawn on, or a browser that `serve` draws in."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return True
    able = os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return able and sys.stdout.isatty() and sys.stdin.isatty()


def show_session(
    path: Path | None,
    settings: Settings,
    args: argparse.Namespace,
    *,
    live: bool,
    session: str = "",
    newest: bool = False,
    at: str = "",
) -> int:
    """Show a session; without a path the newest that is active, else all sessions, else a sample."""
    if not has_screen():
        return print_report(path, settings, args, session)
    from core.live.source import Target

    if path is not None:
        return run_app(Target(path, live, session, at, newest), settings, args)
    here = sessions_here(settings)
    if not here:
        return _show_sample(settings, args)
    active = next((one for one in here if one.active), None)
    target = None if active is None else Target(active.path, True, active.session, newest=True)
    return run_app(target, settings, args)


def run_app(target: Target | None, settings: Settings, args: argparse.Namespace, fleet: Roster | None = None) -> int:
    """Show a session, or all of them if none is named, until the person leaves."""
    import core.timeline.arrays  # noqa: F401 before anything that imports numpy
    from core.hooks.connection import default_place
    from core.hooks.link import IntakeLink
    from core.store.carry_over import CarryOverStore
    from core.timeline.initial_state import StartFiles
    from core.timeline.opening import user_cache
    from tui.app import NooscopeApp
    from tui.feed.notices import end_with_terminal

    app = NooscopeApp(
        target,
        settings,
        cache=user_cache(settings),
        fleet=fleet,
        live=True,
        begin=StartFiles(args.project).read,
        carry_over=None if args.plain else CarryOverStore(),
        edits=edits_of(settings, args.assignments),
        link=IntakeLink(default_place()),
        faults=args.faults,
    )
    end_with_terminal()
    app.run()
    return app.return_code or 0


def _show_sample(settings: Settings, args: argparse.Namespace) -> int:
    """Show a sample, for a machine without sessions."""
    from core.timeline.rerun import with_edits
    from sample_sessions import FIRST, find_sample
    from tui.demo import run_demo

    sample = find_sample(FIRST)
    settings = with_edits(settings, {"timeline.play.speed": sample.speed})
    return run_demo(sample, settings, args.project, note=SAMPLE_NOTE, faults=args.faults)


def print_report(path: Path | None, settings: Settings, args: argparse.Namespace, session: str = "") -> int:
    """Print a report on the sessions of a log, or on the newest session if no log is named."""
    from core.agents.registry import make_kit
    from core.logs.discovery import NO_SESSIONS
    from core.logs.finder import sessions
    from core.report.analysis import analyse
    from core.report.page import summary_text

    if path is None:
        sessions_found = sessions_here(settings)
        if not sessions_found:
            print(NO_SESSIONS)
            return 0
        path, session = sessions_found[0].path, sessions_found[0].session
    logs = sessions([path], make_kit(settings.ingest), settings.ingest.lines)
    chosen = [one for one in logs if one.id == session] or logs
    states, width = initial_states_of(args, settings), columns()
    starts = (spoken_start(states, one.id) for one in chosen)
    done = [analyse(one, start.settings, False, *start[1:]) for one, start in zip(chosen, starts, strict=True)]
    print("\n\n".join(summary_text(one.summary, width) for one in done))
    return 0


def add_hooks_option(parser: argparse.ArgumentParser) -> None:
    """`--hooks` and `--no-hooks`."""
    parser.add_argument(
        "--hooks",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="serve agents' hooks from here, taking over from any other nooscope; by default "
        "only if hooks are installed and nothing else serves them",
    )


@contextmanager
def serving_hooks(settings: Settings, requested: bool | None, project: Path | None = None) -> Iterator[None]:
    """Serve hooks until the block ends, if requested or if some are installed."""
    if requested is False or (requested is None and not own_installer().any()):
        yield
        return
    from core.errors import NooscopeError
    from core.hooks.server import IntakeThread
    from core.timeline.initial_state import configured_start

    try:
        # What is wrong with the files of its start is reported by what runs beside.
        server = hook_server(settings, configured_start(project).initial)
        thread = IntakeThread(server, take_over=requested is True)
    except NooscopeError as fault:
        say(f"hooks are not served: {fault}")
        yield
        return
    try:
        yield
    finally:
        thread.close()


def hook_server(settings: Settings, initial: InitialState, say: Callable[[str], None] = lambda _: None) -> IntakeServer:
    """Return a server of hooks for the current user."""
    from core.hooks.connection import default_place
    from core.hooks.server import IntakeServer
    from core.store.carry_over import CarryOverStore

    place, starts = default_place(), CarryOverStore()
    return IntakeServer(settings, place, time.time, os.environ, Path.home(), initial=initial, starts=starts, say=say)


def own_installer() -> Installer:
    """Return the installer of hooks for the current user."""
    from platformdirs import user_data_path

    from core.hooks.install import Installer

    data = user_data_path("nooscope", appauthor=False)
    return Installer(data / "hooks", data / "intake", os.environ, Path.home())


def hooks_section() -> Section:
    """Report each agent's hooks for the doctor, and whether anything serves them."""
    from core.hooks.agent_answers import HOOKS
    from core.hooks.connection import call, default_place
    from core.report.checkup import Finding, Section

    installer = own_installer()
    stuck = installer.undo()
    states = {name: installer.status(agent, here=Path.cwd()) for name, agent in HOOKS.items()}
    there = {name: one for name, one in states.items() if one.state in ("installed", "damaged")}
    findings = [Finding(name, f"{one.mode or 'installed'}, in {one.path}") for name, one in there.items()]
    findings += [Finding(name, problem, "problem") for name, one in there.items() for problem in one.problems]
    if not there:
        findings.append(Finding("none", "no agent has nooscope hooks; `nooscope hooks install` adds them"))
    elif call(default_place(), "sessions", {}, 0.5) is None:
        findings.append(Finding("not served", "`nooscope hooks listen` or any nooscope screen serves them", "note"))
    findings += [Finding("half done", problem, "problem") for problem in stuck]
    facts = [{"agent": name, "state": one.state, "mode": one.mode} for name, one in states.items()]
    return Section("hooks", tuple(findings), facts)
