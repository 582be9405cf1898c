"""What lies at hand of a session: the command that resumes it, and the pane it runs in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.agents.registry import AGENTS, prompt_command, resume_command
from core.live.tmux import Pane, go_to_pane, open_window, pane_of, panes, running


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
    Pane("%1", "/srv/a", "bash", "10"),
    Pane("%2", "/srv/a", "node", "20"),
    Pane("%3", "/srv/a", "claude", "30"),
    Pane("%4", "/srv/b", "claude", "40"),
]
PROCESSES = """\
    1     0 /sbin/init
   10     1 -bash
   20     1 node --no-warnings /opt/agents/bin/codex --sandbox workspace-write
   21    20 /opt/agents/codex-linux-x64/bin/codex --sandbox workspace-write
   25     1 vim codex
   30     1 claude
"""


@pytest.mark.parametrize(
    ("project", "program", "own", "found"),
    [
        ("/srv/a", "claude", "", "%3"),
        ("/srv/a", "codex", "", "%2"),
        ("/srv/a", "opencode", "", None),
        ("/srv/a", "claude", "%3", None),
        ("/srv/b", "claude", "%4", None),
        ("/srv/c", "claude", "", None),
        ("", "claude", "", None),
    ],
)
def test_the_pane_is_found_by_folder_and_program(project: str, program: str, own: str, found: str | None) -> None:
    """A pane that runs another program is another agent's, or nobody's."""
    pane = pane_of(PANES, project, program, own, programs=running(program, lambda _: PROCESSES))
    assert (pane.id if pane is not None else None) == found


def test_a_program_runs_in_the_processes_that_started_it() -> None:
    assert running("codex", lambda _: PROCESSES) == {"21", "20", "1", "0"}
    assert running("bash", lambda _: "torn line\n") == set()


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


def test_the_pane_that_started_the_agent_is_taken_alone() -> None:
    """Several sessions of one agent may run in one folder."""
    two = [Pane("%1", "/srv/a", "claude", "70"), Pane("%2", "/srv/a", "claude", "80")]
    for processes, taken, found in (
        (("81", "80", "1"), (), "%2"),
        (("99",), (), None),  # in a terminal outside of tmux
        (None, (), "%1"),
        (None, ("70", "71"), "%2"),
        (None, ("70", "80"), None),
    ):
        pane = pane_of(two, "/srv/a", "claude", processes=processes, taken=taken)
        assert (pane.id if pane is not None else None) == found


def test_a_prompt_goes_through_the_agents_own_command() -> None:
    for words in ("go on", "--help", "{session}"):
        assert prompt_command("codex", "t1", words)[-2:] == ["--thread=t1", f"--message={words}"]
    assert prompt_command("claude-code", "s1", "go on") == []
