"""The `nooscope` command: finds the sub-command and imports nothing else."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from types import FrameType

from core import __version__
from core.errors import NooscopeError, UsageError
from core.folders import close_to_others
from tui import garbage
from tui.cli import streams
from tui.cli.command import CliCommand

DEFAULT = "watch"
"""What `nooscope` alone does."""
MISUSED = 2
INTERRUPTED = 130
TERMINATED = 143

COMMANDS = {
    "watch": "follow a session live, on the screen or as lines of text",
    "replay": "play a saved session like a film",
    "demo": "watch a sample session with captions",
    "fleet": "show all sessions on this machine, those that need you first",
    "sessions": "list the agents' sessions on this machine",
    "search": "search all sessions",
    "cost": "show what sessions cost, by day, project, model or agent",
    "analyze": "run whole logs through the engine and report",
    "export": "write a session as open events, a web page, a terminal film or a report",
    "listen": "answer the agents' hooks, and receive telemetry and open events",
    "hooks": "install hooks in an agent's settings, remove them, or show their status",
    "advice": "list the advice agents received and what happened next",
    "permits": "list what is waiting for approval and what was decided; approve or deny",
    "statusline": "print one line about a session, for an agent's own screen",
    "mcp": "answer an agent's questions about its own session",
    "ship": "send this host's sessions to a NATS server, for a fleet over hosts",
    "query": "query a dataset that analyze wrote, in SQL or by a question's name",
    "serve": "show nooscope in a browser",
    "frame": "show the model's state at one moment",
    "events": "list what the model did, as numbered events",
    "diff": "compare two moments of a session",
    "changes": "show the files a session changed, with their diff",
    "compare": "compare two or more runs and show where they part",
    "recap": "summarize what happened between two moments",
    "why": "explain why a session is stuck, with the events that show it",
    "tree": "show the conversation's branches and whether the log was edited",
    "trail": "show where you went in a session, and verify the record",
    "bookmarks": "list, add and share bookmarks",
    "whatif": "show what would have fired with other settings",
    "sweep": "try one setting over its range, on many sessions",
    "evaluate": "measure readings and alarms on runs whose outcome is known",
    "labels": "write the labels people gave to firings, as JSON",
    "extensions": "list installed extensions, explain them, switch them on or off",
    "rules": "list the rules that respond to signals, or check a rules file",
    "settings": "show every setting, its value and where it came from",
    "doctor": "check terminal, agents, settings, folders and stored files",
    "completion": "print a completion script for bash, zsh or fish",
}
"""Every command by its own name."""

GROUPS = {
    "inspect": (
        "look closely at one session",
        ("frame", "why", "diff", "events", "tree", "trail", "bookmarks", "query"),
    ),
    "tune": (
        "try other settings on recorded sessions",
        ("whatif", "sweep", "evaluate", "labels", "rules", "extensions"),
    ),
    "hooks": (COMMANDS["hooks"], ("permits", "advice", "listen", "statusline", "mcp")),
}
"""Commands that are listed under another name: `nooscope inspect frame LOG` is `nooscope frame LOG`."""

LISTED = {
    "Watch": ("watch", "fleet", "replay", "demo"),
    "Look back": ("sessions", "search", "recap", "analyze", "cost"),
    "Understand": ("inspect", "tune"),
    "Answer": ("hooks", "permits"),
    "Share": ("export", "serve"),
    "Set up": ("settings", "doctor"),
}
"""The commands in help, by what a person wants to do."""

_ASKS_ABOUT_ITSELF = frozenset(("-h", "--help", "--version"))

_EXAMPLES = """\
examples:
  nooscope                          follow the newest active session
  nooscope replay LOG               play a saved session
  nooscope inspect why LOG          why is it stuck?
  nooscope tune whatif LOG --set receptor.ambient.offset.frustration=0.15
  nooscope COMMAND --help           the options of one command
