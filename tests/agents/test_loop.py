"""The real agents with our hooks: what they are told, what they may not do, and how they go on alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.events import Advice, ToolUse
from core.hooks.connection import IntakeFolder
from core.hooks.link import look
from core.live.hook_signs import HookBoard
from core.store.journals import PermitJournal, SaidStore
from tests.agents.fake_model import Answer, FakeModel, say
from tests.agents.programs import LONGEST, Agent, Claude, Codex, OpenCode, Pi, Qwen
from tests.agents.test_real_agents import only, read_back, run, write

ROOT = Path(__file__).resolve().parents[2]
NAMES = {Claude: "claude", Codex: "codex", OpenCode: "opencode", Pi: "pi", Qwen: "qwen"}
HOOKED: tuple[type[Agent], ...] = (Claude, Codex, OpenCode, Pi, Qwen)
SHARED: tuple[type[Agent], ...] = (Claude, Codex)
"""Those whose hooks stand in a file with other settings."""
PATIENT = "5"
"""Seconds the hooks wait here, where many programs share few processors."""


class Nooscope:
    """Our program in the agent's home."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self._share = agent.home.parent / "d"
        self.data = self._share / "nooscope"

    def environment(self) -> dict[str, str]:
        return {**self.agent.environment(), "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(self._share)}

    def do(self, *words: str) -> str:
        """Run one command to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "tui.cli", *words],
            env=self.environment(),
            cwd=self.agent.project,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    @contextmanager
    def listening(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """Serve hooks until the block ends."""
        program = subprocess.Popen(
            [sys.executable, "-m", "tui.cli", "listen", *words],
            env=self.environment(),
            cwd=self.agent.project,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert program.stderr is not None
        try:
            said = program.stderr.readline()
            assert "serving hooks" in said, said + program.stderr.read()
            yield program
        finally:
            program.send_signal(signal.SIGTERM)
            program.wait(LONGEST)
            program.stderr.close()


def play(agent: Agent, prompt: str = "make it work") -> str:
    """A whole story, with the hooks believed."""
    more = ("--dangerously-bypass-hook-trust",) if isinstance(agent, Codex) else ()
    return agent.run(prompt, *more)


def ours(model: FakeModel) -> list[list[str]]:
    """Of each request with tools, the sentences of ours in it."""
    return [
        [piece for text in asked.texts for piece in text.splitlines() if "[nooscope]" in piece]
        for asked in model.asked
        if asked.tools
    ]


@pytest.mark.parametrize("kind", HOOKED)
def test_a_failing_loop_is_told_once_in_the_very_next_request(kind: type[Agent], tmp_path: Path) -> None:
    """Qwen Code stops an agent that makes the very same call five times in a row, before it is a loop as delivered."""
    story = [run(kind, "python3 missing.py") for _ in range(7)]
    earlier: tuple[str, ...] = ()
    if kind is Qwen:
        story.insert(4, run(kind, "ls"))
        earlier = ("--set", "response.loops.repeat.times=4")
    with FakeModel({"make it work": [*story, say("I give up.")]}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--advise", "--deadline", PATIENT)
        with nooscope.listening(*earlier):
            play(agent)
    seen = ours(model)
    first = next(place for place, said in enumerate(seen) if said)
    (said,) = SaidStore(nooscope.data / "said.jsonl").read()
    assert said.rule == "loop_alert" and "python3 failed" in said.sentence
    assert all(len(lines) == 1 and said.sentence in lines[0] for lines in seen[first:])
    events = read_back(agent)
    (advice,) = only(events, Advice)
    assert advice.call == said.call and advice.characters == len(said.sentence)
    before = [event for event in events[: events.index(advice)] if isinstance(event, ToolUse)]
    assert len(before) == first
    shown = nooscope.do("advice", str(agent.logs()[0]))
    assert "loop_alert" in shown and "came again" in shown


@pytest.mark.parametrize("kind", HOOKED)
def test_observing_says_nothing(kind: type[Agent], tmp_path: Path) -> None:
    story = [run(kind, "python3 missing.py") for _ in range(5)]
    with FakeModel({"make it work": [*story, say("I give up.")]}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--deadline", PATIENT)
        with nooscope.listening():
            play(agent)
            assert "1 sessions have called it" in nooscope.do("hooks", "status")
    assert not any(ours(model))
    assert not only(read_back(agent), Advice)


def guarded(kind: type[Agent], tmp_path: Path, story: list[Answer], *words: str) -> tuple[Agent, Nooscope, str]:
    """A story under guard; the agent, our program, and all that the model was told."""
    with FakeModel({"make it work": [*story, say("done")]}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--guard", "--deadline", PATIENT)
        with nooscope.listening("--set", "response.guard.wait=0", *words):
            play(agent)
        told = "\n".join(model.asked[-1].texts)
    return agent, nooscope, told


@pytest.mark.parametrize("kind", HOOKED)
def test_guard_denies_what_destroys_and_lets_the_rest_pass(kind: type[Agent], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "kept").mkdir()
    (project / "kept" / "file").write_text("precious")
    story = [run(kind, "rm -rf kept"), run(kind, "cat kept/file"), write(kind, project / "made.py", "print(1)")]
    _, nooscope, told = guarded(kind, tmp_path, story)
    assert (project / "kept" / "file").read_text() == "precious"
    assert (project / "made.py").exists()
    assert "precious" in told and "this call of rm destroys something" in told
    journal = PermitJournal(nooscope.data / "permits.jsonl")
    assert [entry.what for entry in journal.read()] == ["asked", "unanswered", "passed", "used"]
    assert "none changed" in nooscope.do("permits", "--verify")


@pytest.mark.parametrize("kind", HOOKED)
def test_a_halted_agent_may_only_read(kind: type[Agent], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "read.me").write_text("still readable")
    story = [run(kind, f"python3 missing{number}.py") for number in range(12)]
    story += [write(kind, project / "late.py", "print(1)"), run(kind, "cat read.me")]
    settings = ("governor.observing.stagnation_window=6", "response.guard.executing=false")
    _, nooscope, told = guarded(kind, tmp_path, story, *(word for one in settings for word in ("--set", one)))
    assert not (project / "late.py").exists()
    assert "the governor halted" in told and "still readable" in told
    done = [entry.what for entry in PermitJournal(nooscope.data / "permits.jsonl").read()]
    assert done[-2:] == ["denied", "passed"]


@pytest.mark.parametrize("kind", HOOKED)
def test_an_approved_call_passes_once(kind: type[Agent], tmp_path: Path) -> None:
    """The person answers while the call waits; the same call again has to ask again."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "old").mkdir()
    story = [run(kind, "rm -r old && echo removed"), run(kind, "rm -r old && echo removed")]
    with FakeModel({"make it work": [*story, say("done")]}) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--guard", "--deadline", PATIENT)
        with nooscope.listening("--set", "response.guard.wait=20"):
            more = ("--dangerously-bypass-hook-trust",) if kind is Codex else ()
            running = agent.start("make it work", *more)
            _decide(nooscope, "approve", "1")
            _decide(nooscope, "deny", "2", "--reason", "once was enough")
            running.communicate(timeout=LONGEST)
        told = "\n".join(model.asked[-1].texts)
    assert not (project / "old").exists()
    assert "removed" in told and "once was enough" in told
    done = [entry.what for entry in PermitJournal(nooscope.data / "permits.jsonl").read()]
    assert done == ["asked", "approved", "used", "asked", "denied"]


def _decide(nooscope: Nooscope, *words: str) -> None:
    """Answer as soon as the question is there."""
    end = time.monotonic() + LONGEST
    board = HookBoard()
    while int(words[1]) not in [one.number for one in board.questions]:
        assert time.monotonic() < end
        board = look(IntakeFolder(nooscope.data / "intake"), board.version, LONGEST)
    nooscope.do("permits", *words)


@pytest.mark.parametrize("kind", HOOKED)
def test_an_agent_goes_on_when_nooscope_is_killed_or_hangs(kind: type[Agent], tmp_path: Path) -> None:
    """Killed, calls pass unguarded; one that hangs lets no call pass of an agent with nobody to ask."""
    project = tmp_path / "project"
    project.mkdir()
    story: list[Any] = [run(kind, "echo one"), Answer(**{**vars(run(kind, "echo two")), "held": True})]
    story += [run(kind, "touch made")]
    for end in (signal.SIGKILL, signal.SIGSTOP):
        with FakeModel({"make it work": [*story, say("done")]}) as model:
            place = tmp_path / end.name[3]
            place.mkdir()
            (place / "project").mkdir()
            agent = kind(place, model.url)
            nooscope = Nooscope(agent)
            nooscope.do("hooks", "install", NAMES[kind], "--guard")
            with nooscope.listening() as listening:
                more = ("--dangerously-bypass-hook-trust",) if kind is Codex else ()
                running = agent.start("make it work", *more)
                assert model.waiting.wait(LONGEST)
                os.kill(listening.pid, end)
                model.go()
                running.communicate(timeout=LONGEST)
                if end == signal.SIGSTOP:
                    os.kill(listening.pid, signal.SIGCONT)
        assert (agent.project / "made").exists() == (end == signal.SIGKILL)


@pytest.mark.parametrize("kind", SHARED)
def test_taken_out_the_settings_are_as_they_were(kind: type[Agent], tmp_path: Path) -> None:
    agent = kind(tmp_path, "http://127.0.0.1:9")
    path = agent.home / (".claude/settings.json" if kind is Claude else ".codex/hooks.json")
    path.parent.mkdir()
    kept = b'{\n\t"hooks" : {"Stop": [ ] , "PreToolUse":[{"hooks":[{"type":"command","command":"true"}]}]} }'
    path.write_bytes(kept)
    path.chmod(0o640)
    nooscope = Nooscope(agent)
    said = nooscope.do("hooks", "install", NAMES[kind], "--guard", "--deadline", PATIENT)
    assert ("/hooks" in said) is (kind is Codex)
    assert path.read_bytes() != kept
    story = [run(kind, "echo one"), say("done")]
    with FakeModel({"make it work": story}) as model:
        again = kind(tmp_path, model.url)
        with nooscope.listening():
            play(again)
            assert "1 sessions have called it" in nooscope.do("hooks", "status")
    nooscope.do("hooks", "uninstall", NAMES[kind])
    assert path.read_bytes() == kept and path.stat().st_mode & 0o777 == 0o640
