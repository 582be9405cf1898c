"""Changes rebuilt from a log, and what came of the session."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from core.agents.registry import make_kit
from core.events import Event
from core.logs.finder import sessions
from core.logs.redact.text import redact_lines
from core.logs.session import read_session
from core.report.changes import DiffLine, SessionChanges, change_line, diff_text
from core.report.outcome import OutcomeReader, read_outcome
from core.settings.program import LineSettings


class ClaudeLog:
    """Writes calls and results as Claude Code does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []
        self._last: str | None = None
        self.say("user", "do it")

    def say(self, kind: str, content: Any, parent: str | None = None, **more: Any) -> str:
        number = len(self.records)
        record = {
            "type": kind,
            "uuid": f"u{number}",
            "parentUuid": parent or self._last,
            "sessionId": "s",
            "cwd": "/p",
            "gitBranch": "main",
            "timestamp": f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
            "message": {"role": kind, "content": content},
            **more,
        }
        self.records.append(record)
        self._last = f"u{number}"
        return self._last

    def call(self, tool: str, given: Any, result: str = "ok", *, error: bool = False, told: Any = None) -> str:
        name = f"t{len(self.records)}"
        self.say("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}])
        answer = {"type": "tool_result", "tool_use_id": name, "content": result, "is_error": error}
        return self.say("user", [answer], toolUseResult=told)

    def edit(self, path: str, old: str, new: str, before: str | None = None, **more: Any) -> str:
        given = {"file_path": f"/p/{path}", "old_string": old, "new_string": new}
        told = {"filePath": path, "originalFile": before} if before is not None else None
        return self.call("Edit", given, told=told, **more)

    def read(self) -> tuple[OutcomeReader, list[Event]]:
        self.path.write_text("".join(json.dumps(record) + "\n" for record in self.records))
        return read_whole(self.path)[0]


def read_whole(path: Path) -> list[tuple[OutcomeReader, list[Event]]]:
    kit, lines = make_kit(), LineSettings()
    made = []
    for session in sessions([str(path)], kit, lines):
        events = list(read_session(session, kit, lines))
        made.append((read_outcome(session, events, kit, lines), events))
    return made


def applied(first: list[str], diff: list[DiffLine]) -> list[str]:
    """Lines after a diff; fails where a line that it names is not there."""
    made: list[str] = []
    at = 0
    for line in diff:
        if line.sign != "@":
            made += first[at : max(at, line.old - 1)]
            at = max(at, line.old - 1)
            if line.sign in " -":
                assert first[at] == line.text
                at += 1
            if line.sign in " +":
                made.append(line.text)
    return made + first[at:]


def hidden(whole: str | None) -> list[str]:
    return redact_lines([] if not whole else whole.removesuffix("\n").split("\n"))


@pytest.fixture
def log(tmp_path: Path) -> ClaudeLog:
    return ClaudeLog(tmp_path / "s.jsonl")


def test_a_file_at_every_moment(log: ClaudeLog) -> None:
    log.call("Write", {"file_path": "/p/new.py", "content": "a\nb\n"}, told={"type": "create", "originalFile": None})
    log.edit("old.py", "two\n", "2\nII\n", before="one\ntwo\nthree\n")
    log.edit("old.py", "II\n", "")
    log.edit("old.py", "missing", "x", error=True)
    log.edit("old.py", "2", "two")
    reader, events = log.read()
    seen = [[(one.path, one.added, one.removed) for one in reader.changes.files(n)] for n in range(len(events) + 1)]
    steps = [step for n, step in enumerate(seen) if n == 0 or step != seen[n - 1]]
    new = ("new.py", 2, 0)
    assert steps == [[], [new], [new, ("old.py", 2, 1)], [new, ("old.py", 1, 1)], [new, ("old.py", 0, 0)]]
    assert [one.state for one in reader.changes.files(len(events))] == ["complete", "complete"]
    assert reader.changes.uncounted == 1


@pytest.mark.parametrize(
    ("tool", "given", "told", "state", "said"),
    [
        ("Write", {"file_path": "/p/a.py", "content": "x\n"}, None, "pieces", "text before the first"),
        ("Edit", {"file_path": "/p/a.py", "old_string": "x", "new_string": "y"}, None, "pieces", "only the edited"),
        (
            "NotebookEdit",
            {"notebook_path": "/p/a.py", "cell_id": "1", "new_source": "y"},
            None,
            "command",
            "not contain",
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/p/a.py", "cell_id": "1", "new_source": "y"},
            {"original_file": "x\n", "updated_file": "y\n"},
            "complete",
            "1 edit",
        ),
        ("Bash", {"command": "cat > a.py <<'EOF'\nx\nEOF"}, None, "pieces", "a.py  +1 -0  (1 edit, its text before"),
        ("Bash", {"command": "cat > a.py <<EOF\n$x\nEOF"}, None, "command", "a command wrote it"),
        ("Bash", {"command": "cat >> a.py <<'EOF'\nx\nEOF"}, None, "command", "a command wrote it"),
        ("Bash", {"command": "test -f a.py || cat > a.py <<'EOF'\nx\nEOF"}, None, "command", "a command wrote it"),
        ("Bash", {"command": "cat > a.py <<'EOF'\nx"}, None, "command", "a command wrote it"),
        ("Bash", {"command": "rm a.py"}, None, "command", "deleted, 1 edit, the log does not contain its text"),
        ("Bash", {"command": "rm -f a.py"}, None, "command", "deleted, 1 edit"),
        ("Bash", {"command": "python - <<'E'\nopen('a.py', 'w').write('x')\nE"}, None, "possible", "may have changed"),
        (
            "Bash",
            {"command": "python -c \"print(open('a.py', 'r').read())\"; black a.py"},
            None,
            "possible",
            "may have",
        ),
    ],
)
def test_says_what_the_log_does_not_carry(
    log: ClaudeLog, tool: str, given: Any, told: Any, state: str, said: str
) -> None:
    log.call(tool, given, told=told)
    reader, events = log.read()
    (change,) = reader.changes.files(len(events))
    assert (change.path, change.state) == ("a.py", state)
    assert said in change_line(change)


@pytest.mark.parametrize(
    ("command", "failed", "note"),
    [
        ("sed -i s/x/y/ a.py && pytest", False, "a command wrote it (event 4)"),
        ("cat > a.py <<'EOF'\nx\nEOF\nsed -i s/x/y/ a.py", False, "a command wrote it (event 4)"),
        ("cat > a.py <<'EOF'\nx\nEOF\npython a.py", True, "a command may have changed it (event 4)"),
        ("cat > a.py <<'EOF'\nx\nEOF\npython a.py", False, ""),
        ("tar xzf all.tgz", False, "a command may have changed it (event 4)"),
        ("tar czf all.tgz .", False, ""),
        ("git fetch && git merge origin/main", False, "a command may have changed it (event 4)"),
        ("git checkout feature/one", False, "a command may have changed it (event 4)"),
        ("python3 - <<'E'\nfrom pathlib import Path\nPath('a.py').write_text('y')\nE", False, "a command may have ch"),
        ("python3 - <<'E'\nprint(open('a.py').read())\nE", False, ""),
        ("cp b.py /p/a.py; make", False, "a command wrote it (event 4)"),
        ("sed -i s/x/y/ a.py && pytest", True, "a command may have changed it (event 4)"),
        ("git checkout -- a.py", False, "a command may have changed it (event 4)"),
        ("sed -i s/x/y/ *.py", False, "a command may have changed it (event 4)"),
        ("perl -pi -e s/x/y/ src/**/*.py", False, ""),
        ("git stash", False, "a command may have changed it (event 4)"),
        ("uv run ruff format . && git commit -qam x", False, "a command may have changed it (event 4)"),
        (
            "git stash pop; ruff format --check .; git checkout -b new; sed -n 1p a.py; pytest >/dev/null 2>&1",
            False,
            "",
        ),
    ],
)
def test_a_command_among_others_may_change_a_known_file(log: ClaudeLog, command: str, failed: bool, note: str) -> None:
    log.call("Write", {"file_path": "/p/a.py", "content": "x\n"}, told={"type": "create", "originalFile": None})
    log.call("Bash", {"command": command}, error=failed)
    reader, events = log.read()
    (change,) = reader.changes.files(len(events))
    assert (change.path, change.state) == ("a.py", "pieces" if note else "complete")
    assert len(change.notes) == bool(note) and "".join(change.notes).startswith(note)
    log.edit("a.py", "x", "y", before="x\n")
    reader, events = log.read()
    (change,) = reader.changes.files(len(events))
    assert change.state == "complete"


def test_a_result_beside_others_shows_only_its_own_file(tmp_path: Path) -> None:
    calls = [
        {
            "id": f"{name}_1",
            "name": "replace",
            "args": {"file_path": f"/p/{name}", "old_string": "one", "new_string": "1"},
            "status": "success",
            "timestamp": "2026-01-01T00:00:02Z",
            "resultDisplay": {"originalContent": f"{name} one\n", "newContent": f"{name} 1\n", "isNewFile": False},
        }
        for name in ("a.py", "b.py")
    ]
    messages = [
        {"id": "u", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": "go"},
        {"id": "g", "timestamp": "2026-01-01T00:00:01Z", "type": "gemini", "content": "", "toolCalls": calls},
    ]
    times = {"startTime": "2026-01-01T00:00:00Z", "lastUpdated": "2026-01-01T00:00:03Z"}
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps({"sessionId": "s", "projectHash": "h", **times, "messages": messages}))
    ((reader, events),) = read_whole(path)
    texts = {one.path: reader.changes.texts(one.path, len(events)) for one in reader.changes.files(len(events))}
    assert texts == {f"/p/{name}": (f"{name} one\n", f"{name} 1\n") for name in ("a.py", "b.py")}


def test_a_line_before_an_insertion_is_unchanged(log: ClaudeLog) -> None:
    log.edit("a.py", "x = 1\ny = 2", "x = 1\ny = 2\nz = 3")
    reader, events = log.read()
    lines = [f"{one.sign}{one.text}" for one in reader.changes.diff("a.py", len(events))]
    assert lines[1:] == [" x = 1", " y = 2", "+z = 3"]
    assert [(one.added, one.removed) for one in reader.changes.files(len(events))] == [(1, 0)]


def test_what_was_read_before_a_command_rewrote_it_is_not_the_file(log: ClaudeLog) -> None:
    log.call("Read", {"file_path": "/p/a.py"}, "one\ntwo\nthree\n")
    log.call("Bash", {"command": "black . && pytest"})
    log.edit("a.py", "two\n", "2\n")
    reader, events = log.read()
    assert [one.state for one in reader.changes.files(len(events))] == ["pieces"]


_FILE = "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("tool", "given", "result", "state"),
    [
        ("Bash", {"command": "cat a.py"}, _FILE, "complete"),
        ("Bash", {"command": "cd /p && sed -n '1,4p' a.py"}, _FILE, "complete"),
        ("Bash", {"command": "sed -n '1,3p' a.py"}, _FILE, "pieces"),
        ("Bash", {"command": "sed -n '2,9p' a.py"}, _FILE, "pieces"),
        ("Bash", {"command": "cat a.py | grep two"}, _FILE, "pieces"),
        ("Bash", {"command": "cat a.py"}, f"{_FILE}… 9 tokens truncated …\n", "pieces"),
        ("Bash", {"command": "cat a.py"}, "another text\n", "pieces"),
        ("Bash", {"command": "cat b.py"}, _FILE, "pieces"),
        ("Read", {"file_path": "/p/a.py"}, _FILE, "complete"),
        ("Read", {"file_path": "/p/a.py", "offset": 7}, _FILE, "pieces"),
        ("Read", {"file_path": "/p/a.py"}, "     1→one\n     2→two\n", "pieces"),
        ("Read", {"file_path": "/p/a.py"}, f"{_FILE}\n[605 more lines in file. Use offset=4 to continue]", "pieces"),
    ],
)
def test_a_file_that_was_read_whole_is_known(log: ClaudeLog, tool: str, given: Any, result: str, state: str) -> None:
    log.call(tool, given, result)
    log.edit("a.py", "two\n", "2\n")
    reader, events = log.read()
    (change,) = reader.changes.files(len(events))
    assert (change.state, change.added, change.removed) == (state, 1, 1)
    if state == "complete":
        assert reader.changes.texts("a.py", len(events)) == (_FILE, "one\n2\nthree\n")


