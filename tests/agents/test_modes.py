"""What an agent may do without asking, and prompts that were taken back, in logs that the real agents write."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.agents.fake_model import FakeModel, say
from tests.agents.panes import TMUX, ask_codex, claude_screen, codex_screen, wait_for
from tests.agents.programs import Agent, Claude, Codex
from tests.agents.test_loop import Nooscope

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not installed")


def frame(nooscope: Nooscope, log: Path) -> dict[str, str]:
    now = json.loads(nooscope.do("inspect", "frame", str(log), "--json"))["now"]
    assert isinstance(now, dict)
    return now


@pytest.mark.parametrize(
    ("mode", "words"),
    [("plan", "plan mode"), ("acceptEdits", "accepts edits"), ("bypassPermissions", "bypasses permissions")],
)
def test_the_mode_of_claude_code(mode: str, words: str, tmp_path: Path) -> None:
    with FakeModel({"make it work": [say("done")]}) as model:
        agent = Claude(tmp_path, model.url)
        agent.run("make it work", "--permission-mode", mode)
        nooscope, (log,) = Nooscope(agent), agent.logs()
        assert frame(nooscope, log)["mode"] == words
        assert f"({words})" in nooscope.do("analyze", str(log))


def test_a_mode_that_is_changed_by_key_counts_from_the_next_prompt(tmp_path: Path) -> None:
    with FakeModel({"make it work": [say("done")], "go on": [say("done again")]}) as model:
        agent = Claude(tmp_path, model.url)
        with claude_screen(agent) as pane:
            pane.type("make it work", "Enter")
            pane.until("done")
            pane.type("BTab")
            pane.until("accept edits on")
            pane.type("go on", "Enter")
            pane.until("done again")
            (log,) = agent.logs()
            nooscope = Nooscope(agent)
            wait_for(lambda: frame(nooscope, log)["mode"] == "accepts edits", lambda: log.read_text())


@pytest.mark.parametrize("kind", [Codex])
def test_a_prompt_that_is_rewound_in_codex(kind: type[Agent], tmp_path: Path) -> None:
    with FakeModel(
        {"first thing": [say("answer one")], "second thing": [say("answer two"), say("answer three")]}
    ) as model:
        agent = Codex(tmp_path, model.url)
        nooscope = Nooscope(agent)
        with codex_screen(agent) as pane:
            ask_codex(pane, "first thing")
            pane.until("answer one", "Ask Codex")
            time.sleep(1)
            pane.type("second thing")
            time.sleep(1)
            pane.type("Enter")
            pane.until("answer two", "Ask Codex")
            time.sleep(1)
            pane.type("Escape")
            time.sleep(1)
            pane.type("Escape")
            pane.until("rewind")
            pane.type("Enter")
            pane.until("reverted to this point")
            first = min(agent.logs())
            wait_for(lambda: len(agent.logs()) == 2, lambda: agent.logs())
            assert frame(nooscope, first)["asked"] == "first thing"
            pane.type(" changed")
            time.sleep(1)
            pane.type("Enter")
            pane.until("answer three")
            wait_for(lambda: frame(nooscope, first)["asked"] == "second thing changed", lambda: frame(nooscope, first))
        recap = nooscope.do("analyze", str(first))
        assert "“second thing”, rolled back" in recap and "2 prompts (1 more rolled back)" in recap
        assert "bypasses permissions" in recap
        (row,) = json.loads(nooscope.do("fleet", "--json"))["sessions"]
        assert row["path"] == str(first) and row["mode"] == "bypasses permissions"
