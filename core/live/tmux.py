"""The tmux pane in which an agent runs, found by its working folder and its process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_FORMAT = "#{pane_id}\t#{pane_current_path}\t#{pane_current_command}\t#{pane_pid}"
_PATIENCE = 2.0  # Seconds tmux or ps may take to answer.

Run = Callable[[Sequence[str]], str]


class Pane(NamedTuple):
    """One pane of the tmux server."""

    id: str
    folder: str
    command: str  # What runs in it now.
    process: str = ""  # The process that was started in it.


def run_program(words: Sequence[str]) -> str:
    """Return what a program prints; raises `OSError` if it fails."""
    try:
        done = subprocess.run(words, capture_output=True, check=True, text=True, timeout=_PATIENCE)
    except subprocess.CalledProcessError as error:
        raise OSError(f"{words[0]} reports: {(error.stderr or '').strip() or error}") from error
    except subprocess.SubprocessError as error:
        raise OSError(f"{words[0]} does not answer ({error})") from error
    return done.stdout


def ask_tmux(words: Sequence[str]) -> str:
    """Return the answer of tmux; raises `OSError` if there is none."""
    return run_program(["tmux", *words])


def panes(run: Run = ask_tmux) -> list[Pane]:
    """Every pane there is."""
    rows = (line.split("\t") for line in run(["list-panes", "-a", "-F", _FORMAT]).splitlines())
    return [Pane(*row) for row in rows if len(row) == 4]


def running(program: str, run: Run = run_program) -> set[str]:
    """The processes that run a program, and their parents."""
    with suppress(OSError):
        rows = [line.split(None, 2) for line in run(["ps", "-A", "-o", "pid=,ppid=,args="]).splitlines()]
        parents = {row[0]: row[1] for row in rows if len(row) == 3}
        line = {row[0] for row in rows if len(row) == 3 and _program_of(row[2]) == program}
        while more := {parents[one] for one in line if one in parents} - line:
            line |= more
        return line
    return set()


def pane_of(
    all_panes: Sequence[Pane],
    project: str,
    program: str,
    own: str = "",
    processes: Container[str] | None = None,
    taken: Container[str] = (),
    programs: Container[str] = (),
) -> Pane | None:
    """The pane that started a session's processes; if they are not known, one in the folder that runs its program.

    Never our own, and never one that is known to run another session.
    """
    others = [pane for pane in all_panes if pane.id != own]
    if processes is not None:
        return next((pane for pane in others if pane.process in processes), None)
    here = [pane for pane in others if pane.process not in taken and project and _same(pane.folder, project)]
    return next((pane for pane in here if pane.command == program or pane.process in programs), None)


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


_INTERPRETERS = ("node", "bun", "deno", "python", "python3")


def _program_of(command: str) -> str:
    """The program of a command line: of an interpreter, the script that it runs."""
    first, *rest = command.split()
    script = next((word for word in rest if not word.startswith("-")), "")
    return Path(script if Path(first).name in _INTERPRETERS else first).stem


def _same(folder: str, project: str) -> bool:
    return folder == project or Path(folder).resolve() == Path(project).resolve()
