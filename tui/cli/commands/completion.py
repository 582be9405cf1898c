"""`nooscope completion`: a script that lets a shell complete commands, options and names."""

from __future__ import annotations

import argparse

from core.errors import UsageError
from tui.cli.command import CliCommand
from tui.cli.completion.bash import bash_script
from tui.cli.completion.fish import fish_script
from tui.cli.completion.grammar import command_grammars
from tui.cli.completion.zsh import zsh_script

_SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=tuple(_SCRIPTS), help="the shell the script is for")
    parser.add_argument(
        "--list", choices=("settings", "themes", "stories"), help="the names the scripts ask for"
    )
    parser.epilog = 'bash and zsh: eval "$(nooscope completion SHELL)" in the start-up file'


def _run(args: argparse.Namespace) -> int:
    if args.list:
        for name in _names(args.list):
            print(name)
        return 0
    if args.shell is None:
        raise UsageError(f"name a shell: {', '.join(_SCRIPTS)}")
    print(_SCRIPTS[args.shell](command_grammars()), end="")
    return 0


def _names(kind: str) -> list[str]:
    if kind == "settings":
        from core.settings.layers import tunables

        return list(tunables())
    if kind == "stories":
        from sample_sessions import samples

        return [sample.name for sample in samples()]
    from textual.theme import BUILTIN_THEMES

    import themes
    from themes.user_themes import user_theme_folder

    ours = [theme.name for theme in themes.load(user_theme_folder()).themes]
    return sorted({*ours, *BUILTIN_THEMES})


COMMAND = CliCommand(_add_arguments, _run)
