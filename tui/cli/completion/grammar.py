"""What may follow what on the command line, read off the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Literal, NamedTuple

from tui.cli import COMMANDS, build

Kind = Literal["none", "any", "file", "folder", "choice", "settings", "themes", "stories"]
"""What a word stands for; the last three are asked for when they are needed."""

LISTS: tuple[Kind, ...] = ("settings", "themes", "stories")

_BY_METAVAR: dict[str, Kind] = {"PATH": "file", "FILE": "file", "FOLDER": "folder"}
_BY_FLAG: dict[str, Kind] = {"--set": "settings", "--theme": "themes"}
_BY_PLACE: dict[tuple[str, str], Kind] = {("demo", "name"): "stories"}


class Option(NamedTuple):
    """One option: how it is written, what it takes, what it does."""

    flags: tuple[str, ...]
    takes: Kind
    choices: tuple[str, ...]
    help: str
    again: bool
    """Whether it may be given more than once."""


class Positional(NamedTuple):
    """One word without a dash."""

    name: str
    takes: Kind
    choices: tuple[str, ...]
    many: bool


class CommandGrammar(NamedTuple):
    """One command with all that may follow it."""

    name: str
    help: str
    options: tuple[Option, ...]
    places: tuple[Positional, ...]
    parts: tuple[CommandGrammar, ...]
    """Commands below it, such as `rules check`."""


def command_grammars() -> list[CommandGrammar]:
    """Every command, in the order help lists them."""
    return [_command(name, sentence, _below(build(name))[name]) for name, sentence in COMMANDS.items()]


def _below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _command(name: str, sentence: str, parser: argparse.ArgumentParser) -> CommandGrammar:
    options = tuple(_options(parser))
    places = tuple(_places(name, parser))
    parts = tuple(_command(part, "", inner) for part, inner in _below(parser).items())
    return CommandGrammar(name, sentence, options, places, parts)


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            flags = tuple(action.option_strings)
            again = isinstance(action, argparse._AppendAction)
            yield Option(flags, _takes(action, flags[-1]), _choices(action), _said(action), again)


def _places(command: str, parser: argparse.ArgumentParser) -> Iterator[Positional]:
    for action in parser._actions:
        if not action.option_strings and not isinstance(action, argparse._SubParsersAction):
            takes = _BY_PLACE.get((command, action.dest)) or _takes(action, "")
            yield Positional(_name(action), takes, _choices(action), action.nargs in ("*", "+"))


def _takes(action: argparse.Action, flag: str) -> Kind:
    if action.nargs == 0:
        return "none"
    if action.choices is not None:
        return "choice"
    return _BY_FLAG.get(flag) or _BY_METAVAR.get(_name(action), "any")


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))


def _name(action: argparse.Action) -> str:
    return action.metavar if isinstance(action.metavar, str) else action.dest


def _said(action: argparse.Action) -> str:
    """Help on one line."""
    return " ".join((action.help or "").replace("%%", "%").split())
