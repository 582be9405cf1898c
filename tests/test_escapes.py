"""Every command under hostile names and values: nothing a terminal would obey comes out of any of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from core.folders import user_settings_file
from core.store.bookmarks import Bookmark, Bookmarks
from tests.conftest import Run
from tests.hostile import HOSTILE, conversation_at, harm, log_at, settings_at
from tests.terminals import NOOSCOPE
from tui.cli import COMMANDS, streams

SERVING = {"listen", "ship", "serve", "mcp", "statusline", "evaluate", "acp"}
"""Commands that serve others, or read only what they are handed."""
SWEPT = "receptor.ambient.silence=60:90:2"
CALLS: list[tuple[str, ...]] = [
    ("watch", "{log}", "--headless", "--idle", "0", "--all"),
    ("watch", "{log}", "--headless", "--idle", "0", "--all", "--json"),
    ("replay", "{log}"),
    ("demo", "--list"),
    ("demo", HOSTILE),
    ("fleet", "{log}"),
    ("fleet", "{log}", "--json"),
    ("fleet", "{folder}", "--once"),
    ("sessions", "{folder}"),
    ("sessions", "{folder}", "--json"),
    ("analyze", "{log}", "--jobs", "1"),
    ("analyze", "{log}", "--json"),
    ("analyze", "{log}", "--metrics", "{home}/metrics.jsonl"),
    ("export", "{log}"),
    ("export", "{log}", "-o", "{home}/export.jsonl"),
    ("frame", "{log}"),
    ("frame", "{log}", "--json"),
    ("frame", "{log}", "--agent", HOSTILE),
    ("frame", "{log}", "--at", HOSTILE),
    ("frame", "{log}#" + HOSTILE),
    ("diff", "{log}"),
    ("recap", "{log}"),
    ("tree", "{talk}"),
    ("tree", "{talk}", "--json"),
    ("bookmarks", "{log}"),
    ("bookmarks", "{log}", "--add", HOSTILE, "--note", HOSTILE),
    ("bookmarks", "{log}", "--remove", "x" + HOSTILE),
    ("bookmarks", "--export", "{home}/marks.json"),
    ("bookmarks", "--import", "{log}"),
    ("whatif", "{log}"),
    ("whatif", "{log}", "--json"),
    ("cost", "{log}"),
    ("cost", "{log}", "--json"),
    ("search", HOSTILE, "--in", "{log}"),
    ("search", "do", "--in", "{log}", "--json"),
    ("trail", "{log}"),
    ("advice",),
    ("extensions",),
    ("events", "{log}"),
    ("why", "{log}"),
    ("permits",),
    ("hooks", "status"),
    ("query", "--list"),
    ("sweep", "{log}", "--set", SWEPT, "--jobs", "1"),
    ("sweep", "{log}", "--set", SWEPT, "--jobs", "1", "--json"),
    ("labels",),
    ("rules",),
    ("rules", "--json"),
    ("rules", "check", "{rules}"),
    ("settings",),
    ("settings", "--changed"),
    ("settings", "--json"),
    ("settings", "--toml"),
    ("settings", "--changed", "--set", "screen.theme=" + HOSTILE),
    ("settings", "--set", HOSTILE + "=1"),
    ("settings", "--project", "{home}/" + HOSTILE),
    ("changes", "{log}"),
    ("changes", "{log}", "--json"),
    ("compare", "{log}", "{talk}"),
    ("compare", "{log}", "{talk}", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("completion", "--list", "themes"),
    ("completion", HOSTILE),
    (HOSTILE,),
    ("--" + HOSTILE,),
    ("analyze", "{home}/missing" + HOSTILE),
]


@pytest.fixture
def places(log: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home in which everything a person or a stranger can name is hostile."""
    path = log_at(home)
    talk = conversation_at(home, log)
    settings_at(home, user_settings_file().parent)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "NOOSCOPE_SCREEN__THEME", "NOOSCOPE_X"):
        monkeypatch.setenv(name, HOSTILE)
    Bookmarks(f"id{HOSTILE}").put(Bookmark(HOSTILE, 3, 1.0, 2.0, HOSTILE, ""))
    return {
        "log": str(path),
        "folder": str(path.parent),
        "talk": str(talk),
        "home": str(home),
        "rules": str(user_settings_file().with_name("receptor-rules.json")),
    }


