"""A summary names outcomes and actions in words, not by the names of fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.engine.society.engine import Engine
from core.events import Event, SessionStart, ToolUse
from core.report.analysis import Gatherer
from core.report.page import summary_text
from core.settings import Settings
from tests.core.live.need_stories import STORIES
from tui.cli import main


def test_no_field_name_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = STORIES["claude"](tmp_path)
    story.before()
    story.ask()
    assert main(["analyze", str(story.path), "--plain"]) == 0
    said = capsys.readouterr().out
    assert "1 without a result" in said and "other calls 1" in said
    assert "deep_work" not in said and "shell_exec" not in said


def test_places_are_told_from_the_beginning_also_where_times_are_made_up() -> None:
    gatherer, engine = Gatherer(), Engine(Settings(), seed=1)
    uses = [
        ToolUse(at=10.0 * number, id=str(number), tool="bash", action="shell_exec", outcome="failure", call=1)
        for number in range(12)
    ]
    start = SessionStart(at=0.0, session="s", tool="swe-agent", synthetic_time=True)
    events: list[Event] = [start, *uses]
    for event in events:
        gatherer.add(event, engine.step(event))
    rows = summary_text(gatherer.close(engine.frame(110.0))).splitlines()
    peak = next(row for row in rows if "frustration" in row)
    assert "at 00:00:00" not in peak


def test_the_agent_is_never_awake_for_longer_than_the_session_lasted() -> None:
    """The program ran for a while before anything happened, which is no part of the session's length."""
    gatherer, engine = Gatherer(), Engine(Settings(), seed=1)
    use = ToolUse(at=1020.0, id="1", tool="bash", action="shell_exec", outcome="success", call=1)
    last = ToolUse(at=1040.0, id="2", tool="bash", action="shell_exec", outcome="success", call=2)
    for event in (SessionStart(at=1000.0, session="s", tool="openhands"), use, last):
        gatherer.add(event, engine.step(event))
    said = summary_text(gatherer.close(engine.frame(1040.0)))
    assert "20s, 20s of it active" in said
