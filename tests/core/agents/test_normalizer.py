"""Tool names to actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.agents.normalizer import Normalizer
from core.agents.tables import read_tables
from core.engine.values import fingerprint, shape
from core.errors import SettingsError
from core.logs.lines import seconds
from tests.core.agents.samples import NORMALIZER, encoded

_TABLE = {
    "claude-code": {
        "file_read": "Read",
        "file_edit": "Edit MultiEdit Write NotebookEdit",
        "search": "Grep Glob LS WebSearch WebFetch ToolSearch",
        "shell_exec": "Bash BashOutput KillShell",
        "delegation": "Task Agent Workflow SendMessage",
        "plan": "TodoWrite TaskCreate",
    },
    "codex": {
        "file_read": "view_image read_mcp_resource",
        "file_edit": "apply_patch",
        "search": "web_search_call tool_search_call list_mcp_resources list_dir",
        "shell_exec": "shell shell_command exec_command write_stdin local_shell_call",
        "delegation": "spawn_agent wait_agent",
        "plan": "update_plan",
    },
    "gemini": {
        "file_read": "read_file read_many_files",
        "file_edit": "replace write_file",
        "search": "grep_search search_file_content glob list_directory google_web_search web_fetch",
        "shell_exec": "run_shell_command",
        "delegation": "invoke_agent codebase_investigator",
        "memory_write": "save_memory",
        "plan": "write_todos",
    },
    "opencode": {
        "file_read": "read",
        "file_edit": "edit write apply_patch",
        "search": "grep glob lsp webfetch websearch",
        "shell_exec": "bash",
        "delegation": "task",
    },
    "pi": {
        "file_read": "read",
        "file_edit": "edit write",
        "search": "grep find ls",
        "shell_exec": "bash bashExecution",
    },
    "swe-agent": {
        "file_read": "open goto scroll_up scroll_down",
        "file_edit": "edit create",
        "search": "search_dir search_file find_file",
        "shell_exec": "python submit whatever",
    },
    "openhands": {
        "file_read": "read",
        "file_edit": "edit write",
        "search": "browse grep glob",
        "shell_exec": "run run_ipython execute_bash terminal",
        "delegation": "delegate task",
    },
    "copilot-cli": {
        "file_read": "view",
        "file_edit": "edit create",
        "search": "glob grep web_fetch web_search",
        "shell_exec": "bash shell",
        "delegation": "task",
    },
    "cursor": {
        "file_read": "read_file",
        "file_edit": "edit_file search_replace",
        "search": "codebase_search grep_search file_search list_dir",
        "shell_exec": "run_terminal_cmd",
    },
    "nobody-knows": {
        "memory_read": "engram_pull engram_ls recall mcp__memory__search_nodes mem__get mcp__engram__pull",
        "memory_write": "engram_push engram_flag save_memory mcp__memory__create_entities mcp__engram__flag",
        "file_read": "mcp__github__get_file fs__read_text mcp__web__fetch",
        "search": "mcp__db__query mcp__github__list_issues mcp__github__search_code",
        "file_edit": "mcp__fs__write_file fs__edit mcp__git__push",
        "shell_exec": "mcp__box__exec mcp__box__run_command",
        "delegation": "mcp__x__spawn_subagent run_subagent",
        "other": "mcp__browser__take_screenshot frobnicate",
    },
}


@pytest.mark.parametrize(
    ("framework", "action", "tool"),
    [
        (framework, action, tool)
        for framework, actions in _TABLE.items()
        for action, tools in actions.items()
        for tool in tools.split()
    ],
)
def test_table(framework: str, action: str, tool: str) -> None:
    """Every name of every framework."""
    assert NORMALIZER.sort(framework, tool, {}).action == action


@pytest.mark.parametrize("framework", ["swe-agent", "openhands"])
@pytest.mark.parametrize(
    ("command", "action"), [("view", "file_read"), ("create", "file_edit"), ("insert", "file_edit")]
)
def test_a_tool_that_does_several_things(framework: str, command: str, action: str) -> None:
    """The editor only reads when its command says so."""
    assert NORMALIZER.sort(framework, "str_replace_editor", {"command": command, "path": "/a"}).action == action


def test_a_tool_named_like_another_with_its_command_is_told_apart() -> None:
    sorting = Normalizer.load()
    assert sorting.sort("claude-code", "Bash make", {"x": 1}).action == "other"
    assert sorting.sort("claude-code", "Bash", {"command": "make"}).action == "shell_exec"


def test_what_was_sorted_before_changes_nothing() -> None:
    raw = msgspec.Raw(b'{"command": "cat a.py | head -3"}')
    first = Normalizer.load().sort("claude-code", "Bash", raw)
    again = Normalizer.load()
    assert again.sort("claude-code", "Bash", raw) == first
    assert again.sort("claude-code", "Bash", {"command": "cat a.py | head -3"}) == first
    assert again.sort("claude-code", "Other", raw) != first


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/home/me/app/CLAUDE.md", True),
        ("AGENTS.md", True),
        ("docs/GEMINI.md", True),
        ("/x/MEMORY.md", True),
        ("/x/memory/day.md", True),
        ("C:\\x\\memory\\day.md", True),
        ("/x/memory.md", False),
        ("/x/my_memory/day.md", False),
        ("/x/claude.py", False),
    ],
)
def test_the_agents_own_notes(path: str, kept: bool) -> None:
    """Notes are memory, looked at before files."""
    assert (NORMALIZER.sort("claude-code", "Read", {"file_path": path}).action == "memory_read") is kept
    assert (NORMALIZER.sort("claude-code", "Write", {"file_path": path}).action == "memory_write") is kept
    assert NORMALIZER.sort("claude-code", "Grep", {"path": path}).action == "search"


@pytest.mark.parametrize(
    ("arguments", "purpose"),
    [
        ({"session_id": 7, "chars": ""}, "wait"),
        ({"session_id": 7}, "wait"),
        ({"session_id": 7, "chars": "y"}, ""),
        ({"path": "src/a.py"}, ""),
        ({}, ""),
    ],
)
def test_only_who_gives_a_running_command_nothing_waits(arguments: dict[str, Any], purpose: str) -> None:
    assert NORMALIZER.sort("claude-code", "Bash", arguments).purpose == purpose


def test_equal_and_nearly_equal_calls() -> None:
    """Equal calls share a fingerprint, near-duplicates a shape."""

    def sort(command: str) -> tuple[int, int]:
        found = NORMALIZER.sort("claude-code", "Bash", encoded({"command": command}))
        return found.call, found.shape

    assert sort("pytest tests/a.py") == sort("pytest tests/a.py")
    one, two, other = sort("curl x/run/17 -d 'a'"), sort("curl x/run/942 -d 'b'"), sort("wget x/run/17")
    assert one[0] != two[0]
    assert one[1] == two[1] != other[1]
    reading = [NORMALIZER.sort("claude-code", "Read", {"file_path": "/a", "offset": at}) for at in (1, 200)]
    assert reading[0].call != reading[1].call
    assert reading[0].shape == reading[1].shape


def test_edits_say_what_they_took_and_put() -> None:
    """An edit and its undoing swap fingerprints, in every notation."""
    there: list[Any] = [
        {"file_path": "/a", "old_string": "x", "new_string": "y"},
        {"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}]},
        {"path": "/a", "old_str": "x", "new_str": "y"},
    ]
    for arguments in there:
        found = NORMALIZER.sort("claude-code", "Edit", arguments)
        assert (found.before, found.after) == (fingerprint("x"), fingerprint("y"))
    assert NORMALIZER.sort("claude-code", "Write", {"file_path": "/a", "content": "y"}).after == fingerprint("y")


@pytest.mark.parametrize("arguments", [None, 3, [], ["a", 1], "text", b"{", b"[1", {"file_path": 7}, {"edits": [1]}])
def test_arguments_of_any_type(arguments: Any) -> None:
    """Nothing a log holds stops the normalizer."""
    for tool in ("Read", "Edit", "Bash", "Grep", "apply_patch", "nobody"):
        assert NORMALIZER.sort("claude-code", tool, arguments).call != 0


def test_a_users_table_is_laid_over_ours(tmp_path: Path) -> None:
    """A framework nobody here heard of, a name taken over, a verb and a command of the user's own."""
    table = tmp_path / "mine.toml"
    table.write_text(
        '[tools.zork]\nfile_read = ["peer"]\nsearch = ["sniff_*"]\notherwise = "plan"\n'
        '[tools.claude-code]\nother = ["Read"]\n'
        '[verbs]\nfile_edit = ["carve"]\n[shell]\nread = ["bcat"]\n[purposes]\ntest = ["frob check"]\n'
        '[memory]\nfiles = ["ZORK.md"]\n'
    )
    own = Normalizer.load(table)
    assert own.sort("zork", "peer", {"path": "ZORK.md"}).action == "memory_read"
    assert own.sort("zork", "sniff_around", {}).action == "search"
    assert own.sort("zork", "unheard", {}).action == "plan"
    assert own.sort("claude-code", "Read", {}).action == "other"
    assert own.sort("claude-code", "Edit", {}).action == "file_edit"
    assert own.sort("x", "mcp__wood__carve", {}).action == "file_edit"
    assert own.sort("claude-code", "Bash", {"command": "bcat f.py"}).action == "file_read"
    assert own.sort("claude-code", "Bash", {"command": "frob check"}).purpose == "test"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[tools.zork]\nfile_raed = []", "tools.zork.file_raed"),
        ("[tools.zork]\nfile_read = 3", "tools.zork.file_read"),
        ("[tools.zork]\notherwise = 'fly'", "tools.zork.otherwise"),
        ("[tools]\nzork = 1", "tools.zork"),
        ("[verbz]\na = []", "verbz"),
        ("verbs = 1", "verbs"),
        ("[memory]\nfile = []", "memory.file"),
        ("[shell", "not TOML"),
    ],
)
def test_a_broken_table_names_its_field(tmp_path: Path, text: str, named: str) -> None:
    """The message says where to look."""
    table = tmp_path / "mine.toml"
    table.write_text(text)
    with pytest.raises(SettingsError, match=r"mine\.toml") as error:
        Normalizer.load(table)
    assert named in str(error.value)


