"""The `nooscope` command: finds the sub-command and imports only its file."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from core import __version__
from core.errors import NooscopeError, UsageError
from core.folders import close_to_others
from tui import garbage
from tui.cli import streams

DEFAULT = "watch"  # The command that `nooscope` alone runs.
MISUSED = 2
INTERRUPTED = 130
TERMINATED = 143

# Every command by its own name.
COMMANDS = {
    "watch": "follow a session live, on the screen or as lines of text",
    "replay": "play a saved session like a film",
    "demo": "watch a sample session with captions",
    "fleet": "show all sessions on this machine, those that need you first",
    "sessions": "list the agents' sessions on this machine",
    "search": "search all sessions",
    "cost": "show what sessions cost, by day, project, model or agent",
    "analyze": "run whole logs through the engine and report",
    "export": "write a session as a web page, a report, a terminal film or events",
    "listen": "answer the agents' hooks, and receive telemetry and open events",
    "hooks": "show, install or remove hooks, so that nooscope can help an agent",
    "advice": "list the advice agents received and what happened next",
    "permits": "list what is waiting for approval and what was decided; approve or deny",
    "statusline": "print one line about a session, for an agent's own screen",
    "mcp": "answer an agent's questions about its own and earlier sessions",
    "acp": "run an ACP agent for an editor, and watch what passes between them",
    "ship": "send this host's sessions to a NATS server, for a fleet over hosts",
    "query": "query a dataset that analyze wrote, in SQL or by a question's name",
    "serve": "show nooscope in a browser",
    "frame": "show the model's state at one moment",
    "events": "list what the model did, as numbered events",
    "diff": "compare two moments of a session",
    "changes": "show the files a session changed, with their diff",
    "compare": "compare two or more runs and show where they diverge",
    "recap": "summarize what happened between two moments",
    "why": "explain why a session is stuck, with the events that show it",
    "tree": "show the conversation's branches and whether the log was edited",
    "trail": "show where you went in a session, and verify the record",
    "bookmarks": "list, add and share bookmarks",
    "whatif": "show what would have fired with other settings",
    "sweep": "try one setting over its range, on many sessions",
    "evaluate": "measure readings and alarms on runs whose outcome is known",
    "labels": "label a session good or bad, or write all labels as JSON",
    "extensions": "list installed extensions, explain them, switch them on or off",
    "rules": "list the rules that respond to signals, or check a rules file",
    "settings": "show every setting, its value and where it came from",
    "doctor": "check terminal, agents, settings, folders and stored files",
    "completion": "print a completion script for bash, zsh or fish",
}

# Commands below another name: `nooscope inspect frame LOG`. Each also works without the group's name.
GROUPS = {
    "inspect": (
        "look closely at a session: why it is stuck, any moment, its events",
        ("why", "frame", "diff", "events", "tree", "trail", "bookmarks", "analyze", "query"),
    ),
    "tune": (
        "try other settings and see what would have fired",
        ("whatif", "sweep", "evaluate", "labels", "rules", "extensions"),
    ),
    "hooks": (COMMANDS["hooks"], ("permits", "advice", "listen", "statusline", "mcp")),
    "fleet": (COMMANDS["fleet"], ("ship", "acp")),
    "doctor": (COMMANDS["doctor"], ("completion",)),
}

# The commands in help, by what a person wants to do.
LISTED = {
    "Watch": ("watch", "fleet", "replay", "demo"),
    "Look back": ("sessions", "search", "recap", "changes", "compare", "cost"),
    "Understand": ("inspect", "tune"),
    "Help the agent": ("hooks",),
    "Share": ("export", "serve"),
    "Set up": ("settings", "doctor"),
}

# The file of each command that shares one.
_FILES = {
    **dict.fromkeys(("frame", "diff", "events", "tree", "trail"), "inspect"),
    **dict.fromkeys(("whatif", "sweep", "labels"), "tune"),
    **dict.fromkeys(("hooks", "permits", "advice", "listen", "mcp"), "hooks"),
    **dict.fromkeys(("fleet", "ship", "acp"), "fleet"),
    **dict.fromkeys(("recap", "why"), "recap"),
    **dict.fromkeys(("replay", "demo"), "replay"),
    **dict.fromkeys(("analyze", "query"), "analyze"),
}

_EXAMPLES = """\
examples:
  nooscope                          follow the newest active session
  nooscope replay LOG               play a saved session
  nooscope inspect why LOG          why is it stuck?
  nooscope inspect --help           the commands of a group
  nooscope tune whatif LOG --set receptor.ambient.offset.frustration=0.5
  nooscope COMMAND --help           the options of one command
"""


def full_name(command: str) -> str:
    """Return a command's name with that of its group, as help writes it."""
    group = next((group for group, (_, names) in GROUPS.items() if command in names), "")
    return f"{group} {command}".lstrip()


def _of_command(name: str, function: str) -> Callable[..., Any]:
    """Import the file of one command and return a function: `run{}` is `run_frame` where several share a file."""
    module = importlib.import_module(f"tui.cli.commands.{_FILES.get(name, name)}")
    chosen: Callable[..., Any] = getattr(module, function.format(f"_{name}" if name in _FILES else ""))
    return chosen


