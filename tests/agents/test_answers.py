"""The agents' own prompts answered from here: by every way, by two at once, and by nobody when we are gone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.hooks.connection import IntakeFolder
from core.hooks.link import IntakeLink, look
from core.live.hook_signs import PermitQuestion
from core.store.journals import PermitEntry, PermitJournal
from tests.agents.fake_model import Answer, FakeModel, say, use
from tests.agents.panes import TMUX, Pane, ask_codex, claude_screen, codex_screen, qwen_screen, wait_for
from tests.agents.programs import LONGEST, Agent, Claude, Codex, Qwen, program
from tests.agents.test_loop import NAMES, Nooscope
from tests.agents.test_questions import QUESTION, Watching
from tests.agents.test_real_agents import run

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
ASKING: tuple[type[Agent], ...] = (Claude, Codex)
SOON = 5.0
"""Seconds for an answer on a busy machine; on one at rest it takes a fraction of one."""
ESCAPES = re.compile(r"\x1b\[[0-9;?<=>]*[ -/]*[@-~]")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DIALOG: dict[type[Agent], str] = {Claude: "Do you want to proceed?", Codex: "Would you like to run"}


def ask_to_run(kind: type[Agent], command: str) -> Answer:
    """A command that the agent asks about before it runs it."""
    if kind is Codex:
        return use("exec_command", cmd=command, sandbox_permissions="require_escalated", justification="made up")
    return run(kind, command)


@contextmanager
def agent_screen(agent: Agent) -> Iterator[Pane]:
    """The agent with its screen, given its task."""
    screen = codex_screen(agent, daemon=True) if isinstance(agent, Codex) else claude_screen(agent)  # type: ignore[arg-type]
    with screen as pane:
        if isinstance(agent, Codex):
            ask_codex(pane, "make it work")
        else:
            pane.type("make it work", "Enter")
        yield pane


@contextmanager
def our_screen(nooscope: Nooscope, *words: str) -> Iterator[Pane]:
    """A screen of ours beside the agent's."""
    pane = Pane(nooscope.agent, "ours")
    try:
        pane.start(nooscope.agent, [sys.executable, "-m", "tui.cli", *words], nooscope.environment())
        yield pane
    finally:
        pane.end()


def questions(nooscope: Nooscope) -> tuple[PermitQuestion, ...]:
    """What waits for the person."""
    return look(IntakeFolder(nooscope.data / "intake")).questions


def wait_for_question(nooscope: Nooscope, words: str) -> PermitQuestion:
    """The question that asks for this, as soon as it is there."""

    def asked() -> PermitQuestion | None:
        return next((one for one in questions(nooscope) if words in one.what), None)

    wait_for(asked)
    question = asked()
    assert question is not None
    return question


def is_over(nooscope: Nooscope, words: str) -> bool:
    """Whether nothing that asks for this waits any more."""
    return all(words not in one.what for one in questions(nooscope))


def journal(nooscope: Nooscope) -> list[PermitEntry]:
    """The permits journal."""
    return list(PermitJournal(nooscope.data / "permits.jsonl").read())


def seconds_until(there: Callable[[], object], act: Callable[[], object], told: Callable[[], object]) -> float:
    """How long it takes from an act until something is there; an act that waits first says when it began."""
    start = time.monotonic()
    began = act()
    start = began if isinstance(began, float) else start
    while not there():
        assert time.monotonic() < start + LONGEST / 4, told()
        time.sleep(0.005)
    return time.monotonic() - start


Answering = Callable[[str, PermitQuestion], object]
KEYS = {"once": ("y",), "session": ("Y",), "deny": ("d", "not on main", "Enter")}
REASON = ("--reason", "not on main")
OPTIONS = {"once": ("approve", "#"), "session": ("approve", "#", "--session"), "deny": ("deny", "#", *REASON)}


