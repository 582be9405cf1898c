"""What the fleet and a watch without a screen say of the real agents, by their logs and files alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agents.fake_model import Answer, FakeModel, say
from tests.agents.panes import TMUX, claude_screen, wait_for
from tests.agents.programs import LONGEST, Agent, Claude, Codex
from tests.agents.test_answers import DIALOG, agent_screen, ask_to_run, our_screen
from tests.agents.test_loop import NAMES, Nooscope
from tests.agents.test_real_agents import run

BOTH: tuple[type[Agent], ...] = (Claude, Codex)
QUESTION = "Should I create missing.py from scratch?"
FAILURE = "I could not make it work."


@contextmanager
def watching(nooscope: Nooscope) -> Iterator[list[str]]:
    """The lines of a watch that begins before the first session."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "watch", "latest", "--headless", "--json"],
        env=nooscope.environment(),
        cwd=nooscope.agent.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert program.stdout is not None
    lines: list[str] = []
    reader = threading.Thread(target=lines.extend, args=(program.stdout,))
    reader.start()
    try:
        wait_for(lambda: "waiting for the first one" in "".join(lines), lambda: lines)
        yield lines
    finally:
        program.terminate()
        program.wait(LONGEST)
        reader.join()
        program.stdout.close()


def fleet(nooscope: Nooscope) -> list[dict[str, Any]]:
    """The rows of the fleet, those that need the person first."""
    rows: list[dict[str, Any]] = json.loads(nooscope.do("fleet", "--json"))["sessions"]
    return rows


@pytest.mark.parametrize(
    ("last", "word", "notice"),
    [(f"There is no such file.\n\n{QUESTION}", "needs you", QUESTION), (FAILURE, "gave up", FAILURE)],
)
@pytest.mark.parametrize("kind", BOTH)
def test_a_question_in_words_and_a_failed_run(
    kind: type[Agent], last: str, word: str, notice: str, tmp_path: Path
) -> None:
    story: list[Answer] = [run(kind, "python3 missing.py") for _ in range(4)]
    with FakeModel({"make it work": [*story, say(last)]}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        with watching(nooscope) as lines:
            agent.run("make it work")
            wait_for(lambda: notice in "".join(lines), lambda: lines)
        (row,) = fleet(nooscope)
    assert (row["status"], row["sentence"], row["needs_person"]) == (word, notice, word == "needs you")


@pytest.mark.parametrize("kind", BOTH)
def test_a_watch_goes_on_with_a_session_started_meanwhile(kind: type[Agent], tmp_path: Path) -> None:
    """Once the first session rests; the fleet lists both."""
    second: list[Answer] = [run(kind, "ls"), run(kind, "ls -a", held=True), say("It is there.")]
    with FakeModel({"make it work": [run(kind, "ls"), say("It works.")], "look again": second}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        with watching(nooscope) as lines:
            agent.run("make it work")
            (first,) = agent.logs()
            wait_for(lambda: first.name in "".join(lines), lambda: lines)
            running = agent.start("look again")
            assert model.waiting.wait(LONGEST)
            (newer,) = set(agent.logs()) - {first}
            wait_for(lambda: newer.name in "".join(lines), lambda: lines)
            words = {Path(row["path"]).name: row["status"] for row in fleet(nooscope)}
            model.go()
            agent.finish(running)
    assert words == {first.name: "done", newer.name: "working"}


@pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
def test_a_permission_without_hooks_and_a_killed_agent(tmp_path: Path) -> None:
    """By Claude Code's own file of the process, which it leaves when it is killed."""
    with FakeModel({"make it work": [run(Claude, "touch made"), say("It is made.")]}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        with claude_screen(agent) as pane:
            pane.type("make it work", "Enter")
            pane.until("Do you want to proceed?")
            wait_for(lambda: agent.logs() and fleet(nooscope), pane.text)
            (row,) = fleet(nooscope)
            assert (row["status"], row["why"]) == ("needs you", "asks for permission in its terminal")
            (own,) = (agent.home / ".claude" / "sessions").glob("*.json")
            os.kill(json.loads(own.read_text())["pid"], signal.SIGKILL)
            wait_for(lambda: fleet(nooscope)[0]["status"] == "ended")
        (row,) = fleet(nooscope)
        assert row["why"].startswith("its process is gone: the log stops")


@pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
@pytest.mark.parametrize(
    ("kind", "hooked", "strip", "word", "why"),
    [
        (Claude, True, "NEEDS YOU", "needs you", "Bash asks for permission"),
        (Claude, False, "NEEDS YOU", "needs you", "asks for permission in its terminal"),
        (Codex, True, "NEEDS YOU", "needs you", "Bash asks for permission"),
        (
            Codex,
            False,
            "MAY NEED YOU",
            "may need you",
            "exec_command may be asking for permission (unusually slow): touch ../made",
        ),
    ],
)
def test_a_permission_with_and_without_hooks(
    kind: type[Agent], hooked: bool, strip: str, word: str, why: str, tmp_path: Path
) -> None:
    """The strip of a watch and the fleet, while the agent shows its dialog."""
    with FakeModel({"make it work": [ask_to_run(kind, "touch ../made"), say("It is made.")]}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        with ExitStack() as stack:
            if hooked:
                nooscope.do("hooks", "install", NAMES[kind], "--deadline", "5")
                stack.enter_context(nooscope.listening())
            ours = stack.enter_context(our_screen(nooscope, "watch", "latest"))
            stack.enter_context(agent_screen(agent)).until(DIALOG[kind])
            ours.until(strip, why)
            (row,) = fleet(nooscope)
    assert (row["status"], row["why"]) == (word, why)
