"""What lies at hand of a session: the command that resumes it, and the terminal it runs in."""

from __future__ import annotations

import os
from typing import Any

from textual.app import App

from core.agents.registry import AGENTS
from core.agents.resuming import resume_command
from core.live import tmux


def copy_resume(app: App[Any], agent: str, session: str, path: str, project: str) -> None:
    """Copy the command that takes a session up again in its agent, and say it."""
    command = resume_command(agent, session, path, project)
    if not command:
        app.notify(f"no command is known that resumes a session of {agent}", severity="warning", markup=False)
        return
    app.copy_to_clipboard(command)
    app.notify(command, title="Copied", markup=False)


def show_pane(app: App[Any], agent: str, project: str) -> None:
    """Go to the pane of tmux in which a session's agent runs."""
    if not tmux.is_inside(os.environ):
        app.notify("nooscope does not run in tmux", severity="warning", markup=False)
        return
    program = next((one.resume[0] for one in AGENTS if one.name == agent and one.resume), agent)
    try:
        pane = tmux.pane_of(tmux.panes(), project, program, os.environ.get("TMUX_PANE", ""))
        if pane is not None:
            tmux.go_to(pane)
            return
    except OSError as error:
        app.notify(str(error), severity="warning", markup=False)
        return
    app.notify(f"no pane of tmux runs in {project or 'an unknown folder'}", severity="warning", markup=False)
