"""The tmux pane in which an agent runs, found by its working folder and its process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import NamedTuple

_FORMAT = "#{pane_id}\t#{pane_current_path}\t#{pane_current_command}\t#{pane_pid}"
_PATIENCE = 2.0  # Seconds tmux may take to answer.

Run = Callable[[Sequence[str]], str]


class Pane(NamedTuple):
    """One pane of the tmux server."""

    id: str
    folder: str
    command: str  # What runs in it now.
    process: str = ""  # The process that was started in it.


def ask_tmux(words: Sequence[str]) -> str:
    """Return the answer of tmux; raises `OSError` if there is none."""
    try:
        done = subprocess.run(["tmux", *words], capture_output=True, check=True, text=True, timeout=_PATIENCE)
    except subprocess.CalledProcessError as error:
        raise OSError(f"tmux says: {(error.stderr or '').strip() or error}") from error
    except subprocess.SubprocessError as error:
        raise OSError(f"tmux does not answer ({error})") from error
    return done.stdout


def panes(run: Run = ask_tmux) -> list[Pane]:
    """Every pane there is."""
    rows = (line.split("\t") for line in run(["list-panes", "-a", "-F", _FORMAT]).splitlines())
    return [Pane(*row) for row in rows if len(row) == 4]


def pane_of(
    all_panes: Sequence[Pane], project: str, program: str, own: str = "", processes: Container[str] = ()
) -> Pane | None:
    """The pane that started one of these processes; else one in the folder, with the program before others.

    Never our own. Shells are not agents: a pane with only a shell in it is not taken.
    """
    others = [pane for pane in all_panes if pane.id != own]
    started = [pane for pane in others if pane.process in processes]
    here = [pane for pane in others if project and _same(pane.folder, project)]
    busy = [pane for pane in here if pane.command not in _SHELLS]
    matches = [pane for pane in busy if pane.command == program]
    return next(iter(started or matches or busy), None)


def go_to_pane(pane: Pane, run: Run = ask_tmux) -> None:
    """Show that pane to the person."""
    run(["switch-client", "-t", pane.id])


def open_window(command: str, run: Run = ask_tmux) -> None:
    """Run a command in a new window; the window stays open with a shell when it ends."""
    run(["new-window", f"{command}; exec ${{SHELL:-/bin/sh}}"])


def show_elsewhere(pane: Pane, run: Run = ask_tmux) -> bool:
    """Show the pane in a terminal that has tmux open, from outside of it; False if none has."""
    clients = run(["list-clients", "-F", "#{client_name}"]).splitlines()
    if clients:
        run(["switch-client", "-c", clients[0], "-t", pane.id])
    else:
        run(["select-window", "-t", pane.id])
        run(["select-pane", "-t", pane.id])
    return bool(clients)


_SHELLS = frozenset(("bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh", "nu", "pwsh", "tmux"))


def _same(folder: str, project: str) -> bool:
    return folder == project or Path(folder).resolve() == Path(project).resolve()