@contextmanager
def answers_by(way: str, kind: type[Agent], nooscope: Nooscope, pane: Pane) -> Iterator[Answering]:
    """How a prompt is answered by one way."""
    if way == "permits":
        yield lambda choice, asked: nooscope.do(
            "permits", *(str(asked.number) if word == "#" else word for word in OPTIONS[choice])
        )
    elif way == "its own dialog":
        yield lambda choice, _: pane.type("Escape") if choice == "deny" else press(kind, pane)
    elif way == "page":
        with page(nooscope) as (tab, drawn):

            def press_on_page(choice: str, asked: PermitQuestion) -> float:
                late = time.monotonic() + LONGEST / 4
                while asked.what not in (shown := ESCAPES.sub("", "".join(drawn))):
                    assert time.monotonic() < late, shown[-2000:]
                    tab.wait_for_timeout(100)
                began = time.monotonic()
                press_keys(tab, KEYS[choice])
                return began

            yield press_on_page
    else:
        wait_for(nooscope.agent.logs)
        with our_screen(nooscope, "fleet" if way == "fleet" else "watch") as ours:

            def keys(choice: str, asked: PermitQuestion) -> float:
                ours.until(asked.what, "d deny")
                began = time.monotonic()
                for key in KEYS[choice]:
                    ours.type(key)
                    if key == "d":
                        ours.until("Deny call")
                return began

            yield keys


@contextmanager
def page(nooscope: Nooscope) -> Iterator[tuple[Any, list[str]]]:
    """The page of `nooscope serve` in a browser, and what it is sent to draw."""
    drawn: list[str] = []

    def receive(frame: str | bytes) -> None:
        drawn.append(frame.decode("utf-8", "replace") if isinstance(frame, bytes) else frame)

    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    server = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "serve", "--port", "0", "fleet"],
        env=nooscope.environment(),
        cwd=nooscope.agent.project,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        address = server.stderr.readline().split("open ")[1].split(";")[0]
        with playwright.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            tab = browser.new_page(viewport={"width": 1300, "height": 800})
            tab.on("websocket", lambda socket: socket.on("framereceived", receive))
            tab.goto(address)
            tab.wait_for_selector("body.-first-byte", timeout=60_000)
            tab.wait_for_function("document.activeElement.tagName == 'TEXTAREA'", timeout=60_000)
            tab.wait_for_timeout(3000)
            yield tab, drawn
            browser.close()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(LONGEST)
        server.stderr.close()


def press_keys(tab: Any, keys: tuple[str, ...]) -> None:
    """Press keys, and type words, on the page."""
    for key in keys:
        if len(key) == 1 or key == "Enter":
            tab.keyboard.press(f"Shift+{key}" if key == "Y" else key)
        else:
            tab.wait_for_timeout(500)
            tab.keyboard.type(key)


def story(kind: type[Agent], *commands: str) -> dict[str, list[Answer]]:
    """A story of commands that are asked about."""
    return {"make it work": [*(ask_to_run(kind, one) for one in commands), say("It is made.")]}


def press(kind: type[Agent], pane: Pane) -> None:
    """Allow it in the agent's own dialog."""
    pane.type("1" if kind is Claude else "y")


