"""Agents that wait for the person: a question, a plan, a permission, and who answers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agents.registry import make_kit
from core.events import ToolUse
from core.hooks.connection import IntakeFolder
from core.hooks.link import look
from core.live.driver import Driver
from core.live.hook_signs import HookSigns
from core.live.source import Followed
from core.live.status import Status
from core.settings import Settings
from core.store.journals import PermitJournal
from core.timeline.run_inputs import InitialStates
from tests.agents.fake_model import Answer, FakeModel, say, use
from tests.agents.panes import TMUX, ask_codex, claude_screen, codex_screen, wait_for
from tests.agents.programs import Agent, Claude, Codex, program
from tests.agents.test_loop import Nooscope
from tests.agents.test_real_agents import only, read_back, run

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not installed")

OPTIONS = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
QUESTION = {"question": "Which colour?", "header": "Colour", "multiSelect": False, "options": OPTIONS}


class Watching:
    """A session that is followed as `watch` does, with what hooks tell."""

    def __init__(self, agent: Agent, nooscope: Nooscope | None = None) -> None:
        settings = Settings()
        self._board = None if nooscope is None else IntakeFolder(nooscope.data / "intake")
        source = Followed(agent.logs()[0], make_kit(settings.ingest), settings)
        self.driver = Driver(source, InitialStates(settings), record=True, hooks=self._signs)

    def _signs(self, session: str) -> HookSigns | None:
        return None if self._board is None else look(self._board).of(session)

    def status(self) -> Status:
        """How it stands now."""
        list(self.driver.poll(1000))
        at = max(self.driver.heard, 1.0)
        return self.driver.status(at)

    def until(self, word: str, why: str) -> Status:
        """Wait until it stands so."""
        wait_for(lambda: (found := self.status()).word == word and why in found.reason, lambda: self.status())
        return self.status()


def test_a_question_is_seen_while_it_waits_and_read_with_its_answer(tmp_path: Path) -> None:
    """By the log alone."""
    story = [use("AskUserQuestion", questions=[QUESTION]), say("It is red.")]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        with claude_screen(agent) as pane:
            pane.type("make it work", "Enter")
            pane.until("Which colour?", "blue")
            wait_for(agent.logs)
            watching = Watching(agent)
            status = watching.until("needs you", "Which colour?")
            assert status.need == "question"
            pane.type("1")
            watching.until("done", "")
    events = read_back(agent)
    assert [(call.tool, call.outcome) for call in only(events, ToolUse)] == [("AskUserQuestion", "success")]


@pytest.mark.skipif(program("codex") is None, reason="codex is not installed")
def test_a_question_of_codex_is_seen_while_it_waits(tmp_path: Path) -> None:
    asked = {**QUESTION, "id": "colour"}
    del asked["multiSelect"]
    story = [use("request_user_input", questions=[asked]), say("It is red.")]
    with FakeModel({"make it work": story}) as model:
        agent = Codex(tmp_path, model.url)
        with codex_screen(agent) as pane:
            ask_codex(pane, "make it work")
            pane.until("Which colour?", "blue")
            wait_for(agent.logs)
            watching = Watching(agent)
            assert watching.until("needs you", "Which colour?").need == "question"
            pane.type("Enter")
            pane.until("answered", "Ask Codex")
            watching.until("done", "")
    events = read_back(agent)
    assert [(call.tool, call.outcome) for call in only(events, ToolUse)] == [("request_user_input", "success")]


def test_a_plan_waits_for_approval(tmp_path: Path) -> None:
    story = [use("ExitPlanMode", plan="1. Paint it red."), say("It is planned.")]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        with claude_screen(agent, "--permission-mode", "plan") as pane:
            pane.type("make it work", "Enter")
            wait_for(agent.logs, pane.text)
            watching = Watching(agent)
            assert watching.until("needs you", "plan").need == "plan"


def test_a_permission_is_told_at_once_and_gone_with_its_answer(tmp_path: Path) -> None:
    """Hooks that only listen: the agent's own question, answered in its own terminal."""
    story = [run(Claude, "touch made"), use("AskUserQuestion", questions=[QUESTION]), say("It is made.")]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--deadline", "5")
        with nooscope.listening(), claude_screen(agent) as pane:
            pane.type("make it work", "Enter")
            pane.until("Do you want to proceed?")
            wait_for(agent.logs)
            watching = Watching(agent, nooscope)
            watching.until("needs you", "asks for permission")
            pane.type("1")
            watching.until("needs you", "Which colour?")
            assert (agent.project / "made").exists()
            pane.until("Which colour?")
            pane.type("1")
            watching.until("done", "")
    recorded = watching.driver.timeline
    assert recorded is not None
    told = [(call.tool, call.outcome) for call in only(list(recorded.events), ToolUse)]
    assert told == [("Bash", "success"), ("AskUserQuestion", "success")]
    assert only(list(recorded.events), ToolUse) == only(read_back(agent), ToolUse)


def test_what_the_person_lets_pass_in_nooscope_is_not_asked_again(tmp_path: Path) -> None:
    """Under guard: approved there, the agent goes on by itself; unanswered, it puts its own question."""
    story: list[Answer] = [run(Claude, "rm -rf old"), run(Claude, "rm -rf other"), say("It is gone.")]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        for name in ("old", "other"):
            (agent.project / name).mkdir()
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--guard", "--deadline", "5")
        with nooscope.listening("--set", "response.guard.wait=6"), claude_screen(agent) as pane:
            pane.type("make it work", "Enter")
            wait_for(agent.logs)
            watching = Watching(agent, nooscope)
            watching.until("needs you", "needs your permit: rm -rf old")
            nooscope.do("permits", "approve", "1")
            wait_for(lambda: not (agent.project / "old").exists(), pane.text)
            assert "Do you want to proceed?" not in pane.text()
            pane.until("Do you want to proceed?", "this call of rm destroys something")
            watching.until("needs you", "asks for permission")
            pane.type("1")
            wait_for(lambda: not (agent.project / "other").exists(), pane.text)
            watching.until("done", "")
            assert "Nothing is waiting" in nooscope.do("permits")
    decided = [entry.what for entry in PermitJournal(nooscope.data / "permits.jsonl").read()]
    assert decided == ["asked", "approved", "used", "asked", "unanswered", "elsewhere"]