def test_patches_add_update_move_and_delete(tmp_path: Path) -> None:
    log = ClaudeLog(tmp_path / "s.jsonl")
    add = "*** Begin Patch\n*** Add File: a.py\n+one\n+two\n*** End Patch"
    move = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n one\n-two\n+zwei\n*** End Patch"
    log.call("apply_patch", {"input": add})
    log.call("apply_patch", {"input": move})
    log.call("apply_patch", {"input": "*** Begin Patch\n*** Delete File: b.py\n*** End Patch"})
    reader, events = log.read()
    places = [n + 1 for n, event in enumerate(events) if type(event).__name__ == "ToolUse"]
    changes = [reader.changes.files(place)[0] for place in places]
    assert [(one.path, one.moved_from, one.deleted) for one in changes] == [
        ("a.py", "", False),
        ("b.py", "a.py", False),
        ("b.py", "a.py", True),
    ]
    assert reader.changes.texts("b.py", places[1]) == (None, "one\nzwei\n")


def test_what_swe_agent_types_into_its_editor(tmp_path: Path) -> None:
    actions = [
        ("open old.py", "n/a"),
        ("edit 3:4\nlost\nend_of_edit\n", "/p/old.py"),
        ("create new.py\n", "/p/old.py"),
        ("edit 1:1\none\nit's two\nend_of_edit\n", "/p/new.py"),
        ("insert 'three'", "/p/new.py"),
        ("str_replace_editor str_replace /p/new.py --old_str one --new_str 1", "/p/new.py"),
    ]
    steps = [
        {"action": action, "observation": "ok", "state": json.dumps({"working_dir": "/p", "open_file": opened})}
        for action, opened in actions
    ]
    path = tmp_path / "run.traj"
    path.write_text(json.dumps({"environment": "x", "trajectory": steps, "history": [], "info": {}}))
    ((reader, events),) = read_whole(path)
    new, old = reader.changes.files(len(events))
    assert reader.changes.texts(new.path, len(events)) == (None, "1\nit's two\nthree\n")
    assert (old.path, old.state) == ("old.py", "command")
    assert old.notes == ("the log does not contain the lines that were replaced (event 5)",)


