"""The `nooscope` command: finds the sub-command and imports nothing else."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from core import __version__
from core.errors import NooscopeError, UsageError
from tui import garbage
from tui.cli import streams
from tui.cli.command import CliCommand

DEFAULT = "watch"
"""What `nooscope` alone does."""
MISUSED = 2
INTERRUPTED = 130
TERMINATED = 143

COMMANDS = {
    "watch": "follow a session live, on the screen or without one",
    "replay": "play a saved session like a film",
    "demo": "watch a sample session, with a line on what to notice",
    "fleet": "show all sessions of this machine, who needs you first",
    "sessions": "list the agents' sessions on this machine",
    "search": "find words in all sessions",
    "cost": "say what sessions cost, by day, project, model or agent",
    "analyze": "run whole logs through the engine and report",
    "export": "write a log as open events, a page, a film of text or a report",
    "listen": "serve agents' hooks, and take telemetry and open events, on this machine",
    "hooks": "put hooks into an agent's settings, take them out, or show how they stand",
    "advice": "list what agents were told, and what came of it",
    "permits": "show what waits for you and what was decided, approve or deny",
    "statusline": "print one line on a session, for an agent's own screen",
    "mcp": "let an agent ask how it stands",
    "ship": "send this host's sessions to a NATS server, for a fleet over hosts",
    "query": "ask a dataset that analyze wrote, in SQL or by a question's name",
    "serve": "show the observatory in a browser",
    "frame": "show a whole mind at one moment",
    "events": "list what a mind did, as numbered events",
    "diff": "show what differs between two moments",
    "recap": "say what happened between two moments",
    "why": "say why a session is stuck, from facts, with the events cited",
    "tree": "show the conversation's branches and whether the log was edited",
    "trail": "show where you went in a session, and check the record",
    "bookmarks": "list, add and share bookmarks",
    "whatif": "show what would have fired with other settings",
    "sweep": "try one setting over its range, on many sessions",
    "evaluate": "say what readings and alarms are worth on runs whose end is known",
    "labels": "write the labels people gave to firings, as JSON",
    "extensions": "list what is installed beside nooscope, explain it, switch it on or off",
    "rules": "list the methods that respond to signals, or check a rule file",
    "settings": "show every setting, its value and where it came from",
    "doctor": "check terminal, agents, settings, folders and what is kept",
    "completion": "print a completion script for bash, zsh or fish",
}

_ASKS_ABOUT_ITSELF = frozenset(("-h", "--help", "--version"))

EXAMPLES = """\
examples:
  nooscope                          the newest active session, live
  nooscope replay LOG               a saved session, like a film
  nooscope sessions                 what has been running here
  nooscope analyze LOG              what went on in a session, and when
  nooscope settings ambient         settings that have to do with the ambient baseline
"""


def build(command: str | None = None) -> argparse.ArgumentParser:
    """The parser: of the named command with its arguments, else of all commands without theirs."""
    parser = argparse.ArgumentParser(
        prog="nooscope",
        description="A terminal observatory for AI agents.",
        epilog=EXAMPLES,
        formatter_class=_any_width,
    )
    parser.add_argument("--version", action="version", version=f"nooscope {__version__}")
    subparsers = parser.add_subparsers(title="commands", prog="nooscope", dest="command", metavar="COMMAND")
    for name in (command,) if command in COMMANDS else COMMANDS:
        sentence = COMMANDS[name]
        sub = subparsers.add_parser(
            name,
            help=sentence,
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
    except OSError as error:
        told = error
        name = f"{error.filename}: " if error.filename else ""
        code = _say(f"{name}{error.strerror or error}")
    finally:
        left = streams.flush_output()
    if left is None or left is told or isinstance(left, BrokenPipeError):
        return code
    return _say(f"cannot write the output: {left.strerror or left}")


def _command(words: list[str]) -> int:
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
