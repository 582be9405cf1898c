"""Hooks go in and come out; what was there stays byte for byte, and what could be harmed is refused."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import HooksRefused, StoreError
from core.hooks import install as settings_file
from core.hooks.agent_answers import HOOKS, MODES, HookMode
from core.hooks.install import Installer, holds_ours, hook_stub, put_hooks, settings_bytes, status_stub, without_ours
from core.store.compensation import Chain, ChainEntry, Journal

SHARED = ("claude", "codex", "gemini")
OWN = ("copilot", "opencode", "pi")
KEPT = b'{"model" : "x",\n "hooks": {"Stop":[ {"hooks":[{"type":"command","command":"say done"}]} ]}}'


def installer(home: Path) -> Installer:
    data = home / "data" / "nooscope"
    return Installer(data / "hooks", data / "intake", {}, home)


def settings_of(agent: str, home: Path, project: Path | None = None) -> Path:
    return installer(home).status(HOOKS[agent], project).path


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("agent", list(HOOKS))
def test_in_and_out_where_nothing_was(agent: str, mode: HookMode, tmp_path: Path) -> None:
    one = installer(tmp_path)
    before = {path for path in tmp_path.rglob("*") if "data" not in path.parts}
    path = one.install(HOOKS[agent], mode)
    assert one.status(HOOKS[agent])[:3] == (path, "installed", mode)
    assert path.is_relative_to(tmp_path) and b"nooscope" in path.read_bytes()
    assert one.uninstall(HOOKS[agent]) and not one.uninstall(HOOKS[agent])
    assert one.status(HOOKS[agent]).state == "not installed"
    assert {path for path in tmp_path.rglob("*") if "data" not in path.parts} == before


@pytest.mark.parametrize("agent", SHARED)
@pytest.mark.parametrize("kept", [KEPT, b"{}", b"{ }\n", b'{\n\t"a": 1\n}\n', '{"é": "\\u00e9"}'.encode()])
def test_out_again_the_file_is_byte_for_byte_the_same(agent: str, kept: bytes, tmp_path: Path) -> None:
    path = settings_of(agent, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(kept)
    path.chmod(0o640)
    one = installer(tmp_path)
    for mode in MODES:
        one.install(HOOKS[agent], mode)
        now = json.loads(path.read_bytes())
        was = json.loads(kept)
        assert without_ours(now, {}) == was and stat.S_IMODE(path.stat().st_mode) == 0o640
        for name, entries in was.get("hooks", {}).items():
            assert now["hooks"][name][: len(entries)] == entries
    one.uninstall(HOOKS[agent])
    assert path.read_bytes() == kept and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_was_changed_meanwhile_stays(tmp_path: Path) -> None:
    """The agent itself wrote a setting and a hook: only our entries go."""
    path = settings_of("claude", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(KEPT)
    one = installer(tmp_path)
    one.install(HOOKS["claude"], "guard")
    value = json.loads(path.read_bytes())
    value["theme"] = "dark"
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "ring"}]})
    path.write_text(json.dumps(value, indent=4))
    assert one.uninstall(HOOKS["claude"])
    wanted = json.loads(KEPT) | {"theme": "dark"}
    wanted["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "ring"}]})
    assert path.read_text() == json.dumps(wanted, indent=4)


_names = st.text(min_size=1, max_size=6)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(_names.filter(lambda name: name not in ("hooks", "statusLine")), _json, max_size=4),
    st.dictionaries(st.sampled_from(("Stop", "PreToolUse", "Other")), st.lists(_json, max_size=3), max_size=3),
)
def test_taking_out_undoes_adding(rest: dict[str, Any], hooks: dict[str, Any]) -> None:
    """Whatever else stands in the settings, in the same order."""
    settings = {**rest, "hooks": hooks} if hooks else rest
    entry = {"hooks": [{"type": "command", "command": "/x/nooscope/hooks/claude-advise"}]}
    more = {"statusLine": {"type": "command", "command": "/x/nooscope/hooks/statusline"}}
    put = put_hooks(settings, {"Stop": entry, "PostToolUse": entry}, more)
    assert holds_ours(put) == ["/x/nooscope/hooks/claude-advise", "/x/nooscope/hooks/statusline"]
    assert settings_bytes(without_ours(put, settings), b"") == settings_bytes(settings, b"")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{"a": 1 /* why */}', "not plain JSON"),
        (b'{"a": 1,}', "not plain JSON"),
        (b'// mine\n{"a": 1}', "not plain JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b"[]", "not a table"),
        (b'{"hooks": []}', "not a table"),
        (b'{"hooks": {"Stop": {}}}', "not a list"),
        (b"\xff\xfe", "not plain JSON"),
        (b"[" * 100_000, "not plain JSON"),
    ],
)
@pytest.mark.parametrize("agent", SHARED)
def test_what_could_be_harmed_is_refused_untouched(agent: str, content: bytes, why: str, tmp_path: Path) -> None:
    path = settings_of(agent, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    one = installer(tmp_path)
    with pytest.raises(HooksRefused, match=why):
        one.install(HOOKS[agent], "advise")
    with pytest.raises(HooksRefused, match=why):
        one.uninstall(HOOKS[agent])
    assert why.split(" ")[0] in one.status(HOOKS[agent]).state and path.read_bytes() == content


@pytest.mark.parametrize("agent", SHARED)
def test_links_and_other_things_are_refused(agent: str, tmp_path: Path) -> None:
    path = settings_of(agent, tmp_path)
    path.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.json"
    real.write_bytes(b"{}")
    path.symlink_to(real)
    with pytest.raises(HooksRefused, match="is a link"):
        installer(tmp_path).install(HOOKS[agent], "advise")
    assert path.is_symlink() and real.read_bytes() == b"{}"
    path.unlink()
    path.mkdir()
    with pytest.raises(HooksRefused, match="not a settings file"):
        installer(tmp_path).install(HOOKS[agent], "advise")


def ordinary() -> list[str]:
    """How a program is started for which files are closed, by root too."""
    if os.geteuid():
        return []
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"]


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="everything is readable for root")
def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    path = settings_of("claude", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(KEPT)
    path.chmod(0)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
    }
    for word in ("install", "uninstall"):
        command = [*ordinary(), sys.executable, "-m", "tui.cli", "hooks", word, "claude"]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1
        assert "settings.json: Permission denied; nothing was changed" in done.stderr
    assert path.stat().st_mode & 0o777 == 0
    path.chmod(0o600)
    assert path.read_bytes() == KEPT


@pytest.mark.parametrize("agent", OWN)
def test_a_file_of_that_name_that_is_not_ours_is_left_alone(agent: str, tmp_path: Path) -> None:
    path = settings_of(agent, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    with pytest.raises(HooksRefused, match="not from nooscope"):
        installer(tmp_path).install(HOOKS[agent], "advise")
    with pytest.raises(HooksRefused):
        installer(tmp_path).uninstall(HOOKS[agent])
    assert path.read_text() == "mine"


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = settings_of("claude", tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(KEPT)
    from core.store import atomic

    real = atomic.replace

    def failing(to: Path, content: bytes) -> None:
        if to == path and b"nooscope" in content:
            raise OSError(28, "no room")
        real(to, content)

    monkeypatch.setattr(atomic, "replace", failing)
    with pytest.raises(HooksRefused, match="no room; nothing was changed"):
        installer(tmp_path).install(HOOKS["claude"], "advise")
    assert path.read_bytes() == KEPT and installer(tmp_path).status(HOOKS["claude"]).state == "not installed"
    left = [one.name for one in (tmp_path / "data" / "nooscope" / "hooks").iterdir()]
    assert left == []


def test_a_project_gets_its_own(tmp_path: Path) -> None:
    project = tmp_path / "work"
    project.mkdir()
    one = installer(tmp_path)
    path = one.install(HOOKS["claude"], "advise", project)
    assert path == project / ".claude" / "settings.local.json"
    assert one.status(HOOKS["claude"]).state == "not installed"
    one.uninstall(HOOKS["claude"], project)
    assert list(project.iterdir()) == []


def test_a_status_line_that_was_there_is_chained_and_comes_back(tmp_path: Path) -> None:
    path = settings_of("claude", tmp_path)
    path.parent.mkdir(parents=True)
    line = {"type": "command", "command": "sed 's/.*/it'\"'\"'s mine/'"}
    path.write_text(json.dumps({"statusLine": line}))
    one = installer(tmp_path)
    one.install(HOOKS["claude"], "observe", statusline=True)
    command = json.loads(path.read_bytes())["statusLine"]["command"]
    said = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=True).stdout
    assert said.strip() == b"it's mine"
    value = json.loads(path.read_bytes())
    path.write_text(json.dumps(value | {"theme": "dark"}))
    one.uninstall(HOOKS["claude"])
    assert json.loads(path.read_bytes()) == {"statusLine": line, "theme": "dark"}


@pytest.mark.parametrize("mode", MODES)
def test_the_stub_is_silent_and_never_fails_where_nobody_listens(mode: HookMode, tmp_path: Path) -> None:
    stub = tmp_path / "stub"
    stub.write_text(hook_stub(tmp_path / "it's here", HOOKS["claude"], mode, 0.15))
    done = subprocess.run(["sh", str(stub)], input=b"x" * 200_000, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_status_line_alone_is_silent_too(tmp_path: Path) -> None:
    stub = tmp_path / "stub"
    stub.write_text(status_stub(tmp_path, "", 0.15))
    done = subprocess.run(["sh", str(stub)], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_indentation_is_kept() -> None:
    assert (
        settings_file.settings_bytes({"a": {"b": 1}}, b'{\n    "x": 1\n}') == b'{\n    "a": {\n        "b": 1\n    }\n}'
    )
    assert settings_file.settings_bytes({"a": 1}, b'{"x": 1}\n') == b'{"a": 1}\n'
    assert settings_file.settings_bytes({"a": 1}, None) == b'{\n  "a": 1\n}\n'


def test_installing_again_keeps_a_status_line(tmp_path: Path) -> None:
    one, mine = installer(tmp_path), settings_of("claude", tmp_path)
    one.install(HOOKS["claude"], "observe", statusline=True)
    line = json.loads(mine.read_text())["statusLine"]
    one.install(HOOKS["claude"], "guard")
    assert json.loads(mine.read_text())["statusLine"] == line
    one.uninstall(HOOKS["claude"])
    assert not mine.exists()
    one.install(HOOKS["claude"], "guard")
    assert "statusLine" not in json.loads(mine.read_text())


def test_a_projects_status_line_is_never_run_by_ours(tmp_path: Path) -> None:
    """It would also be run for every other project, where the person installed a status line for all."""
    one, project = installer(tmp_path), tmp_path / "project"
    mine = settings_of("claude", tmp_path)
    mine.parent.mkdir(parents=True)
    mine.write_text('{"statusLine": {"type": "command", "command": "echo mine"}}')
    one.install(HOOKS["claude"], "observe", statusline=True)
    stub = tmp_path / "data" / "nooscope" / "hooks" / "statusline"
    before = stub.read_bytes()
    assert b"echo mine" in before
    theirs = settings_of("claude", tmp_path, project)
    theirs.parent.mkdir(parents=True)
    hostile = '{"statusLine": {"type": "command", "command": "touch marker"}}'
    theirs.write_text(hostile)
    with pytest.raises(HooksRefused, match="runs no command of a project"):
        one.install(HOOKS["claude"], "observe", project, statusline=True)
    assert theirs.read_text() == hostile
    theirs.write_text("{}")
    one.install(HOOKS["claude"], "observe", project, statusline=True)
    assert stub.read_bytes() == before
    assert one.status(HOOKS["claude"], project).state == "installed"
    assert one.uninstall(HOOKS["claude"], project) and theirs.read_text() == "{}"


def test_a_folder_of_a_project_that_leads_out_of_it_is_left_alone(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    theirs = settings_of("claude", tmp_path, project)
    outside.mkdir()
    project.mkdir()
    theirs.parent.symlink_to(outside)
    with pytest.raises(HooksRefused, match="points outside the project"):
        installer(tmp_path).install(HOOKS["claude"], "observe", project)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("agent", [*SHARED, "copilot"])
@pytest.mark.parametrize("mode", MODES)
def test_hooks_whose_program_is_gone_stop_no_agent(agent: str, mode: HookMode, tmp_path: Path) -> None:
    """Somebody deleted our data folder; Copilot CLI denies a call whose hook does not end with 0."""
    path = installer(tmp_path).install(HOOKS[agent], mode, statusline=agent == "claude")
    shutil.rmtree(tmp_path / "data")
    for command in _commands(json.loads(path.read_bytes())):
        done = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def _commands(value: Any) -> list[str]:
    if isinstance(value, list):
        return [command for each in value for command in _commands(each)]
    if not isinstance(value, dict):
        return []
    own = [value[name] for name in ("command", "bash") if isinstance(value.get(name), str)]
    return own + [command for each in value.values() for command in _commands(each)]


def test_one_nooscope_at_a_time_puts_hooks_in(tmp_path: Path) -> None:
    """What another one is about to write is neither read nor overwritten."""
    one = installer(tmp_path)
    with Chain("hooks", tmp_path / "data" / "nooscope" / "hooks"), pytest.raises(StoreError, match="another"):
        one.install(HOOKS["claude"], "advise")
    assert one.status(HOOKS["claude"]).state == "not installed"
    one.install(HOOKS["claude"], "advise")


def test_what_a_crash_left_half_done_is_undone_first(tmp_path: Path) -> None:
    path, folder = settings_of("claude", tmp_path), tmp_path / "data" / "nooscope" / "hooks"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"half": 1}')
    step = ChainEntry("hooks", "step", "w", "k", "restore_file", {"path": str(path), "content": "e30="})
    journal = Journal(folder / "hooks.chain")
    journal.add(step)
    journal.close(keep=True)
    installer(tmp_path).install(HOOKS["claude"], "advise")
    installer(tmp_path).uninstall(HOOKS["claude"])
    assert path.read_bytes() == b"{}"


@pytest.mark.parametrize("made_before", [False, True])
def test_nobody_else_may_put_a_program_there(made_before: bool, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "nooscope" / "hooks"
    before = os.umask(0)
    try:
        if made_before:
            folder.mkdir(parents=True)
        installer(tmp_path).install(HOOKS["claude"], "observe")
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(not stat.S_IMODE(path.stat().st_mode) & 0o077 for path in folder.iterdir())


@pytest.mark.parametrize("mode", MODES)
def test_no_program_of_the_project_is_run(mode: HookMode, tmp_path: Path) -> None:
    """PATH may begin with a folder of the project, such as node_modules/.bin."""
    project, ran = tmp_path / "bin", tmp_path / "ran"
    project.mkdir()
    for name in ("curl", "cat", "printf", "sh", "["):
        (project / name).write_text(f"#!/bin/sh\n/bin/echo {name} >>{ran}\n")
        (project / name).chmod(0o755)
    with socket.socket(socket.AF_UNIX) as served:
        served.bind(str(tmp_path / "socket"))
        for text in (hook_stub(tmp_path, HOOKS["claude"], mode, 0.05), status_stub(tmp_path, "", 0.05)):
            stub = tmp_path / "stub"
            stub.write_text(text)
            stub.chmod(0o700)
            environment = {**os.environ, "PATH": f"{project}:{os.environ['PATH']}"}
            done = subprocess.run([stub], input=b"{}", env=environment, capture_output=True, check=False)
            assert done.returncode == 0
    assert not ran.exists()


def test_a_status_line_from_before_has_the_path_it_had(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\necho my line\n")
    (tmp_path / "mine").chmod(0o755)
    stub = tmp_path / "stub"
    stub.write_text(status_stub(tmp_path, "mine", 0.05))
    stub.chmod(0o700)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([stub], input=b"{}", env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"my line\n")


def test_half_a_character_in_the_settings_is_no_obstacle(tmp_path: Path) -> None:
    path = settings_of("claude", tmp_path)
    path.parent.mkdir(parents=True)
    kept = b'{"prompt": "\\ud83d \xc3\xa9"}\n'
    path.write_bytes(kept)
    one = installer(tmp_path)
    one.install(HOOKS["claude"], "observe")
    assert json.loads(path.read_bytes())["prompt"] == "\ud83d é"
    value = json.loads(path.read_bytes()) | {"theme": "dark"}
    path.write_text(json.dumps(value))
    assert one.uninstall(HOOKS["claude"])
    assert json.loads(path.read_bytes()) == {"prompt": "\ud83d é", "theme": "dark"}
