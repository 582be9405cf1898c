"""Completion for fish."""

from __future__ import annotations

from collections.abc import Iterator

from tui.cli.completion.grammar import LISTS, CommandGrammar, Option, Positional

_HEAD = """\
# fish completion for nooscope
# nooscope completion fish > ~/.config/fish/completions/nooscope.fish
complete -c nooscope -f
complete -c nooscope -n __fish_use_subcommand -l version -d 'show the version'
"""


def fish_script(commands: list[CommandGrammar]) -> str:
    """The whole script."""
    return _HEAD + "\n".join(line for command in commands for line in _lines(command)) + "\n"


def _lines(command: CommandGrammar) -> Iterator[str]:
    yield f"complete -c nooscope -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}"
    seen = f"complete -c nooscope -n '__fish_seen_subcommand_from {command.name}'"
    for option in command.options:
        yield f"{seen} {_flags(option)}{_offer(option)} -d {_quoted(option.help)}".replace("  ", " ")
    for place in command.places:
        yield f"{seen}{_offer(place)}".replace(" -r", "")
    for part in command.parts:
        yield f"{seen} -a {part.name}"
        if any(place.takes == "file" for place in part.places):
            yield f"{seen} -F"


def _flags(option: Option) -> str:
    return " ".join(
        f"-l {flag.removeprefix('--')}" if flag.startswith("--") else f"-s {flag.removeprefix('-')}"
        for flag in option.flags
    )


def _offer(taker: Option | Positional) -> str:
    if taker.takes == "choice":
        return f" -x -a {_quoted(' '.join(taker.choices))}"
    if taker.takes in LISTS:
        return f" -x -a '(nooscope completion --list {taker.takes})'"
    return {"none": "", "file": " -r -F", "folder": " -r -a '(__fish_complete_directories)'"}.get(
        taker.takes, " -x"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
