"""The guard on its real path: an agent's process, the installed program, and the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.hooks import server as handler
from core.hooks.agent_answers import HOOKS
from core.hooks.connection import IntakeFolder, call
from core.hooks.install import Installer, hook_stub
from core.hooks.server import IntakeServer, IntakeThread
from core.settings import Settings
from core.settings.layers import with_value
from core.store.journals import PermitJournal
from tests.core.hooks.calls import hook, tool

_AGENT = 'cat "$1" | "$0"; shift; [ $# -eq 0 ] || "$@"'
"""A process that calls a hook, then perhaps runs another program."""


class Machine:
    """One person's intake folder and the program of Claude Code's guard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = IntakeFolder(folder / "intake")
        self.place.prepare()
        self.stub = folder / "stub"
        self.stub.write_text(hook_stub(self.place.folder, HOOKS["claude"], "guard", 0.15))
        self.stub.chmod(0o700)
        self.threads: list[IntakeThread] = []

    def serve(self, wait: float = 20.0) -> IntakeServer:
        settings = with_value(Settings(), "response.guard.wait", wait)
        server = IntakeServer(settings, self.place, time.time, {}, self.folder)
        self.threads.append(IntakeThread(server))
        return server

    def agent(self, body: Any, *then: str) -> subprocess.Popen[bytes]:
        given = self.folder / f"call-{time.monotonic_ns()}"
        given.write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
        return subprocess.Popen(["sh", "-c", _AGENT, self.stub, given, *then], stdout=subprocess.PIPE)

    def decision(self, body: Any) -> str:
        said = self.agent(body).communicate(timeout=30)[0]
        return str(json.loads(said)["hookSpecificOutput"]["permissionDecision"]) if said else ""

    def question(self) -> int:
        for _ in range(100):
            if waiting := call(self.place, "questions", {}):
                return int(waiting[0]["number"])
            time.sleep(0.05)
        raise AssertionError("nothing waits")

    def journal(self, what: str) -> list[tuple[str, str]]:
        entries = PermitJournal(self.folder / "permits.jsonl").read()
        return [(entry.session, entry.tool) for entry in entries if entry.what == what]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    one = Machine(tmp_path)
    yield one
    for thread in one.threads:
        thread.close()


@pytest.mark.parametrize(("choice", "expected"), [("once", "allow"), ("deny", "deny")])
def test_a_held_call_stays_held_when_a_second_nooscope_starts(choice: str, expected: str, machine: Machine) -> None:
    machine.serve()
    held = machine.agent(tool("PreToolUse", 1, "rm -rf x"))
    machine.question()
    machine.serve()
    number = machine.question()
    assert held.poll() is None
    assert call(machine.place, "decide", {"number": number, "choice": choice})["done"]
    said = json.loads(held.communicate(timeout=10)[0])
    assert said["hookSpecificOutput"]["permissionDecision"] == expected


def _settings(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def damage(home: Path) -> None:
        path = home / ".claude" / "settings.json"
        value = json.loads(path.read_bytes())
        change(value)
        path.write_text(json.dumps(value))

    return damage


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (_settings(lambda one: one["hooks"].pop("PreToolUse")), "no longer calls nooscope at PreToolUse"),
        (_settings(lambda one: one.update(disableAllHooks=True)), "`disableAllHooks` is on"),
        (lambda home: (home / "hooks" / "claude-guard").write_text("#!/bin/sh\n"), "not the program"),
        (lambda home: (home / "hooks" / "claude-guard").chmod(0o600), "cannot be run"),
        (lambda home: (home / "hooks" / "claude-guard").unlink(), "No such file"),
        (lambda home: (home / ".claude" / "settings.json").unlink(), "was deleted"),
    ],
    ids=["entry", "switched off", "replaced", "not executable", "no program", "no file"],
)
def test_a_dead_guard_is_not_called_installed(damage: Callable[[Path], object], problem: str, machine: Machine) -> None:
    machine.serve()
    installer = Installer(machine.folder / "hooks", machine.place.folder, {}, machine.folder)
    installer.install(HOOKS["claude"], "guard")
    assert installer.status(HOOKS["claude"])[1:] == ("installed", "guard", ())
    damage(machine.folder)
    found = installer.status(HOOKS["claude"])
    assert found.state == "damaged" and any(problem in one for one in found.problems)


