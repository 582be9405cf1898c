"""The sub-agents: a row each with task, last action and cost; enter goes there, esc comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.events import MouseScrollDown, MouseScrollUp

from core.events import MAIN
from core.settings import Settings
from core.settings.layers import with_value
from sample_sessions import find_sample
from tests.core.agents import samples
from tests.tui.conftest import shown, until
from tui.app import NooscopeApp
from tui.feed.messages import Seek
from tui.screens.main import MainScreen
from tui.screens.model import AgentsScreen
from tui.screens.palette import app_commands, mark_hits
from tui.widgets.model.agents import AgentList

Make = Callable[..., NooscopeApp]


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """A session with two sub-agents of the same kind."""
    log = tmp_path / "s1.jsonl"
    lines = [samples.says(0, "write two poems")]
    for number in (1, 2):
        task = {"description": "poem", "prompt": f"Write poem {number}\nwell", "subagent_type": "poet"}
        lines.append(samples.asks(number, f"t{number}", "Task", task))
        data = {"type": "agent_progress", "prompt": task["prompt"], "agentId": f"a{number}"}
        call = {"parentToolUseID": f"t{number}", "toolUseID": f"agent_t{number}"}
        lines.append(samples.claude("progress", number, data=data, **call))
        child = tmp_path / "s1" / "subagents" / f"agent-a{number}.jsonl"
        child.parent.mkdir(parents=True, exist_ok=True)
        own: dict[str, Any] = {"isSidechain": True, "agentId": f"a{number}"}
        child.write_text(
            "".join(
                json.dumps(line) + "\n"
                for line in (
                    samples.says(number + 2, f"Write poem {number}\nwell", **own),
                    samples.asks(number + 4, f"b{number}", "Bash", {"command": f"rhyme {number}"}, **own),
                    samples.answers(number + 6, f"b{number}", "no rhyme", error=number == 2, **own),
                )
            )
        )
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return log


def text(app: NooscopeApp) -> list[str]:
    panel = app.screen.query_one(AgentList)
    return [panel.render_line(y).text.rstrip() for y in range(panel.size.height)]


async def test_every_agent_has_a_row_and_enter_goes_there(family: Path, app_on: Make) -> None:
    app = app_on(family, live=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(app, pilot, lambda view: view.total > 6)
        await pilot.press("end", "a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await until(pilot, lambda: "Write poem 2" in "\n".join(text(app)))
        seen = "\n".join(text(app))
        assert "□ main agent  write two poems" in seen and "working" not in seen
        assert "□ poet 1  Write poem 1" in seen and "poet 2  Write poem 2" in seen
        assert "✓ Bash  rhyme 1" in seen and "✗ Bash  rhyme 2" in seen
        assert "1/1 failed" in seen
        await pilot.press("left")
        await until(pilot, lambda: "● main agent  write two poems" in "\n".join(text(app)))
        seen = "\n".join(text(app))
        assert "● poet 1" in seen and "working" in seen
        await pilot.press("down", "enter")
        view = await shown(app, pilot, lambda view: view.agent != MAIN)
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        assert view.now.asked.startswith("Write poem")
        await pilot.press("escape")
        await shown(app, pilot, lambda view: view.agent == MAIN)
        assert isinstance(app.screen, MainScreen)


async def test_trouble_stands_on_the_row_of_who_has_it(app_on: Make, still: Settings) -> None:
    """By the same name in the status, the header, the palette, the transcript and here."""
    strict = with_value(still, "response.loops.failing.times", 3)
    app = app_on(find_sample("storm").path, live=False, settings=strict)
    async with app.run_test(size=(160, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total > 500 and view.playing)
        await pilot.press("space")
        await shown(app, pilot, lambda view: not view.playing)
        app.post_message(Seek(220))
        view = await shown(app, pilot, lambda view: view.index == 220)
        assert view.status is not None and view.status.word == "looping"
        assert view.status.why.startswith("sub-agent general-purpose 3: ")
        assert view.names[view.status.agent] == "general-purpose 3"
        commands = [title for title, _, _ in app_commands(app, app.screen)]
        assert "Show agent general-purpose 3" in commands
        hits = [hit for hit, *_ in mark_hits(app.recording, view.start, view.names)] if app.recording else []
        assert any("general-purpose 6 starts" in hit for hit in hits)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        rows = {line.split("  ")[0].strip(" ├└"): line for line in text(app)}
        assert "looping" in rows["▣ general-purpose 3"]
        assert "working" in rows["● main agent"]
        assert "working" in rows["● general-purpose 2"]


async def test_enter_twice_at_once_goes_there_once(family: Path, app_on: Make) -> None:
    app = app_on(family, live=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(app, pilot, lambda view: view.total > 6)
        await pilot.press("end", "a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await pilot.press("down")
        panel = app.screen.query_one(AgentList)
        panel.action_choose()
        panel.action_choose()
        await until(pilot, lambda: isinstance(app.screen, MainScreen))
        await shown(app, pilot, lambda view: view.agent != MAIN)
        assert len(app.screen_stack) == 1


async def test_nobody_is_at_work_before_the_first_event(tmp_path: Path, app_on: Make) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"")
    app = app_on(log)
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(app, pilot, lambda view: view.loading is None)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await until(pilot, lambda: "idle" in text(app)[0])
        assert str(app.screen.query_one(AgentList).border_subtitle) == "0 of 1 agent working"


async def test_words_are_hidden_there_too(family: Path, app_on: Make) -> None:
    app = app_on(family, live=False)
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(app, pilot, lambda view: view.total > 6)
        await pilot.press("end", "a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await pilot.press("h")
        await until(pilot, lambda: "poem" not in "\n".join(text(app)))
        assert "its task is hidden: h shows it" in "\n".join(text(app))


@pytest.mark.parametrize("width", [40, 50, 60])
async def test_figures_give_way_whole_where_there_is_little_room(family: Path, app_on: Make, width: int) -> None:
    app = app_on(family, live=False)
    async with app.run_test(size=(width, 24)) as pilot:
        await shown(app, pilot, lambda view: view.total > 4)
        await pilot.press("space", "end", "a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen) and len(text(app)) > 8)
        await pilot.pause()
        ends = [row.split()[-1] for row in text(app)[0:9:3]]
        assert all(end in ("failed", "working", "done", "ended") for end in ends), ends


async def test_the_wheel_goes_through_the_agents(family: Path, app_on: Make) -> None:
    app = app_on(family, live=False)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.total > 4)
        await pilot.press("space", "end", "a")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await pilot.pause()
        panel = app.screen.query_one(AgentList)
        assert panel.chosen == MAIN
        await pilot._post_mouse_events([MouseScrollDown], AgentList, offset=(10, 3))
        await until(pilot, lambda: panel.chosen != MAIN)
        await pilot._post_mouse_events([MouseScrollUp], AgentList, offset=(10, 3))
        await until(pilot, lambda: panel.chosen == MAIN)
