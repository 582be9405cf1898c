"""Completion for bash, also the old one that macOS has."""

from __future__ import annotations

from collections.abc import Iterator

from tui.cli import DEFAULT
from tui.cli.completion.grammar import LISTS, CommandGrammar, Kind, Option, Positional

_FRAME = """\
# bash completion for nooscope
# put this into ~/.bashrc:  eval "$(nooscope completion bash)"

_nooscope_words() {{
    COMPREPLY=($(compgen -W "$1" -- "$2"))
}}

_nooscope_list() {{
    _nooscope_words "$(nooscope completion --list "$1" 2>/dev/null)" "$2"
    if [[ $1 == settings && ${{#COMPREPLY[@]}} -gt 0 ]]; then
        COMPREPLY=("${{COMPREPLY[@]/%/=}}")
        compopt -o nospace 2>/dev/null || true
    fi
}}

_nooscope_files() {{
    local IFS=$'\\n'
    COMPREPLY=($(compgen "$1" -- "$2"))
    compopt -o filenames 2>/dev/null || true
}}

_nooscope() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" command="" part="" word i
    COMPREPLY=()
    [[ $cur == "=" || $prev == "=" ]] && return
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${{COMP_WORDS[i]}}"
        if [[ -z $command ]]; then
            case "$word" in {names}) command="$word" ;; esac
        else
            case "$command $word" in {parts}) part=" $word" ;; esac
        fi
    done
    case "${{command:-{default}}} $prev" in
{values}
    esac
    if [[ $cur == -* ]]; then
        case "${{command:-{default}}}$part" in
{options}
        esac
        return
    fi
    case "$command$part" in
        "") _nooscope_words "{commands}" "$cur" ;;
{places}
    esac
}}

complete -F _nooscope nooscope
"""


def bash_script(commands: list[CommandGrammar]) -> str:
    """The whole script."""
    names = [command.name for command in commands]
    parts = [f'"{command.name} {part.name}"' for command in commands for part in command.parts]
    return _FRAME.format(
        names="|".join(names),
        parts="|".join(parts) or '"-"',
        commands=" ".join(names),
        default=DEFAULT,
        values="\n".join(_values(commands)),
        options="\n".join(
            f'            "{name}") _nooscope_words "{_flags(command)}" "$cur" ;;'
            for name, command in _all(commands)
        ),
        places="\n".join(_places(commands)),
    )


def _all(commands: list[CommandGrammar]) -> Iterator[tuple[str, CommandGrammar]]:
    for command in commands:
        yield command.name, command
        for part in command.parts:
            yield f"{command.name} {part.name}", part


def _flags(command: CommandGrammar) -> str:
    return " ".join(flag for option in command.options for flag in option.flags)


def _values(commands: list[CommandGrammar]) -> Iterator[str]:
    for command in commands:
        for option in (*command.options, *(option for part in command.parts for option in part.options)):
            if option.takes != "none":
                marks = "|".join(f'"{command.name} {flag}"' for flag in option.flags)
                yield f"        {marks}) {_offer(option)}; return ;;"


def _places(commands: list[CommandGrammar]) -> Iterator[str]:
    for name, command in _all(commands):
        words = " ".join(part.name for part in command.parts)
        offers = [_offer(place) for place in command.places[:1]]
        if words:
            offers = [f'_nooscope_words "{words}" "$cur"']
        yield f'        "{name}") {offers[0] if offers else ":"} ;;'


def _offer(taker: Option | Positional) -> str:
    kind: Kind = taker.takes
    if kind == "choice":
        return f'_nooscope_words "{" ".join(taker.choices)}" "$cur"'
    if kind in LISTS:
        return f'_nooscope_list {kind} "$cur"'
    return {"file": '_nooscope_files -f "$cur"', "folder": '_nooscope_files -d "$cur"'}.get(kind, ":")