"""


def _overview() -> str:
    """All listed commands with one sentence each, in groups."""
    lines = []
    for title, names in LISTED.items():
        lines.append(f"{title}:")
        for name in names:
            sentence = GROUPS[name][0] if name in GROUPS else COMMANDS[name]
            lines += textwrap.wrap(sentence, 76, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)
            if name in GROUPS:
                below = " ".join(GROUPS[name][1])
                lines += textwrap.wrap(below, 76, initial_indent=" " * 12, subsequent_indent=" " * 12)
        lines.append("")
    return "\n".join(lines)


def build(command: str | None = None) -> argparse.ArgumentParser:
    """The parser: of the named command with its arguments, else of all commands without theirs."""
    parser = argparse.ArgumentParser(
        prog="nooscope",
        usage="nooscope [COMMAND] [OPTIONS]",
        description="A terminal observatory for AI agents.",
        epilog=f"{_overview()}\n{_EXAMPLES}",
        formatter_class=_any_width,
    )
    parser.add_argument("--version", action="version", version=f"nooscope {__version__}")
    subparsers = parser.add_subparsers(
        prog="nooscope", dest="command", metavar="COMMAND", help=argparse.SUPPRESS
    )
    for name in (command,) if command in COMMANDS else COMMANDS:
        sentence = COMMANDS[name]
        sub = subparsers.add_parser(
            name,
            description=f"{sentence[:1].upper()}{sentence[1:]}.",
            formatter_class=_any_width,
        )
        if name == command:
            importlib.import_module(f"tui.cli.commands.{name}").COMMAND.add_arguments(sub)
        sub.formatter_class = argparse.HelpFormatter
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser


def _any_width(prog: str) -> argparse.HelpFormatter:
    """What checks each argument that is added, without a look at the terminal, which only help needs."""
    return argparse.HelpFormatter(prog, width=80)


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
    return TERMINATED if _told_to_end else code


def _run(words: list[str]) -> int:
    """Run one command; an error becomes one line on standard error."""
    told: OSError | None = None
    try:
        code = _command(words)
    except UsageError as error:
        _say(str(error))
        code = MISUSED
    except NooscopeError as error:
        code = _say(str(error))
    except SystemExit:
        left = streams.flush_output()
        if left is None or isinstance(left, BrokenPipeError):
            raise
        return _say(f"cannot write the output: {left.strerror or left}")
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = 0
    except MemoryError:
        code = _say("not enough memory for this")
    except OSError as error:
        told = error
        name = f"{error.filename}: " if error.filename else ""
        code = _say(f"{name}{error.strerror or error}")
    finally:
        left = streams.flush_output()
    if left is None or left is told or isinstance(left, BrokenPipeError):
        return code
    return _say(f"cannot write the output: {left.strerror or left}")


def _without_group(words: list[str]) -> list[str]:
    """The words without the group's name; asks for a command if only a group is named."""
    group, rest = words[0], words[1:]
    if group not in GROUPS or (rest and rest[0] in GROUPS[group][1]):
        return rest if group in GROUPS else words
    if group in COMMANDS:
        return words
    _, names = GROUPS[group]
    if rest and rest[0] not in ("-h", "--help"):
        raise UsageError(f"unknown command '{group} {rest[0]}'; available: {', '.join(names)}")
    print(f"usage: nooscope {group} COMMAND ...\n")
    print("\n".join(f"  {name:<11} {COMMANDS[name]}" for name in names))
    return []


def _command(words: list[str]) -> int:
    if words and words[0] in GROUPS:
        words = _without_group(words)
        if not words:
            return 0
    if not words or (words[0].startswith("-") and not _ASKS_ABOUT_ITSELF & set(words)):
        words.insert(0, DEFAULT)
    parsed = build(words[0]).parse_args(words)
    named = getattr(parsed, "path", None), *(getattr(parsed, "paths", None) or ())
    if "" in named:
        from tui.cli.options import BLANK_PATH

        raise UsageError(BLANK_PATH)
    if not os.environ.get("HOME", "home").strip():
        del os.environ["HOME"]  # blank, it would stand for the root folder here and for the usual home there
    if os.path.expanduser("~") == "~":  # noqa: PTH111 it asks whether there is one
        raise NooscopeError("the home folder is unknown; set HOME")
    close_to_others()
    command: CliCommand = importlib.import_module(f"tui.cli.commands.{parsed.command or DEFAULT}").COMMAND
    return command.run(parsed)


_told_to_end: list[int] = []


def _terminate(number: int, _: FrameType | None) -> None:
    """End as ctrl+c does, so that a screen gives the terminal back."""
    _told_to_end.append(number)
    signal.raise_signal(signal.SIGINT)


def _say(sentence: str) -> int:
    with contextlib.suppress(OSError):
        print(f"nooscope: {sentence}", file=sys.stderr)
    return 1
