"""The `nooscope` command: finds the sub-command and imports nothing else."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from core import __version__

COMMANDS = {
    "sessions": "list the agents' sessions on this machine",
    "analyze": "run whole logs through the engine and report",
    "export": "write a log in the open event format",
    "frame": "show a whole mind at one moment",
    "diff": "show what differs between two moments",
    "whatif": "show what would have fired with other settings",
    "watch": "follow a session live and tell when it needs you",
    "rules": "list the methods that respond to signals, or check a rule file",
    "settings": "show every setting, its value and where it came from",
}

EXAMPLES = """\
examples:
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
    command = next((word for word in words if not word.startswith("-")), None)
    parsed = build(command).parse_args(words)
    name = parsed.command or "sessions"
    if parsed.command is None:
        parsed = build(name).parse_args([name, *words])
    from core.errors import NooscopeError

    try:
        return int(importlib.import_module(f"tui.commands.{name}").run(parsed))
    except NooscopeError as error:
        print(f"nooscope: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