def command_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    sentence = COMMANDS[name]
    parser = argparse.ArgumentParser(
        prog=f"nooscope {full_name(name)}",
        description=f"{sentence[:1].upper()}{sentence[1:]}.",
        formatter_class=_fixed_width,
    )
    parser._positionals.title = "arguments"
    _of_command(name, "add{}_arguments")(parser)
    if name in GROUPS:
        below = "\n".join(_command_list(GROUPS[name][1]))
        parser.epilog = f"{parser.epilog or ''}\n\nmore commands below {name}:\n{below}".strip()
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
    else:
        parser.formatter_class = argparse.HelpFormatter
    return parser


def _fixed_width(prog: str) -> argparse.HelpFormatter:
    """Check each argument as it is added without asking for the terminal's size, which only help needs."""
    return argparse.HelpFormatter(prog, width=80)


def _overview_parser() -> argparse.ArgumentParser:
    """Return the parser of `nooscope` alone, which lists the commands in groups."""
    lines = []
    for title, names in LISTED.items():
        lines += [f"{title}:", *_command_list(names), ""]
    parser = argparse.ArgumentParser(
        prog="nooscope",
        usage="nooscope [COMMAND] [OPTIONS]",
        description="\n".join(["A terminal observatory for AI agents.", "", *lines, _EXAMPLES]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help="show this page, or the page of a command")
    parser.add_argument("--version", action="version", version=f"nooscope {__version__}", help="show the version")
    return parser


def _command_list(names: Sequence[str]) -> Iterator[str]:
    """One sentence on each command, wrapped beside its name."""
    for name in names:
        sentence = COMMANDS.get(name) or GROUPS[name][0]
        yield from textwrap.wrap(sentence, 80, initial_indent=f"  {name:<11} ", subsequent_indent=" " * 14)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 fine, 1 nothing readable, 2 wrong usage, 130 stopped by ctrl+c."""
    if arguments is not None:
        with streams.guarded():
            return _run(list(arguments))
    garbage.collect_late()
    streams.prepare_streams()
    signal.signal(signal.SIGTERM, _terminate)
    code = _run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    garbage.leave()
    return TERMINATED if _signals else code


def _run(words: list[str]) -> int:
    """Run one command; an error becomes one line on standard error."""
    reported: OSError | None = None
    try:
        code = _run_command(words)
    except UsageError as error:
        _print_error(str(error))
        code = MISUSED
    except NooscopeError as error:
        code = _print_error(str(error))
    except SystemExit:
        unwritten = streams.flush_output()
        if unwritten is None or isinstance(unwritten, BrokenPipeError):
            raise
        return _print_error(f"cannot write the output: {unwritten.strerror or unwritten}")
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = 0
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and "failed to map segment" not in str(
            error
        ):  # of a library that has no room
            raise
        code = _print_error("not enough memory for this")
    except OSError as error:
        reported = error
        name = f"{error.filename}: " if error.filename else ""
        code = _print_error(f"{name}{error.strerror or error}")
    finally:
        unwritten = streams.flush_output()
    if unwritten is None or unwritten is reported or isinstance(unwritten, BrokenPipeError):
        return code
    return _print_error(f"cannot write the output: {unwritten.strerror or unwritten}")


def _choose_command(words: list[str]) -> tuple[str, list[str]]:
    """Split the words into a command and its arguments; the command is empty if help was printed instead."""
    first, rest = (words[0], words[1:]) if words else ("", [])
    if not first or (first.startswith("-") and not {"-h", "--help", "--version"} & set(words)):
        return DEFAULT, words
    if first in GROUPS:
        _, names = GROUPS[first]
        if rest and rest[0] in names:
            return rest[0], rest[1:]
        if first not in COMMANDS:
            if rest and rest[0] not in ("-h", "--help"):
                raise UsageError(f"unknown command '{first} {rest[0]}'; available: {', '.join(names)}")
            print(f"usage: nooscope {first} COMMAND ...\n", *_command_list(names), sep="\n")
            return "", []
    if first in COMMANDS:
        return first, rest
    if first.startswith("-"):
        _overview_parser().parse_args(words)
    from difflib import get_close_matches

    close = get_close_matches(first, COMMANDS, 1)
    hint = f"did you mean '{full_name(close[0])}'?" if close else "`nooscope --help` lists the commands"
    if os.path.exists(first):  # noqa: PTH110 pathlib is not imported yet
        hint = f"to play a log: nooscope replay {first}"
    raise UsageError(f"unknown command '{first}'; {hint}")


def _run_command(words: list[str]) -> int:
    name, arguments = _choose_command(words)
    if not name:
        return 0
    parsed = command_parser(name).parse_args(arguments)
    paths = getattr(parsed, "path", None), *(getattr(parsed, "paths", None) or ())
    if "" in paths:
        from tui.cli.options import BLANK_PATH

        raise UsageError(BLANK_PATH)
    if not os.environ.get("HOME", "home").strip():
        del os.environ["HOME"]  # some programs read a blank one as the root folder, others as the usual home
    if os.path.expanduser("~") == "~":  # noqa: PTH111 asks whether there is one
        raise NooscopeError("the home folder is unknown; set HOME")
    close_to_others()
    code: int = _of_command(name, "run{}")(parsed)
    return code


_signals: list[int] = []


def _terminate(number: int, _: FrameType | None) -> None:
    """End as ctrl+c does, so that a screen gives the terminal back."""
    _signals.append(number)
    signal.raise_signal(signal.SIGINT)


def _print_error(sentence: str) -> int:
    with contextlib.suppress(OSError):
        print(f"nooscope: {sentence}", file=sys.stderr)
    return 1
