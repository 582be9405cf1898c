"""Ways from a session to its agent: the terminal it runs in, the command that resumes it, the editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported
from textual.notifications import SeverityLevel

from core.agents.registry import known_agents, resume_command
from core.errors import NooscopeError
from core.events import Event
from core.hooks.link import process_line
from core.live import tmux
from core.live.hook_signs import claude_sessions
from core.store.bookmarks import Labels
from core.timeline.own_labels import label_session, save_label
from tui.widgets.common.dialog import ConfirmScreen


def resume(app: App[Any], agent: str, session: str, path: str, project: str) -> None:
    """Go to the tmux pane a session's agent runs in; if there is none, offer to run what resumes it."""
    if show_pane(app, agent, session, project):
        return
    command = resume_command(agent, session, path, project)
    if not command:
        app.notify(f"no command is known to resume a session of {agent}", severity="warning", markup=False)
        return
    inside = bool(os.environ.get("TMUX"))
    where = "a new tmux window" if inside else "this terminal; nooscope comes back when it ends"
    lines = [command, f"enter runs it in {where}", "esc only copies it, for another terminal"]
    if session in _claude_lines():
        lines.insert(1, "it still runs, in another terminal")
    app.push_screen(ConfirmScreen("Resume this session?", *lines), partial(_run_resume, app, command, inside))


def _run_resume(app: App[Any], command: str, inside: bool, agreed: bool | None) -> None:
    try:
        if agreed and inside:
            tmux.open_window(command)
            return
        if agreed:
            with app.suspend():
                subprocess.call(["/bin/sh", "-c", command])
            app.refresh()
            return
    except (OSError, SuspendNotSupported) as error:
        app.notify(str(error) or "nothing can be run from here", severity="warning", markup=False)
    app.copy_to_clipboard(command)
    app.notify(command, title="Copied", markup=False)


def judge_session(app: App[Any], store: Labels, events: Iterable[Event]) -> None:
    """Label a session good, then bad, then neither, and say what the labels teach."""

    def work() -> None:
        severity: SeverityLevel = "information"
        try:
            earlier = store.session()
            label = label_session(events, earlier is None, time.time()) if earlier is None or earlier.good else None
            words = f"{label.word if label else 'not labelled'}: {save_label(store, label).summary}"
        except NooscopeError as error:
            words, severity = str(error), "warning"
        app.call_from_thread(app.notify, words, title="Label of this session", severity=severity, markup=False)

    app.run_worker(work, name="label", group="label", thread=True)


def editor_command(environment: Mapping[str, str], project: str, path: str) -> list[str]:
    """What opens a file of a project in the person's editor; `OSError` says why it cannot be opened."""
    words = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "")
    if not words:
        raise OSError("set the variable EDITOR to open files in your editor")
    file = Path(path) if path.startswith("/") else Path(project) / path
    if not file.is_absolute() or not file.is_file():
        raise OSError(f"{path}: no such file on this machine")
    return [*words, str(file)]


def open_in_editor(
    app: App[Any], project: str, path: str, run: Callable[[Sequence[str]], object] = subprocess.call
) -> None:
    """Leave the screen to the person's editor on a file, and come back."""
    try:
        command = editor_command(os.environ, project, path)
        with app.suspend():
            run(command)
    except SuspendNotSupported:
        app.notify("cannot open an editor here", severity="warning", markup=False)
    except (OSError, ValueError) as error:
        app.notify(str(error), severity="warning", markup=False)
    app.refresh()


def show_pane(app: App[Any], agent: str, session: str, project: str) -> bool:
    """Show the tmux pane in which a session's agent runs; return whether there is one."""
    program = next((one.resume[0] for one in known_agents() if one.name == agent and one.resume), agent)
    lines = _claude_lines()
    processes = lines.pop(session, None)
    taken = frozenset().union(*lines.values())
    try:
        pane = tmux.pane_of(
            tmux.panes(), project, program, os.environ.get("TMUX_PANE", ""), processes, taken, tmux.running(program)
        )
        if pane is None:
            return False
        if os.environ.get("TMUX"):
            tmux.go_to_pane(pane)
        elif tmux.show_elsewhere(pane):
            app.notify("shown in the terminal that has tmux open", markup=False)
        else:
            with app.suspend():
                subprocess.call(["tmux", "attach-session", "-t", pane.id])
            app.refresh()
    except (OSError, SuspendNotSupported):
        return False
    return True


def _claude_lines() -> dict[str, set[str]]:
    """The process of each session of Claude Code that runs, with those above it."""
    sessions = claude_sessions(os.environ, Path.home()).items()
    return {name: {str(one) for one, _ in process_line(own.pid)} for name, own in sessions if own.status != "gone"}