@pytest.mark.parametrize("kind", ASKING)
@pytest.mark.parametrize("way", ["fleet", "main screen", "page", "permits", "its own dialog"])
def test_a_prompt_is_answered(kind: type[Agent], way: str, tmp_path: Path) -> None:
    """Once, for its kind in the session, and denied with a reason."""
    with FakeModel(story(kind, "touch one", "mkdir two", "mkdir three", "mv two four")) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--answer", "--deadline", "5")
        with nooscope.listening(), agent_screen(agent) as pane, answers_by(way, kind, nooscope, pane) as answer:

            def takes(choice: str, name: str) -> None:
                asked = wait_for_question(nooscope, name)
                made = agent.project / name.split()[-1]
                lasted = seconds_until(made.exists, lambda: answer(choice, asked), pane.text)
                print(f"{kind.__name__}, {way}: {1000 * lasted:.0f} ms, load {os.getloadavg()[0]:.1f}")  # noqa: T201
                assert lasted < SOON

            takes("once", "touch one")
            takes("session", "mkdir two")
            if way == "its own dialog":
                takes("once", "mkdir three")
            else:
                wait_for((agent.project / "three").exists, pane.text)
            answer("deny", wait_for_question(nooscope, "mv two four"))
            wait_for(lambda: not questions(nooscope), pane.text)
            if kind is Claude and way != "its own dialog":
                wait_for(lambda: any("not on main" in text for text in model.asked[-1].texts), pane.text)
        assert not (agent.project / "four").exists()
    decided = [(entry.what, entry.by.partition(", ")[2]) for entry in journal(nooscope) if entry.what != "asked"]
    if way == "its own dialog":
        assert decided == [("elsewhere", "")] * 4
    else:
        place = {"page": "fleet in a browser", "permits": "nooscope permits"}.get(way, way)
        assert decided == [("approved", place), ("approved", place), ("approved", ""), ("denied", place)]


@pytest.mark.parametrize("kind", ASKING)
def test_of_two_answers_at_once_one_wins(kind: type[Agent], tmp_path: Path) -> None:
    with FakeModel(story(kind, "touch one")) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--answer", "--deadline", "5")
        with nooscope.listening(), agent_screen(agent) as pane:
            asked = wait_for_question(nooscope, "touch one")
            link = IntakeLink(IntakeFolder(nooscope.data / "intake"))
            with ThreadPoolExecutor() as pool:
                ways = [pool.submit(link.decide, asked.number, choice) for choice in ("once", "deny")]
                pool.submit(press, kind, pane)
            faults = sorted(one.result() for one in ways)
            wait_for(lambda: not questions(nooscope), pane.text)
            assert "answered elsewhere" in link.decide(asked.number, "once")
            wait_for(lambda: "It is made." in pane.text(), pane.text)
    decided = [entry.what for entry in journal(nooscope)]
    ran = (agent.project / "one").exists()
    # Its own dialog may be answered while we deny, which the journal then says, too.
    both = ["approved", "elsewhere"], ["denied", "elsewhere"]
    assert decided[1:] in ((["approved"], ["elsewhere"], *both) if ran else (["denied"], ["elsewhere"]))
    assert faults[-1]