def test_rewound_edits_do_not_count(log: ClaudeLog) -> None:
    stays = log.edit("a.py", "one", "1", before="one\ntwo\n")
    log.edit("a.py", "two", "2", before="1\ntwo\n")
    log.say("assistant", [{"type": "text", "text": "done"}])
    _, before = log.read()
    log.say("user", "no, another way", parent=stays)
    log.say("assistant", [{"type": "text", "text": "as you like"}])
    reader, events = log.read()
    assert reader.changes.texts("a.py", len(before)) == ("one\ntwo\n", "1\n2\n")
    assert reader.changes.texts("a.py", len(events)) == ("one\ntwo\n", "1\ntwo\n")


def test_secrets_are_hidden_and_lines_stay(log: ClaudeLog) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nMIIEdef\n-----END RSA PRIVATE KEY-----\n"
    log.call("Write", {"file_path": "/p/k", "content": f"x\n{key}y\n"}, told={"type": "create", "originalFile": None})
    reader, events = log.read()
    (change,) = reader.changes.files(len(events))
    text = diff_text(change, reader.changes.diff("k", len(events)))
    assert change.added == 6
    assert "MIIE" not in text
    assert text.splitlines()[3] == "+x"


def test_any_seek_equals_a_replay(log: ClaudeLog) -> None:
    """Random edits: the text is what the edits make, and the order of looks is free."""
    dice = random.Random(7)  # noqa: S311
    texts = {f"f{n}.py": "".join(f"line {row}\n" for row in range(30)) for n in range(3)}
    first = dict(texts)
    seen: set[str] = set()
    for number in range(200):
        name = dice.choice(sorted(texts))
        lines = texts[name].splitlines(keepends=True)
        row = dice.randrange(len(lines))
        old, new = ("".join(lines[row : row + 2]), dice.choice(["", f"new {number}\n", f"{lines[row]}more {number}\n"]))
        if texts[name].count(old) != 1 or texts[name].replace(old, new) == "":
            continue
        log.edit(name, old, new, before=None if name in seen else texts[name])
        seen.add(name)
        texts[name] = texts[name].replace(old, new)
    reader, events = log.read()
    for name, now in texts.items():
        assert reader.changes.texts(name, len(events)) == (first[name], now)
    places = list(range(0, len(events), 7))
    dice.shuffle(places)
    for place in places:
        fresh = SessionChanges()
        fresh.feed(events[:place])
        assert reader.changes.files(place) == fresh.files(place)
        for change in fresh.files(place):
            before, after = reader.changes.texts(change.path, place) or ("", "")
            assert applied(hidden(before), reader.changes.diff(change.path, place)) == hidden(after)


