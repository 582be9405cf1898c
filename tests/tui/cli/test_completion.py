"""`nooscope completion`: scripts that know every command and option, tried in the shells that are here."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tui.cli import COMMANDS, LISTED, command_parser, full_name, main
from tui.cli.commands.completion import suggestions

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def path_with_nooscope(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which `nooscope` is this one."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "nooscope"
    call = "import sys; from tui.cli import main; sys.exit(main())"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{call}" "$@"\n')
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def test_every_command_and_option_is_offered() -> None:
    assert {word for word, _ in suggestions([""])} == {name for names in LISTED.values() for name in names}
    for name in COMMANDS:
        flags = {word for word, _ in suggestions([*full_name(name).split(), "-"])}
        hidden = {"--words"}
        assert flags == set(command_parser(name)._option_string_actions) - hidden, name


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_itself_understands_its_script(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    file = tmp_path / "script"
    file.write_text(script(shell, capsys))
    done = subprocess.run([program, "-n", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def offered(text: str, line: str, path: str, folder: Path) -> list[str]:
    """What bash offers at the end of a line."""
    words = line.split(" ")
    asked = "\n".join(
        [
            text,
            f"COMP_WORDS=({' '.join(map(shlex.quote, words))})",
            f"COMP_CWORD={len(words) - 1}",
            "_nooscope",
            'printf "%s\\n" "${COMPREPLY[@]}"',
        ]
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", asked],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PATH": path, "NOOSCOPE_CONFIG": str(folder / "none.toml")},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("nooscope chan", ["changes"]),
        ("nooscope re", ["replay", "recap"]),
        ("nooscope inspect fr", ["frame"]),
        ("nooscope inspect frame his", ["history.jsonl"]),
        ("nooscope hooks p", ["permits"]),
        ("nooscope hooks inst", ["install"]),
        ("nooscope hooks install clau", ["claude"]),
        ("nooscope demo st", ["stuck", "storm"]),
        ("nooscope tune sweep --set receptor.ambient.time_constant=1:2", []),
        ("nooscope analyze --js", ["--json"]),
        ("nooscope recap log --as ", ["narrative", "structural"]),
        ("nooscope analyze his", ["history.jsonl"]),
        ("nooscope --headl", ["--headless"]),
        ("nooscope rules ch", ["check"]),
        ("nooscope rules check his", ["history.jsonl"]),
        ("nooscope completion ", ["bash", "zsh", "fish"]),
        ("nooscope frame x --project ", ["sub"]),
        ("nooscope analyze --jobs ", []),
        ("nooscope settings --set receptor.ambient.time", ["receptor.ambient.time_constant="]),
        ("nooscope replay x --theme noct", ["nocturne"]),
    ],
)
def test_bash_completes(
    line: str, wanted: list[str], tmp_path: Path, path_with_nooscope: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "history.jsonl").touch()
    (tmp_path / "sub").mkdir()
    assert offered(script("bash", capsys), line, path_with_nooscope, tmp_path) == wanted


def test_names_are_listed_and_a_shell_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "--list", "settings"]) == 0
    assert "receptor.ambient.time_constant" in capsys.readouterr().out.splitlines()
    assert main(["completion", "--list", "stories"]) == 0
    assert "stuck" in capsys.readouterr().out.splitlines()
    assert main(["completion"]) == 2
    assert "name a shell" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["completion", "csh"])
    assert ended.value.code == 2
