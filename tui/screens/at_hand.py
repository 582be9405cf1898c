"""Ways from a session to its agent: the terminal it runs in, the command that resumes it, the editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from core.agents.registry import known_agents, resume_command
from core.live import tmux


def resume(app: App[Any], agent: str, session: str, path: str, project: str) -> None:
    """Go to the tmux pane a session's agent runs in; if there is none, copy the command that resumes it."""
    if show_pane(app, agent, project):
        return
    command = resume_command(agent, session, path, project)
    if not command:
        app.notify(f"no command is known that resumes a session of {agent}", severity="warning", markup=False)
        return
    app.copy_to_clipboard(command)
    app.notify(command, title="Copied", markup=False)


def editor_command(environment: Mapping[str, str], project: str, path: str) -> list[str]:
    """What opens a file of a project in the person's editor; `OSError` says why it cannot be opened."""
    words = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or "")
    if not words:
        raise OSError("set EDITOR to the editor that files are to be opened in")
    file = Path(path) if path.startswith("/") else Path(project) / path
    if not file.is_absolute() or not file.is_file():
        raise OSError(f"{path}: there is no such file here")
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
        app.notify("an editor cannot be opened here", severity="warning", markup=False)
    except (OSError, ValueError) as error:
        app.notify(str(error), severity="warning", markup=False)
    app.refresh()


def show_pane(app: App[Any], agent: str, project: str) -> bool:
    """Show the tmux pane in which a session's agent runs; return whether there is one."""
    program = next((one.resume[0] for one in known_agents() if one.name == agent and one.resume), agent)
    try:
        pane = tmux.pane_of(tmux.panes(), project, program, os.environ.get("TMUX_PANE", ""))
        if pane is None:
            return False
        if tmux.is_inside(os.environ):
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
