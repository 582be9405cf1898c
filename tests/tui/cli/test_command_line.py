"""The command line: quick, and clear about mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core import __version__
from tests.conftest import Run
from tests.core.logs.log_lines import gemini
from tui.app import NooscopeApp
from tui.cli import COMMANDS, GROUPS, LISTED, full_name, main

OFFSET = "receptor.ambient.offset.frustration"


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without settings, in an empty folder."""
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "user.toml"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_a_question_about_itself_loads_nothing_heavy(word: str) -> None:
    code = (
        "import sys\nfrom tui.cli import main\n"
        f"try: main([{word!r}])\nexcept SystemExit: pass\n"
        "heavy = {'textual', 'rich', 'pydantic', 'numpy', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert __version__ in done.stdout or "COMMAND" in done.stdout


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0
        assert f"nooscope {full_name(name)}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("query", "in SQL or by a question's name"),
        ("ship", "to a NATS server"),
        ("labels", "as JSON"),
        ("why", "an event's number, start, end, 00:41:12, 41m or an ISO time"),
        ("recap", "an event's number, start, end, 00:41:12, 41m or an ISO time (default: the start)"),
        ("diff", "an event's number, start, end, 00:41:12, 41m or an ISO time (default: the start)"),
    ],
)
def test_help_keeps_names_as_they_are_written_and_says_what_a_place_is(
    command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["replay", "demo"])
@pytest.mark.parametrize("speed", ["0.24", "64.1", "fast", "nan"])
def test_a_speed_out_of_bounds_is_named_as_it_was_given(
    command: str, speed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "x", "--speed", speed])
    assert f"argument --speed: '{speed}' is not a speed from 0.25 to 64" in capsys.readouterr().err


def test_settings_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "offset", "frustration", "--set", f"{OFFSET}=0.15"]) == 0
    head, row, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["name", "value", "from", "bounds"]
    assert row.split()[:3] == [OFFSET, "0.15", "--set"]


def test_settings_as_json_say_where_each_came_from(nobody: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (nobody / ".nooscope.toml").write_text(f"{OFFSET} = 0.15\nnothing.such = 1\n")
    assert main(["settings", "--changed", "--json"]) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert [(row["name"], row["value"], row["origin"]) for row in said["settings"]] == [
        (OFFSET, 0.15, str(nobody / ".nooscope.toml"))
    ]
    assert said["complaints"][0]["line"] == 2
    assert ".nooscope.toml:2: nothing.such: no such setting" in captured.err


def test_settings_as_a_file_come_back(nobody: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--toml", "--set", f"{OFFSET}=0.4"]) == 0
    (nobody / "user.toml").write_text(capsys.readouterr().out)
    assert main(["settings", "--changed", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["settings"]
    assert (row["name"], row["value"]) == (OFFSET, 0.4)


def test_a_wrong_assignment_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["settings", "--set", f"{OFFSET}=9"])
    assert ended.value.code == 2
    assert "9 is not allowed; it must be a number from" in capsys.readouterr().err


def test_an_unknown_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dance"]) == 2
    assert "unknown command 'dance'; `nooscope --help` lists the commands" in capsys.readouterr().err
    assert main(["wathc"]) == 2
    assert "did you mean 'watch'?" in capsys.readouterr().err
    Path("story.jsonl").touch()
    assert main(["story.jsonl"]) == 2
    assert "nooscope replay story.jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        *("analyze ", "analyze x ", "sessions ", "export ", "why ", "watch ", "replay "),
        *("cost ", "fleet ", "search x --in "),
    ],
)
def test_a_path_from_an_unset_variable_is_wrong_usage(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = main(words.split(" "))
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert "the path is empty" in capsys.readouterr().err


def test_a_theme_that_is_not_there_is_told(nobody: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "theme", "--set", "screen.theme=zzz"]) == 0
    assert "screen.theme: there is no theme 'zzz'; available: almanac, " in capsys.readouterr().err
    assert main(["settings", "theme", "--set", "screen.theme=nord"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("content", "said"), [(b"", "empty"), (b"hello\n", "no log of a known format")])
def test_there_is_no_screen_for_what_cannot_be_played(
    content: bytes, said: str, home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXTUAL_DRIVER", "there is a screen")
    monkeypatch.setattr(NooscopeApp, "run", lambda _: pytest.fail("no screen is needed"))
    log = home / "log.jsonl"
    log.write_bytes(content)
    code, _, told = run("replay", str(log))
    assert (code, told) == (1, f"nooscope: {log}: {said}\n")


@pytest.mark.parametrize("words", ["recap", "why", "export --format html"])
def test_a_log_without_events_is_told_with_what_could_not_be_read(words: str, home: Path, run: Run) -> None:
    log = home / "session.json"
    log.write_bytes(gemini(2)[:-9])
    code, _, told = run(*words.split(), str(log))
    assert (code, told) == (1, f"nooscope: {log} has no events that can be read (1 not JSON)\n")


def test_a_theme_that_is_broken_is_told_with_what_is_wrong(
    nobody: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("themes.user_theme_folder", lambda: nobody)
    (nobody / "mine.toml").write_text('name = "mine"\n')
    assert main(["settings", "theme", "--set", "screen.theme=mine"]) == 0
    told = capsys.readouterr().err
    assert "mine.toml: primary: missing" in told and "there is no theme 'mine'" in told


def test_help_lists_few_commands_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    listed = [name for names in LISTED.values() for name in names]
    assert len(listed) == len(set(listed)) <= 17
    assert {*listed, *(name for _, names in GROUPS.values() for name in names)} >= set(COMMANDS)
    assert all(f"\n  {name} " in out for name in listed)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("group", [name for name in GROUPS if name not in COMMANDS])
def test_a_group_alone_lists_its_commands(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([group]) == 0
    out = capsys.readouterr().out
    text = " ".join(out.split())
    assert all(f" {name} {COMMANDS[name]}" in text for name in GROUPS[group][1])
    assert main([group, "nonsense"]) == 2
    assert f"unknown command '{group} nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, (_, names) in GROUPS.items() for name in names])
def test_a_command_in_a_group_is_the_command(group: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([name, "--help"], [group, name, "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    first, _, second = capsys.readouterr().out.rpartition("usage: ")
    assert first.removeprefix("usage: ") == second


def test_hooks_alone_shows_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hooks"]) == 0
    assert capsys.readouterr().out.startswith("claude ")