def filled(words: tuple[str, ...], places: dict[str, str]) -> list[str]:
    made = list(words)
    for name, path in places.items():
        made = [word.replace(f"{{{name}}}", path) for word in made]
    return made


def test_every_command_is_called_here() -> None:
    assert {words[0] for words in CALLS} | SERVING >= set(COMMANDS)


@pytest.mark.parametrize("words", CALLS, ids=lambda words: " ".join(words).encode("ascii", "ignore").decode()[:60])
def test_nothing_harmful_comes_out(words: tuple[str, ...], places: dict[str, str], run: Run) -> None:
    code, out, said = run(*filled(words, places))
    assert out or said or "--export" in words
    assert (harm(out), harm(said)) == ([], [])
    assert "Traceback" not in said
    if "--json" in words and code == 0:
        for text in out.splitlines() if words[0] == "watch" else [out]:
            json.loads(text)
    if words == ("export", "{log}"):
        assert all(json.loads(line) for line in out.splitlines())


def test_files_that_are_written_hold_escapes_instead(places: dict[str, str], run: Run) -> None:
    home = Path(places["home"])
    assert run("export", places["log"], "-o", str(home / "out.jsonl"))[0] == 0
    assert run("bookmarks", "--export", str(home / "marks.json"))[0] == 0
    for name in ("out.jsonl", "marks.json"):
        text = (home / name).read_text()
        assert "\\u202e" in text and harm(text) == []


def test_json_says_what_it_was_given(places: dict[str, str], run: Run) -> None:
    _, out, _ = run("sessions", places["folder"], "--json")
    assert json.loads(out)["sessions"][0]["path"] == places["log"]
    _, out, _ = run("export", places["log"])
    assert any(HOSTILE in json.loads(line).get("tool", "") for line in out.splitlines())


def test_settings_as_toml_come_back(home: Path, run: Run) -> None:
    import tomllib

    chosen = "a\x1b\u202e\U000e0041\ufe0f"
    _, out, _ = run("settings", "--toml", "--set", f"screen.theme={chosen}")
    assert harm(out) == [] and tomllib.loads(out)["screen"]["theme"] == chosen


def test_bytes_and_tracebacks_of_a_process_of_its_own(places: dict[str, str]) -> None:
    begun = NOOSCOPE[2].partition("sys.exit")[0]
    fault = f"def run(_): raise RuntimeError({HOSTILE!r})"
    raised = f"{begun}import tui.cli.commands.sessions as s\n{fault}\ns.run = run\nmain()"
    for words, code in (
        ((*NOOSCOPE, "sessions", places["folder"]), 0),
        ((*NOOSCOPE, "analyze", "--jobs", "2", places["log"], places["talk"]), 0),
        ((NOOSCOPE[0], "-c", raised, "sessions"), 1),
    ):
        done = subprocess.run(words, capture_output=True, env=os.environ, check=False)
        assert done.returncode == code
        assert harm(done.stdout.decode() + done.stderr.decode()) == []
    assert b"Traceback" in done.stderr


def test_our_own_signs_reach_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with streams.guarded():
        assert streams.terminal() is None
        streams.progress("half")
        monkeypatch.setattr(streams.sys.stderr.bare, "isatty", lambda: True)  # type: ignore[attr-defined]
        streams.progress(f"half{HOSTILE}")
        streams.progress("")
    said = capsys.readouterr().err
    assert said.startswith("\rhalf ") and said.endswith(" \r")
    assert harm(said.replace("\r", "")) == []


@pytest.mark.parametrize("where", ["log", "talk"])
@pytest.mark.parametrize(
    "words", [("html",), ("html", "--transcript"), ("markdown",), ("cast",), ("otlp",)], ids=" ".join
)
def test_no_format_of_an_export_obeys_what_a_log_says(
    words: tuple[str, ...], where: str, places: dict[str, str], run: Run
) -> None:
    path = Path(places["home"]) / "made"
    code, out, said = run("export", places[where], "--format", *words, "-o", str(path))
    assert (code, harm(out), harm(said)) == (0, [], [])
    text = path.read_text()
    assert text and harm(text) == []
    if words == ("cast",):
        for line in text.splitlines()[1:]:
            ours = re.sub(r"\x1b\[[0-9;?]*[mHJKhl]|\r", "", json.loads(line)[2])
            assert harm(ours) == []
