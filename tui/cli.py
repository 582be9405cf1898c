"""The `nooscope` command: finds the sub-command and imports nothing else."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from core import __version__

DEFAULT = "watch"
"""What `nooscope` alone does."""

COMMANDS = {
    "watch": "follow a session live, on the screen or without one",
    "replay": "play a saved session like a film",
    "demo": "watch a sample session, with a word on what to notice",
    "sessions": "list the agents' sessions on this machine",
    "analyze": "run whole logs through the engine and report",
    "export": "write a log in the open event format",
    "frame": "show a whole mind at one moment",
    "diff": "show what differs between two moments",
    "recap": "tell what happened between two moments",
    "tree": "show the conversation's branches and whether the log was edited",
    "bookmarks": "list, put and share named moments",
    "whatif": "show what would have fired with other settings",
    "rules": "list the methods that respond to signals, or check a rule file",
    "settings": "show every setting, its value and where it came from",
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
    """The parser; only the named command's own arguments are filled in."""
    parser = argparse.ArgumentParser(
        prog="nooscope",
        description="A terminal observatory for AI agents.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"nooscope {__version__}")
    subparsers = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, sentence in COMMANDS.items():
        sub = subparsers.add_parser(name, help=sentence, description=sentence.capitalize() + ".")
        if name == command:
            importlib.import_module(f"tui.commands.{name}").add_arguments(sub)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 fine, 1 nothing readable, 2 wrong usage."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and not _ASKS_ABOUT_ITSELF & set(words)):
        words.insert(0, DEFAULT)
    parsed = build(words[0]).parse_args(words)
    name = parsed.command or DEFAULT
    from core.errors import NooscopeError

    try:
        return int(importlib.import_module(f"tui.commands.{name}").run(parsed))
    except NooscopeError as error:
        print(f"nooscope: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"nooscope: {name}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