@pytest.mark.parametrize("kind", ASKING)
def test_killed_meanwhile_its_own_prompt_decides(kind: type[Agent], tmp_path: Path) -> None:
    with FakeModel(story(kind, "touch one", "touch two")) as model:
        agent = kind(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", NAMES[kind], "--answer", "--deadline", "5")
        with nooscope.listening() as listening, agent_screen(agent) as pane:
            wait_for_question(nooscope, "touch one")
            pane.until(DIALOG[kind])
            os.kill(listening.pid, signal.SIGKILL)
            listening.wait(LONGEST)
            for name in ("one", "two"):
                pane.until(DIALOG[kind], f"touch {name}")
                press(kind, pane)
                wait_for((agent.project / name).exists, pane.text)
    assert [entry.what for entry in journal(nooscope)] == ["asked"]


@pytest.mark.parametrize("way", ["fleet", "permits", "stop"])
def test_a_cap_is_reached_and_lifted(way: str, tmp_path: Path) -> None:
    """The log tells a moment late what a request used, so a call or two pass before one is held."""
    story = [run(Claude, f"touch {number}") for number in range(8)]
    with FakeModel({"make it work": [*story, say("It is made.")]}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--guard", "--deadline", "5")
        caps = ["response.caps.session_tokens=2000", f"response.caps.reached={'stop' if way == 'stop' else 'ask'}"]
        with (
            nooscope.listening(*(word for cap in caps for word in ("--set", cap))),
            claude_screen(agent, "--allowedTools", "Bash") as pane,
            our_screen(nooscope, "fleet") as ours,
        ):
            pane.type("make it work", "Enter")
            if way == "stop":
                pane.until("cap reached", "only the person can lift it")
                assert not (agent.project / "7").exists()
                return
            ours.until("cap reached", "d deny")
            made = len(list(agent.project.iterdir()))
            asked = wait_for_question(nooscope, "touch")
            if way == "fleet":
                ours.type("Y")
            else:
                nooscope.do("permits", "lift", asked.session)
            pane.until("It is made.")
        assert made < 8 and (agent.project / "7").exists()


@pytest.mark.parametrize("way", ["fleet", "permits"])
def test_a_question_and_a_plan_of_claude_are_answered(way: str, tmp_path: Path) -> None:
    story = [
        use("AskUserQuestion", questions=[QUESTION]),
        use("ExitPlanMode", plan="My plan: paint it."),
        say("It is made."),
    ]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--answer", "--deadline", "5")
        with nooscope.listening(), claude_screen(agent, "--permission-mode", "plan") as pane:
            pane.type("make it work", "Enter")
            for words, keys in (("colour", ("y", "2", "Enter")), ("plan", ("y",))):
                asked = wait_for_question(nooscope, words)
                if way == "permits":
                    nooscope.do("permits", "answer", str(asked.number), *keys[1:2])
                    continue
                with our_screen(nooscope, "fleet") as ours:
                    ours.until(words)
                    for key in keys:
                        ours.type(key)
                        time.sleep(0.5)
                    wait_for(partial(is_over, nooscope, words), ours.text)
            pane.until("It is made.")
        told = "\n".join(model.asked[-1].texts)
    assert "blue" in told and "exited plan mode" in told.lower()


@pytest.mark.skipif(program("codex") is None, reason="codex is not installed")
def test_a_question_of_codex_is_answered(tmp_path: Path) -> None:
    asked = {key: value for key, value in QUESTION.items() if key != "multiSelect"}
    story = [use("request_user_input", questions=[{**asked, "id": "colour"}]), say("It is red.")]
    with FakeModel({"make it work": story}) as model:
        agent = Codex(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "codex", "--answer", "--deadline", "5")
        with nooscope.listening(), agent_screen(agent) as pane:
            number = wait_for_question(nooscope, "colour").number
            nooscope.do("permits", "answer", str(number), "2")
            pane.until("It is red.")
        assert "blue" in "\n".join(model.asked[-1].texts)


# Of a new file in the project, a command outside of it and a question: what each permission mode asks a hook.
MODES = {"manual": "file outside colour", "acceptEdits": "outside colour", "bypassPermissions": "colour"}


@pytest.mark.parametrize("mode", [*MODES, "auto"])
def test_only_what_its_mode_asks_is_answered(mode: str, tmp_path: Path) -> None:
    """In the auto mode, whose check cannot be reached here, it asks for commands without its hook."""
    outside = tmp_path / "outside"
    made = use("Write", file_path=str(tmp_path / "project" / "file"), content="x")
    story = [made, run(Claude, f"touch {outside}"), use("AskUserQuestion", questions=[QUESTION]), say("It is made.")]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        (agent.home / ".claude").mkdir()
        (agent.home / ".claude" / "settings.json").write_text('{"skipDangerousModePermissionPrompt": true}')
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--answer", "--deadline", "5")
        with nooscope.listening(), claude_screen(agent, "--permission-mode", mode) as pane:
            pane.type("make it work", "Enter")
            if mode == "auto":
                pane.until("Auto mode can't check actions")
                time.sleep(2)  # It drops keys that come with its dialog.
                pane.type("Enter")
                pane.until("so this one needs your approval")
                Watching(agent, nooscope).until("needs you", "")
                assert not questions(nooscope) and "answer in its terminal" in nooscope.do("permits")
                pane.type("Down")
                pane.type("Enter")
            asked = MODES.get(mode, "colour").split()
            for words in asked:
                number = str(wait_for_question(nooscope, words).number)
                nooscope.do("permits", *(("answer", number, "2") if words == "colour" else ("approve", number)))
            pane.until("It is made.")
        assert outside.exists() and (agent.project / "file").exists()
        assert "blue" in "\n".join(model.asked[-1].texts)
    assert [entry.what for entry in journal(nooscope)] == ["asked", "approved"] * len(asked)


def test_the_journal_says_what_happened_to_a_call_that_was_denied_too_late(tmp_path: Path) -> None:
    """Allowed in its own dialog, and denied here a moment later."""
    with FakeModel(story(Claude, "touch one && sleep 3")) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--answer", "--deadline", "5")
        with nooscope.listening(), agent_screen(agent) as pane:
            asked = wait_for_question(nooscope, "touch one")
            link = IntakeLink(IntakeFolder(nooscope.data / "intake"))
            pane.until(DIALOG[Claude])
            pane.type("1")
            time.sleep(0.1)
            fault = link.decide(asked.number, "deny")
            wait_for(lambda: "It is made." in pane.text(), pane.text)
    ran = (agent.project / "one").exists()
    assert [entry.what for entry in journal(nooscope)][-1] == ("elsewhere" if ran else "denied"), fault


@pytest.mark.skipif(program("qwen") is None, reason="qwen is not installed")
def test_qwen_opens_its_dialog_when_nobody_answers(tmp_path: Path) -> None:
    """Its hook hides the dialog, so it waits a short while only."""
    commands = ("touch one", "mkdir two", "mkdir three", "mv two four", "touch five")
    story = [run(Qwen, one) for one in commands]
    with FakeModel({"make it work": [*story, say("It is made.")]}) as model:
        agent = Qwen(tmp_path, model.url)
        agent.command("")
        settings = agent.home / ".qwen" / "settings.json"
        before = json.loads(settings.read_bytes())
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "qwen", "--answer", "--deadline", "5")
        with nooscope.listening("--set", "response.guard.wait=15"), qwen_screen(agent) as pane:
            pane.type("make it work")
            pane.until("make it work")
            pane.type("Enter")
            for choice, command in zip(("once", "session", "", "deny"), commands, strict=False):
                if choice:
                    asked = wait_for_question(nooscope, command)
                    link = IntakeLink(IntakeFolder(nooscope.data / "intake"))
                    assert link.decide(asked.number, choice, "not on main", "fleet") == ""
            wait_for_question(nooscope, "touch five")
            assert "Allow execution" not in pane.text()
            pane.until("Allow execution")
            pane.type("Enter")
            pane.until("It is made.")
        nooscope.do("hooks", "uninstall", "qwen")
        left = json.loads(settings.read_bytes())
        left.pop("$version", None)  # It rewrites its own settings when it starts.
        assert left == before
        assert any("not on main" in text for asked in model.asked for text in asked.texts)
    assert sorted(one.name for one in agent.project.iterdir()) == ["five", "one", "three", "two"]
    decided = [entry.what for entry in journal(nooscope) if entry.what != "asked"]
    assert decided == ["approved", "approved", "approved", "denied", "unanswered"]


def test_a_background_agent_that_completes_is_no_alarm(tmp_path: Path) -> None:
    inner = [run(Claude, "echo inside", held=True), say("It looked.")]
    task = {"description": "look", "prompt": "look around now", "subagent_type": "general-purpose"}
    outer = [use("Agent", **task, run_in_background=True), say("It is started."), say("It is made.")]
    with FakeModel({"look around now": inner, "make it work": outer}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--deadline", "5")
        with nooscope.listening(), claude_screen(agent, "--allowedTools", "Bash") as pane:
            pane.type("make it work", "Enter")
            assert model.waiting.wait(LONGEST)
            watching = Watching(agent, nooscope)
            words: set[str] = set()
            model.go()
            quiet = time.monotonic() + 8.0  # A notification comes some seconds after what it is about.
            while "done" not in words or time.monotonic() < quiet:
                assert time.monotonic() < quiet + LONGEST, pane.text()
                words.add(watching.status().word)
                time.sleep(0.1)
        assert "needs you" not in words
