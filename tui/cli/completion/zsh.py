"""Completion for zsh."""

from __future__ import annotations

from collections.abc import Iterator

from tui.cli.completion.grammar import LISTS, CommandGrammar, Option, Positional

_FRAME = """\
#compdef nooscope
# zsh completion for nooscope
# put this into ~/.zshrc after compinit:  eval "$(nooscope completion zsh)"

_nooscope_list() {{
    local -a found
    found=(${{(f)"$(nooscope completion --list $1 2>/dev/null)"}})
    compadd -S "$2" -a found
}}

_nooscope() {{
    local curcontext="$curcontext" state line
    local -a commands
    commands=(
{commands}
    )
    _arguments -C '--version[show the version]' '1:command:->command' '*::argument:->rest'
    case $state in
        command) _describe command commands ;;
        rest)
            case $line[1] in
{cases}
            esac
            ;;
    esac
}}

compdef _nooscope nooscope
"""


def zsh_script(commands: list[CommandGrammar]) -> str:
    """The whole script."""
    return _FRAME.format(
        commands="\n".join(
            "        " + _quoted(each.name + ":" + _escaped(each.help, ":")) for each in commands
        ),
        cases="\n".join(_case(command) for command in commands),
    )


def _case(command: CommandGrammar) -> str:
    lines = [*map(_option, _every_option(command)), *_places(command)]
    joined = " \\\n                        ".join(lines)
    return f"                {command.name})\n                    _arguments {joined}\n                    ;;"


def _every_option(command: CommandGrammar) -> Iterator[Option]:
    yield from command.options
    for part in command.parts:
        known = {option.flags for option in command.options}
        yield from (option for option in part.options if option.flags not in known)


def _option(option: Option) -> str:
    value = "" if option.takes == "none" else f":{option.flags[-1].lstrip('-')}:{_offer(option)}"
    said = f"[{_escaped(option.help, '[]:')}]{value}"
    if len(option.flags) == 1:
        return _quoted(("*" if option.again else "") + option.flags[0] + said)
    apart = f"({' '.join(option.flags)})"
    return f"{_quoted(apart)}{{{','.join(option.flags)}}}{_quoted(said)}"


def _places(command: CommandGrammar) -> Iterator[str]:
    if command.parts:
        yield _quoted(f"1:part:({' '.join(part.name for part in command.parts)})")
        yield _quoted("*:file:_files")
    for number, place in enumerate(command.places, 1):
        mark = "*" if place.many else str(number)
        yield _quoted(f"{mark}:{place.name}:{_offer(place)}")


def _offer(taker: Option | Positional) -> str:
    if taker.takes == "choice":
        return f"({' '.join(taker.choices)})"
    if taker.takes in LISTS:
        return f"_nooscope_list {taker.takes} " + ("=" if taker.takes == "settings" else '" "')
    return {"file": "_files", "folder": "_files -/"}.get(taker.takes, " ")


def _escaped(text: str, signs: str) -> str:
    for sign in signs:
        text = text.replace(sign, f"\\{sign}")
    return text


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