@pytest.mark.parametrize(
    ("name", "inside", "off"),
    [
        ("settings.json", "", True),
        ("settings.local.json", "sub/folder", True),
        ("settings.json", "sub/.git", False),
        ("other.json", "", False),
    ],
)
def test_a_project_that_switches_hooks_off_is_reported(name: str, inside: str, off: bool, machine: Machine) -> None:
    installer = Installer(machine.folder / "hooks", machine.place.folder, {}, machine.folder)
    installer.install(HOOKS["claude"], "guard")
    project = machine.folder / "project"
    (project / inside).mkdir(parents=True)
    (project / ".claude").mkdir()
    if ".git" not in inside:
        (project / ".git").mkdir()
    (project / ".claude" / name).write_text('{"disableAllHooks": true}')
    here = project / inside.removesuffix("/.git")
    found = installer.status(HOOKS["claude"], here=here)
    assert (found.state == "damaged") == off
    assert found.problems == (
        (f"`disableAllHooks` is on in {project / '.claude' / name}: no hook runs",) if off else ()
    )
    assert installer.status(HOOKS["claude"]).state == "installed"


def test_a_test_call_goes_through_the_installed_program(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = ("claude", "codex", "opencode")
    installer = Installer(machine.folder / "hooks", machine.place.folder, {}, machine.folder)
    for agent in agents:
        installer.install(HOOKS[agent], "guard", answer=bool(HOOKS[agent].answers))
        assert installer.status(HOOKS[agent]).state == "installed", "nobody serves, so nothing can answer"
    server = machine.serve()
    assert [installer.status(HOOKS[agent]).problems for agent in agents] == [(), (), ()]
    assert not server.handler.sessions
    monkeypatch.setattr(handler, "TEST_EVENT", "something else")
    for agent in agents:
        assert any("test call" in one for one in installer.status(HOOKS[agent]).problems)


def test_a_held_call_is_asked_when_the_server_is_gone(machine: Machine) -> None:
    machine.serve()
    held = machine.agent(tool("PreToolUse", 1, "rm -rf x"))
    machine.question()
    machine.threads.pop().close()
    said = json.loads(held.communicate(timeout=20)[0])
    assert said["hookSpecificOutput"]["permissionDecision"] == "ask"


_DECIDE = """
import sys
from pathlib import Path
from core.hooks.connection import call
from core.hooks.connection import IntakeFolder
print(call(IntakeFolder(Path(sys.argv[1])), sys.argv[2], {"number": 1, "choice": "once"}))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell who calls")
def test_an_agent_cannot_decide_about_its_own_calls(machine: Machine) -> None:
    server = machine.serve()
    other = machine.agent(tool("PreToolUse", 1, "rm -rf x"))
    number = machine.question()
    for what in ("decide", "steer", "leave"):
        inner = [sys.executable, "-c", _DECIDE, str(machine.place.folder), what]
        agent = machine.agent(hook("UserPromptSubmit", prompt="go"), *inner)
        assert b"cannot decide about its own calls" in agent.communicate(timeout=20)[0]
    assert server.serving and machine.question() == number
    assert call(machine.place, "decide", {"number": number, "choice": "deny"})["done"]
    said = other.communicate(timeout=10)[0].decode()
    assert "deny" in said and "permits" not in said


def test_the_sentence_for_the_agent_names_no_command(machine: Machine) -> None:
    machine.serve(wait=0.0)
    said = machine.agent(tool("PreToolUse", 1, "rm -rf x")).communicate(timeout=10)[0].decode()
    assert '"ask"' in said and "permits" not in said and "approve" not in said


_SURROGATE = json.dumps(tool("PreToolUse", 1, "X")).replace('"X"', '"rm -rf \\\\ud800"').encode()
HARD = {
    "lone surrogate": _SURROGATE,
    "9 MB": tool("PreToolUse", 1, "echo " + "x" * 9_000_000),
    "uv run": tool("PreToolUse", 1, "uv run " * 1000),
    "cd": tool("PreToolUse", 1, "cd a;cat x;" * 3000),
    "backslashes": tool("PreToolUse", 1, "type C:" + "\\a" * 16_000 + " > /etc/x"),
    "not JSON": b'{"hook_event_name":"PreToolUse", "session_id":',
    "nested": b'{"hook_event_name":"PreToolUse","session_id":"s-1","tool_input":' + b"[" * 50_000,
}


@pytest.mark.parametrize("name", HARD)
def test_input_alone_does_not_open_the_guard(name: str, machine: Machine) -> None:
    machine.serve(wait=0.0)
    begun = time.monotonic()
    assert machine.decision(HARD[name]) == "ask"
    assert time.monotonic() - begun < 5.0


def test_what_cannot_be_decided_is_denied_while_halted_or_unattended(machine: Machine) -> None:
    machine.serve(wait=0.0)
    broken = b'{"hook_event_name":"PreToolUse","session_id":"s-1","tool_input":'
    assert machine.decision(broken + b'"","permission_mode":"bypassPermissions"') == "deny"
    assert machine.decision(broken) == "ask"
    machine.place.halted_file.write_text("s-1\n")
    assert machine.decision(broken) == "deny"
    assert machine.decision(broken.replace(b"s-1", b"s-2")) == "ask"


def test_what_passes_unguarded_is_counted_told_and_written_down(machine: Machine) -> None:
    for _ in range(3):
        assert machine.decision(tool("PreToolUse", 1, "rm -rf x")) == ""
    assert machine.decision(tool("PostToolUse", 1, "ls")) == ""
    sentences: list[str] = []
    server = IntakeServer(
        Settings(), machine.place, time.time, {}, machine.folder, say=lambda said: sentences.append(said)
    )
    machine.threads.append(IntakeThread(server))
    for _ in range(100):
        if sentences:
            break
        time.sleep(0.05)
    assert sentences == ["3 calls were not guarded, 0 were answered by the agent alone"]
    assert machine.journal("unguarded") == [("s-1", "Bash")] * 3
    machine.agent(tool("PreToolUse", 1, "ls")).communicate(timeout=10)
    board = call(machine.place, "board", {})
    assert board["sessions"]["s-1"]["warning"] == "3 calls were not guarded"


def test_a_stalled_server_makes_the_agent_ask(machine: Machine) -> None:
    server = machine.serve()
    server.handler._sorted = lambda *_: time.sleep(3.0)  # type: ignore[method-assign,assignment]
    assert machine.decision(tool("PreToolUse", 1, "touch x")) == "ask"


@pytest.mark.slow
def test_a_burst_of_telemetry_does_not_keep_calls_waiting(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    command = ["listen", "--otlp", "--port", "0", "--set", "response.guard.wait=0"]
    listen = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", *command], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        assert listen.stderr is not None
        line = listen.stderr.readline()
        port = int(line.partition("127.0.0.1:")[2].partition(",")[0])
        listen.stderr.readline()
        (tmp_path / "x").mkdir()
        machine = Machine(tmp_path / "x")
        machine.stub.write_text(hook_stub(tmp_path / "nooscope" / "intake", HOOKS["claude"], "guard", 0.15))
        lines = b"".join(b'{"at":%d,"session":"s","tool":"Bash"}\n' % number for number in range(100_000))
        kind = {"Content-Type": "application/x-ndjson"}
        burst = f"import sys,urllib.request as u;u.urlopen(u.Request({f'http://127.0.0.1:{port}/events'!r},"
        burst += f"open({str(tmp_path / 'lines')!r},'rb').read(),{kind!r}),timeout=60)"
        (tmp_path / "lines").write_bytes(lines)
        sender = subprocess.Popen([sys.executable, "-c", burst])
        answers = []
        for _ in range(100):
            said = machine.agent(tool("PreToolUse", 1, "rm -rf x")).communicate(timeout=30)[0].decode()
            answers.append("this call of rm" in said)
            if sender.poll() is not None:
                break
        sender.kill()
        sender.wait(20)
        assert len(answers) >= 3 and all(answers), answers
    finally:
        listen.kill()
        listen.communicate(timeout=20)
