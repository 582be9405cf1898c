"""`nooscope watch --headless`: live notices as lines, and what passes from session to session."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.open_events import write
from core.events import Event, Prompt, SessionStart, ToolUse, Turn
from core.logs.follow import events_behind
from core.settings import Settings
from core.store.carry_over import LearnedStore, PriorStore
from tests.core.logs.log_lines import call, gemini, prompt
from tests.tui.fleet_sessions import Log
from tui.cli import main
from tui.cli.commands.watch import Watch

START = 1_750_000_000.0
SESSION = "s-1"


def lines(events: list[Event]) -> bytes:
    return b"".join(write(event, SESSION) + b"\n" for event in events)


def beginning(start: float = START) -> list[Event]:
    return [
        SessionStart(at=start, session=SESSION, tool="nooscope", project="/p"),
        Prompt(at=start + 1, characters=20, call=1),
    ]


def loop(start: float, times: int) -> list[Event]:
    """One call after the other, always the same and always with the same result."""
    return [
        ToolUse(
            at=start + 5 * number,
            id=f"c{start}-{number}",
            action="shell_exec",
            tool="Bash",
            program="curl",
            call=5,
            shape=5,
            result=9,
            size=40,
        )
        for number in range(times)
    ]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NOOSCOPE_CONFIG", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def watch(log: Path, *words: str) -> list[str]:
    return ["watch", "--headless", str(log), "--idle", "0.05", *words]


def test_the_past_is_told_only_when_asked_for(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = home / "log.jsonl"
    log.write_bytes(lines([*beginning(), *loop(START + 10, 8)]))
    assert main(watch(log)) == 0
    assert capsys.readouterr().out == ""
    assert main(watch(log, "--all")) == 0
    line, *_ = capsys.readouterr().out.splitlines()
    assert "⚑ at risk: Going round in circles: curl" in line
    assert main(watch(log, "--all", "--json")) == 0
    told, *_ = map(json.loads, capsys.readouterr().out.splitlines())
    assert (told["kind"], told["rule"], told["agent"]) == ("risk", "loop_alert", "main")


def test_a_log_of_which_nothing_can_be_read_is_said_at_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = home / "session.json"
    log.write_bytes(gemini(2)[:-9] + b"x}")
    assert main(watch(log)) == 0
    said = capsys.readouterr().err
    assert f"watching {log} (nothing in its log can be read (not JSON)); ctrl+c stops" in said
    log.write_bytes(gemini(2))
    assert main(watch(log)) == 0
    assert f"watching {log}; ctrl+c stops" in capsys.readouterr().err


class Live:
    """A watch in a process of its own."""

    def __init__(self, log: Path, *words: str) -> None:
        command = [sys.executable, "-m", "tui.cli", "watch", "--headless", str(log), "--json", *words]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        )

        self._guard = threading.Timer(60.0, self.process.kill)
        self._guard.start()
        assert self.process.stderr is not None
        while b"watching" not in (line := self.process.stderr.readline()):
            assert line

    def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line

    def end(self) -> None:
        self._guard.cancel()
        self.process.kill()
        self.process.communicate()

    def interrupt(self) -> tuple[int, bytes]:
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@pytest.fixture
def log(home: Path) -> Iterator[Path]:
    yield home / "live.jsonl"


def test_a_growing_log_is_told_live_and_ctrl_c_ends_cleanly(log: Path) -> None:
    live = Live(log)
    try:
        log.write_bytes(lines([*beginning(), *loop(START + 10, 8)]))
        with log.open("ab") as file:
            file.write(lines([Turn(at=START + 70, model="large", output_tokens=3, stop="end_turn")]))
        told = live.next()
        while told["kind"] != "done":
            assert told["rule"] in ("loop_alert", "ask_person")
            told = live.next()
        assert told["text"] == "Done, and waiting for you."
        code, errors = live.interrupt()
    finally:
        live.end()
    assert (code, errors) == (0, b"")
    assert PriorStore().read() is not None


def test_an_open_question_needs_the_person(log: Path) -> None:
    live = Live(log)
    try:
        log.write_bytes(prompt(0.0) + call(1.0, "q1", tool="AskUserQuestion"))
        told = live.next()
        code, _ = live.interrupt()
    finally:
        live.end()
    assert (told["kind"], told["text"], code) == ("needs_you", "asks: “echo q1”", 0)


def work(start: float, minutes: int = 8) -> list[Event]:
    """Edits and commands that go well and badly in turn."""
    made: list[Event] = beginning(start)
    for number in range(minutes * 6):
        failed = number % 3 == 0
        made.append(
            ToolUse(
                at=start + 5 + 10 * number,
                id=f"w{number}",
                action="shell_exec" if number % 2 else "file_edit",
                tool="Bash",
                targets=("src/a.py",),
                outcome="failure" if failed else "success",
                call=number + 1,
                result=number + 1,
            )
        )
    return made


def test_one_session_teaches_the_next_and_no_prior_leaves_all_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = home / "first.jsonl", home / "second.jsonl"
    first.write_bytes(lines(work(START)))
    second.write_bytes(lines(work(START + 7200)).replace(SESSION.encode(), b"s-2"))
    assert main(watch(first, "--no-prior")) == 0
    assert PriorStore().read() is None
    assert main(watch(first)) == 0
    prior = PriorStore().read()
    assert prior is not None and prior.session_count == 1
    assert LearnedStore().read().stretches == 1
    assert "baselines" not in capsys.readouterr().err
    assert main(watch(second)) == 0
    assert "baselines begin where 1 earlier sessions left them" in capsys.readouterr().err
    after = PriorStore().read()
    assert after is not None and after.session_count == 2
    assert main(watch(second)) == 0
    assert PriorStore().read() == after


def test_analyze_lists_interventions_with_time_and_reason(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = home / "log.jsonl"
    log.write_bytes(lines([*beginning(), *loop(START + 10, 8)]))
    assert main(["analyze", str(log)]) == 0
    text = capsys.readouterr().out
    assert "response  00:00:34  warns: loop: loop (repeat, 6 times), " in text
    assert "loops     00:00:34" in text
    assert main(["analyze", str(log), "--json"]) == 0
    (session,) = json.loads(capsys.readouterr().out)["sessions"]
    alert = next(each for each in session["interventions"] if each["method"] == "loop_alert")
    assert (alert["at"], alert["mode"], alert["cue"]) == (START + 35, "notify", "loop")
    assert alert["reason"].startswith("loop (repeat, 6 times)")
    assert session["loops"][0]["tool"] == "curl"


def test_latest_without_any_session_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--headless", "latest", "--idle", "0.5"]) == 1
    said = capsys.readouterr().err
    assert "waiting for the first one" in said and "no session found" in said


def test_latest_waits_for_the_first_session_and_follows_the_next_in_its_folder(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def later() -> None:
        time.sleep(0.5)
        first = Log(home, "app", 1, time.time())
        first.prompt()
        first.say()
        first.write()
        time.sleep(2.5)
        second = Log(home, "app", 2, time.time())
        second.prompt()
        second.call("AskUserQuestion", questions=[])
        second.write()

    agents = threading.Thread(target=later)
    agents.start()
    assert main(["watch", "--headless", "latest", "--idle", "6"]) == 0
    agents.join()
    said = capsys.readouterr()
    assert "waiting for the first one" in said.err
    assert "this session is at rest; following" in said.err
    assert "needs you" in said.out


def test_a_file_that_is_no_log_is_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binary = tmp_path / "picture.bin"
    binary.write_bytes(b"\x89PNG\0\0\0\1" * 64)
    assert main(["watch", "--headless", "--idle", "1", str(binary)]) == 1
    assert "a binary file" in capsys.readouterr().err


@pytest.mark.parametrize(("unread", "words"), [(1990, ""), (2000, "200 events behind"), (2010, "201 events behind")])
def test_being_behind_is_said_once_and_so_is_its_end(
    home: Path, capsys: pytest.CaptureFixture[str], unread: int, words: str
) -> None:
    args = argparse.Namespace(no_prior=False, project=None, json=False, all=False, idle=None)
    args.otlp = args.metrics = None
    args.mind = False
    one = Watch(home / "log.jsonl", Settings(), args)
    one.driver.caught_up = True
    for left in (unread, unread, 0, 0):
        with pytest.MonkeyPatch.context() as patch:
            behind = events_behind(left, 1000, 100) if left else 0
            patch.setattr(one.driver.source, "lag", lambda behind=behind: behind)
            one._say_lag()
    said = [f"nooscope: {words}", "nooscope: caught up"] if words else []
    assert capsys.readouterr().err.splitlines() == said
