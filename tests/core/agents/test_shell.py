"""What shell commands are taken for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.shell import Purposes, Shell
from core.agents.shell_script import split
from core.agents.tables import read_tables
from tests.core.agents.samples import NORMALIZER

_PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.py\n@@\n-old\n+new\n*** End Patch\nEOF"
_COMMIT = 'git add -A && git commit -m "$(cat <<\'EOF\'\nFix "quotes"; rm -rf nothing\nEOF\n)"'


@pytest.mark.parametrize(
    ("command", "action", "program", "purpose", "targets"),
    [
        ("cat foo.py", "file_read", "cat", "", ("foo.py",)),
        ("sed -n '1,80p' src/x.py", "file_read", "sed", "", ("src/x.py",)),
        ("head -n 20 a.txt", "file_read", "head", "", ("a.txt",)),
        ("tail -50 log.txt", "file_read", "tail", "", ("log.txt",)),
        ("less README.md", "file_read", "less", "", ("README.md",)),
        ("nl -ba a/b.py | sed -n '1,20p'", "file_read", "nl", "", ("a/b.py",)),
        ("cat foo.py | head -20", "file_read", "cat", "", ("foo.py",)),
        ("rg -n 'a|b' src", "search", "rg", "", ("src",)),
        ("grep -rn foo src tests | sort | uniq -c", "search", "grep", "", ("src", "tests")),
        ("find . -name '*.py' -type f", "search", "find", "", (".",)),
        ("ls -la", "search", "ls", "", ()),
        ("tree -L 2 core", "search", "tree", "", ("core",)),
        ("fd loader", "search", "fd", "", ()),
        ("git grep needle", "search", "git", "", ()),
        ("cat a.py && rg x src", "search", "rg", "", ("src",)),
        ("cat a.py | grep x", "search", "grep", "", ()),
        ("sed -i 's/a/b/' src/x.py", "file_edit", "sed", "", ("src/x.py",)),
        ("sed -i.bak -e 's/a/b/' src/x.py", "file_edit", "sed", "", ("src/x.py",)),
        ("echo hi > out.txt", "file_edit", "echo", "", ("out.txt",)),
        ("cat >> notes.txt <<'EOF'\nrm -rf /\nEOF", "file_edit", "cat", "", ("notes.txt",)),
        ("echo a | tee b.txt", "file_edit", "tee", "", ("b.txt",)),
        (_PATCH, "file_edit", "apply_patch", "", ("src/a.py",)),
        ("rg -l x | xargs sed -i 's/x/y/'", "file_edit", "sed", "", ()),
        ("python app.py", "shell_exec", "python", "", ("app.py",)),
        ("python app.py > out.txt", "shell_exec", "python", "", ("app.py",)),
        ("make 2>/dev/null", "shell_exec", "make", "build", ()),
        ("pytest -q tests/test_a.py::test_b 2>&1 | tail -5", "shell_exec", "pytest", "test", ("tests/test_a.py",)),
        ("cd src && pytest tests/test_a.py", "shell_exec", "pytest", "test", ("src/tests/test_a.py",)),
        ("cd src && cat a.py", "file_read", "cat", "", ("src/a.py",)),
        ("uv run pytest -x", "shell_exec", "pytest", "test", ()),
        ("python -m pytest", "shell_exec", "pytest", "test", ()),
        ("python -m unittest discover", "shell_exec", "unittest", "test", ()),
        ("FOO=1 npm run test:unit", "shell_exec", "npm", "test", ()),
        ("timeout 60 cargo test", "shell_exec", "cargo", "test", ()),
        ("python manage.py test app", "shell_exec", "python", "test", ("manage.py",)),
        ("make -j4 test", "shell_exec", "make", "test", ()),
        ("cargo build --release", "shell_exec", "cargo", "build", ()),
        (_COMMIT, "shell_exec", "git", "commit", ()),
        ("git -C sub commit -am wip", "shell_exec", "git", "commit", ()),
        ("git log --grep commit", "shell_exec", "git", "", ()),
        ("git commit --dry-run -m x", "shell_exec", "git", "", ()),
        ("rm -rf build", "shell_exec", "rm", "destructive", ()),
        ("rm notes.txt", "shell_exec", "rm", "", ("notes.txt",)),
        ("git reset --hard HEAD~1", "shell_exec", "git", "destructive", ()),
        ("git push origin main --force", "shell_exec", "git", "destructive", ()),
        ("git clean -fd", "shell_exec", "git", "destructive", ()),
        ("find . -name '*.pyc' -delete", "shell_exec", "find", "destructive", ()),
        ("sleep 30", "shell_exec", "sleep", "wait", ()),
        ("sleep 5; cat log.txt", "file_read", "cat", "wait", ("log.txt",)),
        ("bash -lc 'sed -n 1,20p core/x.py'", "file_read", "sed", "", ("core/x.py",)),
        ("for f in a b; do cat x/$f; done", "file_read", "cat", "", ()),
        ("echo '> not.a.file'", "shell_exec", "echo", "", ()),
        ('echo "a && rm -rf /"', "shell_exec", "echo", "", ()),
        ("cat a.py # && rm -rf /", "file_read", "cat", "", ("a.py",)),
        ("cat CLAUDE.md", "memory_read", "cat", "", ("CLAUDE.md",)),
        ("echo x >> docs/AGENTS.md", "memory_write", "echo", "", ("docs/AGENTS.md",)),
        ("", "shell_exec", "", "", ()),
    ],
)
def test_command(command: str, action: str, program: str, purpose: str, targets: tuple[str, ...]) -> None:
    """The strongest part of a command line says what it is."""
    found = NORMALIZER.sort("claude-code", "Bash", {"command": command})
    assert (found.action, found.program, found.purpose) == (action, program, purpose)
    if action != "shell_exec" or targets:
        assert found.targets == targets


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "cd a",
                'cd ""',
                "cd ..",
                "cat x.py",
                "cat x.py > y.py",
                "head -3",
                "rm -rf b",
                "bash -c 'cat z.py'",
                "npm test",
                "./run a/b.py",
                "sudo make",
            ]
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([" && ", " | ", "; "]),
)
def test_what_was_judged_before_changes_nothing(commands: list[str], between: str) -> None:
    script = between.join(commands)
    lists = read_tables().lists
    fresh = Shell(lists["shell"], Purposes(lists["purposes"]))
    used = Shell(lists["shell"], Purposes(lists["purposes"]))
    for command in (*commands, f"cd elsewhere && {script}", script):
        used.judge(command)
    assert used.judge(script) == fresh.judge(script)


def test_a_list_of_words_is_run_without_a_shell() -> None:
    """Codex gives words; only what a shell is told is split."""
    listed = NORMALIZER.sort("codex", "shell", {"command": ["bash", "-lc", "cat a.py && rg x lib"]})
    assert (listed.action, listed.targets) == ("search", ("lib",))
    plain = NORMALIZER.sort("codex", "shell", {"command": ["cat", "a && rm -rf b"]})
    assert (plain.action, plain.purpose) == ("file_read", "")


def test_a_patch_says_what_it_took_and_put() -> None:
    """Undoing a patch swaps both fingerprints."""
    there = NORMALIZER.sort("codex", "shell", {"command": _PATCH})
    back = NORMALIZER.sort("codex", "shell", {"command": _PATCH.replace("-old\n+new", "-new\n+old")})
    assert there.before == back.after != 0
    assert there.after == back.before != 0


def test_parts_keep_quotes_and_documents_apart() -> None:
    """Quoted operators and here-documents do not split a command."""
    parts = split("a 'b && c' \"d | e\" <<X | f > g\nh; i\nX\nj")
    assert [part.words for part in parts] == [["a", "b && c", "d | e"], ["f"], ["j"]]
    assert parts[0].here == ["h; i\n"]
    assert (parts[1].piped, parts[1].writes) == (True, ["g"])


@given(st.text(alphabet="ab'\"\\$`(){}<>|&;#\n \t-=2", max_size=60))
@settings(max_examples=400)
def test_no_command_is_too_odd(command: str) -> None:
    """Whatever is written, it is judged, and judged the same again."""
    first = NORMALIZER.sort("claude-code", "Bash", {"command": command})
    assert first == NORMALIZER.sort("claude-code", "Bash", {"command": command})


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (r"cat C:\Users\me\notes.txt", r"C:\Users\me\notes.txt"),
        (r'cat "C:\Users\me\notes.txt"', r"C:\Users\me\notes.txt"),
        (r"cat 'C:\Users\me\notes.txt'", r"C:\Users\me\notes.txt"),
        (r'cat "C:\\Users\\me"', r"C:\Users\me"),
        (r"cat C:/Users/me/notes.txt", "C:/Users/me/notes.txt"),
        (r"cat .\src\main.py", r".\src\main.py"),
        (r"cd src && cat C:\a\b.txt", r"C:\a\b.txt"),
        (r"python C:\work\run", r"C:\work\run"),
    ],
)
def test_paths_of_windows_keep_what_parts_them(command: str, path: str) -> None:
    """With and without quotes, and whatever the folder."""
    assert NORMALIZER.sort("claude-code", "Bash", {"command": command}).targets == (path,)


def test_a_backslash_is_still_an_escape() -> None:
    """Before a blank, a quote and a dollar."""
    assert split(r'cat my\ file.txt a\"b "x\"y\$z\d"')[0].words == ["cat", "my file.txt", 'a"b', r'x"y$z\d']


def test_a_program_of_windows_is_known_by_its_name() -> None:
    """Without its folder and ending."""
    told = NORMALIZER.sort("claude-code", "Bash", {"command": r"C:\Python\python.exe x.py"})
    assert told.program == "python"
