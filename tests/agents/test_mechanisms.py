"""Mechanisms that few sessions show, each on a session of a real agent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from tests.agents.fake_model import Answer, FakeModel, say, use
from tests.agents.panes import wait_for
from tests.agents.programs import LONGEST, Claude, Codex
from tests.agents.test_loop import PATIENT, Nooscope, ours
from tests.agents.test_real_agents import run, write

STAMP = '"timestamp":"([^"]+)"'


def failing(times: int) -> list[Answer]:
    """Commands that fail, each another one."""
    return [run(Claude, f"python3 missing{number}.py") for number in range(times)]


def stretched(log: Path, pace: float = 1.0, gap: float = 0.0, since: str = "") -> str:
    """Write a copy of a log whose times are `pace` times as far apart, those after `since` later by a gap."""
    text = log.read_text()
    start = datetime.fromisoformat(min(re.findall(STAMP, text)))

    def later(match: re.Match[str]) -> str:
        at = datetime.fromisoformat(match[1])
        moved = start + (at - start) * pace + timedelta(seconds=gap if match[1] > since else 0.0)
        return f'"timestamp":"{moved.isoformat().replace("+00:00", "Z")}"'

    copy = log.with_name(log.name.replace(log.stem[-12:], "111111111111"))
    copy.write_text(re.sub(STAMP, later, text).replace(log.stem[-36:], copy.stem[-36:]))
    return str(copy)


@contextmanager
def watched_mind(nooscope: Nooscope, log: Path) -> Iterator[list[str]]:
    """The lines of a watch of one session, with all that its mind does."""
    program = subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "watch", str(log), "--headless", "--mind"],
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
        wait_for(lambda: f"watching {log}" in "".join(lines), lambda: lines)
        yield lines
    finally:
        program.terminate()
        program.wait(LONGEST)
        reader.join()
        program.stdout.close()


def test_a_session_that_gave_up_wakes_the_next_in_its_folder(tmp_path: Path) -> None:
    second = [
        run(Claude, "ls"),
        run(Claude, "ls -l", held=True),
        *[run(Claude, f"ls -{flag}") for flag in "abcdfghi"],
        say("It is there."),
    ]
    stories = {"make it work": [*failing(3), say("I could not make it work.")], "look again": second}
    with FakeModel(stories) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        agent.run("make it work")
        (first,) = agent.logs()
        nooscope.do("watch", str(first), "--headless", "--idle", "0.2")
        running = agent.start("look again")
        assert model.waiting.wait(LONGEST)
        (newer,) = set(agent.logs()) - {first}
        with watched_mind(nooscope, newer) as lines:
            model.go()
            agent.finish(running)
            wait_for(lambda: "woken: trigger peer_alarm" in "".join(lines), lambda: lines)
    assert "what news from another agent, measure 1" in "".join(lines)


def test_advice_that_an_ended_agent_never_got_wakes_the_mind_of_the_resumed_one(tmp_path: Path) -> None:
    """Codex is killed right after its loop was noticed, and resumed at once; a copy says 40 minutes later."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "kept").write_text("as it was")
    looping = [run(Codex, "cat kept") for _ in range(6)]
    later = [run(Codex, "ls"), say("done")]
    with FakeModel({"make it work": [*looping, run(Codex, "ls", held=True)], "go on": later}) as model:
        agent = Codex(tmp_path, model.url)
        nooscope = Nooscope(agent)
        running = agent.start("make it work")
        assert model.waiting.wait(LONGEST)
        (log,) = agent.logs()
        wait_for(lambda: log.read_text().count("as it was") >= len(looping))
        running.kill()
        running.communicate()
        last = max(re.findall(STAMP, log.read_text()))
        model.go()
        agent.run("go on", "resume", "--last")
    (log,) = agent.logs()
    for gap, expired in ((0.0, False), (2400.0, True)):
        copy = stretched(log, gap=gap, since=last)
        events = nooscope.do("inspect", "events", copy, "--kind", "InterventionEnded", "--kind", "Woken")
        assert ("rule loop_alert, fate expired" in events) is expired
        assert ("woken: trigger deadline" in events) is expired