def test_a_persons_table_replaces_our_words_and_an_absent_one_is_named(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text('[tools.claude-code]\nplan = ["Read"]')
    assert Normalizer.load(table).sort("claude-code", "Read", {}).action == "plan"
    with pytest.raises(SettingsError, match="cannot be read"):
        Normalizer.load(tmp_path / "absent.toml")


def test_fingerprints() -> None:
    """Blank is 0; long texts differ by beginning, end and length."""
    assert fingerprint("") == fingerprint(" \n") == fingerprint(b"") == 0
    assert fingerprint("é") == fingerprint("é".encode())
    long = "a" * 100_000
    assert len({fingerprint(text) for text in (long, long + "a", "b" + long[1:], long[:-1] + "b")}) == 4
    assert fingerprint("\ud800") != 0
    assert shape("commit deadbeef1 at 0x1f") == shape("commit 77aa at 0x2e")


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-03-01T10:00:00.250Z", 1772359200.25),
        ("2026-03-01T10:00:00", 1772359200.0),
        ("2026-03-01T12:00:00+02:00", 1772359200.0),
        ("2026-03-01 10:00:00.25", 1772359200.25),
        (1772359200, 1772359200.0),
        (1772359200250, 1772359200.25),
        ("1772359200", 1772359200.0),
        ("2026-03-01T10:00:xx.250Z", None),
        ("2026-03-01T10:00:1e.250Z", None),
        ("soon", None),
        ("", None),
        (None, None),
        (True, None),
        (-5, None),
        (float("nan"), None),
        (10**400, None),
        ([], None),
    ],
)
def test_times(value: Any, at: float | None) -> None:
    """ISO with or without zone, epoch seconds and milliseconds."""
    seconds("2026-03-01T10:00:59.000Z")
    assert seconds(value) == at


def test_a_table_that_changed_is_noticed_and_ours_stays(tmp_path: Path) -> None:
    """Ours are read once a process; the user's are read again, and leave no trace in ours."""
    table = tmp_path / "tools.toml"
    before = Normalizer.load().sort("claude-code", "Read", {}).action
    for action in ("file_edit", "plan"):
        table.write_text(f'[tools.claude-code]\n{action} = ["Read"]\n[arguments]\npath = ["somewhere"]\n')
        assert Normalizer.load(table).sort("claude-code", "Read", {}).action == action
    assert Normalizer.load().sort("claude-code", "Read", {}).action == before
    assert "somewhere" not in read_tables().lists["arguments"]["path"]
    assert read_tables() is read_tables()
