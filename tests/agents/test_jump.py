"""From the fleet to the tmux pane in which the agent really runs, from inside tmux and from outside of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.fake_model import FakeModel, say
from tests.agents.panes import TMUX, Pane, ask_codex, claude_screen, codex_screen, wait_for
from tests.agents.programs import Agent, Claude, Codex, OpenCode
from tests.agents.test_loop import Nooscope

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
SOCKET = f"tmux-{os.getuid()}/default"
"""Where tmux finds its server, below the folder that a variable names."""
WORDS = "made-up words of the model"


@contextmanager
def opencode_screen(agent: OpenCode) -> Iterator[Pane]:
    """OpenCode with its screen."""
    agent.command("")
    pane = Pane(agent, SOCKET)
    try:
        pane.start(agent, ["opencode", "--model", "fake/fake-1"])
        pane.until("Ask anything")
        yield pane
    finally:
        pane.end()


@contextmanager
def at_work(agent: Agent) -> Iterator[Pane]:
    """The agent with its screen, after its answer."""
    (agent.home.parent / SOCKET).parent.mkdir(mode=0o700)
    if isinstance(agent, Codex):
        screen = codex_screen(agent, name=SOCKET)
    else:
        screen = claude_screen(agent, name=SOCKET) if isinstance(agent, Claude) else opencode_screen(agent)  # type: ignore[arg-type]
    with screen as pane:
        if isinstance(agent, Codex):
            ask_codex(pane, "make it work")
        else:
            pane.type("make it work")
            time.sleep(1)
            pane.type("Enter")
        pane.until(WORDS)
        yield pane


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
@pytest.mark.parametrize("kind", [OpenCode, Claude, Codex])
def test_the_key_shows_the_pane_of_the_agent(kind: type[Agent], inside: bool, tmp_path: Path) -> None:
    with FakeModel({"make it work": [say(WORDS)]}) as model:
        agent = kind(tmp_path, model.url)
        values = {**Nooscope(agent).environment(), "TMUX_TMPDIR": str(tmp_path), "LANG": "C.UTF-8"}
        del values["XDG_DATA_HOME"]
        fleet = [sys.executable, "-m", "tui.cli", "fleet"]
        with at_work(agent) as theirs:
            ours = Pane(agent, "ours")
            try:
                if inside:
                    theirs.window(agent, fleet, values)
                    ours.start(agent, [TMUX or "tmux", "attach-session"], values)
                else:
                    ours.start(agent, fleet, values)
                ours.until("nooscope fleet")
                wait_for(lambda: "1 session" in ours.text() or "project" in ours.text(), ours.text)
                ours.type("R")
                wait_for(lambda: "nooscope fleet" not in ours.text() and WORDS in ours.text(), ours.text)
            finally:
                ours.end()
