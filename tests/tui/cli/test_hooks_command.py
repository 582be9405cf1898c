"""The commands of the loop: hooks in and out, what waits, what was said."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.hooks.connection import call, default_place
from core.hooks.server import IntakeServer
from core.settings import Settings
from core.settings.layers import with_value
from core.store.carry_over import CarryOverStore
from core.store.journals import SaidStore
from core.timeline.initial_state import InitialState
from core.timeline.run_inputs import InitialStates
from tests.core.hooks.calls import failure, hook, tool
from tests.core.hooks.test_session import log_line
from tui.cli import main
from tui.cli.launch import serving_hooks


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name[4:6]))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def served() -> Iterator[None]:
    with serving_hooks(Settings(), True):
        yield


def ask(path: str, value: object) -> object:
    return call(default_place(), path, value, 10.0)


def test_a_session_starts_alike_for_the_guard_and_the_screen(home: Path) -> None:
    server = IntakeServer(Settings(), default_place(), lambda: 5e8, {}, home, starts=CarryOverStore())
    guard = server._begin("s-9", "claude-code", "/p")
    assert guard.initial.learned is not None
    screen = InitialStates(Settings(), store=CarryOverStore()).begin("s-9", lambda: InitialState(1))
    assert screen == guard


def test_in_status_and_out(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hooks", "install", "codex", "--advise"]) == 0
    assert "/hooks" in capsys.readouterr().out
    assert main(["hooks", "status"]) == 0
    said = capsys.readouterr().out
    assert "codex     installed (advise)" in said and "claude    not installed" in said
    assert "nooscope is not serving hooks" in said
    assert main(["doctor"]) == 0
    assert "any nooscope screen serves them" in capsys.readouterr().out
    assert main(["hooks", "uninstall", "codex"]) == 0
    assert "removed" in capsys.readouterr().out and not (home / ".codex").exists()
    assert main(["hooks", "uninstall", "codex"]) == 0
    assert "no hooks of nooscope" in capsys.readouterr().out


def test_for_a_project_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hooks", "install", "claude", "--project"]) == 0
    assert (home / ".claude" / "settings.local.json").exists()
    assert main(["hooks", "status", "claude", "--project", str(home)]) == 0
    assert "claude    installed (observe)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["hooks", "install"], 2, "name an agent"),
        (["hooks", "install", "codex", "--statusline"], 2, "only claude"),
        (["hooks", "install", "codex", "--deadline", "0"], 2, "leaves no time for an answer"),
        (["permits", "approve"], 2, "name the number"),
        (["permits", "approve", "1"], 1, "nothing is waiting"),
        (["advice", "--tell", "s", "x"], 1, "nooscope is not serving hooks"),
        (["listen", "--no-hooks"], 2, "--otlp"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    assert said in capsys.readouterr().err


def test_refused_files_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{} // mine")
    assert main(["hooks", "install", "claude"]) == 1
    assert "nothing was changed" in capsys.readouterr().err


@pytest.mark.usefixtures("served")
def test_a_question_is_listed_answered_and_in_the_journal(capsys: pytest.CaptureFixture[str]) -> None:
    ask("hook/claude/guard", tool("PreToolUse", 1, "rm -rf x"))
    assert main(["permits"]) == 0
    assert "1  waits  Bash  rm -rf x  (session s-1; this call of rm destroys something)" in capsys.readouterr().out
    assert main(["permits", "approve", "1", "--session"]) == 0
    assert "Approved for this session." in capsys.readouterr().out
    assert main(["permits", "deny", "1"]) == 1
    assert "question 1 is no longer waiting" in capsys.readouterr().err
    assert main(["permits", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["waiting"] == [] and [one["what"] for one in told["decided"]] == ["asked", "approved"]
    assert main(["permits", "--verify"]) == 0
    assert "2 lines, none changed" in capsys.readouterr().out
    journal = default_place().folder.parent / "permits.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"Bash", b"Read", 1))
    assert main(["permits", "--verify"]) == 1
    assert "line 1 was changed" in capsys.readouterr().out


@pytest.mark.usefixtures("served")
def test_what_was_said_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advice"]) == 0
    assert "No advice was sent so far" in capsys.readouterr().out
    for number in range(6):
        ask("hook/claude/advise", failure(number))
        ask("hook/claude/advise", hook("PostToolBatch"))
    assert main(["advice", "--tell", "s-1", "look at the mock"]) == 0
    ask("hook/claude/advise", hook("PostToolBatch"))
    capsys.readouterr()
    assert main(["advice", "--json"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["rule"], one["session"]) for one in said] == [("loop_alert", "s-1"), ("person", "s-1")]
    assert main(["advice"]) == 0
    assert "[nooscope] look at the mock" in capsys.readouterr().out


def loop_until_advice(home: Path, number: int, hooked: bool = True) -> bool:
    """One session fails until advice is due, and writes its log: it stops failing if it was told; whether it was."""
    session, sentence = f"s-{number}", ""
    for call_number in range(5 if hooked else 0):
        ask("hook/claude/advise", failure(call_number) | {"session_id": session})
    if hooked:
        settings = json.loads((home / ".claude" / "settings.json").read_bytes())
        program = ["sh", "-c", settings["hooks"]["PostToolBatch"][0]["hooks"][0]["command"]]
        batch = json.dumps(hook("PostToolBatch", session)).encode()
        answer = subprocess.run(program, input=batch, capture_output=True, check=True).stdout
        sentence = json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""
    parts: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": "go"}}]
    for place in range(17):
        fails = place < 5 or not sentence
        program_input = {"command": "python3 missing.py" if fails else f"ls {place}"}
        use = {"type": "tool_use", "id": f"{session}-{place}", "name": "Bash", "input": program_input}
        output = "Exit code 2\nno such file" if fails else f"file {place}"
        end = {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": fails}
        message = {"id": f"{session}-m{place}", "model": "claude-opus-4-8", "role": "assistant", "content": [use]}
        parts += [{"type": "assistant", "message": message}, {"type": "user", "message": {"content": [end]}}]
        if place == 4 and sentence:
            said = {"type": "hook_additional_context", "content": [sentence], "hookEvent": "PostToolBatch"}
            parts.append({"type": "attachment", "attachment": said})
    minute = f"2026-01-01T{number // 60:02}:{number % 60:02}"
    lines = [
        log_line(place, f"{minute}:{place:02}Z", **part | {"sessionId": session, "uuid": f"{session}-{place}"})
        for place, part in enumerate(parts)
    ]
    (home / "logs").mkdir(exist_ok=True)
    (home / "logs" / f"{session}.jsonl").write_text("\n".join(lines) + "\n")
    return bool(sentence)


def loops_under_silence(home: Path, seed: int, numbers: range) -> list[bool]:
    """Of several sessions, whether each was told, where half of all advice is withheld at random."""
    settings = with_value(with_value(Settings(), "response.advice.silence", 0.5), "response.advice.seed", seed)
    with serving_hooks(settings, True):
        return [loop_until_advice(home, number) for number in numbers]


def test_advice_withheld_at_random_is_recorded_and_compared(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the agent's hook program to the comparison: too few at first, then an interval."""
    assert main(["hooks", "install", "claude", "--advise", "--deadline", "5"]) == 0
    told = loops_under_silence(home, 1, range(10))
    assert 0 < sum(told) < 10
    said = list(SaidStore(default_place().folder.parent / "said.jsonl").read())
    assert [(one.session, one.rule, not one.withheld) for one in said] == [
        (f"s-{number}", "loop_alert", was_told) for number, was_told in enumerate(told)
    ]
    assert main(["advice"]) == 0
    assert capsys.readouterr().out.count("withheld: [nooscope]") == told.count(False)
    assert main(["advice", "logs"]) == 0
    assert f"{sum(told)} given, {told.count(False)} withheld at random: too few" in capsys.readouterr().out
    loop_until_advice(home, 70, hooked=False)  # Told nothing for another reason, which is not by chance.
    told += loops_under_silence(home, 1, range(10, 60))
    assert main(["advice", "logs"]) == 0
    shown = capsys.readouterr().out
    assert f"Withheld at random: {sum(told)} given, {told.count(False)} withheld at random: the trouble" in shown
    assert "after 0% and 100%: -100 points (95% interval -100 to" in shown and "advice helps" in shown
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "other"))
    assert main(["hooks", "install", "claude", "--advise", "--deadline", "5"]) == 0
    assert loops_under_silence(home, 1, range(10)) == told[:10], "the same seed withholds the same advice"
    assert loops_under_silence(home, 2, range(80, 90)) != told[:10]


@pytest.mark.usefixtures("served")
def test_a_status_line_and_an_agents_own_question(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    ask("hook/claude/observe", hook("UserPromptSubmit", prompt="go") | {"cwd": str(home)})
    value = json.dumps({"session_id": "s-1", "cost": {"total_cost_usd": 2.5}})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(value.encode())))
    assert main(["statusline"]) == 0
    assert "working" in (said := capsys.readouterr().out) and "$2.50" in said
    asked = {"id": 1, "method": "tools/call", "params": {"name": "why"}}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked) + "\n"))
    assert main(["mcp"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["result"]["content"][0]["text"] == "working: thinking about your prompt."


@pytest.mark.parametrize("code", ["core.hooks.connection", "tui.cli; tui.cli.main(['permits', 'approve', '1'])"])
def test_no_screen_and_no_engine_is_loaded_to_ask(code: str) -> None:
    """A status line and an answer must be quick: what asks the intake needs nothing of the rest."""
    heavy = "{'numpy', 'pydantic', 'textual', 'asyncio', 'msgspec'}"
    code = f"import sys, {code}; print(sorted(set(sys.modules) & {heavy}))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
