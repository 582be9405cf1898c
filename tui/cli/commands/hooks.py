"""`nooscope hooks`: install our hooks into an agent's settings, remove them, or show their state."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli.launch import own_installer
from tui.cli.options import seconds_argument

if TYPE_CHECKING:
    from core.hooks.agent_answers import HookMode

AGENTS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "do",
        choices=("status", "install", "uninstall"),
        nargs="?",
        default="status",
        help="what to do (default: status)",
    )
    parser.add_argument("agent", choices=AGENTS, nargs="?", help="the agent; status shows all by default")
    parser.add_argument(
        "--project",
        metavar="FOLDER",
        type=Path,
        nargs="?",
        const=Path(),
        help="only for this project (default: this folder), not for all projects",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--advise", action="store_true", help="send the agent at most one sentence of advice per turn")
    how.add_argument("--guard", action="store_true", help="like --advise, and calls that write need a permit")
    parser.add_argument(
        "--answer",
        action="store_true",
        help="also answer the agent's own permission prompts from here; its own dialog keeps working",
    )
    parser.add_argument("--statusline", action="store_true", help="also install a status line (claude only)")
    parser.add_argument(
        "--deadline",
        type=seconds_argument,
        metavar="SECONDS",
        help="time after which the agent continues without an answer (default: 0.15)",
    )


def run(args: argparse.Namespace) -> int:
    from core.errors import UsageError
    from core.hooks.agent_answers import HOOKS
    from core.hooks.install import DEADLINE

    project = args.project.expanduser().resolve() if args.project is not None else None
    if args.do == "status":
        return _status(project, [args.agent] if args.agent else list(AGENTS))
    if args.agent is None:
        raise UsageError(f"name an agent: {', '.join(AGENTS)}")
    hooks, installer = HOOKS[args.agent], own_installer()
    if args.do == "uninstall":
        done = installer.uninstall(hooks, project)
        print(f"{args.agent}: hooks removed." if done else f"{args.agent}: no hooks of nooscope were installed.")
        return 0
    if args.statusline and args.agent != "claude":
        raise UsageError("only claude has a status line of this kind")
    if args.deadline is not None and args.deadline <= 0:
        raise UsageError("a deadline of 0 leaves no time for an answer; write 0.15 or more")
    if args.answer and not hooks.answers:
        raise UsageError(f"nooscope cannot answer {args.agent}: answer in its terminal (R in the fleet goes there)")
    mode: HookMode = "guard" if args.guard else "advise" if args.advise else "observe"
    deadline = DEADLINE if args.deadline is None else args.deadline
    path = installer.install(hooks, mode, project, deadline=deadline, statusline=args.statusline, answer=args.answer)
    print(f"{args.agent}: hooks installed in {path} ({mode}{', answer' if args.answer else ''}).")
    if args.answer:
        print(f"Its permission prompts can be answered here with `nooscope hooks permits`: {hooks.answers}.")
    if hooks.after:
        print(f"Now {hooks.after}.")
    if hooks.limits:
        print(f"Note: {hooks.limits}.")
    print("They do nothing until nooscope serves them: run `nooscope hooks listen`.")
    return 0


def _status(project: Path | None, agents: list[str]) -> int:
    from core.hooks.agent_answers import HOOKS
    from core.hooks.connection import call, default_place

    installer, damaged = own_installer(), False
    for name in agents:
        installed = installer.status(HOOKS[name], project)
        mode = f" ({installed.mode})" if installed.mode else ""
        print(f"{name:<9} {installed.state}{mode}  {installed.path}")
        for problem in installed.problems:
            print(f"{'':<9} {problem}")
        damaged |= bool(installed.problems)
    running = call(default_place(), "sessions", {})
    if running is None:
        print("nooscope is not serving hooks; run `nooscope hooks listen`.")
    else:
        print(f"nooscope is serving hooks; {len(running)} sessions have called it.")
    if damaged:
        print("Damaged hooks guard nothing; `nooscope hooks install` repairs them.")
    return int(damaged)
