"""What nooscope says of a session in a git repository, against `git diff` and `git log`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.agents.fake_model import Answer, FakeModel, say, use
from tests.agents.programs import Agent, Claude, Codex
from tests.agents.test_real_agents import run
from tui.cli import main

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
_CODE = "def add(a, b):\n    return a + b\n\n\ndef double(a):\n    return add(a, a)\n"
_TEST = (
    "import unittest\n\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(2, 2), 4)\n"
)
_BREAKS = ("    return a + b\n", "    return a - b\n")
_FIXES = ("    return a - b\n", "    return sum((a, b))\n")
_FITS_NOT = ("    return a * b\n", "    return 0\n")


def git(folder: Path, *words: str, text: str | None = None) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout


def edit(kind: type[Agent], path: Path, texts: tuple[str, str]) -> Answer:
    """An edit of one line, in the agent's own words."""
    if kind is Claude:
        return use("Edit", file_path=str(path), old_string=texts[0], new_string=texts[1])
    patch = f"*** Begin Patch\n*** Update File: {path.name}\n@@\n-{texts[0]}+{texts[1]}*** End Patch"
    return run(kind, f"apply_patch <<'EOF'\n{patch}\nEOF")


def story(kind: type[Agent], project: Path) -> list[Answer]:
    """Edit, fail, fix, commit; an edit that fits nowhere, and commits that fail, are among it."""
    code, notes = project / "calc.py", project / "notes.txt"
    look = use("Read", file_path=str(code)) if kind is Claude else run(kind, "cat calc.py")
    new = f"*** Begin Patch\n*** Add File: {notes.name}\n+fixed\n*** End Patch"
    return [
        look,
        edit(kind, code, _BREAKS),
        edit(kind, code, _FITS_NOT),
        run(kind, "python3 -m unittest test_calc"),
        edit(kind, code, _FIXES),
        use("Write", file_path=str(notes), content="fixed\n")
        if kind is Claude
        else run(kind, f"apply_patch <<'EOF'\n{new}\nEOF"),
        run(kind, "python3 -m unittest test_calc"),
        run(kind, "git checkout -q -b fix; git add -A && git commit -m 'Fix add'"),
        run(kind, "git commit -m 'Nothing to commit' || true"),
        run(
            kind,
            "printf 'exit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit;"
            " git commit --allow-empty -m 'Refused'",
        ),
        say("The fix is committed."),
    ]


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("kind", [Claude, Codex])
def test_changes_and_outcome_agree_with_git(
    kind: type[Agent], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "calc.py").write_text(_CODE)
    (project / "test_calc.py").write_text(_TEST)
    (project / ".gitignore").write_text("__pycache__\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "config", "user.name", "t")
    git(project, "config", "user.email", "t@t")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "base")
    with FakeModel({"make it work": story(kind, project)}) as model:
        agent = kind(tmp_path, model.url)
        agent.run("make it work")
    [log] = map(str, agent.logs())

    changes = json.loads(shown(capsys, "changes", log, "--json"))
    rows = {one["path"]: (one["added"], one["removed"]) for one in changes["files"]}
    stat = [line.split("\t") for line in git(project, "diff", "--numstat", "main", "fix").splitlines()]
    assert rows == {name: (int(added), int(removed)) for added, removed, name in stat}

    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", "-b", "main", str(project), str(copy))
    git(copy, "apply", "-", text=shown(capsys, "changes", log))
    for name in rows:
        assert (copy / name).read_text() == git(project, "show", f"fix:{name}")

    outcome = json.loads(shown(capsys, "analyze", log, "--json"))["sessions"][0]["outcome"]
    hashes = git(project, "log", "--format=%h %s", "main..fix").splitlines()
    assert [f"{one['hash']} {one['subject']}" for one in outcome["commits"]] == hashes == [hashes[0]]
    assert outcome["commits"][0]["fate"] == "present"
    assert (outcome["branch"], outcome["tests"]["result"], outcome["unverified"]) == ("fix", "passed", 1)
    git(project, "config", "core.hooksPath", os.devnull)
    git(project, "checkout", "-q", "fix")
    git(project, "revert", "--no-edit", "HEAD")
    outcome = json.loads(shown(capsys, "analyze", log, "--json"))["sessions"][0]["outcome"]
    assert outcome["commits"][0]["fate"] == "reverted"
