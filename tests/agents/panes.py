"""An agent with its screen, in a tmux pane that a test reads and types into."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.agents.programs import LONGEST, Agent, Claude, Codex, Qwen

TMUX = shutil.which("tmux")


class Pane:
    """One program in a pane of a tmux of its own."""

    def __init__(self, agent: Agent, name: str = "tmux") -> None:
        self._socket = str(agent.home.parent / name)

    def _do(self, *words: str) -> str:
        done = subprocess.run(
            [TMUX or "tmux", "-S", self._socket, "-f", "/dev/null", *words], capture_output=True, text=True
        )
        return done.stdout

    def start(self, agent: Agent, command: list[str], environment: dict[str, str] | None = None) -> None:
        """Begin; of our environment it gets nothing but what is given."""
        values = agent.environment() if environment is None else environment
        size = ("-x", "110", "-y", "40")
        self._do("new-session", "-d", *size, "-c", str(agent.project), self._line(command, values))

    def window(self, agent: Agent, command: list[str], environment: dict[str, str]) -> None:
        """Begin another program in a window of its own, which is shown; it knows that it runs in tmux."""
        line = self._line(command, environment).replace("env -i ", 'env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ', 1)
        self._do("new-window", "-c", str(agent.project), line)

    @staticmethod
    def _line(command: list[str], environment: dict[str, str]) -> str:
        words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items())]
        return shlex.join([*words, "TERM=xterm-256color", *command])

    def text(self) -> str:
        """What it shows."""
        return self._do("capture-pane", "-p")

    def type(self, *keys: str) -> None:
        """Press keys, by their names."""
        self._do("send-keys", *keys)

    def until(self, *words: str) -> None:
        """Wait until it shows something."""
        wait_for(lambda: all(word in self.text() for word in words), lambda: self.text())

    def end(self) -> None:
        """End it, and its tmux."""
        self._do("kill-server")


def wait_for(there: Callable[[], object], told: Callable[[], object] = lambda: "") -> None:
    """Look until something is there."""
    late = time.monotonic() + LONGEST / 4
    while not there():
        assert time.monotonic() < late, told()
        time.sleep(0.1)


@contextmanager
def claude_screen(agent: Claude, *words: str, name: str = "tmux") -> Iterator[Pane]:
    """Claude Code with its screen, past its first questions; it asks the person unless another mode is given."""
    mode = () if "--permission-mode" in words else ("--permission-mode", "manual")
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {str(agent.project): trusted},
    }
    (agent.home / ".claude.json").write_text(json.dumps(known))
    pane = Pane(agent, name)
    try:
        pane.start(agent, ["claude", *mode, *words])
        pane.until("Claude Code", "❯")
        yield pane
    finally:
        pane.end()


@contextmanager
def codex_screen(agent: Codex, *, daemon: bool = False, name: str = "tmux") -> Iterator[Pane]:
    """Codex with its screen; with its server in the background it asks before commands outside its sandbox."""
    agent.settings = f"[features]\ndefault_mode_request_user_input = true\ndaemon_auto_start = {str(daemon).lower()}\n"
    agent.command("")
    settings = agent.home / ".codex" / "config.toml"
    trusted = f'\n[projects."{agent.project}"]\ntrust_level = "trusted"\n'
    settings.write_text(settings.read_text() + trusted)
    pane = Pane(agent, name)
    sandbox, asks = ("workspace-write", "on-request") if daemon else ("danger-full-access", "never")
    try:
        pane.start(agent, ["codex", "--sandbox", sandbox, "--ask-for-approval", asks])
        if (agent.home / ".codex" / "hooks.json").exists():
            pane.until("Trust all and continue")
            while "Trust all" in pane.text():
                pane.type("2")
                pane.type("Enter")
                time.sleep(0.5)
        yield pane
    finally:
        pane.end()
        for place in (agent.home / ".codex" / "app-server-daemon").glob("daemon*.pid"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(json.loads(place.read_bytes())["pid"], signal.SIGKILL)


@contextmanager
def qwen_screen(agent: Qwen) -> Iterator[Pane]:
    """Qwen Code with its screen, which asks the person."""
    agent.command("")
    pane = Pane(agent)
    try:
        pane.start(agent, ["qwen", "--auth-type", "openai", "--approval-mode", "default"])
        pane.until("Type your message")
        yield pane
    finally:
        pane.end()


_AT_WORK = ("Working", "Running", "Would you like", "Which colour?", "Worked", "• ")
"""What Codex shows once it has a prompt."""


def ask_codex(pane: Pane, prompt: str) -> None:
    """Give a prompt; the offer of another model, which may come at any moment, is declined, and hooks are trusted."""

    def asked() -> bool:
        shown = pane.text()
        if "Use existing model" in shown:
            pane.type("2")
            pane.type("Enter")
        elif "t trust all" in shown:
            pane.type("t")
            pane.type("Escape")
        elif f"› {prompt}" not in shown:
            if "Ask Codex" in shown:
                pane.type(prompt)
        elif any(word in shown for word in _AT_WORK):
            return True
        else:
            pane.type("Enter")
        time.sleep(1)
        return False

    wait_for(asked, pane.text)