def test_a_long_failing_session_dreams_intensively(tmp_path: Path) -> None:
    """A hundred and twenty failing commands; the copy says half a minute each."""
    with FakeModel({"make it work": [*failing(120), say("I could not make it work.")]}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        agent.run("make it work")
    (log,) = agent.logs()
    times = [datetime.fromisoformat(at) for at in re.findall(STAMP, log.read_text())]
    copy = stretched(log, 120 * 30 / (max(times) - min(times)).total_seconds())
    events = nooscope.do("inspect", "events", copy, "--kind", "Regulated", "--kind", "Dreamt")
    began = events.index("knob dream_mode, correction 1")
    assert "reason pressure" in events[began:]
    assert "dreams are intensive" in nooscope.do("inspect", "frame", copy)


def test_failures_take_patience_away(tmp_path: Path) -> None:
    """After them, a call that repeats itself is a loop one round earlier than without affect."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "kept").write_text("as it was")
    story = [
        part for number in range(8) for part in (*failing(number + 1)[-1:], run(Claude, f"ls -{'abcdfghi'[number]}"))
    ]
    story += [run(Claude, "cat kept") for _ in range(6)]
    with FakeModel({"make it work": [*story, say("I could not make it work.")]}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        agent.run("make it work")
    (log,) = agent.logs()
    for reach, rounds in (("10", 5), ("0", 6)):
        found = nooscope.do(
            "inspect", "events", str(log), "--kind", "LoopFound", "--set", f"affect.modulation.retries.reach={reach}"
        )
        assert f"detector repeat, rounds {rounds}" in found.splitlines()[0]


def test_the_playbook_forgets_what_later_prompts_refute(tmp_path: Path) -> None:
    project = tmp_path / "project"
    good = [*[write(Claude, project / "src" / f"m{number}.py", "print(1)") for number in range(4)]]
    good += [run(Claude, "python3 -m unittest -h"), say("It works.")]
    missing = {"file_path": str(project / "src" / "none.py"), "old_string": "a", "new_string": "b"}
    bad = [use("Edit", **missing) for _ in range(4)]
    bad += [run(Claude, "python3 -m unittest missing"), say("I could not make it work.")]
    names = ("first part", "second part", "third part", "fourth part", "fifth part")
    stories = dict(zip(names, (list(good), list(good), list(good), list(bad), list(bad)), strict=True))
    pages = []
    with FakeModel(stories) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        for number, name in enumerate((*names, "and now")):
            agent.run(name, *(("--continue",) if number else ()))
            (log,) = agent.logs()
            pages.append(json.loads(nooscope.do("inspect", "frame", str(log), "--json"))["frame"]["mind"]["playbook"])
    line = "editing in src/ went well"
    assert pages == [[], [], [f"{line} 3 of 3 times"], [f"{line} 4 of 4 times"], [f"{line} 4 of 5 times"], []]


def test_a_cancelling_message_denies_the_next_call_with_its_sentence(tmp_path: Path) -> None:
    story = [run(Claude, "touch one"), run(Claude, "touch two", held=True), run(Claude, "touch three"), say("done")]
    with FakeModel({"make it work": story}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        nooscope.do("hooks", "install", "claude", "--guard", "--deadline", PATIENT)
        with nooscope.listening():
            running = agent.start("make it work")
            assert model.waiting.wait(LONGEST)
            (log,) = agent.logs()
            nooscope.do("hooks", "advice", "--tell", log.stem, "Leave two alone.", "--cancel")
            model.go()
            agent.finish(running)
        told = "\n".join(model.asked[-1].texts)
    made = [name for name in ("one", "two", "three") if (agent.project / name).exists()]
    assert made == ["one", "three"] and "[nooscope] Leave two alone." in told


EXTENSION = """
from core.extension import Extension
class Worder(Extension):
    name = "worder"
    def before_agent_start(self, session):
        return ["Keep commits small."]
    def on_context(self, session, words):
        return f"{words} It is in the diary."
EXTENSION = Worder
"""


def test_an_extension_words_advice_and_offers_a_line_at_the_start(tmp_path: Path) -> None:
    story = [run(Claude, "python3 missing.py") for _ in range(7)]
    with FakeModel({"make it work": [*story, say("I give up.")]}) as model:
        agent = Claude(tmp_path, model.url)
        nooscope = Nooscope(agent)
        folder = agent.home / ".config" / "nooscope" / "extensions"
        folder.mkdir(parents=True)
        (folder / "worder.py").write_text(EXTENSION)
        nooscope.do("hooks", "install", "claude", "--advise", "--deadline", PATIENT)
        with nooscope.listening("--set", "response.advice.level=full"):
            agent.run("make it work")
    lines = [line for said in ours(model) for line in said]
    assert any("It is in the diary." in line for line in lines)
    assert any("Keep commits small." in text for asked in model.asked for text in asked.texts)
