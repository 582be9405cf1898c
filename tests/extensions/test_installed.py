"""What is found: packages and the person's folder, and never a watched project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import BrokenOffer
from core.extension.offers import Offer, Switches, find_offers, in_folder, in_use, installed
from core.extension.registry import in_step, listening
from tui.cli import main

ROOT = Path(__file__).resolve().parents[2]
LISTENER = """
from core.extension import Extension
class Mine(Extension):
    name = "mine"
    about = "Mine."
EXTENSION = Mine
"""
STEP = """
from core.extension import StepExtension
class Step(StepExtension):
    name = "stepping"
    STATE = ("n",)
    def __init__(self): self.n = 0
EXTENSION = Step
"""
MARKER = "from pathlib import Path; Path({path!r}).write_text('ran')"


@pytest.fixture
def folder(home: Path) -> Path:
    place = home / "xdg_config_home" / "nooscope" / "extensions"
    place.mkdir(parents=True)
    return place


def test_entry_points_of_packages_are_listed_without_importing_them(tmp_path: Path) -> None:
    info = tmp_path / "some_thing-2.1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(
        "[console_scripts]\nx = y:z\n\n[nooscope.panels]\n one = gone.module:Panel\n# no\n"
        "[nooscope.nonsense]\na = b\n[nooscope.extensions]\ntwo=gone:Two\n"
    )
    (tmp_path / "other-1.dist-info").mkdir()
    (tmp_path / "binary-1.dist-info").mkdir()
    (tmp_path / "binary-1.dist-info" / "entry_points.txt").write_bytes(b"[nooscope.panels]\n\xff\xfe")
    found = list(installed([tmp_path, tmp_path / "nowhere"]))
    assert found == [
        Offer("panel", "one", "gone.module:Panel", "some_thing", "2.1"),
        Offer("extension", "two", "gone:Two", "some_thing", "2.1"),
    ]
    with pytest.raises(BrokenOffer, match=r"panel one .package some_thing 2\.1. cannot be loaded"):
        found[0].load()


def test_the_persons_folder_is_found_and_a_file_that_others_may_write_to_is_not(folder: Path) -> None:
    (folder / "mine.py").write_text(LISTENER)
    (folder / "panels").mkdir()
    (folder / "panels" / "my_panel.py").write_text("PANEL = 1")
    (folder / "_not.py").write_text("")
    (folder / "notes.txt").write_text("")
    (folder / "open.py").write_text(LISTENER)
    (folder / "open.py").chmod(0o666)
    complaints: list[str] = []
    found = list(in_folder(folder, complaints))
    assert [(one.kind, one.name) for one in found] == [("extension", "mine"), ("panel", "my-panel")]
    assert len(complaints) == 1 and "everyone can write to open.py" in complaints[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("x = 1", "the file names no EXTENSION"),
        ("EXTENSION = 3", "it is not a subclass of"),
        ("def (", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
    ],
)
def test_a_broken_file_is_named_and_the_rest_goes_on(folder: Path, text: str, said: str) -> None:
    (folder / "mine.py").write_text(LISTENER)
    (folder / "bad.py").write_text(text)
    made, complaints = listening()
    assert [one.name for one in made] == ["mine"]
    assert len(complaints) == 1 and said in complaints[0] and "bad" in complaints[0]


def test_switching_off_and_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.py").write_text(LISTENER)
    assert [one.name for one in listening()[0]] == ["mine"]
    assert main(["extensions", "off", "mine"]) == 0
    assert listening()[0] == [] and Switches().off() == {"extension:mine"}
    assert main(["extensions"]) == 0
    listed = capsys.readouterr().out
    assert "carry-over" in listed and "markdown" in listed and "Mine." not in listed
    assert main(["extensions", "on", "extension:mine"]) == 0
    assert [one.name for one in listening()[0]] == ["mine"]
    assert main(["extensions", "show", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "Mine." in shown and "layer 7" in shown and "hooks: none" in shown
    assert main(["extensions", "off", "notices"]) == 2
    assert "is built in" in capsys.readouterr().err
    assert main(["extensions", "off", "nobody"]) == 2
    assert main(["extensions", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["extensions"]
    assert {row["name"] for row in rows} >= {"mine", "notices", "metrics", "trace", "html", "claude-code"}


def test_a_damaged_list_of_switches_switches_everything_off(folder: Path) -> None:
    (folder / "mine.py").write_text(LISTENER)
    (folder.parent / "extensions.json").write_text("{")
    found = in_use("extension", lambda _: "")
    assert found.used == () and "no extension is used until it can" in found.complaints[0]


def test_one_in_the_step_is_known_by_its_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "stepping.py").write_text(STEP)
    [ref] = in_step().refs
    assert (ref.name, ref.version) == ("stepping", "1") and len(ref.code) == 32
    assert main(["extensions", "check", "stepping"]) == 0
    assert "two runs give the same result" in capsys.readouterr().out
    (folder / "lying.py").write_text(STEP.replace("stepping", "lying").replace('("n",)', '("gone",)'))
    found = in_step()
    assert [one.name for one in found.refs] == ["stepping"] and "lying is ignored" in found.complaints[0]


def test_nothing_of_a_watched_project_is_ever_loaded(home: Path, log: Path) -> None:
    """Everything that could look like an extension, in the folder nooscope is started in."""
    project, marker = home / "project", home / "marker"
    bad = MARKER.format(path=str(marker))
    for name in (
        "extensions/evil.py",
        ".nooscope/extensions/evil.py",
        "nooscope/extensions/evil.py",
        ".config/nooscope/extensions/evil.py",
        "extensions/agents/evil.py",
        "evil.py",
    ):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(bad)
    info = project / "evil-1.dist-info"
    info.mkdir()
    groups = ("extensions", "agents", "panels", "notices", "exporters")
    (info / "entry_points.txt").write_text("".join(f"[nooscope.{one}]\nevil = evil\n" for one in groups))
    (project / "evil.egg-info").mkdir()
    (project / "evil.egg-info" / "entry_points.txt").write_text("[nooscope.extensions]\nevil = evil\n")
    (project / ".nooscope.toml").write_text('[extensions]\nfaults = 999\nfolder = "extensions"\n')
    environment = {**os.environ, "PYTHONPATH": f"{project}{os.pathsep}{ROOT}"}
    for words in (
        ["extensions"],
        ["export", str(log), "--format", "evil"],
        ["watch", str(log), "--headless", "--idle", "0"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "tui.cli", *words, *([] if words[0] == "extensions" else ["--project", "."])],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert not marker.exists(), (words, done.stderr)
        if words[0] == "extensions":
            assert "evil" not in done.stdout
    assert "extensions.faults: " in done.stderr


def test_nothing_is_offered_in_a_plain_home(home: Path) -> None:
    assert find_offers().complaints == ()
    assert [one for one in find_offers().offers if one.file is not None] == []
