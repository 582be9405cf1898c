"""The real Gemini CLI and Copilot CLI with our hooks; each is skipped where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.events import Advice, ToolUse
from core.store.journals import PermitJournal, SaidStore
from tests.agents.fake_model import Answer, FakeModel, say, use
from tests.agents.more_programs import Copilot, Gemini
from tests.agents.programs import Agent, program
from tests.agents.test_loop import PATIENT, Nooscope, ours
from tests.agents.test_real_agents import only, read_back

NAMES = {Gemini: "gemini", Copilot: "copilot"}
KINDS = [
    pytest.param(kind, marks=pytest.mark.skipif(program(name) is None, reason=f"{name} is not installed"), id=name)
    for kind, name in NAMES.items()
]


def shell(kind: type[Agent], command: str) -> Answer:
    """A command, as this agent's tool is named."""
    name = "run_shell_command" if kind is Gemini else "bash"
    return use(name, command=command, description="try it")


@pytest.mark.parametrize("kind", KINDS)
def test_told_once_guarded_and_taken_out_again(kind: type[Agent], tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "kept").mkdir(parents=True)
    story = [shell(kind, f"python3 missing.py --try {number}") for number in range(6)]
    story += [shell(kind, "rm -rf kept"), shell(kind, "ls"), say("done")]
    with FakeModel({"make it work": story}) as model:
        agent = kind(tmp_path, model.url)
        if isinstance(agent, Gemini):
            agent.prepare()
        nooscope = Nooscope(agent)
        settings = agent.home / ".gemini" / "settings.json"
        before = settings.read_bytes() if settings.exists() else b""
        nooscope.do("hooks", "install", NAMES[kind], "--guard", "--deadline", PATIENT)
        earlier = ("--set", "response.loops.failing.times=5")
        with nooscope.listening("--set", "response.guard.wait=0", *earlier):
            agent.run("make it work")
        nooscope.do("hooks", "uninstall", NAMES[kind])
    assert (settings.read_bytes() if settings.exists() else b"") == before
    assert not (agent.home / ".copilot" / "hooks" / "nooscope.json").exists()
    (said,) = SaidStore(nooscope.data / "said.jsonl").read()
    seen = ours(model)
    first = next(place for place, lines in enumerate(seen) if lines)
    assert said.rule == "loop_alert" and first == 5
    assert all(len(lines) == 1 and said.sentence in lines[0] for lines in seen[first:])
    events = read_back(agent)
    (advice,) = only(events, Advice)
    assert advice.call == said.call
    failed = [event for event in events if isinstance(event, ToolUse) and event.outcome == "failure"]
    assert len(failed) >= 6
    assert (project / "kept").exists() and "this call of rm destroys something" in "\n".join(model.asked[-1].texts)
    done = [entry.what for entry in PermitJournal(nooscope.data / "permits.jsonl").read()]
    assert done == [*["used"] * 6, "asked", "unanswered", "passed"]