def test_a_step_in_many_edits_is_fast(log: ClaudeLog) -> None:
    for number in range(5_000):
        name, before = f"f{number % 20}.py", None
        if number < 20:
            before = "".join(f"line {row}\n" for row in range(2_000))
        row = number // 20 * 7
        log.edit(name, f"line {row}\n", f"line {row} again\n", before=before)
    reader, events = log.read()
    reader.changes.files(len(events))
    slowest = []
    for place in range(len(events), len(events) - 60, -1):
        started = time.process_time()
        reader.changes.files(place)
        reader.changes.diff("f3.py", place)
        slowest.append(time.process_time() - started)
    assert sorted(slowest)[len(slowest) // 2] < 0.05


@pytest.mark.parametrize("piece", [7, 11, 1 << 20])
def test_commits_count_when_git_reports_them(log: ClaudeLog, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr("core.logs.lines.PIECE", piece)
    log.call("Bash", {"command": "git commit -m x || true"}, "hook failed")
    log.call("Bash", {"command": "git commit -m first"}, "[main 1234567] first\n 1 file changed")
    log.call("Bash", {"command": "git commit --amend -m better"}, "[main 89abcde] better\n 1 file changed")
    log.call("Bash", {"command": "git log"}, "[main 7654321] not a commit")
    log.call(
        "Bash", {"command": "git push"}, "To x\n   1234567..89abcde  main -> main\n ! [rejected] a -> a (fetch first)"
    )
    log.call("Bash", {"command": "git push --dry-run origin next"}, "To x\n   1234567..89abcde  next -> next")
    log.call("Bash", {"command": "gh pr create -f"}, "https://github.com/o/r/pull/12\n")
    log.call("Bash", {"command": "pytest"}, "1 failed", error=True)
    log.records.append({"type": "pr-link", "prNumber": 13, "prUrl": "https://github.com/o/r/pull/13", "sessionId": "s"})
    reader, events = log.read()
    outcome = reader.at(len(events))
    assert [(one.hash, one.subject, one.amended) for one in outcome.commits] == [
        ("1234567", "first", True),
        ("89abcde", "better", False),
    ]
    assert outcome.unverified == 1
    assert [one.to for one in outcome.pushes] == ["main"]
    assert sorted(one.number for one in outcome.pull_requests) == [12, 13]
    assert outcome.tests is not None
    assert outcome.tests.result == "failed"
    assert outcome.short() == "#13, 1 commit, tests fail"
    assert reader.at(2).commits == ()


@pytest.mark.parametrize(
    "command",
    [
        'echo "[main 1234567] fix"; git status',
        "echo git commit -m x; cat notes.txt",
        "printf 'git commit:\\n[main 1234567] fix\\n'",
        "git commit -m x || echo '[main 1234567] fix'",
        "git log --grep='a commit' --format='[main %h] %s'",
        "git commit --dry-run -m x; cat notes.txt",
        "grep 'git commit' notes.txt",
    ],
)
def test_what_only_looks_like_the_report_of_a_commit_does_not_count(log: ClaudeLog, command: str) -> None:
    log.call("Bash", {"command": command}, "[main 1234567] fix\n 1 file changed")
    reader, events = log.read()
    assert reader.at(len(events)).commits == ()


@pytest.mark.parametrize(
    "command",
    [
        "cd /p && git -c user.name=t commit -m 'fix; all'",
        "bash -lc 'git add -A && git commit -qm x && git show --stat'",
        "if git commit -F - <<'EOF'\nfix\nEOF\nthen echo done; fi",
        "git cherry-pick 89abcde",
        "sudo -u me git merge --no-ff next",
    ],
)
def test_a_commit_among_other_commands_counts(log: ClaudeLog, command: str) -> None:
    log.call("Bash", {"command": command}, "[main 1234567] fix\n 1 file changed")
    reader, events = log.read()
    assert [one.hash for one in reader.at(len(events)).commits] == ["1234567"]


def test_real_sessions_apply_their_own_diff(shared_data: Path) -> None:
    """For every file wholly in the log, the diff applied to the first text gives the last one."""
    agents: dict[str, int] = {}
    folders = (one for kind in ("real_sessions", "more_sessions") for one in (shared_data / kind).iterdir())
    for folder in sorted(one for one in folders if one.is_dir() and one.name != "zed"):  # a dump, not its database
        for reader, events in read_whole(folder):
            for place in {len(events) // 2, len(events)}:
                for change in reader.changes.files(place):
                    texts = reader.changes.texts(change.path, place)
                    diff = reader.changes.diff(change.path, place)
                    if texts is not None:
                        agents[folder.name] = agents.get(folder.name, 0) + 1
                        assert applied(hidden(texts[0]), diff) == hidden(texts[1]), (folder, change.path)
                    signs = [line.sign for line in diff]
                    assert (signs.count("+"), signs.count("-")) == (change.added, change.removed)
    assert {"claude-code", "codex", "copilot-cli", "crush", "gemini", "opencode", "pi"} <= set(agents)
    assert {"atif", "claude-code-new", "iflow", "kiro", "omp", "prime-agent"} <= set(agents)
