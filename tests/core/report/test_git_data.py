"""What became of a session's commits, read from a repository without running git."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from core.report.outcome import GitData, SessionOutcome, open_repository, outcome_with_fates
from tests.audit import looking
from tests.core.report.test_changes import ClaudeLog

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
START = 1_767_225_600.0
"""The first moment of `ClaudeLog`."""


class Repository:
    """A repository in which each commit is made a minute after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._minutes = 0
        folder.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        self._minutes += 1
        at = f"{int(START) + 60 * self._minutes} +0000"
        who = {f"GIT_{role}_{part}": part.lower() for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *words],
            check=True,
            capture_output=True,
            text=True,
            env={
                "PATH": "/usr/bin:/bin:/usr/local/bin",
                "HOME": str(self.folder),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_AUTHOR_DATE": at,
                "GIT_COMMITTER_DATE": at,
                **who,
            },
        )
        return done.stdout.strip()

    def commit(self, name: str, message: str = "") -> str:
        (self.folder / name).write_text(f"{name}\n" * 30)
        self.git("add", name)
        self.git("commit", "-qm", message or f"Add {name}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def fates(log: Path, repository: Repository, *hashes: str, session: str = "s") -> list[tuple[str, str, str]]:
    session_log = ClaudeLog(log)
    for name in hashes:
        session_log.call("Bash", {"command": "git commit -m x"}, f"[main {name[:7]}] x\n 1 file changed")
    for record in session_log.records:
        record["cwd"] = str(repository.folder)
    reader, events = session_log.read()
    outcome = outcome_with_fates(reader.at(len(events)), reader.project, session, events[0].at)
    return [(one.hash, one.fate, one.reverted_by or one.checkpoint) for one in outcome.commits]


@pytest.mark.parametrize("packed", [False, True])
def test_a_commit_is_present_reverted_on_no_branch_or_gone(
    packed: bool, repository: Repository, tmp_path: Path
) -> None:
    stays, undone, left = (repository.commit(name) for name in ("a", "b", "c"))
    repository.git("reset", "-q", "--hard", "HEAD~1")
    repository.git("revert", "--no-edit", undone)
    revert = repository.git("rev-parse", "HEAD")
    again = repository.commit("d")
    repository.git("revert", "--no-edit", again)
    repository.git("revert", "--no-edit", "HEAD")
    if packed:
        repository.git("repack", "-qadf", "--depth=20")
        repository.git("pack-refs", "--all")
        left = ""
    rows = fates(tmp_path / "s.jsonl", repository, stays, undone, again, "0" * 40, *filter(None, [left]))
    assert rows == [
        (stays[:7], "present", ""),
        (undone[:7], "reverted", revert[:7]),
        (again[:7], "present", ""),
        ("0000000", "gone", ""),
        *([(left[:7], "on no branch", "")] if left else []),
    ]


def test_every_packed_object_is_what_git_says(repository: Repository) -> None:
    text = "".join(f"line {number}\n" for number in range(2_000))
    for number in range(12):
        (repository.folder / "long").write_text(text + f"end {number}\n")
        repository.git("add", "long")
        repository.git("commit", "-qm", f"Change {number}")
    repository.git("repack", "-qadf", "--depth=20")
    data = GitData(repository.folder / ".git")
    commits = list(data.commits(0.0))
    assert [commit.id for commit in commits] == repository.git("log", "--format=%H").splitlines()
    for commit in commits:
        assert data.file_at(commit.tree, "long").decode().strip() == repository.git("show", f"{commit.id}:long")


def test_a_checkpoint_links_a_commit_to_its_session(repository: Repository, tmp_path: Path) -> None:
    folder = repository.folder / "a3" / "b2c4d5e6f7" / "0"
    repository.git("checkout", "-q", "--orphan", "entire/checkpoints/v1")
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({"session_id": "s"}))
    repository.git("add", ".")
    repository.git("commit", "-qm", "Checkpoint")
    repository.git("checkout", "-q", "--orphan", "main")
    own = repository.commit("own", "Add own\n\nEntire-Checkpoint: a3b2c4d5e6f7")
    other = repository.commit("other", "Add other\n\nEntire-Checkpoint: 0123456789ab")
    token = f"ghp_{'abcdefghij0123456789' * 2}"[:40]
    by_hand = repository.commit("by_hand", f"Add {token} by hand\n\nEntire-Checkpoint: a3b2c4d5e6f7")
    rows = fates(tmp_path / "s.jsonl", repository, own, other)
    assert rows == [
        (own[:7], "present", "a3b2c4d5e6f7"),
        (other[:7], "present", "0123456789ab"),
        (by_hand[:7], "present", "a3b2c4d5e6f7"),
    ]
    linked = outcome_with_fates(SessionOutcome(), str(repository.folder), "s", 0.0)
    assert "Add <redacted> by hand" in [commit.subject for commit in linked.commits]


def test_nothing_is_said_of_a_repository_that_cannot_be_read(repository: Repository, tmp_path: Path) -> None:
    name = repository.commit("a")
    (repository.folder / ".git" / "config").write_text("[extensions]\n\tobjectformat = sha256\n")
    assert open_repository(str(repository.folder)) is None
    assert fates(tmp_path / "s.jsonl", repository, name) == [(name[:7], "", "")]
    shutil.rmtree(repository.folder / ".git")
    assert open_repository(str(repository.folder / "nowhere")) is None


def test_a_damaged_object_and_a_worktree(repository: Repository, tmp_path: Path) -> None:
    name = repository.commit("a")
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    data = open_repository(str(tmp_path / "tree"))
    assert data is not None
    assert [commit.id for commit in data.commits(0.0)] == [name]
    path = repository.folder / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o600)
    path.write_bytes(b"damaged")
    assert fates(tmp_path / "s.jsonl", repository, name) == [(name[:7], "", "")]


def test_a_hostile_repository_runs_nothing(repository: Repository, tmp_path: Path) -> None:
    name = repository.commit("a")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    trap.chmod(0o700)
    shutil.copy(trap, repository.folder / ".git" / "hooks" / "post-index-change")
    (repository.folder / ".gitattributes").write_text("* filter=evil diff=evil\n")
    with (repository.folder / ".git" / "config").open("a") as config:
        config.write(f"[core]\nfsmonitor = {trap}\npager = {trap}\n[diff]\nexternal = {trap}\n")
        config.write(f'[filter "evil"]\nclean = {trap}\n[diff "evil"]\ntextconv = {trap}\n')
    with looking() as seen:
        assert fates(tmp_path / "s.jsonl", repository, name) == [(name[:7], "present", "")]
    assert seen.started == []
    assert not (tmp_path / "ran").exists()
    repository.git("status")
    assert (tmp_path / "ran").exists()  # git itself would have run it
