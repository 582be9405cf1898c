"""What lies at hand of a session: the command that resumes it, and the pane it runs in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.agents.registry import prompt_command, resume_command
from core.agents.table import AGENTS
from core.live.tmux import Pane, go_to_pane, open_window, pane_of, panes


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude-code", "claude --resume s-1"),
        ("codex", "codex resume s-1"),
        ("gemini", "gemini --resume s-1"),
        ("qwen", "qwen --resume s-1"),
        ("copilot-cli", "copilot --resume s-1"),
        ("cursor", "cursor-agent --resume s-1"),
        ("opencode", "opencode -s s-1"),
        ("pi", "pi --session /logs/s-1.jsonl"),
    ],
)
def test_each_agent_has_its_own_command(agent: str, command: str) -> None:
    assert resume_command(agent, "s-1", "/logs/s-1.jsonl", "") == command
    assert resume_command(agent, "s-1", "/logs/s-1.jsonl", "/srv/a b") == f"cd '/srv/a b' && {command}"


def test_what_a_log_says_is_quoted_or_refused() -> None:
    assert resume_command("codex", "a; rm -rf ~", "/l", "/w") == "cd /w && codex resume 'a; rm -rf ~'"
    for session, project in (("", "/w"), ("--yolo", "/w"), ("a\nb", "/w"), ("a", "/w\x1b[31m")):
        assert resume_command("codex", session, "/l", project) == ""
    assert resume_command("swe-agent", "s", "/l", "/w") == ""
    assert resume_command("unheard-of", "s", "/l", "/w") == ""


def test_every_command_says_which_session() -> None:
    for agent in AGENTS:
        assert not agent.resume or {"{session}", "{path}"} & set(agent.resume), agent.name


PANES = [
    Pane("%1", "/srv/a", "bash"),
    Pane("%2", "/srv/a", "node"),
    Pane("%3", "/srv/a", "claude"),
    Pane("%4", "/srv/b", "claude"),
]


@pytest.mark.parametrize(
    ("project", "program", "own", "found"),
    [
        ("/srv/a", "claude", "", "%3"),
        ("/srv/a", "codex", "", "%2"),
        ("/srv/a", "claude", "%3", "%2"),
        ("/srv/b", "claude", "%4", None),
        ("/srv/c", "claude", "", None),
        ("", "claude", "", None),
    ],
)
def test_the_pane_is_found_by_folder_and_program(project: str, program: str, own: str, found: str | None) -> None:
    pane = pane_of(PANES, project, program, own)
    assert (pane.id if pane is not None else None) == found


def test_a_shell_is_no_agent() -> None:
    assert pane_of(PANES[:1], "/srv/a", "claude") is None


def test_tmux_is_asked_and_told() -> None:
    asked: list[Sequence[str]] = []

    def run(words: Sequence[str]) -> str:
        asked.append(words)
        return "%1\t/srv/a\tclaude\t77\nbroken line\n"

    (pane,) = panes(run)
    assert pane == Pane("%1", "/srv/a", "claude", "77")
    go_to_pane(pane, run)
    open_window("cd /srv/a && claude --resume s", run)
    assert asked[1] == ["switch-client", "-t", "%1"]
    assert asked[2][0] == "new-window" and asked[2][1].startswith("cd /srv/a && claude --resume s;")


def test_the_pane_that_started_the_agent_comes_first() -> None:
    """Two sessions of one agent may run in one folder."""
    two = [Pane("%1", "/srv/a", "claude", "70"), Pane("%2", "/srv/a", "claude", "80")]
    for processes, found in ((("81", "80", "1"), "%2"), ((), "%1")):
        pane = pane_of(two, "/srv/a", "claude", processes=processes)
        assert pane is not None and pane.id == found


def test_a_prompt_goes_through_the_agents_own_command() -> None:
    assert prompt_command("codex", "t1", "go on")[-3:] == ["t1", "--message", "go on"]
    assert prompt_command("claude-code", "s1", "go on") == []
