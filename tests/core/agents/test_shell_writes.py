"""What a shell command writes: most commands are seen at a glance to write nothing."""

from __future__ import annotations

import pytest

from core.agents import shell
from core.agents.normalizer import shell_writes

WRITING = (
    "echo a > b.txt",
    "cd src\nrm a.py",
    "cat a|tee b",
    "git stash",
    "git -C sub cherry-pick abc",
    'git commit -m "x" && git checkout -- a.py',
    "mix format",
    "go fmt ./...",
    "prettier --write a.ts",
    "gofmt -lw a.go",
    "clang-format -i a.c",
    "ruff check --fix a.py",
    "sed -i s/a/b/ a.py",
    "(rm a.py)",
    "/bin/rm a.py",
    "python -c \"open('a.txt', 'w').write('x')\"",
    "python -c \"from pathlib import Path; Path('a.txt').write_text('x')\"",
    "node -e \"fs.writeFileSync('a.js', '')\"",
    "ruby -e \"File.write('a.rb', '')\"",
    'bash -lc "mv a.py b.py"',
    "curl -o a.html https://example.org",
    "dd if=a.img of=b.img",
)
READING = (
    "git status",
    "git log --format=%h",
    "mix test",
    "go build ./... 2>&1",
    "make >/dev/null",
    "ls",
    "gofmtx -w a",
)


@pytest.mark.parametrize("command", WRITING + READING)
def test_a_glance_leaves_out_no_write(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_glance = shell_writes({"command": command})
    monkeypatch.setattr(shell, "_looks_like_writing", lambda _: True)
    assert at_a_glance == shell_writes({"command": command})
    assert bool(at_a_glance) == (command in WRITING)


@pytest.mark.parametrize("command", READING[:-1])
def test_commands_that_write_nothing_are_not_taken_apart(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "_parts", lambda _: pytest.fail("it was taken apart"))
    assert shell_writes({"command": command}) == {}
