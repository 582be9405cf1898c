"""`nooscope doctor completion`: a script that lets a shell complete commands, options and names.

The script asks this program at each press of tab, so that it is short and never out of date.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.errors import UsageError
from tui.cli import COMMANDS, DEFAULT, GROUPS, LISTED, command_parser

FILES, FOLDERS = ":files", ":folders"  # Answers that ask the shell to complete paths by itself.

SHELLS = ("bash", "zsh", "fish")

# What the shell completes, by the name an argument has in help.
_PATHS = {"PATH": FILES, "FILE": FILES, "FOLDER": FOLDERS}
# Names this program looks up, by option or argument.
_LISTS = {"--set": "settings", "--theme": "themes", "name": "stories"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="the shell the script is for")
    parser.add_argument("--list", choices=("settings", "themes", "stories"), help="list names of one kind")
    parser.add_argument("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.epilog = 'bash and zsh: eval "$(nooscope doctor completion SHELL)" in the start-up file'


def run(args: argparse.Namespace) -> int:
    if args.words is not None:
        for word, meaning in suggestions(args.words):
            print(f"{word}\t{meaning}")
    elif args.list:
        for name in _names(args.list):
            print(name)
    elif args.shell is None:
        raise UsageError(f"name a shell: {', '.join(SHELLS)}")
    else:
        print(completion_script(args.shell), end="")
    return 0


def completion_script(shell: str) -> str:
    """The program that completes in one shell."""
    return (Path(__file__).parents[1] / f"completion.{shell}").read_text("utf-8")


def suggestions(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the candidates for the last word, each with its meaning."""
    *before, current = words or [""]
    if "=" in (current, *before[-1:]):
        return []
    offers = _offers(before, current)
    return [offer for offer in offers if offer[0] in (FILES, FOLDERS) or offer[0].startswith(current)]


def _offers(before: list[str], current: str) -> Iterator[tuple[str, str]]:
    name = before.pop(0) if before and not before[0].startswith("-") else ""
    if name in GROUPS and before and before[0] in GROUPS[name][1]:
        name = before.pop(0)
    if not name and not current.startswith("-"):
        for listed in (name for names in LISTED.values() for name in names):
            yield listed, COMMANDS.get(listed) or GROUPS[listed][0]
        return
    if name in GROUPS and not before:
        for below in GROUPS[name][1]:
            yield below, COMMANDS[below]
    if (name or DEFAULT) in COMMANDS:
        yield from _arguments(command_parser(name or DEFAULT), before, current)


def _arguments(parser: argparse.ArgumentParser, before: list[str], current: str) -> Iterator[tuple[str, str]]:
    """Yield what may follow some arguments of one command."""
    options = {flag: action for action in parser._actions for flag in action.option_strings}
    places = [action for action in parser._actions if not action.option_strings]
    used = 0
    for number, word in enumerate(before):
        choices = places[used].choices if used < len(places) else None
        if isinstance(choices, Mapping) and word in choices:
            yield from _arguments(choices[word], before[number + 1 :], current)
            return
        is_value = number > 0 and ((before[number - 1]) in options and options[(before[number - 1])].nargs != 0)
        used += not word.startswith("-") and not is_value
    previous = options.get(before[-1]) if before else None
    if previous is not None and previous.nargs != 0:
        yield from _values(previous, before[-1])
    elif current.startswith("-"):
        for flag, action in options.items():
            if action.help != argparse.SUPPRESS:
                yield flag, " ".join((action.help or "").replace("%%", "%").split())
    elif places and (used < len(places) or places[-1].nargs in ("*", "+")):
        place = places[min(used, len(places) - 1)]
        yield from _values(place, place.dest)


def _values(action: argparse.Action, name: str) -> Iterator[tuple[str, str]]:
    """Yield what one option or argument may be."""
    if action.choices is not None:
        yield from ((str(choice), "") for choice in action.choices)
    elif name in _LISTS:
        kind = _LISTS[name]
        yield from ((f"{each}=" if kind == "settings" else each, "") for each in _names(kind))
    elif action.metavar in _PATHS:
        yield _PATHS[str(action.metavar)], ""


def _names(kind: str) -> list[str]:
    if kind == "settings":
        from core.settings.layers import tunables

        return list(tunables())
    if kind == "stories":
        from sample_sessions import samples

        return [sample.name for sample in samples()]
    from textual.theme import BUILTIN_THEMES

    import themes

    ours = [theme.name for theme in themes.load(themes.user_theme_folder()).themes]
    return sorted({*ours, *BUILTIN_THEMES})
